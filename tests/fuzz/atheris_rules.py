"""Fuzzes one target of `targets.py` guided by coverage, where atheris is installed.

    python tests/fuzz/atheris_rules.py rules|policy|call [seconds]

Starts from the corpus and from what ships; exits 77, and says so, where there is no atheris, and 1
where it finds something. That is written to the folder it is started in, and belongs in the corpus.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The exit code of a test that was skipped, as in automake.
SKIPPED = 77


def main(name: str, seconds: int) -> None:
    try:
        import atheris
    except ImportError:
        print("skipped: atheris is not installed", file=sys.stderr)
        sys.exit(SKIPPED)
    sys.path.insert(0, str(Path(__file__).parent))
    with atheris.instrument_imports(include=["tool_intent"]):
        import targets
    with tempfile.TemporaryDirectory() as folder:
        seeds = [*(ROOT / "tests/corpus/fuzz" / name).iterdir(), *_shipped(name)]
        for number, seed in enumerate(seeds):
            Path(folder, str(number)).write_bytes(seed.read_bytes()[:4_000])
        options = [f"-max_total_time={seconds}", "-timeout=20", "-max_len=4000", "-verbosity=0"]
        options.append("-error_exitcode=1")
        atheris.Setup([sys.argv[0], *options, folder], targets.TARGETS[name])
        atheris.Fuzz()


def _shipped(name: str) -> list[Path]:
    packs = ROOT / "policies/packs/std"
    found = {"rules": packs.glob("*.rules"), "policy": packs.glob("*.yaml")}
    return sorted(found.get(name, []))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60)

"""What else could be done: lengths, and prose linters that are installed here."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from tool_intent.authoring.evaluation.corpus import Corpus, Item
from tool_intent.authoring.evaluation.metrics import Counts, count

#: Seconds that node may take over the texts of a corpus.
_DEADLINE: Final = 120
_WRITE_GOOD: Final = """
const check = require(process.argv[1]);
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map((text) => check(text).length > 0)));
"""

#: Whether each of the texts is found fault with.
Flags: TypeAlias = Callable[[Sequence[str]], list[bool]]


class Absent(Exception):
    """A linter is not installed here, or does not work; `str` says how to have it."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Another way to find the bad rows: its counts, or why there are none."""

    name: str
    counts: Counts | None
    absent: str = ""


def baselines(corpus: Corpus) -> tuple[Baseline, ...]:
    """Every baseline on the good and bad rows. A row is found where any of its intents and
    rationales is."""
    items = corpus.counted
    return tuple(
        [_lengths(f"minLength {least}", least, items) for least in (1, 20)]
        + [_linter(name, flags, items) for name, flags in _LINTERS.items()]
    )


def _lengths(name: str, least: int, items: Iterable[Item]) -> Baseline:
    pairs = [(bool(i.bad), any(len(text.strip()) < least for text in i.texts)) for i in items]
    return Baseline(name, count(pairs))


def _linter(name: str, flags: Flags, items: Sequence[Item]) -> Baseline:
    # Of a blank text there is nothing to find fault with.
    texts = list(dict.fromkeys(t for item in items for t in item.texts if t.strip()))
    try:
        flagged = {text for text, is_bad in zip(texts, flags(texts), strict=True) if is_bad}
    except Absent as absent:
        return Baseline(name, None, str(absent))
    except Exception as error:  # a linter's own fault costs its line of the table, not the table
        return Baseline(name, None, f"installed, but it fails: {type(error).__name__}")
    pairs = [(bool(item.bad), any(text in flagged for text in item.texts)) for item in items]
    return Baseline(name, count(pairs))


def _defluff(texts: Sequence[str]) -> list[bool]:
    is_slop = _imported("defluff", "pip install defluff").is_slop
    return [bool(is_slop(text)) for text in texts]


def _slop_guard(texts: Sequence[str]) -> list[bool]:
    # It pins an older `mcp` than this package's extra needs, and uses it in its server only.
    analyze = _imported("slop_guard", "pip install --no-deps slop-guard").analyze_text
    return [bool(analyze(text)["violations"]) for text in texts]


def _proselint(texts: Sequence[str]) -> list[bool]:
    tools = _imported("proselint.tools", "pip install proselint")
    checks = importlib.import_module("proselint.checks").__register__
    importlib.import_module("proselint.registry").CheckRegistry().register_many(checks)
    return [bool(tools.LintFile("text", text).lint()) for text in texts]


def _write_good(texts: Sequence[str]) -> list[bool]:
    # By what PATH says, as any program: not what lies in the folder that is worked in.
    node, command = shutil.which("node"), shutil.which("write-good")
    if node is None or command is None:
        raise Absent("not installed; npm install --global write-good")
    package = Path(command).resolve().parents[1]
    done = subprocess.run(  # noqa: S603 (node by its path, and a constant script)
        [node, "-e", _WRITE_GOOD, str(package)],
        input=json.dumps(texts), capture_output=True, encoding="utf-8", timeout=_DEADLINE,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise Absent("installed, but it does not run; npm install --global write-good")
    found: list[bool] = json.loads(done.stdout)
    return found


def _imported(module: str, mend: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Absent(f"not installed; {mend}") from None


_LINTERS: Final[dict[str, Flags]] = {
    "defluff": _defluff,
    "slop-guard": _slop_guard,
    "proselint": _proselint,
    "write-good": _write_good,
}

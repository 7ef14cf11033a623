"""Which arguments the rules of a tool may look at, from policies as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tool_intent.compiler.loading import load

CASES = {
    'require words(intent) >= 2 else deny "Say more."': (),
    'forbid path under "infra" else deny "No."': ("path",),
    'forbid content mentions "KEY" else deny "No."': ("content",),
    'when has args.content forbid args.path == "x" else deny "No."': ("content", "path"),
    'when words(intent) < 2 deny "No {path}."': ("path",),
    'forbid intent restates call else warn "Say more."': None,
    'require overlap(intent, call) >= 1 else deny "Name it."': None,
    'forbid any(p in call.paths: p like "*.key") else deny "No."': ("content", "path"),
    'require count(earlier @read within 5 calls) >= 1 else deny "Read."': None,
}


@pytest.mark.parametrize("sentence", CASES)
def test_a_rule_reads_what_it_names(sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    text = f"version: 1\nextends: std/baseline\nrules: |\n  rule a/b on write\n    {sentence}\n"
    path.write_text(text, encoding="utf-8")
    artifact = load([str(path)], found=False)
    assert artifact.program("write").reads == CASES[sentence]
    assert artifact.program("bash").reads == ()


def test_a_condition_reads_what_it_names(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(
        'version: 1\ntools:\n  write:\n    require: [intent]\n    when: path under "ledger"\n',
        encoding="utf-8",
    )
    assert load([str(path)], found=False).program("write").reads == ("path",)


@pytest.mark.parametrize(
    ("scope", "of_write", "of_bash"),
    [
        ("{paths: [docs/**]}", ("content", "path"), ("command",)),
        ("{tools: [write]}", (), ()),
        ("{tools: [write], paths: [docs/**]}", ("content", "path"), ()),
    ],
)
def test_a_waiver_for_paths_reads_what_names_paths(
    scope: str, of_write: tuple[str, ...], of_bash: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "policy.yaml"
    waiver = (
        f"{{id: W, rule: fields/missing, scope: {scope}, owner: a, reason: b, expires: 2027-01-01}}"
    )
    path.write_text(
        f"version: 1\nextends: std/baseline\nwaivers:\n  - {waiver}\n", encoding="utf-8"
    )
    artifact = load([str(path)], found=False, now=1_796_126_400.0)
    assert artifact.program("write").reads == of_write
    assert artifact.program("bash").reads == of_bash

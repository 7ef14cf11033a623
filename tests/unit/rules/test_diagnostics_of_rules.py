"""What the parser and the checker say of faulty texts: the cases are in the YAML files beside."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tool_intent.rules.check import check_text

HERE = Path(__file__).parent


def cases(name: str) -> list[dict]:
    return yaml.safe_load(HERE.joinpath(name).read_text("utf-8"))


@pytest.mark.parametrize(
    "case", cases("parsing.yaml") + cases("checks.yaml"), ids=lambda case: case["name"]
)
def test_it_says_what_is_wrong_and_where(case: dict) -> None:
    _, found = check_text(case["text"], "r.rules")
    told = [f"{d.line}:{d.column} {d.message} | {d.help}".rstrip() for d in found]
    wanted = [line.rstrip() for line in case["told"]]
    shortened = [
        t[: t.index(" | ")] + " | *" if w.endswith(" | *") and " | " in t else t
        for t, w in zip(told, wanted, strict=False)
    ]
    assert shortened + told[len(wanted) :] == wanted

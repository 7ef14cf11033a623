"""docs/functions.md is what its generator makes, and its examples are true."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tool_intent.authoring import functions_page
from tool_intent.authoring.examples import PLACE, with_places
from tool_intent.authoring.explain import Explainer
from tool_intent.compiler.loading import compiled
from tool_intent.policy.load import load
from tool_intent.policy.sources import Root
from tool_intent.rules.functions import FUNCTIONS
from tool_intent.runtime.model import Call

ROOT: Final = Path(__file__).parents[3]
ROWS: Final = yaml.safe_load((ROOT / "tests/conformance/functions.yaml").read_text("utf-8"))
DATA: Final = Path(functions_page.__file__).with_name("functions.yaml")
SAID: Final = yaml.safe_load(DATA.read_text("utf-8"))
EXAMPLES: Final = [
    example for said in SAID["functions"].values() for example in said.get("examples", ())
]
FIRED: Final = {True: "true", False: "false", None: "unknown"}


def test_the_page_is_what_the_generator_makes() -> None:
    assert (ROOT / "docs/functions.md").read_text("utf-8") == functions_page.page(ROWS)


def test_every_function_is_on_the_page_once() -> None:
    named = [name for group in SAID["groups"] for name in group["functions"]]
    assert sorted(named) == sorted(FUNCTIONS) == sorted(SAID["functions"])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e["when"])
def test_an_example_of_the_page_is_true(example: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "one.rules"
    file.write_text(f"rule a/b on *\n  forbid {example['when']}\n", encoding="utf-8")
    policy = load([Root(str(file), "session", "one.rules")])
    assert policy.broken == ()
    artifact = compiled(with_places(policy), PLACE)
    call = Call(1, example["tool"], example["args"], {}, None, 0.0)
    explained = Explainer(artifact).explain(call, artifact.new_history(keep=True))
    found = FIRED[explained.rules[0].judgements[0].fired]
    assert found == str(example["is"]).lower()

"""Runs tests/conformance/policy_errors.yaml: each refused text with all that is said of it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tool_intent.policy import yaml_nodes
from tool_intent.rules.diagnostics import Diagnostic

CASES = yaml.safe_load(
    (Path(__file__).parents[2] / "conformance" / "policy_errors.yaml").read_text()
)


class PureLoader(yaml.SafeLoader):
    """What reads YAML where PyYAML was built without libyaml."""

    resolve = yaml_nodes._Loader.resolve


def shown(found: tuple[Diagnostic, ...]) -> list[dict[str, Any]]:
    return [
        {
            **({} if d.file == "policy.yaml" else {"file": d.file}),
            "at": f"{d.line}:{d.column}",
            "code": d.code,
            "message": d.message,
            "help": d.help,
        }
        for d in found
    ]


@pytest.mark.parametrize("loader", [yaml_nodes._Loader, PureLoader], ids=["libyaml", "pure"])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_everything_wrong_is_named_with_its_place_and_a_way_out(
    case, loader, load_text, monkeypatch
):
    monkeypatch.setattr(yaml_nodes, "_Loader", loader)
    policy = load_text(case["text"], case.get("files"))
    assert shown(policy.broken) == case.get("errors", [])
    assert shown(policy.warnings) == case.get("warnings", [])


def test_every_help_says_something():
    told = [d for case in CASES for d in [*case.get("errors", []), *case.get("warnings", [])]]
    assert [d["message"] for d in told if not d["help"]] == []

"""`show` and `schema`: what applies, where it comes from, what a model is shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .command import Command
from .test_policies import write


def data(command: Command, *arguments: str, **more: Any) -> Any:
    done = command(*arguments, **more)
    assert (done.code, done.err) == (0, ""), done
    return json.loads(done.out)


def test_every_requirement_is_shown_with_its_origin(payments: Command) -> None:
    shown = data(payments, "show", "--effective", "--format", "json")
    assert shown.keys() == {"policy", "requirements", "rules", "fields", "unlisted"}
    rows = {(r["tools"], r["at"], r["field"]): r for r in shown["requirements"]}
    assert rows["@read", "", "ticket"] == {
        "tools": "@read", "except": [], "at": "", "field": "ticket", "required": True,
        "schema": {}, "effect": "warn", "policy": "acme/payments",
        "origin": ".tool-intent/policy.yaml:11",
    }  # fmt: skip
    assert rows["deploy", "", "ticket"]["origin"] == ".tool-intent/ticket.yaml:6"
    assert rows["edit", "edits[]", "rationale"]["required"] is True
    assert rows["edit", "", "rationale"]["required"] is False
    fields = {(f["field"], f["policy"]): f for f in shown["fields"]}
    assert fields["rationale", "acme/payments"]["schema"] == {"minLength": 20}
    assert fields["ticket", "acme/tickets"]["origin"] == ".tool-intent/ticket.yaml:4"
    assert shown["unlisted"] == [{"effect": "note", "origin": ".tool-intent/policy.yaml:14"}]
    (decision,) = payments.decide({"tool": "x"})
    assert shown["policy"] == decision["policy"], "what is shown is what decides"


def test_every_requirement_is_shown_to_people(payments: Command) -> None:
    done = payments("show", "--effective")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("policy sha256:")
    assert "write requires ticket [deny] .tool-intent/policy.yaml:10" in lines
    assert "@read requires ticket [warn] .tool-intent/policy.yaml:11" in lines
    assert "edit requires intent in each edits[] [deny] std/baseline:20" in lines
    assert "edit may carry intent [deny] std/baseline:21" in lines
    assert 'field rationale: {"minLength": 20} .tool-intent/policy.yaml:6' in lines
    assert "unlisted tools: note .tool-intent/policy.yaml:14" in lines


def test_a_given_policy_is_shown_alone(payments: Command) -> None:
    shown = data(payments, "show", "--effective", "--policy", "std/baseline", "--format", "json")
    assert {r["policy"] for r in shown["requirements"]} == {"std/baseline"}
    assert shown["unlisted"] == []
    rows = data(payments, "show", "--sources", "--policy", "std/baseline", "--format", "json")
    assert {r["source"] for r in rows if r["rank"] == "session"} == {"std/baseline"}


def test_every_place_looked_at_is_shown_as_loaded_absent_or_refused(payments: Command) -> None:
    write(payments.home / ".config" / "tool-intent" / "mine.yml", "version: 1\n")
    rows = data_of_sources(payments)
    assert rows["/etc/tool-intent"]["state"] == "absent"
    assert rows[".tool-intent/policy.yaml"] == {
        "source": ".tool-intent/policy.yaml", "rank": "repo", "state": "loaded", "reason": "",
    }  # fmt: skip
    assert rows[".tool-intent/ticket.yaml"]["reason"] == "extended"
    refused = rows["~/.config/tool-intent/mine.yml"]
    assert (refused["state"], refused["reason"]) == ("refused", "its name must end in .yaml")
    text = payments("show", "--sources").out
    for row in rows.values():
        assert any(line.split()[:3] == [row["state"], row["rank"], row["source"]]
                   for line in text.splitlines()), row  # fmt: skip


def data_of_sources(command: Command) -> dict[str, Any]:
    done = command("show", "--sources", "--format", "json")
    assert done.code == 0, done
    return {row["source"]: row for row in json.loads(done.out)}


def test_sources_without_any_policy_say_what_that_means(bare: Command) -> None:
    done = bare("show", "--sources")
    assert done.code == 0
    assert "`decide` refuses to start" in done.out
    assert {row["state"] for row in data_of_sources(bare).values()} == {"absent"}


@pytest.mark.parametrize("arguments", [(), ("--effective", "--sources")])
def test_show_takes_one_of_its_four(arguments: tuple[str, ...], plain: Command) -> None:
    done = plain("show", *arguments)
    assert (done.code, done.out) == (2, "")
    assert "one of --effective, --sources, --why RULE and --floor" in done.err


def test_the_schema_of_edit_carries_the_fields_first_and_at_both_places(payments: Command) -> None:
    tool = data(payments, "schema", "edit")
    assert tool.keys() == {"name", "description", "inputSchema"}
    schema = tool["inputSchema"]
    entry = schema["properties"]["edits"]["items"]
    assert list(schema["properties"]) == ["intent", "rationale", "path", "edits"]
    assert schema["required"] == ["path", "edits"], "optional on the call itself"
    assert list(entry["properties"]) == ["intent", "rationale", "oldText", "newText"]
    assert entry["required"] == ["intent", "rationale", "oldText", "newText"]
    assert entry["properties"]["rationale"]["minLength"] == 20
    assert "`edits[]`" in tool["description"]
    assert "`intent` and `rationale` are required" in tool["description"]


def test_constraints_and_types_are_advertised(payments: Command) -> None:
    given = {"name": "deploy", "description": "Ship it.", "inputSchema": {"type": "object"}}
    tool = data(payments, "schema", "deploy", "--input", "-", stdin=json.dumps(given))
    properties = tool["inputSchema"]["properties"]
    assert properties["ticket"]["pattern"] == "^PAY-[0-9]+$"
    assert properties["risk"]["type"] == "integer"
    assert tool["inputSchema"]["required"] == ["risk", "ticket"]
    assert tool["description"].startswith("Ship it.\n")


def test_a_tool_without_fields_is_shown_as_it_is(payments: Command) -> None:
    given = {"name": "surf", "description": "d", "inputSchema": {"$ref": "#/$defs/x", "$defs": {}}}
    assert data(payments, "schema", "surf", "--input", "-", stdin=json.dumps(given)) == given


def test_what_cannot_be_advertised_is_said_and_left_as_it_was(payments: Command) -> None:
    given = {"name": "deploy", "inputSchema": {"type": "object", "maxProperties": 2}}
    done = payments("schema", "deploy", "--input", "-", stdin=json.dumps(given))
    assert done.code == 0
    assert json.loads(done.out) == given
    assert "not advertised: deploy" in done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "--input is not JSON"),
        ("{", "--input is not JSON"),
        ("[]", '--input takes {"name", "description", "inputSchema"}'),
        ("{}", "--input takes"),
        ('{"inputSchema": "x"}', "--input takes"),
    ],
)
def test_an_input_that_is_no_tool_is_refused(text: str, said: str, plain: Command) -> None:
    done = plain("schema", "bash", "--input", "-", stdin=text)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_tool_of_no_catalog_is_answered_with_the_nearest(plain: Command) -> None:
    done = plain("schema", "bsh")
    assert (done.code, done.out) == (2, "")
    assert "did you mean `bash`?" in done.err
    assert "--input" in done.err

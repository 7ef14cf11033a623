"""Large arguments under the rules that come with it: told for sure, in bounded time."""

from __future__ import annotations

from typing import Any, Final

import pytest

from .command import Command, call, rules

WHY: Final = {
    "intent": "Add last year's sales as a fixture",
    "rationale": "The importer test of #81 reads every line of them.",
}
#: Lines of files that hold no secret, some with what tokens begin with.
LINES: Final = {
    "code": "def weigh(item):\n    return item.price * item.count  # through all rights\n",
    "markup": '<li class="task-item risk-high">right</li>\n',
    "prose with umlauts": "Gr\u00f6\u00dfe, Stra\u00dfe und \u00c4rmel; a task-force\n",
    "certificates": "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwI\n-----END CERTIFICATE-----\n",
    "a long line": "x",
}
DEEP: Final = "\u2014AKIAIOSFODNN7EXAMPLE\n"
SECRETS: Final = ["secrets/in-content"]


def _text(line: str, size: int) -> str:
    return LINES[line] * (size // len(LINES[line]))


def _found(bare: Command, policy: str, tool: str, args: dict[str, Any]) -> list[str]:
    (answer,) = bare.decide(call(tool, **args, **WHY), options=("--policy", policy))
    assert "could not be told" not in (answer["message"] or "")
    return [name for name, _, _ in rules(answer)]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["std/strict", "std/secrets"])
@pytest.mark.parametrize("line", LINES)
def test_a_write_of_two_mebibytes_is_denied_for_a_credential_only(
    line: str, policy: str, bare: Command
) -> None:
    content = _text(line, 2 << 20)
    assert _found(bare, policy, "write", {"path": "a.txt", "content": content}) == []
    assert _found(bare, policy, "write", {"path": "a.txt", "content": content + DEEP}) == SECRETS


@pytest.mark.parametrize("line", ["code", "prose with umlauts"])
def test_an_edit_of_a_mebibyte_is_denied_for_a_credential_only(line: str, bare: Command) -> None:
    text = _text(line, 1 << 20)
    for added, expected in ((text, []), (text + DEEP + text, SECRETS)):
        edit = {"oldText": "sales = []", "newText": added} | WHY
        args = {"path": "a.txt", "edits": [edit]}
        assert _found(bare, "std/strict", "edit", args) == expected


@pytest.mark.parametrize("line", ["code", "prose with umlauts"])
def test_a_patch_of_a_mebibyte_is_denied_for_what_it_names_only(line: str, bare: Command) -> None:
    added = "+" + _text(line, 1 << 20).replace("\n", "\n+")
    named = ["secrets/dotenv", "secrets/dotenv-in-patch"]
    for name, expected in (("sales.txt", []), ("api/.env", named)):
        patch = f"*** Begin Patch\n*** Add File: {name}\n{added}\n*** End Patch\n"
        assert _found(bare, "std/strict", "apply_patch", {"command": patch}) == expected


@pytest.mark.slow
@pytest.mark.parametrize("quote", ["'", ""])
@pytest.mark.parametrize("line", ["markup", "prose with umlauts"])
def test_a_here_document_of_200_kib_is_data(line: str, quote: str, bare: Command) -> None:
    body = _text(line, 200 << 10)
    command = f"cat > sales.txt <<{quote}EOF{quote}\n{body}EOF\n"
    assert _found(bare, "std/strict", "bash", {"command": command}) == []
    told = _found(bare, "std/strict", "bash", {"command": command.replace("EOF\n", f"{DEEP}EOF\n")})
    assert told == ["secrets/in-command"]

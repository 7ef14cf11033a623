"""The page of the rule language's functions, made from their table, so that it cannot lag behind.

python -m tool_intent.authoring.functions_page tests/conformance/functions.yaml > docs/functions.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from tool_intent.compiler.conditions import Apply, FieldText, Infix
from tool_intent.compiler.costing import cost
from tool_intent.rules.functions import FUNCTIONS, Function

_EXAMPLES: Final = 6
_TELLING: Final = "telling"
_HEAD: Final = """\
# Functions

<!-- Made by `python -m tool_intent.authoring.functions_page`; change the table, not this page. -->

All functions of the [rule language](rules.md). The table is closed: a name that is not here is an
error. An infix one stands between its two sides; `not` before it turns it, and a list on its right
means any of the elements, with `not` none of them.

Texts are read [normalised](policy.md#what-counts-as-text). An infix function is false of an empty
text. What is given something unknown gives something unknown. **Steps** are what one use may cost
of a rule's [budget](rules.md#what-a-rule-may-cost), but for its arguments; every function's time
grows with the length of its texts and no faster.

A **telling word** is a word in its stem (`tests`, `testing` and `test` are one), in small letters,
that is no stop word (`the`, `and`) and no single ASCII letter; `getUserName` and `snake_case` are
several. Scripts written without spaces give pairs of characters.
"""


def page(rows: Mapping[str, Any]) -> str:
    """The page as Markdown. `rows` are examples of each function: `[arguments, value]` each."""
    said = yaml.safe_load(Path(__file__).with_name("functions.yaml").read_text("utf-8"))
    parts = [_HEAD]
    for group in said["groups"]:
        parts.append(f"## {group['title']}\n")
        parts += (
            "\n".join(_section(FUNCTIONS[name], said["functions"][name], rows))
            for name in group["functions"]
        )
    return "\n".join(parts)


def _section(function: Function, said: Mapping[str, Any], rows: Mapping[str, Any]) -> Iterator[str]:
    yield f"### `{function.name}`\n"
    yield f"`{_signature(function)}` → {function.result}\n"
    yield f"{function.doc} {_takes(function)}\n"
    yield f"- **Works out**: {said['formula']}"
    if "reads" in said:
        reads = "telling words only" if said["reads"] == _TELLING else said["reads"]
        yield f"- **Reads**: {reads}"
    if "notes" in said:
        yield f"- **Note**: {said['notes']}"
    yield f"- **Steps**: {_steps(function)}\n"
    yield from _examples(function, said, rows)


def _signature(function: Function) -> str:
    names = ["a", "b", "c"][: len(function.parameters)]
    if function.infix:
        return f"a {function.name} b"
    shown = [f"[{n}]" if p.optional else n for n, p in zip(names, function.parameters, strict=True)]
    return f"{function.name}({', '.join(shown)})"


def _takes(function: Function) -> str:
    names = ["a", "b", "c"]
    said = [f"`{n}` is {p}" for n, p in zip(names, function.parameters, strict=False)]
    return f"{'; '.join(said)}."


def _steps(function: Function) -> int:
    text = FieldText("", None)
    if function.infix:
        return cost(Infix(function.name, text, text, "text")) - 2 * cost(text)
    return cost(Apply(function.name, (text,))) - cost(text)


def _examples(
    function: Function, said: Mapping[str, Any], rows: Mapping[str, Any]
) -> Iterator[str]:
    if "examples" in said:
        yield "| condition | of the call | is |"
        yield "|---|---|---|"
        for example in said["examples"]:
            call = f"{example['tool']} {json.dumps(example['args'], ensure_ascii=False)}"
            yield f"| {_code(example['when'])} | {_code(call)} | {_value(example['is'])} |"
    else:
        yield "| use | gives |"
        yield "|---|---|"
        for arguments, value in rows[function.name][:_EXAMPLES]:
            yield f"| {_code(_use(function, arguments))} | {_code(_value(value))} |"
    yield ""


def _use(function: Function, arguments: list[Any]) -> str:
    shown = [_value(argument) for argument in arguments]
    if function.infix:
        right = "call of " + shown[1] if function.name == "restates" else shown[1]
        return f"{shown[0]} {function.name} {right}"
    return f"{function.name}({', '.join(shown)})"


def _value(value: Any) -> str:
    return value if value == "unknown" else json.dumps(value, ensure_ascii=False)


def _code(text: str) -> str:
    """Text as code within a table."""
    escaped = text.replace("|", "\\|")
    ticks = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{ticks}{space}{escaped}{space}{ticks}"


def main(arguments: list[str]) -> None:
    """Print the page; the argument names the file of examples."""
    rows = yaml.safe_load(Path(arguments[0]).read_text("utf-8"))
    sys.stdout.write(page(rows))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Why something cannot be told, in words that repeat nothing of what a call says."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from tool_intent.runtime.reading import ABSENT, LONGEST_LIST, Seq, member
from tool_intent.runtime.state import State

#: Arguments by name and "[]", as `State.role` takes them.
_Paths: TypeAlias = tuple[tuple[str, ...], ...] | None

SOMETHING: Final = "something it reads is not known"
BUDGET: Final = "the rule's budget was spent"
WHERE: Final = "where the path leads is not known"
CALL: Final = "not all that the call touches is known"
PARSED: Final = "the command could not be parsed"
RESOLVED: Final = "a word of the command could not be computed, or it runs what is not in its text"


def is_unknown(value: Any) -> bool:
    """Whether a value is not known, or a list may hold more than is listed."""
    return value is None or (isinstance(value, Seq) and not value.complete)


def field(name: str) -> str:
    return f"{name} is no text that can be read"


def scalar(name: str) -> str:
    return f"{name} is absent, or of another kind than its definition says"


def context(name: str) -> str:
    return f"context.{name} is not told"


def element(shown: str) -> str:
    return f"{shown} is absent or not known"


def function(name: str) -> str:
    if name == "seen":
        return "nobody tells what the user and the results said"
    return f"{name}() was given a value of another kind"


def role(state: State, at: _Paths, name: str) -> str:
    """Why what plays a role is not known."""
    where = state.roles.get(name) if at == () else at
    if not where:
        return f"no catalog says which argument of this tool is its {name}"
    shown = " or ".join(".".join(path).replace(".[]", "[]") for path in where)
    return f"the argument {shown} is no text"


def command(state: State, at: _Paths, name: str) -> str:
    """Why an attribute of the command is not known."""
    found = state.command(at)
    if found is None:
        return role(state, at, "command")
    if not found.parsed:
        return PARSED
    if name in ("program", "flags", "args") and len(found.parts) != 1:
        return f"the command has {len(found.parts)} parts; command.{name} speaks of one alone"
    return RESOLVED


def argument(shown: str, value: Any, steps: tuple[str | int, ...]) -> str:
    """Why a raw member is not known: `shown` is its name, `value` what the steps start from."""
    if "[]" in steps:
        return f"{shown} is no list all through, or longer than {LONGEST_LIST} elements"
    found = member(value, steps)
    if found is ABSENT:
        return f"{shown} is absent"
    if found is None:
        return f"{shown} is null, or something on the way to it is no object"
    return f"{shown} has more than {LONGEST_LIST} elements"


def source(shown: str) -> str:
    return f"{shown} is no list"


def truth(shown: str) -> str:
    return f"{shown} is neither true nor false"


def comparison(left: Any, right: Any, names: tuple[str, str], *, paths: bool) -> str:
    """Why two known values cannot be compared; a literal has no name."""
    if paths and _is_text(left) and _is_text(right):
        return WHERE
    if not names[0]:
        left, right, names = right, left, (names[1], names[0])
    other = names[1] or "what it is compared with"
    return f"{names[0]} is {_kind(left)}, and {other} is {_kind(right)}"


def membership(value: Any, name: str, *, paths: bool) -> str:
    """Why it is not known whether a list holds a known value."""
    if paths and _is_text(value):
        return WHERE
    return f"{name} is {_kind(value)}, which cannot be looked for"


def search(state: State, function: str, left: Any, name: str) -> str:
    """Why a function of two known values does not tell; `name` is the left one's."""
    if not _is_text(left):
        return f"{name} is no text"
    if function in ("under", "like"):
        return WHERE
    if function == "matches":
        return BUDGET
    if function == "runs":
        commands = [state.analysed(text) for text in _texts(left)]
        return RESOLVED if all(c is not None and c.parsed for c in commands) else PARSED
    return f"what {name} is compared with is no text"


def history(*, is_kept: bool) -> str:
    return (
        "what is known of earlier calls does not tell"
        if is_kept
        else "what the session did before is not known"
    )


def _texts(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Seq):
        return value.items
    return value if isinstance(value, tuple) else (value,)


def _is_text(value: Any) -> bool:
    """Whether it is a text, or a list of texts that is not the caller's own."""
    return not getattr(value, "raw", False) and all(isinstance(v, str) for v in _texts(value))


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, int | float):
        return "a number"
    return "an object" if isinstance(value, dict) else "a list"

"""The host's arguments, copied once: the copy is what is judged, stripped and run.

What two readers could understand differently is ambiguous: there, what is judged would not be
what runs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

from tool_intent.runtime.model import Finding
from tool_intent.runtime.pointer import escape, quoted

#: Levels of objects and lists, the arguments themselves included.
DEEPEST = 200
#: Digits of a number, however it is spelt.
LONGEST_NUMBER = 400
#: An integer of more bits is beyond every float.
_FLOAT_BITS = 1024
#: Members that mean something else to a JavaScript host.
PROTOTYPE_KEYS = frozenset({"__proto__", "constructor", "prototype"})


class SpelledInt(int):
    """An integer that JSON text spelt in a way `int` does not print (`-0`, too many digits)."""

    spelling: str


class SpelledFloat(float):
    """A number that JSON text spelt in a way `float` does not print (`1E2`, `0.10`)."""

    spelling: str


class DuplicateKeys(dict[str, Any]):
    """An object whose JSON text gave a key twice; holds the last value of each."""

    duplicates: tuple[str, ...]


class Snapshot(NamedTuple):
    """A deep copy of arguments. `odd_keys`: some key is no plain ASCII name, so it may be a
    misspelt field. `findings` say what is ambiguous."""

    args: dict[str, Any]
    odd_keys: bool
    findings: list[Finding]


def is_plain_scalar(value: Any) -> bool:
    """Whether a value that is no text is a JSON scalar that all readers understand alike."""
    kind = value.__class__
    if kind is int:
        return bool(value.bit_length() <= _FLOAT_BITS)
    if kind is float:
        return math.isfinite(value)
    return kind is bool or value is None


def is_plain_name(key: Any) -> bool:
    """Whether a member's name means one thing to all readers, and is no odd spelling of another."""
    return (
        key.__class__ is str and key.isascii() and key.isidentifier() and key not in PROTOTYPE_KEYS
    )


def snapshot(args: dict[str, Any]) -> Snapshot:
    """Copy `args`, and find what is ambiguous in it. The input is not changed.

    Values that are no JSON (tuples, bytes, the host's own objects) are passed on as they are; no
    field is looked for in them.
    """
    copier = _Copier()
    return Snapshot(copier.mapping(args, None, 1), copier.odd_keys, copier.findings)


#: A place as the way back to the root, so that a pointer is written only for what is reported:
#: the place above and the last step. None is the root.
_Place: TypeAlias = tuple["_Place", str | int] | None


class _Copier:
    __slots__ = ("findings", "odd_keys")

    def __init__(self) -> None:
        self.odd_keys = False
        self.findings: list[Finding] = []

    def value(self, value: Any, at: _Place, depth: int) -> Any:
        kind = value.__class__
        if kind is str:
            if not value.isascii() and _has_surrogate(value):
                self.ambiguous(at, "holds half of a surrogate pair")
            return value
        if isinstance(value, dict):
            return self.mapping(value, at, depth + 1)
        if isinstance(value, list):
            return self.sequence(value, at, depth + 1)
        if isinstance(value, str):
            return self.value(str.__str__(value), at, depth)
        if kind is bool or value is None:
            return value
        if isinstance(value, int | float):
            why = _out_of_range(value)
            if why:
                self.ambiguous(at, why)
        return value

    def mapping(self, given: dict[Any, Any], at: _Place, depth: int) -> dict[str, Any]:
        if isinstance(given, DuplicateKeys):
            for key in given.duplicates:
                self.ambiguous((at, key), "is given twice")
        if depth > DEEPEST:
            self.ambiguous(at, f"is nested more than {DEEPEST} levels deep")
            return {}
        copy: dict[str, Any] = {}
        for key, value in given.items():
            if not isinstance(key, str):
                self.ambiguous(at, "has a key that is no text")
                continue
            if not (key.isascii() and key.isidentifier()):
                self.odd_keys = True
                if not key.isascii() and _has_surrogate(key):
                    self.ambiguous(at, "has a key that holds half of a surrogate pair")
            elif key in PROTOTYPE_KEYS:
                self.ambiguous((at, key), "is a name that JavaScript hosts treat specially")
            if value.__class__ is str and value.isascii():
                copy[key] = value
            else:
                copy[key] = self.value(value, (at, key), depth)
        return copy

    def sequence(self, given: list[Any], at: _Place, depth: int) -> list[Any]:
        if depth > DEEPEST:
            self.ambiguous(at, f"is nested more than {DEEPEST} levels deep")
            return []
        return [self.value(v, (at, n), depth) for n, v in enumerate(given)]

    def ambiguous(self, at: _Place, why: str) -> None:
        pointer = _pointer(at)
        self.findings.append(
            Finding(
                "args/ambiguous",
                "deny",
                pointer,
                f"{_named(pointer)} {why}",
                "Write these arguments so that every reader understands them alike.",
            )
        )


def _pointer(at: _Place) -> str:
    steps: list[str] = []
    while at is not None:
        at, step = at
        steps.append("/" + escape(str(step)))
    return "".join(reversed(steps))


def _named(at: str) -> str:
    last = at.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    if not at:
        return "the arguments object"
    return last if last.isascii() and last.isidentifier() else quoted(last)


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _out_of_range(number: float) -> str | None:
    """Why a number is one that readers take for different values, or None."""
    spelling = getattr(number, "spelling", "")
    if len(spelling.lstrip("-")) > LONGEST_NUMBER:
        return f"is a number of more than {LONGEST_NUMBER} digits"
    if isinstance(number, int):
        beyond = number.bit_length() > _FLOAT_BITS
    else:
        beyond = not math.isfinite(number) or (number == 0 and _has_digit(spelling))
    return "is a number outside the range of a float" if beyond else None


def _has_digit(spelling: str) -> bool:
    """Whether the mantissa of a spelling holds a digit other than zero."""
    mantissa = spelling.lower().partition("e")[0]
    return any(c in "123456789" for c in mantissa)

"""Values of calls as people see them: short, escaped, and plain about what is not known."""

from __future__ import annotations

from typing import Any, Final

from tool_intent.runtime.reading import Seq

_LONGEST: Final = 80
_MOST: Final = 5


def shown(value: Any) -> str:
    """A value on one line: a text in quotes, at most 80 characters of it; a list by its first
    elements; `unknown` for None."""
    match value:
        case None:
            return "unknown"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case Seq(items, complete):
            more = [] if complete or len(items) > _MOST else ["perhaps more"]
            return _listed(items, more)
        case tuple() if hasattr(value, "_asdict"):
            return _members(value._asdict())
        case dict():
            return _members(value)
        case tuple() | list() | frozenset():
            return _listed(tuple(value), [])
    return str(value)


def quoted(text: str, longest: int = _LONGEST) -> str:
    """A text in double quotes, cut short, with whatever does not print escaped."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return '"' + "".join(_ESCAPES.get(c) or _printable(c) for c in cut) + '"'


def shortened(text: str, longest: int) -> str:
    """The text of a rule on one line of at most `longest` characters."""
    plain = "".join(_printable(c) for c in text)
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"


_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
#: Members of a record that say again what others say.
_INNER: Final = frozenset({"shapes", "own", "more", "words", "program_path"})


def _printable(c: str) -> str:
    return c if c.isprintable() else f"\\u{{{ord(c):x}}}"


def _listed(items: tuple[Any, ...], more: list[str]) -> str:
    if len(items) > _MOST:
        more = [f"… {len(items) - _MOST} more"]
    return f"[{', '.join([shown(item) for item in items[:_MOST]] + more)}]"


def _members(record: dict[str, Any]) -> str:
    found = [(k.rstrip("_"), v) for k, v in record.items() if k not in _INNER]
    more = ["…"] if len(found) > _MOST else []
    return f"{{{', '.join([f'{k}: {shown(v)}' for k, v in found[:_MOST]] + more)}}}"

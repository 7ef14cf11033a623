"""JSON Pointers (RFC 6901), and how a place is written for people and models."""

from __future__ import annotations

_SPECIAL = frozenset(' "\\')


def escape(name: str) -> str:
    """A member name as a pointer token."""
    if "~" in name or "/" in name:
        return name.replace("~", "~0").replace("/", "~1")
    return name


def tokens(pointer: str) -> list[str]:
    """The unescaped tokens of a pointer; none for the root."""
    if not pointer:
        return []
    return [t.replace("~1", "/").replace("~0", "~") for t in pointer[1:].split("/")]


def spoken(pointer: str) -> str:
    """`/edits/1/rationale` as `edits[1].rationale`; "" for the root."""
    out = ""
    for token in tokens(pointer):
        if token.isascii() and token.isdigit() and out:
            out += f"[{token}]"
        elif token.isascii() and token.isidentifier():
            out += f".{token}" if out else token
        else:
            out += f"[{quoted(token)}]"
    return out


def quoted(text: str, longest: int = 80) -> str:
    """Text of unknown hands as ASCII in double quotes, cut to `longest` characters as shown."""
    shown = [
        c if c == "…" or (c.isascii() and c.isprintable() and c not in '"\\') else _escape(c)
        for c in text[: longest + 1]
    ]
    room = longest - sum(map(len, shown))
    if room < 0:
        while room < 1:
            room += len(shown.pop())
        shown.append("…")
    return f'"{"".join(shown)}"'


def plain(text: str, longest: int = 80) -> str:
    """`text` bare where it is a short printable ASCII word that needs no escape, else quoted."""
    if len(text) <= longest and text.isascii() and text.isprintable() and not _SPECIAL & set(text):
        return text
    return quoted(text, longest)


def _escape(c: str) -> str:
    return f"\\{c}" if c in '"\\' else f"\\u{{{ord(c):x}}}"

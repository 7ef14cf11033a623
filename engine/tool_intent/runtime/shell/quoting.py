r"""ANSI-C quoting (`$'\x72m'`) as bash decodes it."""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})"
    r"|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.))",
    re.DOTALL,
)
_SIMPLE: Final = dict(zip("abeEfnrtv\\'\"?", b"\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


def ansi_c(text: str) -> str:
    """The value of `$'text'`; bytes that are no UTF-8 come as lone surrogates.

    Like a C string it ends at the first NUL.
    """
    out = bytearray()
    start = 0
    for found in _ESCAPE.finditer(text):
        out += text[start : found.start()].encode("utf-8", "surrogatepass")
        out += _decoded(found)
        start = found.end()
    out += text[start:].encode("utf-8", "surrogatepass")
    return bytes(out.split(b"\0", 1)[0]).decode("utf-8", "surrogateescape")


def _decoded(found: re.Match[str]) -> bytes:
    simple, octal, hexadecimal, short, long, control = found.groups()
    if simple is not None:
        return bytes([_SIMPLE[simple]])
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    if hexadecimal is not None:
        return bytes([int(hexadecimal, 16)])
    if control is not None:
        return bytes([ord(control.upper()) & 0x1F]) if control.isascii() else control.encode()
    point = int(short if short is not None else long, 16)
    if point > 0x10FFFF:
        return b"\xff"
    return chr(point).encode("utf-8", "surrogatepass")

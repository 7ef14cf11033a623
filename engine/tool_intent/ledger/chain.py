"""The chain: each line carries the hash of the line before, and its own over the bytes as stored.

Whoever verifies hashes bytes that lie in the file; nobody has to write a record again in the same
way, in whatever language.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from tool_intent.ledger.encoding import encode

#: What the first line of a ledger, or of one that begins anew, names as the line before.
GENESIS: Final = "sha256:" + "0" * 64

_MARK: Final = b',"hash":"sha256:'
#: The length of `,"hash":"sha256:…"}`.
_TAIL: Final = len(_MARK) + 64 + len(b'"}')


def line(record: dict[str, Any]) -> tuple[bytes, str]:
    """The stored line of a record that has no hash yet, its line feed included, and the hash.

    The text is ASCII: what is no character by itself (half a surrogate pair) stays as it was said.
    Raises ValueError for NaN and the like.
    """
    payload = encode(record)[:-1].encode()
    digest = f"sha256:{sha256(payload).hexdigest()}"
    return b'%b,"hash":"%b"}\n' % (payload, digest.encode()), digest


def stated(raw: bytes) -> str | None:
    """The hash that a stored line gives as its own, None where it gives none at its end."""
    text = raw.rstrip(b"\r\n")
    tail = text[-_TAIL:]
    if not tail.startswith(_MARK) or not tail.endswith(b'"}'):
        return None
    return tail[len(_MARK) - len("sha256:") : -2].decode("ascii", "replace")


def holds(raw: bytes) -> bool:
    """Whether a stored line has the hash that it gives as its own."""
    text = raw.removesuffix(b"\n")
    return stated(text) == "sha256:" + sha256(text[:-_TAIL]).hexdigest()

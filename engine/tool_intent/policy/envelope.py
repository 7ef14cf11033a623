"""Envelopes of signatures: DSSE (Dead Simple Signing Envelope 1.0), in one spelling only.

The payload is JSON of the file's base name and SHA-256 and, if wanted, the last day and the one
repository that the signature is good for. What is spelt otherwise than `seal` spells it is refused,
so that whatever changes in an envelope is: DSSE itself would pass over what it does not know.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

PAYLOAD_TYPE: Final = "application/vnd.tool-intent.source+json"
#: Signatures in one envelope.
MOST_SIGNATURES: Final = 16
_FINGERPRINT: Final = len("SHA256:") + 43
_DAY: Final = 86_400.0


class Invalid(Exception):
    """Why a signature vouches for nothing: a clause for people."""


class Statement(NamedTuple):
    """What a signature is of: a file's base name and its SHA-256 in hexadecimal, the last day the
    signature is good on (ISO 8601, UTC) and the name of the repository it is good for."""

    file: str
    sha256: str
    expires: str | None
    repository: str | None

    def payload(self) -> bytes:
        """The statement as an envelope holds it."""
        said = {key: value for key, value in self._asdict().items() if value is not None}
        return json.dumps(said, separators=(",", ":"), sort_keys=True).encode()


def pre_authentication(payload: bytes, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """The bytes that a DSSE signature signs (PAE)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def seal(payload: bytes, signatures: Sequence[tuple[str, bytes]]) -> bytes:
    """The envelope of a payload and its signatures, each a key's fingerprint and the signature."""
    from base64 import b64encode

    envelope = {
        "payload": b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [
            {"keyid": keyid, "sig": b64encode(signature).decode()}
            for keyid, signature in signatures
        ],
    }
    return (json.dumps(envelope, separators=(",", ":")) + "\n").encode()


def unseal(data: bytes) -> tuple[bytes, list[tuple[str, bytes]]]:
    """The payload and the signatures of an envelope, of which nothing is verified. Raises
    Invalid."""
    from base64 import b64decode

    try:
        envelope = _parsed(data)
        kind = envelope["payloadType"]
        payload = b64decode(envelope["payload"], validate=True)
        signatures = [
            (each["keyid"], b64decode(each["sig"], validate=True))
            for each in envelope["signatures"]
        ]
        sealed = seal(payload, signatures)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Invalid("its signature file is no envelope; sign the file again") from None
    if kind != PAYLOAD_TYPE:
        raise Invalid("its signature is of something else than a source of tool-intent")
    if data != sealed:
        raise Invalid("its signature file was changed after signing; sign the file again")
    if not 0 < len(signatures) <= MOST_SIGNATURES:
        raise Invalid(
            f"its envelope holds {len(signatures)} signatures, not 1 to {MOST_SIGNATURES}"
        )
    if not all(_is_fingerprint(keyid) for keyid, _ in signatures):
        raise Invalid("its signature names no key by its SHA256 fingerprint; sign the file again")
    return payload, signatures


def stated(payload: bytes) -> Statement:
    """What a payload states; a key that is not known might limit it, and is refused. Raises
    Invalid."""
    try:
        said = _parsed(payload)
        statement = Statement(
            said["file"], said["sha256"], said.get("expires"), said.get("repository")
        )
        whole = statement.payload() == payload
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Invalid("what its signature states cannot be read; sign the file again") from None
    if not whole or not all(isinstance(value, str) and value for value in said.values()):
        raise Invalid("its signature states more than is understood here; sign the file again")
    return statement


def end_of(day: str) -> float:
    """When a day (YYYY-MM-DD) ends in UTC, in seconds since 1970. Raises ValueError."""
    from datetime import date

    parsed = date.fromisoformat(day)
    if parsed.isoformat() != day:
        raise ValueError(day)
    return (parsed - date(1970, 1, 1)).days * _DAY + _DAY


def _parsed(data: bytes) -> Any:
    return json.loads(data.decode())


def _is_fingerprint(keyid: object) -> bool:
    # Anyone may have written it, and that of a key that is not known is shown.
    return (
        isinstance(keyid, str)
        and len(keyid) == _FINGERPRINT
        and keyid.startswith("SHA256:")
        and keyid.isascii()
        and keyid[7:].replace("+", "a").replace("/", "a").isalnum()
    )

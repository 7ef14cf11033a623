"""Signatures of sources: a pinned key vouches for the bytes of a file in the place of its owner.

Beside `waivers.yaml` stands `waivers.yaml.sig`, whose form is that of `envelope`. A signature has
no age: an older version of a file with its older signature is as good, until that expires.

`cryptography` (the extra `sign`) is imported where a signature is checked or made, not before.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from tool_intent.policy import sources
from tool_intent.policy.envelope import (
    Invalid,
    Statement,
    end_of,
    pre_authentication,
    seal,
    stated,
    unseal,
)
from tool_intent.policy.keys import MOST_BYTES, Key, fingerprint, pinned_keys

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["CannotSign", "Key", "Refusal", "Signature", "pinned_keys", "sign", "signed_by"]

SUFFIX: Final = ".sig"
INSTALL: Final = "install `tool-intent[sign]`"


class Signature(NamedTuple):
    """A pinned key vouches for a file: the key's name, and the last day (ISO 8601) and the
    repository it does so for, if the signature limits them."""

    signer: str
    expires: str | None
    repository: str | None


class Refusal(NamedTuple):
    """A signature that vouches for nothing. `reason` is a clause for people."""

    reason: str


class CannotSign(Exception):
    """A file cannot be signed; the message says why and what to do."""


# --- checking ------------------------------------------------------------------------------------


def signed_by(
    path: str, data: bytes, keys: Sequence[Key], *, now: float, repository: str | None = None
) -> Signature | Refusal | None:
    """Which pinned key vouches, in `<path>.sig`, for `data` as the contents of `path`.

    None where there is no such file, a Refusal where it vouches for nothing at `now` (seconds since
    1970, UTC). `repository` is the name of the one this source belongs to; a signature that is
    limited to a repository is refused elsewhere. Never raises.
    """
    try:
        envelope = _read_envelope(path + SUFFIX)
        if envelope is None:
            return None
        signer, payload = _verified(envelope, keys)
        return _vouches(stated(payload), signer.name, path, data, now, repository)
    except Invalid as refused:
        return Refusal(str(refused))


def _read_envelope(path: str) -> bytes | None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    shown = os.path.basename(path)
    try:
        # A device does things when it is opened: see first what it is.
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise Invalid(f"`{shown}` is no regular file; put the signature itself there")
        descriptor = os.open(path, flags)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Invalid(f"`{shown}` is no regular file; put the signature itself there")
            data = _read_capped(descriptor)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise Invalid(f"`{shown}` cannot be read: {why}") from None
    except ValueError:
        return None  # a NUL in the path, which no file has
    if len(data) > MOST_BYTES:
        raise Invalid(f"`{shown}` is larger than {MOST_BYTES >> 10} KiB")
    return data


def _read_capped(descriptor: int) -> bytes:
    data = b""
    while len(data) <= MOST_BYTES and (chunk := os.read(descriptor, MOST_BYTES + 1 - len(data))):
        data += chunk
    return data


def _verified(data: bytes, keys: Sequence[Key]) -> tuple[Key, bytes]:
    """The first pinned key that signed an envelope, and the payload."""
    payload, signatures = unseal(data)
    if not keys:
        raise Invalid("it is signed, but no key is pinned on this machine")
    known: dict[str, Key] = {}
    for key in keys:
        if key.public and (key.fingerprint not in known or not key.reason):
            known[key.fingerprint] = key
    signers = [(known[keyid], signed) for keyid, signed in signatures if keyid in known]
    if not signers:
        raise Invalid(f"it is signed by a key that this machine does not pin ({signatures[0][0]})")
    # One of a pinned key that does not hold is a change, whatever else holds.
    message = pre_authentication(payload)
    for key, signed in signers:
        if not _holds(key.public, signed, message):
            raise Invalid(f"the signature by `{key.name}` is not of what its envelope states")
    for key, _ in signers:
        if not key.reason:
            return key, payload
    key = signers[0][0]
    raise Invalid(f"it is signed by `{key.name}`, a key that does not count: {key.reason}")


def _holds(public: bytes, signature: bytes, message: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise Invalid(f"its signature cannot be checked here; {INSTALL}") from None
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def _vouches(
    said: Statement, signer: str, path: str, data: bytes, now: float, repository: str | None
) -> Signature:
    name = os.path.basename(path)
    if said.file != name:
        raise Invalid(f"the signature by `{signer}` is of a file `{said.file}`, not of `{name}`")
    if said.sha256 != sources.fingerprint(data):
        raise Invalid(f"its contents are not those that `{signer}` signed; sign the file again")
    if said.expires is not None and not now < _end_of(said.expires):
        raise Invalid(f"the signature by `{signer}` expired at the end of {said.expires} (UTC)")
    if said.repository is not None and said.repository != repository:
        here = f"this is `{repository}`" if repository else "this one has no name"
        raise Invalid(
            f"the signature by `{signer}` is for the repository `{said.repository}`; {here}"
        )
    return Signature(signer, said.expires, said.repository)


def _end_of(day: str) -> float:
    try:
        return end_of(day)
    except ValueError:
        raise Invalid(f"its signature expires on `{day}`, which is no day (YYYY-MM-DD)") from None


# --- signing -------------------------------------------------------------------------------------


def sign(
    path: str,
    private_key_path: str,
    *,
    expires: str | None = None,
    repository: str | None = None,
    passphrase: Callable[[], bytes] | None = None,
) -> str:
    """Write `<path>.sig`, the signature of a file as it is now, and return its path.

    `expires` is the last day it is good on (YYYY-MM-DD, UTC), `repository` the one it is good for.
    The private key is Ed25519, PEM or OpenSSH; `passphrase` is called where it has one. Raises
    CannotSign.
    """
    if expires is not None:
        _check_day(expires)
    if repository == "":
        raise CannotSign("the name of the repository is empty; leave it out or give one")
    private = _private_key(private_key_path, passphrase)
    digest = sources.fingerprint(_readable(path))
    payload = Statement(os.path.basename(path), digest, expires, repository).payload()
    keyid = fingerprint(private.public_key().public_bytes_raw())
    signed = private.sign(pre_authentication(payload))
    _write(path + SUFFIX, seal(payload, [(keyid, signed)]))
    return path + SUFFIX


def _check_day(day: str) -> None:
    try:
        end_of(day)
    except ValueError:
        raise CannotSign(f"`{day}` is no day; write it as YYYY-MM-DD") from None


def _readable(path: str) -> bytes:
    try:
        return sources.read(path, "org")
    except sources.Unreadable as error:
        raise CannotSign(f"`{path}` cannot be read: {error.reason}") from None


def _private_key(path: str, passphrase: Callable[[], bytes] | None) -> Ed25519PrivateKey:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise CannotSign(f"to sign, {INSTALL}") from None
    data = _readable(path)
    is_ssh = b"OPENSSH PRIVATE KEY" in data
    load = serialization.load_ssh_private_key if is_ssh else serialization.load_pem_private_key
    try:
        try:
            key = load(data, None)
        except TypeError:  # it has a passphrase
            if passphrase is None:
                raise CannotSign(f"`{path}` has a passphrase, which was not given") from None
            key = load(data, passphrase())
    except UnsupportedAlgorithm:
        raise CannotSign(f"`{path}` cannot be opened with what is installed; {INSTALL}") from None
    except (ValueError, TypeError):
        raise CannotSign(f"`{path}` holds no private key, or the passphrase is not its") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise CannotSign(f"`{path}` is no Ed25519 key; make one with `ssh-keygen -t ed25519`")
    return key


def _write(path: str, data: bytes) -> None:
    """Put a whole file in place of what is there, and of a link rather than of what it leads to."""
    from tempfile import mkstemp

    try:
        descriptor, fresh = mkstemp(dir=os.path.dirname(path) or os.curdir, prefix=".sig-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), 0o644)
            os.replace(fresh, path)
        except OSError:
            os.unlink(fresh)
            raise
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise CannotSign(f"`{path}` cannot be written: {why}") from None

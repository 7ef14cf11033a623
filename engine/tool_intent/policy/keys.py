"""Public keys that the machine folder pins: who may vouch for a source in the place of its owner.

Reading them needs no cryptography, only their two written forms.
"""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from tool_intent.policy import sources, trust
from tool_intent.policy.sources import Unreadable

FOLDER: Final = "keys"
SUFFIX: Final = ".pub"
#: Bytes of a file with a key or a signature.
MOST_BYTES: Final = 1 << 16

_TYPE: Final = b"ssh-ed25519"
#: What stands before the key in its DER form (RFC 8410).
_DER_PREFIX: Final = bytes.fromhex("302a300506032b6570032100")
_PEM_BEGIN: Final = "-----BEGIN PUBLIC KEY-----"
_PEM_END: Final = "-----END PUBLIC KEY-----"
_LENGTH: Final = 32


class Key(NamedTuple):
    """An Ed25519 public key found in a key folder: the path of its file and its 32 bytes.

    One with a `reason` does not count, and that says why; its bytes may be empty.
    """

    path: str
    public: bytes
    reason: str

    @property
    def name(self) -> str:
        """The file's name without `.pub`: who signs with it, for people."""
        return os.path.basename(self.path).removesuffix(SUFFIX)

    @property
    def fingerprint(self) -> str:
        """`SHA256:` and the digest of the key as OpenSSH shows it (`ssh-keygen -l`)."""
        return fingerprint(self.public)


def pinned_keys(machine: str) -> tuple[Key, ...]:
    """The keys in `<machine>/keys/*.pub`, by name, those that do not count among them.

    A key counts where its file holds one Ed25519 key, in OpenSSH's form or PEM, and the user of
    this process cannot write it. No folder, no keys; one that cannot be read is an entry with its
    reason.
    """
    folder = os.path.join(machine, FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if _is_key_file(name))
    except FileNotFoundError:
        return ()
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        return (Key(folder, b"", f"the folder `{folder}` cannot be read: {why}"),)
    return tuple(_pinned(os.path.join(folder, name)) for name in names)


def _is_key_file(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.startswith(".")


def _pinned(path: str) -> Key:
    # Asked before reading: see `trust`.
    writable = trust.why_writable(path)
    try:
        public = parse_key(sources.read(path, "org"))
    except Unreadable as error:
        return Key(path, b"", f"it cannot be read: {error.reason}")
    except ValueError as error:
        return Key(path, b"", str(error))
    return Key(path, public, writable or "")


def fingerprint(public: bytes) -> str:
    """The fingerprint of a public key of 32 bytes, as OpenSSH shows it."""
    from base64 import b64encode
    from hashlib import sha256

    return "SHA256:" + b64encode(sha256(_ssh_blob(public)).digest()).decode().rstrip("=")


def parse_key(data: bytes) -> bytes:
    """The 32 bytes of the Ed25519 public key that a file holds.

    Raises ValueError with a clause that says what the file holds instead.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES >> 10} KiB")
    lines = [line.strip() for line in data.decode("latin-1").split("\n")]
    lines = [line for line in lines if line and not line.startswith("#")]
    if lines and lines[0] == _PEM_BEGIN and lines[-1] == _PEM_END:
        return _from_der(_decoded("".join(lines[1:-1])))
    if len(lines) > 1:
        raise ValueError("it holds more than one line; give each key a file of its own")
    words = lines[0].split() if lines else []
    if len(words) < 2 or "-----" in lines[0]:
        raise ValueError("it holds no public key; put the contents of an Ed25519 `.pub` file there")
    if words[0] != _TYPE.decode():
        raise ValueError("it is no `ssh-ed25519` key; make one with `ssh-keygen -t ed25519`")
    return _from_blob(_decoded(words[1]))


def _decoded(text: str) -> bytes:
    from base64 import b64decode

    try:
        return b64decode(text, validate=True)
    except ValueError:
        raise ValueError("its key is not in base64; copy it again") from None


def _from_blob(blob: bytes) -> bytes:
    public = blob[-_LENGTH:]
    if blob != _ssh_blob(public) or len(public) != _LENGTH:
        raise ValueError("its key is not a whole Ed25519 key; copy it again")
    return public


def _from_der(der: bytes) -> bytes:
    public = der[len(_DER_PREFIX) :]
    if not der.startswith(_DER_PREFIX) or len(public) != _LENGTH:
        raise ValueError("it is no Ed25519 key; make one with `ssh-keygen -t ed25519`")
    return public


def _ssh_blob(public: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in (_TYPE, public))

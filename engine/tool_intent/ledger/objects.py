"""The contents of files before and after calls, by the name that git gives them."""

from __future__ import annotations

import os
import stat
import zlib
from contextlib import suppress
from hashlib import sha1, sha256
from time import time
from typing import Final

#: Bytes of a content that is kept; of a larger one only its name is known.
LARGEST: Final = 64 << 20
_CHUNK: Final = 1 << 20
_SHA256_DIGITS: Final = 64
#: Seconds after which nobody is still at a draft.
_ABANDONED: Final = 3_600.0
#: Speed counts more than size: this stands between a call and its tool.
_LEVEL: Final = 1


def oid_of(data: bytes) -> str:
    """The git blob id of a content: 40 hexadecimal digits."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def git_id_of(data: bytes, digits: int) -> str:
    """The blob id of a content in a repository whose ids have 40 or 64 hexadecimal digits. A ledger
    names contents by the shorter ones, whatever the repository has."""
    if digits == _SHA256_DIGITS:
        return sha256(b"blob %d\0" % len(data) + data).hexdigest()
    return oid_of(data)


class ObjectStore:
    """A folder of contents: `objects/ab/cdef…`, each the zlib stream of its git blob form
    (`blob N`, a zero byte, N bytes). Contents are private to this user (0600). They are written in
    `objects/drafts` and moved from there, so that there is no half of one."""

    def __init__(self, folder: str) -> None:
        """`folder` is the ledger's, and need not be there yet."""
        self._folder = os.path.join(folder, "objects")
        self._drafts = os.path.join(self._folder, "drafts")
        self._is_cleared = False

    def put(self, data: bytes) -> str:
        """Keep a content; returns its id. One of more than `LARGEST` bytes is only named.

        Raises OSError where it cannot be written.
        """
        oid = oid_of(data)
        if len(data) <= LARGEST:
            self._write(oid, data)
        return oid

    def put_file(self, path: str) -> str | None:
        """Keep what a file holds; returns its id, None where there is no regular file.

        A link is followed, as the tools do; a device or pipe is never read. Raises OSError where
        it cannot be read, or its content not be written.
        """
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            return None
        with open(descriptor, "rb") as file:
            if status.st_size <= LARGEST:
                return self.put(file.read(LARGEST + 1))
            digest = sha1(b"blob %d\0" % status.st_size, usedforsecurity=False)
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
            return digest.hexdigest()

    def get(self, oid: str) -> bytes | None:
        """The content with an id; None where it is not kept, or is not what its name says."""
        if len(oid) != 40 or not oid.isascii() or not oid.isalnum():
            return None
        try:
            with open(self._path(oid), "rb") as file:
                packed = file.read(LARGEST + _CHUNK)
            unpacker = zlib.decompressobj()
            form = unpacker.decompress(packed, LARGEST + 64)
        except (OSError, zlib.error):
            return None
        _, _, data = form.partition(b"\0")
        return data if oid_of(data) == oid else None

    def _path(self, oid: str) -> str:
        return os.path.join(self._folder, oid[:2], oid[2:])

    def _write(self, oid: str, data: bytes) -> None:
        path = self._path(oid)
        if os.path.exists(path):
            return
        for folder in (
            os.path.dirname(self._folder),
            self._folder,
            self._drafts,
            os.path.dirname(path),
        ):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        self._clear()
        packed = zlib.compress(b"blob %d\0" % len(data) + data, _LEVEL)
        try:
            self._place(packed, path)
        except FileNotFoundError:
            # Stopped for so long that another writer took the draft for one that nobody finishes.
            self._place(packed, path)

    def _place(self, packed: bytes, path: str) -> None:
        draft = os.path.join(self._drafts, f"{os.getpid()}.{os.urandom(8).hex()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            with open(os.open(draft, flags, 0o600), "wb") as file:
                file.write(packed)
            os.replace(draft, path)
        except OSError:
            with suppress(OSError):
                os.remove(draft)
            raise

    def _clear(self) -> None:
        """Remove, once for this store, what writers left that were killed while they wrote."""
        if self._is_cleared:
            return
        self._is_cleared = True
        before = time() - _ABANDONED
        with suppress(OSError), os.scandir(self._drafts) as drafts:
            for draft in drafts:
                with suppress(OSError):
                    if draft.stat(follow_symlinks=False).st_mtime < before:
                        os.remove(draft.path)

"""Whole files of the workspace: read once, or put in place at one stroke."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from tool_intent.tools.model import ToolError
from tool_intent.tools.wording import shown
from tool_intent.tools.workspace import Place, missing, names

_LISTED: Final = 10
_NO_TEMPORARY: Final = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}

_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISLNK, "a symbolic link put there meanwhile"),
)


class Content(NamedTuple):
    """The bytes of a file, and what the system said of it as they were read."""

    data: bytes
    status: os.stat_result


def find(place: Place) -> os.stat_result | None:
    """What the system says of the regular file at `place`, or None if there is nothing.

    Raises `ToolError` for a folder and for anything else that is no regular file.
    """
    try:
        status = os.lstat(place.name, dir_fd=place.folder)
    except FileNotFoundError:
        return None
    _regular(place, status.st_mode)
    return status


def read_file(place: Place, largest: int) -> Content:
    """The regular file at `place`, of at most `largest` bytes. Raises `ToolError`, `OSError`."""
    if find(place) is None:
        raise ToolError(missing(place))
    # A pipe or device swapped in must not block the open: it is told apart right after.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    with open(os.open(place.name, flags, dir_fd=place.folder), "rb") as file:
        status = os.fstat(file.fileno())
        _regular(place, status.st_mode)
        data = file.read(largest + 1) if status.st_size <= largest else b""
    if max(status.st_size, len(data)) > largest:
        raise ToolError(
            f"{place.shown} is larger than {largest >> 20} MiB; "
            "use bash for it (sed, head, tail, grep)."
        )
    return Content(data, status)


def text_only(place: Place, data: bytes) -> None:
    """Raises `ToolError` if `data` is no text: it holds a NUL in its first 8,000 bytes."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ToolError(f"{place.shown} is UTF-16 text; convert it to UTF-8 with bash (iconv).")
    if b"\0" in data[:8_000]:
        raise ToolError(
            f"{place.shown} is a binary file of {len(data):,} bytes; "
            "look at it with bash (file, xxd, strings)."
        )


def encoded(text: str, argument: str) -> bytes:
    """`text` as UTF-8. Raises `ToolError` that names `argument` for a lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{argument} holds a lone surrogate at character {error.start + 1:,}, "
            "which UTF-8 cannot; send the character itself."
        ) from None


def replace_file(place: Place, data: bytes, old: os.stat_result | None) -> None:
    """Put `data` at `place`, so that a crash at any moment leaves the old file or the new one.

    `old` is what was found there: its permissions are kept (set-user-ID and set-group-ID aside),
    and its owner where the system lets us; a new file gets what the umask leaves. Access lists and
    other hard links are not kept.
    Raises `ToolError` if the file is write-protected or changed since, and `OSError`.
    """
    if old is not None and not os.access(
        place.name, os.W_OK, dir_fd=place.folder, effective_ids=True
    ):
        raise ToolError(
            f"{place.shown} is write-protected for this user; "
            "choose another file or ask for its permissions to be changed."
        )
    try:
        _through_nameless(place, data, old)
    except OSError as error:
        if error.errno not in _NO_TEMPORARY:
            raise
        _through_named(place, data, old)
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=place.folder)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _through_nameless(place: Place, data: bytes, old: os.stat_result | None) -> None:
    """By way of a file without a name, which the system frees when the process dies.

    Only between `link` and `rename` it has one, complete and the same for every writer of this
    place, so what a crash leaves there the next writer clears away.
    """
    target = os.open(
        ".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, _first_mode(old), dir_fd=place.folder
    )
    try:
        _fill(target, data, old)
        source = f"/proc/self/fd/{target}"
        if old is None:
            with suppress(FileExistsError):
                os.link(source, place.name, dst_dir_fd=place.folder, follow_symlinks=True)
                return
        _unchanged(place, old)
        digest = hashlib.sha256(place.name.encode(errors="surrogateescape")).hexdigest()
        _swap_in(place, source, f".{digest[:16]}.tool-intent.tmp")
    finally:
        os.close(target)


def _swap_in(place: Place, source: str, name: str) -> None:
    while True:
        try:
            os.link(source, name, dst_dir_fd=place.folder, follow_symlinks=True)
            break
        except FileExistsError:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=place.folder)
    try:
        os.rename(name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except FileNotFoundError:
        # Another writer took the name for a leftover, and a nameless file is named only once:
        # the named road is left.
        raise
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=place.folder)
        raise


def _through_named(place: Place, data: bytes, old: os.stat_result | None) -> None:
    """By way of a named temporary file, where the file system knows no other; a crash leaves it."""
    name = f".{secrets.token_hex(8)}.tool-intent.tmp"
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    target = os.open(name, flags, _first_mode(old), dir_fd=place.folder)
    try:
        _fill(target, data, old)
        _unchanged(place, old)
        os.rename(name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=place.folder)
        raise
    finally:
        os.close(target)


def _first_mode(old: os.stat_result | None) -> int:
    """Nobody else reads the successor of a private file, not even while it is written."""
    return 0o666 if old is None else 0o600


def _fill(target: int, data: bytes, old: os.stat_result | None) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
    if old is not None:
        with suppress(PermissionError):
            os.fchown(target, old.st_uid, old.st_gid)
        # A write by any other road clears these two bits as well.
        os.fchmod(target, stat.S_IMODE(old.st_mode) & ~(stat.S_ISUID | stat.S_ISGID))
    os.fsync(target)


def _unchanged(place: Place, old: os.stat_result | None) -> None:
    now = find(place)
    if old is None or now is None or _stamp(now) == _stamp(old):
        return
    raise ToolError(
        f"{place.shown} was changed by someone else meanwhile; nothing was written. "
        "Read it again and send a new call."
    )


def _stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    return (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)


def _regular(place: Place, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise ToolError(_folder(place))
    kind = next((words for holds, words in _KINDS if holds(mode)), "a device")
    raise ToolError(f"{place.shown} is {kind}, not a regular file; name a regular file.")


def _folder(place: Place) -> str:
    """That `place` is a folder, with some of what it holds."""
    try:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        folder = os.open(place.name, flags, dir_fd=place.folder)
    except OSError:
        held: list[str] = []
    else:
        held = sorted(names(Place(folder, ".", place.shown)))
        os.close(folder)
    more = f" and {len(held) - _LISTED} more" if len(held) > _LISTED else ""
    listed = f" ({', '.join(map(shown, held[:_LISTED]))}{more})" if held else ""
    return f"{place.shown} is a folder; name a file in it{listed}, or list it with bash (ls)."

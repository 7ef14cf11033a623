"""The files that a call may change, before and after it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from tool_intent.ledger.commanded import is_plain, places
from tool_intent.ledger.edits import edits, versions
from tool_intent.ledger.objects import ObjectStore
from tool_intent.ledger.place import LedgerError
from tool_intent.ledger.recorder import Changed, Edit, Image, Told
from tool_intent.ledger.touching import texts
from tool_intent.ledger.values import MOST
from tool_intent.runtime.decision import said


def images(told: Told, cwd: str, root: str, store: ObjectStore) -> tuple[Image, ...]:
    """The files that a call may write, with their contents as they are now, which are kept: those
    that its arguments name, and those that its shell command writes or deletes below `root`.

    `cwd` is where relative paths and commands start; `root` is what recorded paths are relative to,
    if they lie below. A file that cannot be read is left out: no tool will change it either. Raises
    LedgerError where a content cannot be kept.
    """
    found: dict[str, Image] = {}
    for image in (*_named(told, cwd, root), *_commanded(told, cwd, root)):
        before = found.get(image.place)
        if before is not None:
            found[image.place] = before._replace(
                entries=tuple(dict.fromkeys((*before.entries, *image.entries))),
                edits=(*before.edits, *image.edits),
            )
            continue
        if len(found) == MOST:
            break
        stamp = _stamp(image.place)
        try:
            found[image.place] = image._replace(pre=_kept(store, image.place), stamp=stamp)
        except PermissionError:
            continue
    return tuple(found.values())


def unwritten(images: Iterable[Image]) -> tuple[Image, ...]:
    """The images of files that nobody wrote to since. To be asked when the decision is in the
    ledger: what a call that ended before it did is then no part of what this one does."""
    return tuple(image for image in images if image.stamp == _stamp(image.place))


def changed(image: Image, store: ObjectStore) -> Iterator[Changed]:
    """What became of a file: one step for each replacement that made it, if that is known, else one
    for all. Nothing where it cannot be looked at. Raises LedgerError as `images`."""
    if image.commanded and not is_plain(image.place):
        return
    try:
        post = _kept(store, image.place)
    except PermissionError:
        return
    if image.commanded and image.pre is None and post is None:
        return
    steps = list(_steps(image, post, store)) if image.edits and image.pre != post else []
    yield from steps or [Changed(image.path, image.pre, post, image.entries)]


def _named(told: Told, start: str, root: str) -> Iterator[Image]:
    if "write" not in told.kinds:
        return
    spoken = [str(entry["at"]) for entry in said(told.decision)]
    asked = tuple(edits(told))
    for pointer, path in texts(told, "path"):
        if not path or "\0" in path:
            continue
        place = os.path.realpath(os.path.join(start, os.path.expanduser(path)))
        about = pointer.rpartition("/")[0]
        entries = tuple(at for at in spoken if not about or at == about or not at)
        here = tuple(one for one in asked if not about or one.at == about)
        yield Image(place, _shown(place, root), None, entries, here)


def _commanded(told: Told, start: str, root: str) -> Iterator[Image]:
    commands = [text for _, text in texts(told, "command")]
    for place in places(commands, start, root):
        yield Image(place, _shown(place, root), None, commanded=True)


def _stamp(place: str) -> tuple[int, ...]:
    try:
        found = os.stat(place)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _shown(place: str, root: str) -> str:
    shown = place[len(root) + 1 :] if place.startswith(f"{root}{os.sep}") else place
    # Half a character in a name is nothing that JSON readers agree on.
    return shown.encode("utf-8", "replace").decode("utf-8")


def _steps(image: Image, post: str | None, store: ObjectStore) -> Iterator[Changed]:
    """A file over the replacements of one call, which keeps what it was in between."""
    before, after = (None if oid is None else store.get(oid) for oid in (image.pre, post))
    if before is None or after is None:
        return
    found = versions(image.edits, before, after) or []
    pre = _put(store, found[0].content, image.place) if found else None
    for version in found[1:]:
        oid = _put(store, version.content, image.place)
        yield Changed(image.path, pre, oid, _entries(image, version.edits))
        pre = oid


def _entries(image: Image, numbers: tuple[int, ...]) -> tuple[str, ...]:
    """The places whose reasons are those of some replacements."""
    of: list[Edit] = [image.edits[number] for number in numbers]
    call = [at for at in image.entries if not at]
    return tuple(dict.fromkeys([*call, *(edit.at for edit in of)]))


def _kept(store: ObjectStore, place: str) -> str | None:
    """Keep what a file holds; its id, or None where there is no file.

    Raises PermissionError where it may not be read, LedgerError where its content is not kept.
    """
    try:
        return store.put_file(place)
    except OSError as error:
        if error.filename == place:
            raise PermissionError(error.errno, error.strerror, place) from None
        raise _unkept(error, place) from None


def _put(store: ObjectStore, content: bytes, place: str) -> str:
    try:
        return store.put(content)
    except OSError as error:
        raise _unkept(error, place) from None


def _unkept(error: OSError, place: str) -> LedgerError:
    return LedgerError(f"{place}: its content cannot be kept ({error.strerror})")

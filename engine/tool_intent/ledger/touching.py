"""What a call touches, as far as the roles of its tool's arguments tell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tool_intent.ledger.objects import ObjectStore
from tool_intent.ledger.place import LedgerError
from tool_intent.ledger.recorder import Image, Told
from tool_intent.runtime.pointer import escape

#: Arguments that are kept where no catalog knows the tool: what a call is about.
SUBJECTS: Final = ("path", "file_path", "command", "url")
#: Places of one call that are looked at.
_MOST: Final = 256


def values(args: Any, paths: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, Any]]:
    """What is at argument paths (`("edits", "[]", "path")`), each with its JSON Pointer."""
    for path in paths:
        found: list[tuple[str, Any]] = [("", args)]
        for step in path:
            below: list[tuple[str, Any]] = []
            for pointer, value in found:
                if step == "[]" and isinstance(value, list):
                    below += [(f"{pointer}/{n}", v) for n, v in enumerate(value[:_MOST])]
                elif step != "[]" and isinstance(value, dict) and step in value:
                    below.append((f"{pointer}/{escape(step)}", value[step]))
            found = below[:_MOST]
        yield from found


def texts(told: Told, role: str) -> list[tuple[str, str]]:
    """The texts that play a role, each with its JSON Pointer; a list counts as its elements."""
    found: list[tuple[str, str]] = []
    for pointer, value in values(told.call.args, told.roles.get(role, ())):
        if isinstance(value, str):
            found.append((pointer, value))
        elif isinstance(value, list):
            found += [(f"{pointer}/{n}", v) for n, v in enumerate(value) if isinstance(v, str)]
    return found[:_MOST]


def kept_arguments(told: Told, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the allow-list names: those with the role of a path, command or URL, those
    that are commonly called so, and those that policies add. `args` are without fields."""
    roles = {
        path[0]
        for role in ("path", "command", "url")
        for path in told.roles.get(role, ())
        if len(path) == 1
    }
    wanted = roles | set(SUBJECTS) | set(told.keeping.keep)
    return {name: value for name, value in args.items() if name in wanted}


def actions(told: Told) -> list[dict[str, str]]:
    """What the call does, `{"kind", "path" or "command"}` each."""
    found: list[dict[str, str]] = []
    if "read" in told.kinds or "write" in told.kinds:
        kind = "write" if "write" in told.kinds else "read"
        found += [{"kind": kind, "path": path} for _, path in texts(told, "path")]
    if "exec" in told.kinds:
        found += [{"kind": "exec", "command": text} for _, text in texts(told, "command")]
    if "net" in told.kinds:
        found += [{"kind": "net", "path": url} for _, url in texts(told, "url")]
    return found


def starting(told: Told, cwd: str) -> str:
    """Where relative paths of a call start: `cwd`, unless its host tells."""
    own = (told.call.context or {}).get("cwd")
    return own if isinstance(own, str) and os.path.isabs(own) else cwd


def relative_start(told: Told) -> str | None:
    """Where a call starts as its host tells, if nobody can know from that where it is."""
    own = (told.call.context or {}).get("cwd")
    return (own or ".") if isinstance(own, str) and not os.path.isabs(own) else None


def images(told: Told, cwd: str, root: str, store: ObjectStore) -> tuple[Image, ...]:
    """The files that a call may write, with their contents as they are now, which are kept.

    `cwd` is where relative paths start; `root` is what recorded paths are relative to, if they lie
    below. A file that cannot be read is left out: no tool will change it either. Raises
    LedgerError where a content cannot be kept.
    """
    if "write" not in told.kinds:
        return ()
    spoken = [str(entry["at"]) for entry in told.decision.provenance]
    found: dict[str, Image] = {}
    for pointer, path in texts(told, "path"):
        if not path or "\0" in path:
            continue
        place = os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))
        try:
            pre = kept_content(store, place)
        except PermissionError:
            continue
        shown = place[len(root) + 1 :] if place.startswith(f"{root}{os.sep}") else place
        # Half a character in a name is nothing that JSON readers agree on.
        shown = shown.encode("utf-8", "replace").decode("utf-8")
        about = pointer.rpartition("/")[0]
        entries = tuple(at for at in spoken if not about or at == about or not at)
        found.setdefault(place, Image(place, shown, pre, entries))
    return tuple(found.values())


def kept_content(store: ObjectStore, place: str) -> str | None:
    """Keep what a file holds; its id, or None where there is no file.

    Raises PermissionError where it may not be read, LedgerError where its content is not kept.
    """
    try:
        return store.put_file(place)
    except OSError as error:
        if error.filename == place:
            raise PermissionError(error.errno, error.strerror, place) from None
        raise LedgerError(f"{place}: its content cannot be kept ({error.strerror})") from None

"""Attribution frozen into git notes, for clones that have no ledger.

A note of a commit holds, for files that the commit touched, who wrote each line, and what those
calls said. Its lines belong to a content, not to the commit: after a squash or a rebase the note
still answers for every file that has the same content, or goes on from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tool_intent.ledger.answering import Answer, Said, Sealed
from tool_intent.ledger.attribution.hops import Author
from tool_intent.ledger.attribution.model import UNTRACKED, Attributed, Owned, Touch, count_lines
from tool_intent.ledger.attribution.runs import Run
from tool_intent.ledger.objects import git_id_of, oid_of

VERSION: Final = "tool-intent.seal/1"
#: The notes' reference, and what follows `git notes --ref`.
REF: Final = "refs/notes/tool-intent"


def note_of(answers: Mapping[str, Answer], digits: int) -> str:
    """The note for files, by their paths: one line of JSON, in ASCII. It names contents as the
    repository does, whose ids have so many digits."""
    calls: dict[str, Said] = {}
    for answer in answers.values():
        calls |= answer.calls
    files = [
        {
            "path": path,
            "blob": git_id_of(answer.text, digits),
            "lines": [_stored(run) for run in answer.runs],
        }
        for path, answer in answers.items()
    ]
    return json.dumps({"v": VERSION, "files": files, "calls": calls}, separators=(",", ":"))


def blob_in(note: str, path: str) -> str | None:
    """The id of the content that a note knows of `path`; None where it knows of none."""
    file = _file(_read(note), path)
    return None if file is None else file["blob"]


def sealed_in(note: str, path: str, text: bytes) -> Sealed | None:
    """What a note says of a file whose sealed content is `text`.

    None where the note is none of ours, knows nothing of the file, or speaks of another content.
    """
    value = _read(note)
    file = _file(value, path)
    if file is None or file["blob"] != git_id_of(text, len(file["blob"])):
        return None
    owners = [UNTRACKED] * count_lines(text)
    try:
        for start, end, state, authors in file["lines"]:
            owned = _owned(state, [_author(call, entries) for call, entries in authors])
            owners[start - 1 : end] = [owned] * len(owners[start - 1 : end])
    except (TypeError, ValueError):
        return None
    calls = {
        call: {**said, "id": call, "sealed": True}
        for call, said in value["calls"].items()
        if isinstance(said, dict)
    }
    return Sealed(path, oid_of(text), Attributed(text, owners), calls)


def _stored(run: Run) -> list[Any]:
    authors: Iterable[Author] = [*([] if run.by is None else [run.by]), *run.earlier]
    return [run.start, run.end, run.state, [[one.call, one.entries] for one in authors]]


def _author(call: Any, entries: Any) -> Author:
    if not isinstance(call, str) or not all(isinstance(entry, str) for entry in entries):
        raise TypeError
    return Author(call, tuple(entries))


def _owned(state: str, authors: list[Author]) -> Owned:
    touch: Touch | None = None
    for author in reversed(authors):
        touch = Touch(author, touch)
    if touch is None or state == "edited-after":
        return Owned(Touch(None, touch))
    return Owned(touch, reformatted=state == "reformatted", moved=state == "moved")


def _read(note: str) -> dict[str, Any]:
    try:
        value = json.loads(note)
    except (ValueError, RecursionError):
        return {}
    sound = isinstance(value, dict) and value.get("v") == VERSION
    return value if sound and isinstance(value.get("calls"), dict) else {}


def _file(value: dict[str, Any], path: str) -> dict[str, Any] | None:
    files = value.get("files")
    for file in files if isinstance(files, list) else ():
        if isinstance(file, dict) and file.get("path") == path:
            sound = isinstance(file.get("blob"), str) and isinstance(file.get("lines"), list)
            return file if sound else None
    return None

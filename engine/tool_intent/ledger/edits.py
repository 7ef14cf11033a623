"""The single replacements of a call, and what each of them made of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from tool_intent.ledger.recorder import Edit, Told
from tool_intent.ledger.values import values

#: What the text to replace is called beside what it is replaced with, in the tools that we know.
_OLD: Final = {"newText": "oldText", "new_string": "old_string", "new_str": "old_str"}
_EVERYWHERE: Final = "replace_all"
#: Bytes of all contents between the first and the last of one file.
_MOST_BYTES: Final = 4 << 20


class Version(NamedTuple):
    """A content of a file, and the numbers of the edits that made it of the one before."""

    content: bytes
    edits: tuple[int, ...] = ()


class _Span(NamedTuple):
    start: int
    end: int
    number: int


def edits(told: Told) -> Iterator[Edit]:
    """The replacements that a call asks for, in their order; none where it asks for anything that
    we do not know how its tool does."""
    found: list[Edit] = []
    for path in told.roles.get("content", ()):
        old = _OLD.get(path[-1])
        if old is None:
            return
        for pointer, entry in values(told.call.args, [path[:-1]]):
            made = _edit(pointer, entry, old, path[-1])
            if made is None:
                return
            found.append(made)
    yield from found


def is_replacement(content: Sequence[str]) -> bool:
    """Whether an argument path with the role of a content is that of a replacement."""
    return content[-1] in _OLD


def _edit(at: str, entry: Any, old: str, new: str) -> Edit | None:
    if not isinstance(entry, dict):
        return None
    texts = entry.get(old), entry.get(new)
    try:
        before, after = (text.encode() if isinstance(text, str) else b"" for text in texts)
    except UnicodeEncodeError:
        return None
    # An empty text is one that the host kept to itself, or none that can be found.
    return Edit(at, before, after, entry.get(_EVERYWHERE) is True) if before else None


def versions(edits: Sequence[Edit], before: bytes, after: bytes) -> list[Version] | None:
    """What a file was before the edits, and after each of them; None where they are not what made
    `after`.

    Edits that change one line together count as one. The first version is `before`, or, where
    others changed the file while the call went on, what the edits must have found: all of `after`
    but what they made.
    """
    asked = [list(edits)]
    if b"\r\n" in after:
        asked.append([_with_crlf(edit) for edit in edits])
    if len(edits) * len(after) > _MOST_BYTES:
        return None
    found = (_applied(made, base) for base, made in _tried(asked, before, after))
    return next((one for one in found if one and one[-1].content == after), None)


def _tried(
    asked: Sequence[list[Edit]], before: bytes, after: bytes
) -> Iterator[tuple[bytes, list[Edit]]]:
    """Contents that the edits may have found, each with the edits as they may have been made."""
    yield from ((before, made) for made in asked)
    for made in asked:
        undone = _applied([one._replace(old=one.new, new=one.old) for one in made], after)
        if undone is not None:
            yield undone[-1].content, made


def _with_crlf(edit: Edit) -> Edit:
    old, new = (
        text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for text in (edit.old, edit.new)
    )
    return edit._replace(old=old, new=new)


def _applied(edits: Sequence[Edit], base: bytes) -> list[Version] | None:
    """A text as the edits found it and, in the order of the edits, made it; None where what they
    replace is not there, or not once, or overlaps."""
    spans: list[_Span] = []
    for number, edit in enumerate(edits):
        found = list(_places(base, edit, number))
        if not found or (len(found) > 1 and not edit.everywhere):
            return None
        spans += found
    spans.sort()
    if any(one.end > other.start for one, other in pairwise(spans)):
        return None
    versions = [Version(base)]
    done: set[int] = set()
    for group in _groups(spans, base):
        done.update(group)
        made = _made(base, [span for span in spans if span.number in done], edits)
        versions.append(Version(made, group))
    return versions


def _places(base: bytes, edit: Edit, number: int) -> Iterator[_Span]:
    """Where an edit's text stands: all of them, or enough to see that there is more than one."""
    at, found = base.find(edit.old) if edit.old else -1, 0
    while at >= 0 and (edit.everywhere or found < 2):
        yield _Span(at, at + len(edit.old), number)
        found += 1
        at = base.find(edit.old, at + (len(edit.old) if edit.everywhere else 1))


def _groups(spans: Sequence[_Span], base: bytes) -> list[tuple[int, ...]]:
    """The numbers of the edits, in their order; those that change one line together."""
    group = {span.number: span.number for span in spans}
    for one, other in pairwise(spans):
        if b"\n" not in base[one.end - 1 : other.start]:
            old, new = sorted((group[one.number], group[other.number]))[::-1]
            group = {number: new if at == old else at for number, at in group.items()}
    return [
        tuple(sorted(number for number, at in group.items() if at == first))
        for first in sorted(set(group.values()))
    ]


def _made(base: bytes, spans: Sequence[_Span], edits: Sequence[Edit]) -> bytes:
    parts, at = [], 0
    for span in spans:
        parts += [base[at : span.start], edits[span.number].new]
        at = span.end
    return b"".join([*parts, base[at:]])

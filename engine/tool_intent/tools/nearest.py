"""What the writer of an oldText that is not in the file most likely meant."""

from __future__ import annotations

import difflib
from typing import Final

from tool_intent.tools.wording import shown

#: Bounds of the search for a similar line, so that a miss in a huge file costs little.
_LINES: Final = 5_000
_CHARACTERS: Final = 200
_ALIKE: Final = 0.6

_AGAIN: Final = "read the file again and copy the text exactly."


def advice(text: str, old: str) -> str:
    """The rest of the sentence "oldText is not in the file…" for the LF text `text`."""
    if "\ufffd" in old:
        return "; it holds \ufffd, which stands for bytes that are not UTF-8: leave those out."
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")
    squeezed = [_squeezed(line) for line in lines]
    targets = [_squeezed(line) for line in wanted]
    if not any(targets):
        return f"; {_AGAIN}"
    start = _run(squeezed, targets)
    if start is not None:
        return _spacing(lines, wanted, start)
    return _divergence(lines, squeezed, wanted, targets) or _similar(lines, wanted)


def _squeezed(line: str) -> str:
    return "".join(line.split())


def _run(lines: list[str], targets: list[str]) -> int | None:
    """Where `targets` occur in `lines` one after the other."""
    return next(
        (n for n, line in enumerate(lines) if line == targets[0] and _agree(lines, targets, n)),
        None,
    )


def _agree(lines: list[str], targets: list[str], start: int) -> bool:
    return lines[start : start + len(targets)] == targets


def _spacing(lines: list[str], wanted: list[str], start: int) -> str:
    pairs = enumerate(zip(lines[start:], wanted, strict=False), start + 1)
    differing = ((number, have, want) for number, (have, want) in pairs if have != want)
    number, have, want = next(differing, (start + 1, lines[start], wanted[0]))
    return (
        f"; it differs from line {number} in white space only: "
        f"the file has {_spelt(have)}, oldText has {_spelt(want)}."
    )


def _spelt(line: str) -> str:
    """`line` in quotes, its tabs and blanks at the end visible."""
    return f'"{shown(line)}"'


def _divergence(
    lines: list[str], squeezed: list[str], wanted: list[str], targets: list[str]
) -> str | None:
    """Where an oldText of several lines starts like the file and then leaves it."""
    if len(targets) < 2 or not targets[0] or targets[0] not in squeezed:
        return None
    start = squeezed.index(targets[0])
    for step, target in enumerate(targets):
        have = squeezed[start + step] if start + step < len(squeezed) else None
        if have == target:
            continue
        what = "ends" if have is None else f"has {_spelt(lines[start + step])}"
        return (
            f"; it starts as line {start + 1} does, but where its line {step + 1} has "
            f"{_spelt(wanted[step])}, the file {what}."
        )
    return None


def _similar(lines: list[str], wanted: list[str]) -> str:
    """The file's line most like the first line of oldText that is not blank."""
    first = next(line for line in wanted if line.strip())[:_CHARACTERS]
    best, number = _ALIKE, 0
    matcher = difflib.SequenceMatcher(b=first, autojunk=False)
    for n, line in enumerate(lines[:_LINES], 1):
        matcher.set_seq1(line[:_CHARACTERS])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, number = ratio, n
    if not number:
        return f", nor is a similar line; {_AGAIN}"
    return f"; the nearest is line {number}, {_spelt(lines[number - 1])}: {_AGAIN}"

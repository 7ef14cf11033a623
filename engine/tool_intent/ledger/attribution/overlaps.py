"""Calls that were at work on one file at the same time, and may have made each other's changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple, Protocol


class Begun(NamedTuple):
    """How a call began: the number of its decision's record, None where that is gone, the work
    tree, the files that it named with the ids of their contents, and whether it runs a command."""

    seq: int | None
    folder: str
    files: Mapping[str, Any]
    commanded: bool


NOT_KNOWN: Final = Begun(None, "", {}, commanded=False)


class _Hop(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def pre(self) -> str | None: ...
    @property
    def post(self) -> str | None: ...


class _Ended(NamedTuple):
    """What a call left of a file. `told` says that the record tells the call's own part of it."""

    number: int
    seq: int
    post: str | None
    told: bool


class Together:
    """Looks at calls as they end. Two that overlap are told apart where the later one found what
    the earlier one had left, or where the record says what a call itself put in: it then begins
    with another content than the one that was there when the call did."""

    def __init__(self) -> None:
        #: The files, by the numbers of calls, of which nobody knows which call changed them how.
        self.unsure: dict[int, set[str]] = {}
        self._ended: dict[tuple[str, str], list[_Ended]] = {}

    def add(self, number: int, begun: Begun, seq: int | None, hops: Sequence[_Hop]) -> None:
        """Take note of call `number`, which ended with record `seq`."""
        begun_at = begun.seq
        if begun_at is None or seq is None:
            return
        first = {hop.path: hop for hop in reversed(hops)}
        last = {hop.path: hop for hop in hops}
        for path, hop in first.items():
            ended = self._ended.setdefault((begun.folder, path), [])
            told = hop.path in begun.files and hop.pre != begun.files[hop.path]
            mixed = list(takewhile(lambda one: one.seq > begun_at, reversed(ended)))[::-1]
            if mixed and mixed[-1].post != hop.pre:
                unsure = [one.number for one in mixed if not one.told]
                for one in (*unsure, *(() if told else (number,))):
                    self.unsure.setdefault(one, set()).add(path)
            ended.append(_Ended(number, seq, last[path].post, told))

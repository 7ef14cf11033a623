"""What the user and results said in a session, and what the agent said first itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tool_intent.runtime.citations import paths
from tool_intent.runtime.cues import references

#: Characters of one message or result that are read.
MOST_READ: Final = 65_536
#: Names kept of a session; what is said later is then not known to be new.
_MOST_NAMES: Final = 100_000

_BETWEEN: Final = re.compile(r"[\s\"'`()\[\]{}<>,;|=“”‘’«»]+")
_LINES: Final = re.compile(r"(?:#L[0-9]+(?:-L?[0-9]+)?|(?::[0-9]+){1,2}(?:-[0-9]+)?)\Z")
_CALLED: Final = re.compile(r"\w+")


def cited(text: str) -> list[str]:
    """What a text cites by name: paths, tickets, code, lines of files, names of errors."""
    return list(dict.fromkeys([*paths(text), *references(text)]))


class Heard:
    """Who said a name first. A name is a piece of text between blanks, quotes and brackets, a word
    of it, or the last part of a path."""

    __slots__ = (
        "_by_user", "_ended", "_full", "_lost", "_own", "_results", "_told_by_user",
    )  # fmt: skip

    def __init__(self) -> None:
        #: Every name, with whether the agent itself said it first.
        self._own: dict[str, bool] = {}
        self._by_user: set[str] = set()
        self._full = self._told_by_user = self._lost = False
        #: Results that were told, and calls that ended.
        self._results = self._ended = 0

    def agent(self, texts: Iterable[str]) -> None:
        """Take note of what a call says, fields included."""
        for text in texts:
            self._note(text, own=True)

    def user(self, text: str) -> None:
        """Take note of what the user said."""
        self._told_by_user = True
        self._by_user.update(_names(text))
        self._full = self._full or len(self._by_user) > _MOST_NAMES

    def result(self, text: str) -> None:
        """Take note of the result of a call whose own texts were noted before."""
        self._results += 1
        self._note(text, own=False)

    def ended(self) -> None:
        """Take note that a call ended, whose result may be told next."""
        self._ended += 1

    def lose(self) -> None:
        """Take it that things were said which nobody knows of, by whomever."""
        self._lost = True

    def said(self, cited: str) -> bool | None:
        """Whether a name was said by the user, or first by a result; None where nobody can tell.

        What the agent itself said first stays its own.
        """
        name = _plain(cited)
        if name in self._by_user:
            return True
        if self._lost:
            return None
        if self._own.get(name) is False:
            return True
        # The user, or a result that nobody told, may have said it.
        everything = self._told_by_user and self._results >= self._ended and not self._full
        return False if everything else None

    def _note(self, text: str, *, own: bool) -> None:
        for name in _names(text):
            if name not in self._own:
                if len(self._own) >= _MOST_NAMES:
                    self._full = True
                    return
                self._own[name] = own


def _names(text: str) -> set[str]:
    found: set[str] = set()
    for piece in _BETWEEN.split(text[:MOST_READ]):
        name = _plain(piece)
        if name:
            found.add(name)
            found.add(name.rpartition("/")[2])
            found.update(_CALLED.findall(name))
    return found


def _plain(piece: str) -> str:
    return _LINES.sub("", piece.casefold().strip("`").rstrip(".:!?…)(")).removeprefix("./")

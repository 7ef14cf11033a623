"""The files that shell commands write or delete, as far as their text tells."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain, islice
from typing import Final

from tool_intent.ledger.objects import LARGEST
from tool_intent.ledger.values import MOST

#: Characters of a command that is taken apart.
_LONGEST: Final = 256 << 10
#: Files of a folder that are compared with a pattern.
_MOST_LISTED: Final = 10_000
_WILD: Final = "*?["
#: What git keeps is not for calls to be asked about, and the ledger itself lies there.
_GIT: Final = ".git"


def places(commands: Sequence[str], start: str, root: str) -> Iterator[str]:
    """The places below `root` that commands which start in `start` write to or delete: of files as
    they are, or may come to be. Links are followed, and what they lead to outside is left out; so
    are folders, pipes, devices and what is too large to be kept."""
    above = os.path.join(os.path.realpath(root), "")
    for path in islice(_written(commands, start), MOST):
        place = os.path.realpath(path)
        below = place.removeprefix(above)
        if below != place and _GIT not in below.split(os.sep) and _is_small(place):
            yield place


def is_plain(place: str) -> bool:
    """Whether there is nothing, or a file that can be kept, and no link on the way to it."""
    return os.path.realpath(place) == place and _is_small(place)


def _is_small(place: str) -> bool:
    """Whether there is nothing, or a file that can be kept, where no link leads on."""
    try:
        found = os.lstat(place)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST


def _written(commands: Sequence[str], start: str) -> Iterator[str]:
    for text in commands:
        if len(text) > _LONGEST:
            continue
        # Parsers are for those that make a call with a command.
        from tool_intent.runtime.shell import analyse

        command = analyse(text, start)
        for path in dict.fromkeys(chain(command.writes, command.deletes)):
            if "\0" not in path:
                yield from _meant(path, start)


def _meant(text: str, start: str) -> Iterator[str]:
    """The files of a folder that a pattern stands for, a path itself where it is none. A pattern of
    folders is left out: how much there is to look through is not known."""
    path = os.path.join(start, os.path.expanduser(text))
    if not any(c in text for c in _WILD) or os.path.lexists(path):
        yield path
        return
    folder, name = os.path.split(path)
    try:
        with os.scandir(folder) as listed:
            names = [one.name for one in islice(listed, _MOST_LISTED)]
    except OSError:
        return
    for one in sorted(names):
        if fnmatchcase(one, name) and one.startswith(".") == name.startswith("."):
            yield os.path.join(folder, one)

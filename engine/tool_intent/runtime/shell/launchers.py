"""Programs that are no wrappers, yet start what one of their options or settings names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from tool_intent.runtime.shell.inner import Inner, script
from tool_intent.runtime.shell.options import read_options
from tool_intent.runtime.shell.words import Word, known

#: Settings of git whose value is a command for a shell. A pager may also be `true` or `false`,
#: which are commands that do nothing.
_GIT_RUNS: Final = re.compile(
    r"(core\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy)|sequence\.editor|diff\.external"
    r"|pager\..*|credential\..*helper|(diff|merge|filter|difftool|mergetool)\..*)=",
    re.IGNORECASE,
)


def _git(words: Sequence[Word]) -> list[Inner]:
    """Aliases given on the command line, and the programs that git starts for the caller."""
    given = read_options("git", words)
    found: list[Inner] = []
    for value in given.value("c", "config-env"):
        text = value.prefix if value.text is None else value.text
        if value.text is None or text.lower().startswith("alias."):
            found.append(Inner(opaque=True, own=len(words)))
        elif setting := _GIT_RUNS.match(text):
            found.append(script(known(text[setting.end() :].removeprefix("!")), len(words)))
    args = [word.text for word in given.args]
    texts = [word.text for word in words]
    if args[:2] == ["bisect", "run"] and "run" in texts:
        at = texts.index("run") + 1
        found.append(Inner(tuple(words[at:]), own=at))
    if args[:2] == ["submodule", "foreach"] or args[:1] == ["filter-branch"]:
        found.append(Inner(opaque=True, own=len(words)))
    found += [script(value, len(words)) for value in given.value("exec") if args[:1] == ["rebase"]]
    return [item for item in found if item.words or item.script or item.opaque]


def _at(words: Sequence[Word]) -> list[Inner]:
    """`at` and `batch` keep a script that they read, or that a file holds."""
    texts = [word.text for word in words]
    if "-f" in texts or None in texts:
        return [Inner(opaque=True, own=len(words))]
    if any(text in ("-l", "-d", "-r", "-c", "-V") for text in texts):
        return []
    return [Inner(stdin=True, own=len(words))]


def _tar(words: Sequence[Word]) -> list[Inner]:
    """Programs for checkpoints, for each file and for compression."""
    given = read_options("tar", words)
    actions = [
        known(value.text.removeprefix("exec=")) if value.text is not None else value
        for value in given.value("checkpoint-action")
        if value.text is None or value.text.startswith("exec=")
    ]
    named = given.value(
        "to-command", "use-compress-program", "I", "info-script", "F", "rsh-command"
    )
    return [script(value, len(words)) for value in [*actions, *named]]


def _rsync(words: Sequence[Word]) -> list[Inner]:
    return [script(value, len(words)) for value in read_options("rsync", words).value("rsh", "e")]


def _mapfile(words: Sequence[Word]) -> list[Inner]:
    """`mapfile -C CALLBACK` evaluates it every so many lines."""
    found: list[Inner] = []
    for index, word in enumerate(words):
        text = word.prefix if word.text is None else word.text
        if text[:2] == "-C":
            value = known(text[2:]) if len(text) > 2 and word.text else None
            following = words[index + 1] if index + 1 < len(words) else None
            found.append(script(value or following, len(words), same=True))
    return found


def _fd(words: Sequence[Word]) -> list[Inner]:
    """`fd -x COMMAND` runs it with what was found."""
    for index, word in enumerate(words):
        if word.text in ("-x", "-X", "--exec", "--exec-batch"):
            return [Inner(tuple(words[index + 1 :]), own=index + 1, more=True)]
    return []


#: By program, what it starts when called with some words.
LAUNCHERS: Final[dict[str, Callable[[Sequence[Word]], list[Inner]]]] = {
    "git": _git, "at": _at, "batch": _at, "tar": _tar, "gtar": _tar, "rsync": _rsync,
    "mapfile": _mapfile, "readarray": _mapfile, "fd": _fd, "fdfind": _fd,
}  # fmt: skip

"""What a program is seen to run: a command of words, a script, or nobody knows what."""

from __future__ import annotations

from typing import NamedTuple

from tool_intent.runtime.shell.words import Word


class Inner(NamedTuple):
    """What a wrapper runs: a command of words, or a script to parse; or, opaque, who knows.

    The command begins at argument `own` of the wrapper. `more` says that further arguments are
    added to it, `stdin` that the script is what the wrapper reads, `chdir` the directory it
    changes to, `same` that what runs does so in the current shell (eval).
    """

    words: tuple[Word, ...] = ()
    script: Word | None = None
    opaque: bool = False
    own: int = 0
    more: bool = False
    stdin: bool = False
    chdir: Word | None = None
    same: bool = False


def script(text: Word | None, own: int, same: bool = False) -> Inner:
    """A shell script to parse; opaque where its text is not known."""
    if text is None or text.text is None:
        return Inner(opaque=True, own=own, same=same)
    return Inner(script=text, own=own, same=same)

"""Closed word lists of the text functions, and the stems they are compared by. All lower case."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_ENGLISH: Final = """
a about above after again all also an and any are aren as at be because been before being below
between both but by can cannot could did didn do does doesn doing don down during each either else
ever every few for from further get gets had has hasn have having he her here hers him his how i if
in into is isn it its itself just let like ll may me might more most must my neither no nor not now
of off on once one only onto or other our ours out over own per please re same shall she should so
some such than that the their theirs them then there these they this those through thus to too
under until up upon us ve very via was wasn way we well were what when where whether which while
who whom whose why will with within without would yet you your yours
"""
_GERMAN: Final = """
aber alle als am an auch auf aus bei beim bin bis damit dann das dass dem den denn der des die dies
diese dieser dieses doch durch ein eine einem einen einer eines er es für hat hier ich im in ins ist
ja jede kann man mit muss nach nicht noch nur ob oder ohne sehr sein sich sie sind so soll um und
uns unter vom von vor war was weil wenn wie wir wird wurde zu zum zur über
"""
STOP_WORDS: Final = frozenset((_ENGLISH + _GERMAN).split())

_ABOUT_CALLS: Final = """
apply bash call change cmd code command content current directory do edit execute exec file
folder following given invoke launch line make modify need new perform read run script shell
specified start step task text tool update use want write
"""

#: What commands are called in prose: `ls` says list, so a text that says list adds nothing to it.
ALIASES: Final = {
    "cat": "show print view display",
    "cd": "change enter",
    "chmod": "permission",
    "cp": "copy",
    "curl": "fetch download request",
    "grep": "search find look",
    "kill": "stop terminate",
    "ls": "list show",
    "mkdir": "create directory folder",
    "mv": "move rename",
    "rg": "search find look",
    "rm": "remove delete",
    "touch": "create",
    "wget": "fetch download",
    "write": "create",
    "edit": "replace",
    "pip": "install package",
    "npm": "package",
}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word without the endings that inflection gives English words; others are left alone.

    Of a word of ASCII letters longer than three: `ies` becomes `i`; else a final `s` not after `s`,
    `u` or `i` goes; then `ing` or `ed` goes if at least three letters with a vowel remain, and one
    of a doubled consonant before it; then a final `e` goes and a final `y` becomes `i`.
    """
    if len(word) <= 3 or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith("ies"):
        word = word[:-2]
    elif word.endswith("s") and word[-2] not in "sui":
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and any(vowel in rest for vowel in "aeiouy"):
            doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
            word = rest[:-1] if doubled else rest
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 2 and word.endswith("y") else word


#: Stems that say only that a tool is called.
CALL_WORDS: Final = frozenset(stem(word) for word in _ABOUT_CALLS.split())

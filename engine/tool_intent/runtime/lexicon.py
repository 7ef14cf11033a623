"""Closed word lists of the text functions, and the stems they are compared by. All lower case."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_ENGLISH: Final = """
a about above after again ain all also an and any are aren as at be because been before being below
between both but by can cannot could couldn did didn do does doesn doing don down during each either
else ever every few for from further get gets getting got had hadn has hasn have haven having he her
here hers him his how i if in into is isn it its itself just let like ll may me might mightn more
most must mustn my needn neither no nor not now of off on once one only onto or other our ours out
over own per please re same shall shan she should shouldn since so some such than that the their
theirs them then there these they this those though through thus to too under until up upon us ve
very via was wasn way we well were weren what when where whether which while who whom whose why will
with within without won would wouldn yet you your yours
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
    "cat": "show print view display content",
    "cd": "change enter directory",
    "chmod": "permission mode set",
    "chown": "owner group ownership",
    "cp": "copy",
    "curl": "fetch download request header",
    "df": "disk space",
    "diff": "compare difference",
    "du": "disk size usage",
    "edit": "replace",
    "find": "search locate",
    "fmt": "format",
    "gofmt": "format",
    "golangci": "lint linter",
    "grep": "search find look occurrence",
    "head": "first line",
    "kill": "stop terminate process",
    "ls": "list show directory folder",
    "mkdir": "create directory folder",
    "mv": "move rename",
    "npm": "package",
    "pip": "install package",
    "pwd": "directory",
    "pytest": "test suite",
    "rg": "search find look occurrence",
    "rm": "remove delete",
    "sed": "replace print line",
    "stat": "owner group permission size mode ownership",
    "tail": "last line",
    "touch": "create",
    "tsc": "type typescript compile",
    "unzip": "extract",
    "wc": "count line",
    "wget": "fetch download",
    "write": "create",
}


#: Endings of derived words as the other steps leave them, longer ones first, each with how many
#: letters must remain: fewer are rather a word of their own (`station`).
_DERIVED: Final = (
    ("abiliti", 4), ("ibiliti", 4), ("ization", 4), ("isation", 4), ("ation", 5), ("encies", 5),
    ("fulli", 4), ("enci", 5), ("ment", 4), ("ness", 4), ("abl", 4), ("ibl", 4), ("abli", 4),
    ("ent", 5), ("enc", 5), ("ion", 5), ("iz", 4), ("is", 5), ("at", 5), ("li", 4),
)  # fmt: skip


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word without the endings that inflection gives English words; others are left alone.

    Of a word of ASCII letters longer than three: `ies` becomes `i`; else a final `s` not after `s`,
    `u` or `i` goes; then `ing` or `ed` goes if at least three letters with a vowel remain, and one
    of a doubled consonant before it; then a final `e` goes and a final `y` becomes `i`; then
    endings go that make a noun, adjective or adverb of a verb or adjective (`validation`,
    `readable`, `safely`), while enough is left.
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
    word = word[:-1] + "i" if len(word) > 2 and word.endswith("y") else word
    return _underived(word) if len(word) > 5 else word


def _underived(word: str) -> str:
    for ending, least in _DERIVED:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            rest = word[: -len(ending)]
            return _underived(rest[:-1] if len(rest) > 3 and rest.endswith("e") else rest)
    # `verification` has come to `verific`, and `verify` to `verifi`.
    return word[:-1] if word.endswith("ific") else word


#: Stems that say only that a tool is called.
CALL_WORDS: Final = frozenset(stem(word) for word in _ABOUT_CALLS.split())

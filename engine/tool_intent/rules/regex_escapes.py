"""What follows a backslash, and the class names RE2 knows."""

from __future__ import annotations

import re
from typing import Final

from tool_intent.rules.regex_tree import MIXED, OTHER, WORD, Opaque, PatternError, range_kinds

CONTROLS: Final = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_CODE: Final = re.compile(r"\\(?:x\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}))")
_PROPERTY: Final = re.compile(r"\\[pP](?:\{(\^?)([A-Za-z_]+)\}|([A-Z]))")
_POSIX: Final = re.compile(r"\[:(\^?)([a-z]+):\]")

#: Escapes of other dialects, and what to write.
FOREIGN: Final = {
    "Z": "write `\\z` for the end of the text",
    "G": "leave it out: a search starts at the beginning",
    "K": "leave it out: only whether there is a match is asked",
    "R": "write `\\r?\\n`",
    "X": "write `\\PM\\pM*`",
    "h": "write `[ \\t]`",
    "H": "write `[^ \\t]`",
    "N": "write `[^\\n]`, or `\\x{263A}` for a character",
    "e": "write `\\x1B`",
    "u": "write `\\x{263A}` for the character U+263A",
    "U": "write `\\x{1F600}` for the character U+1F600",
    "c": "write `\\x01` for a control character",
    "C": "write `.` for a character: half of one cannot be asked for",
}
BACK_REFERENCE: Final = (
    "back-references are not RE2",
    "compare the two parts in a condition of their own",
)

_ALPHA: Final = ((65, 90), (97, 122))
POSIX: Final[dict[str, tuple[tuple[int, int], ...]]] = {
    "alnum": ((48, 57), *_ALPHA),
    "alpha": _ALPHA,
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": ((48, 57), *_ALPHA, (95, 95)),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
_WORD_PROPERTIES: Final = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No Pc".split()  # noqa: SIM905
)
_OTHER_PROPERTIES: Final = frozenset(
    "Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cs".split()  # noqa: SIM905
)


def character(pattern: str, at: int) -> tuple[int, int] | None:
    r"""The code point that the escape at `at` stands for and where it ends, or None if for none.

    Raises PatternError for escapes that RE2 does not have.
    """
    letter = pattern[at + 1 : at + 2]
    if not letter:
        raise PatternError(
            "the pattern ends in a backslash", "write `\\\\` for a backslash itself", at
        )
    code = _CODE.match(pattern, at)
    if code is not None:
        braced, plain, octal = code.groups()
        point = int(octal, 8) if octal else int(braced or plain, 16)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            raise PatternError(f"`{code[0]}` is no character", "the last is `\\x{10FFFF}`", at)
        return point, code.end()
    if letter in CONTROLS:
        return CONTROLS[letter], at + 2
    if letter.isascii() and not letter.isalnum():
        return ord(letter), at + 2
    _refuse(letter, at)
    return None


def _refuse(letter: str, at: int) -> None:
    if letter in "123456789kg":
        message, help_ = BACK_REFERENCE
        if letter.isdigit():
            help_ += "; a character by its number is `\\x{0A}`"
        raise PatternError(message, help_, at)
    if letter in FOREIGN:
        raise PatternError(f"`\\{letter}` is not RE2", FOREIGN[letter], at)
    if letter == "x":
        raise PatternError(
            "`\\x` takes two hexadecimal digits, or any number in braces",
            "write `\\x41` or `\\x{263A}`",
            at,
        )
    if letter not in "dDsSwWpPbBAzQE":
        raise PatternError(
            f"`\\{letter}` is not RE2", f"write `{letter}` for the character itself", at
        )


def named_class(pattern: str, at: int) -> tuple[Opaque, int] | None:
    r"""The `\p{…}` at `at` and where it ends, or None if there is none."""
    if pattern[at : at + 2] not in ("\\p", "\\P"):
        return None
    found = _PROPERTY.match(pattern, at)
    if found is None:
        raise PatternError(
            f"`{pattern[at : at + 2]}` takes a class name", "write `\\p{Greek}` or `\\pL`", at
        )
    name = found[2] or found[3]
    negated = (pattern[at + 1] == "P") != bool(found[1])
    return Opaque(found[0], None, _property_kinds(name, negated)), found.end()


def _property_kinds(name: str, negated: bool) -> frozenset[str]:
    # The complement of a class within word characters holds word characters and others.
    if negated:
        return MIXED
    if name in _WORD_PROPERTIES:
        return WORD
    return OTHER if name in _OTHER_PROPERTIES else MIXED


def posix_class(pattern: str, at: int) -> tuple[Opaque, int] | None:
    """The `[:alpha:]` at `at`, within brackets, and where it ends, or None if there is none."""
    found = _POSIX.match(pattern, at)
    if found is None:
        return None
    if found[2] not in POSIX:
        raise PatternError(
            f"`{found[0]}` is no class RE2 knows", f"known are {', '.join(sorted(POSIX))}", at
        )
    if found[1]:
        return Opaque(found[0], None, MIXED), found.end()
    ranges = POSIX[found[2]]
    return Opaque(found[0], ranges, range_kinds(ranges)), found.end()

"""The functions of the rule language: their signatures, as data. The table is closed; a rule that
names another function is an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tool_intent.rules.types import (
    ANY,
    BOOL,
    CALL,
    COMMAND,
    FLOAT,
    INT,
    PATH,
    PATTERN,
    TEXT,
    URL,
    Type,
    list_of,
)  # fmt: skip

#: The version of this table; it is part of a policy's digest.
FUNCTION_TABLE: Final = 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a function takes in one place: a value of one of `types`."""

    types: tuple[Type, ...]
    optional: bool = False

    def __str__(self) -> str:
        return " or ".join(map(described, self.types))


@dataclass(frozen=True, slots=True)
class Function:
    """A signature. An `infix` one has two parameters and stands between them; a list on its right
    means any of the elements."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Type
    infix: bool
    doc: str

    @property
    def least(self) -> int:
        """How many arguments it needs."""
        return sum(not p.optional for p in self.parameters)


_DESCRIBED: Mapping[str, str] = {
    "pattern": "a pattern between slashes", "path": "a path", "command": "a command",
    "bool": "a truth value", "int": "a whole number", "float": "a number",
    "duration": "a duration",
}  # fmt: skip


def described(type_: Type) -> str:
    """A type as it reads after "takes"."""
    if type_.kind == "list":
        element = type_.element or ANY
        return "a list" if element.kind == "any" else f"a list of {element}"
    return _DESCRIBED.get(type_.kind, str(type_))


def _takes(*types: Type, optional: bool = False) -> Parameter:
    return Parameter(types, optional)


_TEXTS = list_of(TEXT)
_SOURCES = list_of(Type("mixed", options=(CALL, TEXT, _TEXTS)))

#: Every function by name.
FUNCTIONS: Final[Mapping[str, Function]] = {
    f.name: f
    for f in (
        Function("words", (_takes(TEXT),), INT, False, "How many words a text has."),
        Function("length", (_takes(TEXT),), INT, False, "How many characters a text has."),
        Function("lower", (_takes(TEXT),), TEXT, False, "The text in lower case."),
        Function("sentences", (_takes(TEXT),), INT, False, "How many sentences a text has."),
        Function(
            "overlap",
            (_takes(TEXT, CALL, _TEXTS), _takes(TEXT, CALL, _SOURCES)),
            INT, False, "How many telling words two texts, calls or lists share.",
        ),
        Function(
            "similarity", (_takes(TEXT), _takes(TEXT)), FLOAT, False,
            "How alike two texts are, from 0 to 1, by their pairs of letters.",
        ),
        Function(
            "jaccard", (_takes(TEXT), _takes(TEXT)), FLOAT, False,
            "The share of words that two texts have in common, from 0 to 1.",
        ),
        Function(
            "mentions", (_takes(TEXT), _takes(TEXT, PATH, _TEXTS)), BOOL, True,
            "Whether the left text has the right one's words, in that order, as whole words.",
        ),
        Function(
            "restates", (_takes(TEXT), _takes(CALL, TEXT)), BOOL, True,
            "Whether the left text says nothing that the right one does not.",
        ),
        Function(
            "resembles", (_takes(TEXT), _takes(TEXT)), BOOL, True,
            "Whether two texts are nearly the same.",
        ),
        Function(
            "like", (_takes(PATH, TEXT, COMMAND), _takes(TEXT, _TEXTS)), BOOL, True,
            "Whether the left value fits a glob, as in .gitignore where it is a path.",
        ),
        Function(
            "under", (_takes(PATH), _takes(TEXT, _TEXTS)), BOOL, True,
            "Whether the left path is a directory or in it.",
        ),
        Function(
            "in", (_takes(ANY), _takes(list_of(ANY))), BOOL, True,
            "Whether the left value equals an element of the list.",
        ),
        Function(
            "matches", (_takes(TEXT, PATH, COMMAND), _takes(PATTERN)), BOOL, True,
            "Whether the pattern is found in the left text.",
        ),
        Function(
            "runs", (_takes(COMMAND), _takes(TEXT, _TEXTS)), BOOL, True,
            "Whether a simple command starts with these words and carries these flags.",
        ),
        Function(
            "distinct", (_takes(list_of(ANY)), _takes(TEXT, optional=True)), FLOAT, False,
            "The share of elements that differ, from 0 to 1; of their member, if one is named.",
        ),
        Function("basename", (_takes(PATH, TEXT),), TEXT, False, "The last part of a path."),
        Function("paths", (_takes(TEXT),), list_of(PATH), False, "The paths a text names."),
        Function("urls", (_takes(TEXT),), list_of(URL), False, "The URLs a text names."),
        Function(
            "scripts", (_takes(TEXT),), _TEXTS, False, "The scripts of its letters: Latin, Han."
        ),
        Function(
            "without", (_takes(TEXT), _takes(TEXT, _TEXTS)), TEXT, False,
            "The text less every occurrence of another, or of each of a list.",
        ),
        Function(
            "novel", (_takes(TEXT), _takes(_SOURCES)), INT, False,
            "How many telling words of the text are in none of the others.",
        ),
        Function(
            "content", (_takes(TEXT, CALL, _TEXTS),), _TEXTS, False,
            "The telling words of a text, a call or a list, in their stems, sorted.",
        ),
        Function(
            "coverage",
            (_takes(TEXT, CALL, _TEXTS), _takes(TEXT, CALL, _SOURCES)),
            FLOAT, False,
            "The share of the first one's telling words that the second has too, from 0 to 1.",
        ),
        Function(
            "digest", (_takes(TEXT, CALL),), TEXT, False,
            "A short text that stands for a call or a text: equal ones have equal digests.",
        ),
        Function(
            "cues", (_takes(TEXT),), _TEXTS, False,
            "What of a text can be looked up: tickets, measures, code, errors.",
        ),
        Function(
            "echo", (_takes(TEXT),), BOOL, False,
            "Whether a text hands back what the engine printed.",
        ),
        Function(
            "seen", (_takes(TEXT),), BOOL, False,
            "Whether something that a text cites was said by the user or by a result.",
        ),
    )
}  # fmt: skip

_FINDS = "`mentions` finds words, `matches` a pattern, `in` an element"

#: What to write for the functions of other languages.
FOREIGN: Final[Mapping[str, str]] = {
    "contains": _FINDS,
    "includes": _FINDS,
    "has": _FINDS,
    "is": "write `==`",
    "equals": "write `==`",
    "eq": "write `==`",
    "isnt": "write `!=`",
    "startswith": 'write `like "…*"`',
    "starts": 'write `like "…*"`',
    "endswith": 'write `like "*…"`',
    "ends": 'write `like "*…"`',
    "glob": "write `like`",
    "regex": "write `matches /…/`",
    "match": "write `matches /…/`",
    "inside": "write `under`",
    "within": "write `under`",
    "len": "`words` counts words, `length` characters, `count(x in …: true)` elements",
    "size": "`words` counts words, `length` characters, `count(x in …: true)` elements",
    "exists": "write `has …`",
    "calls": "write `runs`",
    "executes": "write `runs`",
}

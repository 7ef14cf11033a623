"""Random histories of one file: calls, people, formatters and moves, with the truth of each
line."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from .truth import PERSON, Draft, Line, reflowed, text_of

_NOUNS: Final = (
    "account", "amount", "buffer", "channel", "digest", "entry", "fee", "header", "index", "limit",
    "name", "offset", "path", "queue", "record", "state", "token", "value",
)  # fmt: skip
_VERBS: Final = (
    "append",
    "check",
    "close",
    "count",
    "find",
    "load",
    "merge",
    "open",
    "read",
    "send",
)
#: Lines that stand everywhere in code: they tell nothing of where they come from.
_COMMON: Final = (
    "return None",
    "else:",
    "continue",
    "}",
    "try:",
    "pass",
    "break",
    "",
    "result = []",
)


class Step(NamedTuple):
    """What the file was before and after; `author` is PERSON or the id of a recorded call."""

    author: str
    pre: str
    post: str


class History(NamedTuple):
    """Everything that happened to a file, and the authors of its lines in the end."""

    steps: list[Step]
    lines: list[Line]


def history(seed: int, operations: int = 40) -> History:
    """The history of this seed. It starts with a file that a person wrote."""
    return _Maker(random.Random(seed)).made(operations)


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.calls = 0
        self.draft = Draft([], PERSON)
        self.kinds: dict[Callable[[], None], int] = {
            self.insert: 6, self.rewrite: 5, self.reword: 6, self.delete: 3, self.move: 2,
            self.indent: 2, self.format: 3,
        }  # fmt: skip

    def made(self, operations: int) -> History:
        self.draft.append(self.code(self.rng.randint(10, 40)))
        steps: list[Step] = []
        for _ in range(operations):
            self.draft.author = self.author()
            pre = text_of(self.draft.lines)
            (kind,) = self.rng.choices(list(self.kinds), list(self.kinds.values()))
            kind()
            post = text_of(self.draft.lines)
            if post != pre:
                steps.append(Step(self.draft.author, pre, post))
        return History(steps, self.draft.lines)

    def author(self) -> str:
        if self.rng.random() < 0.4:
            return PERSON
        self.calls += 1
        return f"c{self.calls}"

    # --- what is done ----------------------------------------------------------------------------

    def insert(self) -> None:
        self.draft.insert(self.place(), self.code(self.rng.randint(1, 12)))

    def rewrite(self) -> None:
        start, end = self.span(1, 6)
        self.draft.replace(start, end, self.code(self.rng.randint(1, 8)))

    def reword(self) -> None:
        """A word of a line is another one, goes, or is added."""
        at = self.place()
        if at == len(self.draft.lines):
            return
        old = self.draft.lines[at].text
        words = old.split(" ")
        where = self.rng.randrange(len(words))
        new = self.rng.choice(_NOUNS)
        words[where : where + self.rng.randint(0, 1)] = self.rng.choice([[new], [f"not {new}"], []])
        text = " ".join(words)
        if text.split() != old.split():
            self.draft.replace(at, at + 1, [text])

    def delete(self) -> None:
        self.draft.delete(*self.span(1, 6))

    def move(self) -> None:
        start, end = self.span(3, 10) if self.rng.random() < 0.9 else self.span(1, 2)
        self.draft.move(start, end, self.rng.randint(0, len(self.draft.lines) - (end - start)))

    def indent(self) -> None:
        """A block goes into another: its lines move to the right, under a line of the author's."""
        start, end = self.span(2, 8)
        self.draft.indent(start, end)
        self.draft.insert(start, [f"if {self.rng.choice(_NOUNS)}:"])

    def format(self) -> None:
        text = text_of(self.draft.lines)
        for change in self.rng.sample(_LAYOUTS, self.rng.randint(1, len(_LAYOUTS))):
            text = change(text)
        self.draft.lines = reflowed(self.draft.lines, text)

    # --- what is written -------------------------------------------------------------------------

    def place(self) -> int:
        return self.rng.randint(0, len(self.draft.lines))

    def span(self, least: int, most: int) -> tuple[int, int]:
        start = self.place()
        return start, min(len(self.draft.lines), start + self.rng.randint(least, most))

    def code(self, count: int) -> list[str]:
        return [self.line() for _ in range(count)]

    def line(self) -> str:
        if self.rng.random() < 0.25:
            return "    " + one if (one := self.rng.choice(_COMMON)) else ""
        a, b, c, verb = *(self.rng.choice(_NOUNS) for _ in range(3)), self.rng.choice(_VERBS)
        return "    " + self.rng.choice(
            [
                f"{a}_{b} = {verb}_{c}({a}, {b})",
                f"if {a}.{verb}({b}) and {c} is not None:",
                f"{a} = {{'{b}': {c}, '{verb}': {self.rng.randint(0, 99)}}}",
                f"def {verb}_{a}({b}, {c}=None, quiet=False):",
                f"self.{a}.{verb}('{b} of {c}', {a}, limit={self.rng.randint(0, 99)}, {c}={b})",
                f"# {verb.title()} the {a} before the {b} is needed",
                f"raise ValueError('no {a} for ' + {b})",
            ]
        )


def _double_quotes(text: str) -> str:
    return text.replace("'", '"')


def _wrapped(text: str) -> str:
    """Calls with several arguments have a line for each of them, and a comma at the end."""
    return re.sub(
        r"^( *)(\S.*\()([^()\n]*,[^()\n]*)\)(.*)$",
        lambda m: m[1] + m[2] + "".join(
            f"\n{m[1]}    {part.strip()}," for part in m[3].split(", ")
        ) + f"\n{m[1]}){m[4]}",
        text,
        flags=re.MULTILINE,
    )  # fmt: skip


def _joined(text: str) -> str:
    """The other way round."""
    return re.sub(
        r"\(\n((?: *[^()\n]*,\n)+) *\)",
        lambda m: "(" + " ".join(p.strip() for p in m[1].splitlines()).rstrip(",") + ")",
        text,
    )


def _narrow(text: str) -> str:
    return re.sub(r"^( +)", lambda m: m[1][: len(m[1]) // 2], text, flags=re.MULTILINE)


_LAYOUTS: Final = (_double_quotes, _wrapped, _joined, _narrow)

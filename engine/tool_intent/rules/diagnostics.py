"""What is wrong with a file, where, and how to mend it: one shape for YAML and rule text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error or warning. Lines and columns are 1-based, in code points; the end is exclusive."""

    code: str
    severity: Literal["error", "warning"]
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    help: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The shape `check --format json` prints."""
        return {
            "code": self.code,
            "severity": self.severity,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
            "message": self.message,
            "help": self.help,
        }

    def render(self, lines: Sequence[str]) -> str:
        """`file:line:column: severity: message [code]`, the line with a caret under it, the help.

        `lines` are the file's lines; pass none where the file could not be read.
        """
        out = [
            f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message} [{self.code}]"
        ]
        if 0 < self.line <= len(lines):
            text = lines[self.line - 1].expandtabs(1).rstrip("\r\n")
            if len(text) <= 200:
                end = self.end_column if self.end_line == self.line else len(text) + 1
                width = max(1, min(end, len(text) + 1) - self.column)
                out += [f"  {self.line} | {_visible(text)}"]
                out += [f"  {' ' * len(str(self.line))} | {' ' * (self.column - 1)}{'^' * width}"]
        if self.help:
            out.append(f"  help: {self.help}")
        return "\n".join(out)


def _visible(text: str) -> str:
    """Characters that would move the cursor or hide, each replaced by one `?`."""
    return "".join(c if c.isprintable() else "?" for c in text)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name a writer most likely meant by `name`, or None."""
    candidates = sorted(set(known))
    folded = {_fold(k): k for k in candidates}
    if _fold(name) in folded:
        return folded[_fold(name)]
    found = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    return found[0] if found else None


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()

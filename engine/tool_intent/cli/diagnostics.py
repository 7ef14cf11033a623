"""Diagnostics for people: the line, a caret under it, how to mend it."""

from __future__ import annotations

from collections.abc import Iterable

from tool_intent.policy.opening import held_by
from tool_intent.policy.sources import Unreadable, read
from tool_intent.rules.diagnostics import Diagnostic


def rendered(diagnostics: Iterable[Diagnostic]) -> str:
    """Every diagnostic with the line it is about, where the file can still be read."""
    lines: dict[str, list[str]] = {}
    texts = []
    for diagnostic in diagnostics:
        if diagnostic.file not in lines:
            lines[diagnostic.file] = _lines(diagnostic.file)
        texts.append(diagnostic.render(lines[diagnostic.file]))
    return "\n".join(texts)


def _lines(file: str) -> list[str]:
    try:
        return read(file, "session", held_by(file)).decode("utf-8", "replace").splitlines()
    except Unreadable:
        return []

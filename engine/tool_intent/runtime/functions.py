"""The functions of the rule language at call time.

A function that is given something unknown gives something unknown; `rules.functions` has the
signatures, the modules below the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from tool_intent.runtime import telling
from tool_intent.runtime.comparing import any_of
from tool_intent.runtime.reading import LONGEST_LIST, Seq, read_text
from tool_intent.runtime.regex import Pattern, search
from tool_intent.runtime.remembering import ByIdentity
from tool_intent.runtime.state import LiteralPath, State
from tool_intent.runtime.straight import like_straight, under_straight

#: Texts whose words or marks are remembered: a decision reads the same few again and again.
_REMEMBERED = 256
#: Phrases that are looked for as they are, without marking a text's words.
_FEW = 8


def apply(name: str, arguments: tuple[Any, ...]) -> Any:
    """A function that gives no truth value; None where an argument is unknown."""
    if any(a is None for a in arguments):
        return None
    return _FUNCTIONS[name](*arguments)


def infix(name: str, left: Any, right: Any, sort: str, state: State) -> bool | None:
    """`left NAME right`; a list on the right means any of its elements."""
    if left is None or right is None:
        return None
    if left == "":
        return False
    if isinstance(left, Seq):
        if left.raw:
            return None
        found = any_of(infix(name, item, right, sort, state) for item in left.items)
        return found if found or left.complete else None
    if isinstance(right, Seq):
        found = any_of(_one(name, left, r, sort, state) for r in right.items)
        return found if found or right.complete else None
    if isinstance(right, tuple) and name != "restates":
        return _many(name, left, right, sort, state)
    return _one(name, left, right, sort, state)


def found_in(find: Callable[[str], bool | None], text: Any) -> bool | None:
    """Whether a text holds a match, by the pattern's finder."""
    if not isinstance(text, str):
        return None
    return find(text) if text else False


def matches(pattern: Pattern, text: Any) -> bool | None:
    """Whether a text holds a match."""
    if not isinstance(text, str):
        return None
    return search(pattern, text) if text else False


def step_into(value: Any, name: str | int) -> Any:
    """A member of an element: of a record that the engine made, or of a raw object."""
    if isinstance(value, dict):
        found = value.get(name)
        if isinstance(found, list):
            return Seq(tuple(found[:LONGEST_LIST]), len(found) <= LONGEST_LIST)
        return found
    if isinstance(value, tuple) and isinstance(name, str) and hasattr(value, "_fields"):
        found = getattr(value, "from_" if name == "from" else name, None)
        if isinstance(found, tuple) and not isinstance(found, Seq):
            return Seq(tuple(v for v in found if v is not None), None not in found)
        return found
    return None


def _many(name: str, left: Any, right: tuple[str, ...], sort: str, state: State) -> bool | None:
    """Any of a list that is known beforehand; some functions read the left side once for all."""
    if name == "mentions" and isinstance(left, str):
        if len(right) <= _FEW and left.isascii():
            return _few_finder(right)(left) is not None
        marked = _mark(left)
        return any(needle in marked for needle in _needles(right))
    if name in ("like", "under") and sort == "path" and isinstance(left, str):
        return like_path(left, right, state) if name == "like" else under_path(left, right, state)
    return any_of(_one(name, left, r, sort, state) for r in right)


def like_path(
    path: Any, globs: tuple[str, ...], state: State, *, literal: bool = False
) -> bool | None:
    """Whether a path, or one of several, matches one of the globs. `literal`: it stands in the
    argument of a tool that expands nothing in it."""
    if isinstance(path, Seq):
        found = any_of(like_path(item, globs, state) for item in path.items)
        return found if found or path.complete else None
    if not path or not isinstance(path, str):
        return False if path == "" else None
    found = like_straight(path, globs, state.place)
    if found is not None:
        return found
    from tool_intent.runtime.paths import like

    return like(state.resolved(LiteralPath(path) if literal else path), globs, state.looking())


def under_path(path: Any, folders: tuple[str, ...], state: State) -> bool | None:
    """Whether a path, or one of several, is one of the folders or in one."""
    if isinstance(path, Seq):
        found = any_of(under_path(item, folders, state) for item in path.items)
        return found if found or path.complete else None
    if not path:
        return None if path is None else False
    found = under_straight(path, folders, state.place)
    if found is not None:
        return found
    from tool_intent.runtime.paths import under

    return under(state.resolved(path), folders, state.looking())


def _one(name: str, left: Any, right: Any, sort: str, state: State) -> bool | None:
    if right == "" or (name != "restates" and not isinstance(right, str)):
        return False if right == "" else None
    return _INFIX[name](left, right, sort, state)


def _mentions(left: Any, right: str, sort: str, state: State) -> bool | None:
    if not isinstance(left, str):
        return None
    if "/" in right:
        from tool_intent.runtime.phrases import mentions_path

        return mentions_path(left, right)
    return _many("mentions", left, (right,), sort, state)


def _restates(left: Any, right: Any, sort: str, state: State) -> bool | None:  # noqa: ARG001
    from tool_intent.runtime.words import says_no_more

    if not isinstance(left, str):
        return None
    call = (right,) if isinstance(right, str) else tuple(right)
    return says_no_more(left, telling.call_words(call))


def _resembles(left: Any, right: str, sort: str, state: State) -> bool | None:  # noqa: ARG001
    from tool_intent.runtime.words import resembles

    return resembles(left, right) if isinstance(left, str) else None


def _like(left: Any, right: str, sort: str, state: State) -> bool | None:
    if not isinstance(left, str):
        return None
    if sort == "path":
        return like_path(left, (right,), state)
    from tool_intent.runtime.globs import matches_text

    return matches_text(left, (right,))


def _under(left: Any, right: str, sort: str, state: State) -> bool | None:  # noqa: ARG001
    return under_path(left, (right,), state) if isinstance(left, str) else None


def _runs(left: Any, right: str, sort: str, state: State) -> bool | None:  # noqa: ARG001
    from tool_intent.runtime.shell import runs

    command = state.analysed(left)
    return None if command is None else runs(command, right)


_INFIX: dict[str, Callable[[Any, Any, str, State], bool | None]] = {
    "mentions": _mentions, "restates": _restates, "resembles": _resembles, "like": _like,
    "under": _under, "runs": _runs,
}  # fmt: skip


@lru_cache(maxsize=_REMEMBERED)
def _mark(text: str) -> str:
    from tool_intent.runtime.phrases import mark

    return mark(text)


@lru_cache(maxsize=1024)
def _few_finder(phrases: tuple[str, ...]) -> Callable[[str], object]:
    from tool_intent.runtime.phrases import few_finder

    return few_finder(phrases)


@ByIdentity
def _needles(phrases: tuple[str, ...]) -> tuple[str, ...]:
    from tool_intent.runtime.phrases import has_word, mark

    return tuple(mark(p) for p in phrases if has_word(p))


def _digest(value: Any) -> str | None:
    texts = (value,) if isinstance(value, str) else value
    return _digest_of(texts) if isinstance(texts, tuple) and not isinstance(texts, Seq) else None


@lru_cache(maxsize=8)
def _digest_of(texts: tuple[str, ...]) -> str:
    from tool_intent.runtime.words import digest

    return digest(texts)


def _cues(text: str) -> Seq:
    from tool_intent.runtime.cues import cues

    return _listed(cues(text))


def _echo(text: str, printed: tuple[str, ...]) -> bool:
    from tool_intent.runtime.echoes import echoes

    return echoes(text, printed)


def _seen(text: str, view: Any) -> bool | None:
    from tool_intent.runtime.hearing import cited

    return any_of(view.seen(token) for token in cited(text))


def _similarity(left: str, right: str) -> float:
    from tool_intent.runtime.words import similarity

    return similarity(left, right)


def _words(text: str) -> int:
    from tool_intent.runtime.words import words

    return words(text)


def _sentences(text: str) -> int:
    from tool_intent.runtime.words import sentences

    return sentences(text)


def _distinct(listed: Any, name: str | None = None) -> float | None:
    from tool_intent.runtime.words import distinct

    if not isinstance(listed, Seq) or not listed.complete:
        return None
    items = [i if name is None else step_into(i, name) for i in listed.items]
    return distinct(items) if all(isinstance(i, str) for i in items) else None


def _basename(path: str) -> str:
    from tool_intent.runtime.paths import basename

    return basename(path)


def _paths(text: str) -> Seq:
    from tool_intent.runtime.citations import paths

    return _listed(paths(text))


def _urls(text: str) -> Seq:
    from tool_intent.runtime.citations import urls

    return _listed(urls(text))


def _scripts(text: str) -> Seq:
    from tool_intent.runtime.scripts import scripts

    return _listed(scripts(text))


def _without(text: str, phrases: Any) -> str | None:
    if isinstance(phrases, Seq):
        if not phrases.complete:
            return None
        phrases = phrases.items
    return _without_each((phrases,) if isinstance(phrases, str) else phrases)(text)


@ByIdentity
def _without_each(phrases: tuple[str, ...]) -> Callable[[str], str]:
    """Takes phrases out of texts, of which the last few are remembered."""
    from tool_intent.runtime.phrases import without

    return lru_cache(maxsize=_REMEMBERED)(lambda text: without(text, phrases))


def _listed(items: list[Any]) -> Seq:
    return Seq(tuple(items[:LONGEST_LIST]), len(items) <= LONGEST_LIST)


def _typed(function: Callable[..., Any], *kinds: type) -> Callable[..., Any]:
    """`function`, unknown where an argument is not of its kind."""

    def checked(*arguments: Any) -> Any:
        if all(isinstance(a, k) for a, k in zip(arguments, kinds, strict=False)):
            return function(*arguments)
        return None

    return checked


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "words": _typed(_words, str),
    "length": _typed(len, str),
    "lower": _typed(str.lower, str),
    "sentences": _typed(_sentences, str),
    "overlap": telling.overlap,
    "novel": telling.novel,
    "content": telling.telling_words,
    "coverage": telling.coverage,
    "digest": _digest,
    "cues": _typed(_cues, str),
    "echo": _typed(_echo, str, tuple),
    "seen": _typed(_seen, str),
    "similarity": _typed(_similarity, str, str),
    "jaccard": _typed(telling.jaccard, str, str),
    "distinct": _distinct,
    "basename": _typed(_basename, str),
    "paths": _typed(_paths, str),
    "urls": _typed(_urls, str),
    "scripts": _typed(_scripts, str),
    "without": _typed(_without, str),
    "normalised": read_text,
}

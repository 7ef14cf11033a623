"""A shell command as rules see it: the `command` type of the rule language."""

from __future__ import annotations

from typing import Final, NamedTuple

from tool_intent.runtime.shell.words import Word

#: The attributes of a Command that hold lists, each of which may be longer than what is known.
ATTRIBUTES: Final = frozenset(
    {"parts", "pipes", "writes", "deletes", "refs", "urls", "reads", "paths"}
)


class Part(NamedTuple):
    """One simple command, wrappers included: `sudo rm x` is the parts `sudo` and `rm`.

    `program` is the base name of `program_path`, both None where the text does not decide them.
    `words` are the arguments, None for one that the text does not decide; `flags` those that
    begin with a dash before `--`, `args` the others. `shapes` is what is known of each argument;
    the first `own` belong to the program itself and not to a command it wraps; `more` says that
    further arguments may come from outside (`xargs`).
    """

    program: str | None
    program_path: str | None
    words: tuple[str | None, ...]
    flags: tuple[str, ...]
    args: tuple[str | None, ...]
    shapes: tuple[Word, ...] = ()
    own: int = 0
    more: bool = False


class Pipe(NamedTuple):
    """Two neighbours of a pipeline, by program; `from_` is what rules write as `from`."""

    from_: str | None
    to: str | None


class Command(NamedTuple):
    """What a command text does, as far as the text decides it.

    Lists are in the order of the text, without repetition but for `parts` and `pipes`. Paths
    are as written, joined to the directory that a `cd` before them has set. `unknown` names the
    attributes that may hold more than is listed: `any` over one of them is true or unknown,
    `all` false or unknown. `parsed` is false where the text was refused (then all are unknown),
    `resolved` where a word could not be computed or a command runs what is not in the text.
    """

    parts: tuple[Part, ...] = ()
    pipes: tuple[Pipe, ...] = ()
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    parsed: bool = True
    resolved: bool = True
    unknown: frozenset[str] = frozenset()


def part(words: list[Word], own: int | None = None, more: bool = False) -> Part:
    """The part whose program and arguments are `words`, at least one."""
    head, rest = words[0], tuple(words[1:])
    texts = tuple(word.text for word in rest)
    end = texts.index("--") if "--" in texts else len(texts)
    flags = tuple(t for t in texts[:end] if t is not None and len(t) > 1 and t[0] == "-")
    args = tuple(t for n, t in enumerate(texts) if n > end or (n < end and not _is_flag(t)))
    return Part(
        program_of(head), head.text, texts, flags, args, rest,
        len(rest) if own is None else own, more,
    )  # fmt: skip


def program_of(head: Word) -> str | None:
    """The base name of a program: of `"$HOME"/bin/x` it is known although the path is not."""
    if head.text is not None:
        return head.text.rstrip("/").rpartition("/")[2]
    if head.single and "/" in head.tail:
        return head.tail.rpartition("/")[2] or None
    return None


def _is_flag(text: str | None) -> bool:
    return text is not None and len(text) > 1 and text[0] == "-"

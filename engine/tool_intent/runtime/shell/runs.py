"""`runs`: whether a command runs a program with given words and options."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from tool_intent.runtime.shell.model import Command, Part
from tool_intent.runtime.shell.options import VERBS, Flag, Given, read_options, same_word
from tool_intent.runtime.shell.words import known

# Programs that read options with getopt_long or git's parser, which take shortened names.
_SHORTENS: Final = frozenset(
    [
        "rm",
        "cp",
        "mv",
        "ln",
        "install",
        "chmod",
        "chown",
        "chgrp",
        "mkdir",
        "touch",
        "truncate",
        "tee",
        "shred",
        "sed",
        "grep",
        "sort",
        "head",
        "tail",
        "tar",
        "git",
        "rsync",
        "wget",
    ]
)
# Programs that come as several, the kind after a dot: mkfs.ext4.
_FAMILIES: Final = frozenset({"mkfs", "fsck"})


class _Spec(NamedTuple):
    program: str
    given: Given


def runs(command: Command, spec: str) -> bool | None:
    """Whether some simple command of `command` is `spec`; None where the text does not decide it.

    `spec` is a program, the words it must begin with and options it must carry, in any order:
    `git push --force`. Programs compare by base name, options by meaning (`-rf` is
    `--recursive --force` of rm). A spec without a program is run by nothing.
    """
    wanted = _spec(spec)
    if wanted is None:
        return False
    result: bool | None = None if "parts" in command.unknown else False
    for part in command.parts:
        verdict = _runs(part, wanted)
        if verdict:
            return True
        if verdict is None:
            result = None
    return result


@lru_cache(maxsize=1024)
def _spec(text: str) -> _Spec | None:
    words = text.split()
    if not words:
        return None
    return _Spec(words[0], read_options(words[0], [known(word) for word in words[1:]]))


def _runs(part: Part, wanted: _Spec) -> bool | None:
    if part.program is None:
        return None
    if part.program != wanted.program and not (
        wanted.program in _FAMILIES and part.program.startswith(wanted.program + ".")
    ):
        return False
    given = read_options(wanted.program, part.shapes[: part.own])
    verdicts = [_begins(part, wanted, given)]
    verdicts += [_carries(part, flag, wanted.program, given) for flag in wanted.given.flags]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _begins(part: Part, wanted: _Spec, given: Given) -> bool | None:
    """Whether the operands begin with the words of the spec."""
    shifted = part.more
    operands = given.operands
    for index, need in enumerate(wanted.given.args):
        if index >= len(operands):
            return None if shifted else False
        word, unsure = operands[index]
        if word.text is None:
            # An operand that the text does not decide may be the word, or several, or none.
            if word.single and not (word.prefix and not (need.text or "").startswith(word.prefix)):
                return None
            shifted = shifted or not word.single
            if shifted:
                return None
            return False
        if not same_word(wanted.program, need.text or "", word.text):
            following = operands[index + 1][0].text if index + 1 < len(operands) else None
            return None if unsure and following == need.text else False
    return True


def _carries(part: Part, wanted: Flag, program: str, given: Given) -> bool | None:
    """Whether the options hold `wanted`, with its value if it has one."""
    if any(flag.name == "no-" + wanted.name for flag in given.flags):
        return None
    unsure = part.more or given.doubtful or _verb_unsure(program, given)
    absent: bool | None = None if unsure else False
    for flag in given.flags:
        if flag.name != wanted.name and not _shortens(flag.name, wanted.name):
            continue
        if flag.name != wanted.name and program not in _SHORTENS:
            absent = None
        elif wanted.value is None or (flag.value and flag.value.text == wanted.value.text):
            return True
        elif flag.value is not None and flag.value.text is None:
            absent = None
    if program == "git" and _refspec_says(wanted.name, given):
        return True
    if wanted.value is not None:
        return _value_follows(wanted, given) or absent
    return absent


def _shortens(name: str, wanted: str) -> bool:
    return len(name) > 1 and len(wanted) > len(name) and wanted.startswith(name)


def _verb_unsure(program: str, given: Given) -> bool:
    """Whether the command of a program such as git, which its options depend on, is not known."""
    if program not in VERBS or not given.operands:
        return False
    word, unsure = given.operands[0]
    return unsure or word.text is None


def _refspec_says(name: str, given: Given) -> bool:
    """Whether a refspec of `git push` does what the option does: `+main` forces, `:main` deletes.
    A lone `:` pushes the branches that both sides have."""
    first, *rest = [word.text or word.prefix for word in given.args] or [""]
    if first != "push":
        return False
    if name == "force":
        return any(text[:1] == "+" for text in rest)
    return name == "delete" and any(text.lstrip("+")[:1] == ":" and len(text) > 1 for text in rest)


def _value_follows(wanted: Flag, given: Given) -> bool | None:
    """`--name value` of a program whose options are in no table is `--name=value` or may be."""
    assert wanted.value is not None
    follows = any(
        unsure and word.text == wanted.value.text for word, unsure in given.operands
    ) and given.has(wanted.name)
    return None if follows else False

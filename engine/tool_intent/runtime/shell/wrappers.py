"""Programs that run another command, and where in their arguments that command stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tool_intent.runtime.shell.inner import Inner, script
from tool_intent.runtime.shell.launchers import LAUNCHERS
from tool_intent.runtime.shell.words import ANYTHING, Word, known

SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "rbash"})
#: Programs that run what is not in the text, whatever their arguments.
OPAQUE: Final = frozenset(
    {"source", ".", "alias", "parallel", "expect", "bind", "fish", "nu", "pwsh", "powershell"}
    | {"pwsh.exe", "powershell.exe", "cmd", "cmd.exe", "wsl", "wsl.exe", "bash.exe"}
)
#: Programs that run others and have arguments of their own that say what they do.
WORKS_ITSELF: Final = frozenset({"find", "ssh", *LAUNCHERS})
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


class _Wrapper(NamedTuple):
    """Letters and long names that take a value, operands before the command, `A=1` among them."""

    takes: frozenset[str] = frozenset()
    skip: int = 0
    assigns: bool = False
    chdir: frozenset[str] = frozenset()


def _wrapper(takes: str = "", skip: int = 0, assigns: bool = False, chdir: str = "") -> _Wrapper:
    return _Wrapper(frozenset(takes.split()), skip, assigns, frozenset(chdir.split()))


_SUDO: Final = (
    "u g p C h r t T U D R user group prompt chdir host role type other-user close-from chroot "
    "command-timeout"
)
_WRAPPERS: Final[dict[str, _Wrapper]] = {
    "sudo": _wrapper(_SUDO, 0, True, "D chdir"),
    "doas": _wrapper("u C a", 0, True),
    "run0": _wrapper("u g D user group nice chdir description slice property setenv machine"),
    "env": _wrapper("u C S unset chdir split-string argv0 a", 0, True, "C chdir"),
    "timeout": _wrapper("k s kill-after signal", 1),
    "gtimeout": _wrapper("k s kill-after signal", 1),
    "nice": _wrapper("n adjustment"),
    "ionice": _wrapper("c n p P u class classdata"),
    "chrt": _wrapper("T P D", 1),
    "taskset": _wrapper("", 1),
    "nohup": _wrapper(),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("i o e input output error"),
    "unbuffer": _wrapper(),
    "time": _wrapper("f o format output"),
    "coproc": _wrapper(),
    "builtin": _wrapper(),
    "command": _wrapper(),
    "exec": _wrapper("a"),
    "xargs": _wrapper(
        "I n P L s d E a max-args max-procs max-lines max-chars delimiter arg-file process-slot-var"
    ),
    "watch": _wrapper("n interval q equexit"),
    "flock": _wrapper("w E timeout wait conflict-exit-code", 1),
    "chroot": _wrapper("userspec groups", 1),
    "unshare": _wrapper("R w S G root wd setuid setgid propagation"),
    "nsenter": _wrapper("t S G target setuid setgid"),
    "strace": _wrapper("e o p s u E a b I O P S X"),
    "ltrace": _wrapper("e o p s u a n"),
    "caffeinate": _wrapper("t w"),
    "busybox": _wrapper(),
    "toybox": _wrapper(),
    "npx": _wrapper("p package c call"),
    "bunx": _wrapper(),
    "sshpass": _wrapper("f d p P"),
    "dotenv": _wrapper("f e"),
    "xvfb-run": _wrapper("e f n p s w"),
    "runuser": _wrapper("u g G", 0),
    "torsocks": _wrapper(),
    "proxychains": _wrapper("f"),
    "proxychains4": _wrapper("f"),
    "catchsegv": _wrapper(),
    "systemd-run": _wrapper("p u property unit slice uid gid M machine"),
    "uv run": _wrapper("with python p project directory extra group env-file"),
    "poetry run": _wrapper(),
    "pipenv run": _wrapper(),
    "pdm run": _wrapper(),
    "hatch run": _wrapper(),
    "rye run": _wrapper(),
    "bundle exec": _wrapper(),
    "pnpm exec": _wrapper(),
    "pnpm dlx": _wrapper(),
    "yarn dlx": _wrapper(),
    "npm exec": _wrapper("p package c call"),
    "conda run": _wrapper("n p name prefix cwd"),
    "mise exec": _wrapper(),
}
_SHELL_TAKES: Final = frozenset({"o", "O", "rcfile", "init-file"})


def inner(program: str, words: Sequence[Word]) -> list[Inner]:
    """The commands that `program` runs when called with `words`; empty where it is no wrapper."""
    if special := _SPECIAL.get(program) or LAUNCHERS.get(program):
        return special(words)
    if program in SHELLS:
        return _shell(words)
    if program in OPAQUE:
        return [Inner(opaque=True, own=len(words), same=True)] if words else []
    first = words[0].text if words else None
    if wrapper := _WRAPPERS.get(f"{program} {first}"):
        return _command(wrapper, words, 1)
    if wrapper := _WRAPPERS.get(program):
        return _command(wrapper, words, 0)
    return []


def _command(wrapper: _Wrapper, words: Sequence[Word], start: int) -> list[Inner]:
    """The command behind the options, assignments and operands of a wrapper."""
    at, unsure, chdir = start, False, None
    while at < len(words):
        word = words[at]
        text = word.prefix if word.text is None else word.text
        unsure = unsure or not word.single
        if word.text == "--":
            at += 1
            break
        if len(text) > 1 and text[0] == "-":
            name, attached = _option(wrapper, text)
            value = known(attached) if attached is not None else None
            if name and attached is None:
                at += 1
                value = words[at] if at < len(words) else None
                unsure = unsure or not (value is None or value.single)
            chdir = value if name in wrapper.chdir else chdir
        elif not (wrapper.assigns and _ASSIGNMENT.match(text)):
            break
        at += 1
    skipped = words[at : at + wrapper.skip]
    unsure = unsure or any(not word.single for word in skipped)
    at += wrapper.skip
    found = [Inner(tuple(words[at:]), own=at, chdir=chdir)] if at < len(words) else []
    return [*found, Inner(opaque=True, own=at)] if unsure else found


def _option(wrapper: _Wrapper, text: str) -> tuple[str | None, str | None]:
    """The option in `text` that takes a value, and the value attached to it."""
    if text.startswith("--"):
        name, has_value, value = text[2:].partition("=")
        if has_value:
            return name, value
        return (name, None) if name in wrapper.takes else (None, None)
    for index, letter in enumerate(text[1:], 2):
        if letter in wrapper.takes:
            return letter, text[index:] or None
    return None, None


def _joined(words: Sequence[Word]) -> Word:
    texts = [word.text for word in words]
    if any(text is None for text in texts):
        return ANYTHING
    return known(" ".join(text or "" for text in texts))


def _shell(words: Sequence[Word]) -> list[Inner]:
    """`sh -c SCRIPT`, `sh FILE`, `sh` that reads its input."""
    at, command, stdin = 0, False, False
    while at < len(words):
        text = words[at].text
        if text is None:
            return [Inner(opaque=True, own=len(words))]
        if text in ("--", "-"):
            at += 1
            break
        if len(text) < 2 or text[0] not in "-+":
            break
        if text in ("--version", "--help", "--dump-strings"):
            return []
        if text.startswith("--"):
            at += text[2:] in _SHELL_TAKES
        else:
            command = command or (text[0] == "-" and "c" in text)
            stdin = stdin or "s" in text
            at += any(letter in text for letter in "oO")
        at += 1
    if command:
        return [script(words[at] if at < len(words) else None, len(words))]
    if stdin or at >= len(words):
        return [Inner(stdin=True, own=len(words))]
    return [Inner(opaque=True, own=len(words))]


def _eval(words: Sequence[Word]) -> list[Inner]:
    return [script(_joined(words), len(words), True)] if words else []


def _trap(words: Sequence[Word]) -> list[Inner]:
    operands = [word for word in words if word.text not in ("--", "-l", "-p")]
    return (
        [script(operands[0], len(words))] if len(operands) > 1 and operands[0].text != "-" else []
    )


def _command_builtin(words: Sequence[Word]) -> list[Inner]:
    first = words[0].text if words else None
    if first is not None and first[:1] == "-" and ("v" in first or "V" in first):
        return []
    return _command(_WRAPPERS["command"], words, 0)


def _env(words: Sequence[Word]) -> list[Inner]:
    """As any wrapper, but `-S` splits its value into words."""
    for index, word in enumerate(words):
        text = word.prefix if word.text is None else word.text
        if text[:1] != "-" and not _ASSIGNMENT.match(text):
            break
        name, attached = _option(_WRAPPERS["env"], text)
        if name in ("S", "split-string"):
            rest = [known(attached)] if attached is not None else []
            return [script(_joined([*rest, *words[index + 1 :]]), len(words))]
    return _command(_WRAPPERS["env"], words, 0)


def _sudo(words: Sequence[Word]) -> list[Inner]:
    found = _command(_WRAPPERS["sudo"], words, 0)
    if any(w.text in ("-e", "--edit") for w in words[: found[0].own if found else len(words)]):
        return []
    return found


def _xargs(words: Sequence[Word]) -> list[Inner]:
    """The command with arguments from elsewhere: in place of `-I`'s text or at the end."""
    found = _command(_WRAPPERS["xargs"], words, 0)
    if not found:
        return []
    own = words[: found[0].own]
    marks = {m for m in ("{}", *(w.text for w in own), *(w.text[2:] for w in own if w.text)) if m}
    replaced = any(word.text and word.text.startswith(("-I", "-i", "--replace")) for word in own)
    if not replaced:
        return [item._replace(more=not item.opaque) for item in found]
    return [item._replace(words=_holes(item.words, marks)) for item in found]


def _holes(words: Sequence[Word], marks: set[str]) -> tuple[Word, ...]:
    """`words` with every one that holds a mark no longer known."""
    return tuple(
        Word(None) if word.text and any(mark in word.text for mark in marks) else word
        for word in words
    )


def _find(words: Sequence[Word]) -> list[Inner]:
    """The commands of `-exec` and its like, to `;` or `+`."""
    found: list[Inner] = []
    at = 0
    while at < len(words):
        if words[at].text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = at + 1
            while end < len(words) and words[end].text not in (";", "+"):
                end += 1
            if command := _holes(words[at + 1 : end], {"{}"}):
                found.append(Inner(command, own=at + 1))
            at = end
        at += 1
    return found


def _su(words: Sequence[Word]) -> list[Inner]:
    for index, word in enumerate(words):
        if word.text in ("-c", "--command", "--session-command"):
            return [script(words[index + 1] if index + 1 < len(words) else None, len(words))]
        if word.text and word.text.startswith("--command="):
            return [script(known(word.text.partition("=")[2]), len(words))]
        if word.text is None:
            return [Inner(opaque=True, own=len(words))]
    return [Inner(stdin=True, own=len(words))]


def _runuser(words: Sequence[Word]) -> list[Inner]:
    if any(word.text in ("-u", "--user") for word in words):
        return _command(_WRAPPERS["runuser"], words, 0)
    return _su(words)


def _joins(program: str) -> Callable[[Sequence[Word]], list[Inner]]:
    """Wrappers that hand the rest of their words to a shell as one text."""

    def found(words: Sequence[Word]) -> list[Inner]:
        return [
            item if item.opaque else script(_joined(item.words), item.own)
            for item in _command(_WRAPPERS[program], words, 0)
        ]

    return found


def _flock(words: Sequence[Word]) -> list[Inner]:
    for index, word in enumerate(words):
        if word.text in ("-c", "--command"):
            return [script(words[index + 1] if index + 1 < len(words) else None, len(words))]
    return _command(_WRAPPERS["flock"], words, 0)


def _typescript(words: Sequence[Word]) -> list[Inner]:
    for index, word in enumerate(words):
        if word.text in ("-c", "--command", "-qc", "-qec", "-ec"):
            return [script(words[index + 1] if index + 1 < len(words) else None, len(words))]
    return [Inner(stdin=True, own=len(words))]


def _ssh(words: Sequence[Word]) -> list[Inner]:
    takes = _wrapper("b c D E e F I i J L l m O o p Q R S W w", 1)
    return [
        item if item.opaque else script(_joined(item.words), item.own)
        for item in _command(takes, words, 0)
    ]


def _python(words: Sequence[Word]) -> list[Inner]:
    """`python -m pytest` is pytest."""
    for index, word in enumerate(words):
        if word.text == "-m" and index + 1 < len(words):
            return [Inner(tuple(words[index + 1 :]), own=index + 1)]
        if word.text is None or word.text[:1] != "-" or word.text == "-c":
            return []
    return []


_SPECIAL: Final[dict[str, Callable[[Sequence[Word]], list[Inner]]]] = {
    "eval": _eval,
    "trap": _trap,
    "command": _command_builtin,
    "env": _env,
    "sudo": _sudo,
    "xargs": _xargs,
    "find": _find,
    "su": _su,
    "runuser": _runuser,
    "watch": _joins("watch"),
    "flock": _flock,
    "script": _typescript,
    "ssh": _ssh,
    "python": _python,
    "python3": _python,
}

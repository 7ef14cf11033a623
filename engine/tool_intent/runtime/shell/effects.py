"""What a program does with its arguments: paths read, written and deleted, refs, addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from tool_intent.runtime.shell.model import Part
from tool_intent.runtime.shell.options import Given, read_options
from tool_intent.runtime.shell.words import ANYTHING, Word, known

#: One effect: the attribute of Command it belongs to, and the word that says what is affected.
Effect = tuple[str, Word]


class _Rule(NamedTuple):
    """Attributes that a program's operands go to, and options whose values do.

    `skip` operands come first that are no paths, unless an option of `unless` was given.
    """

    operands: tuple[str, ...] = ()
    skip: int = 0
    unless: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


def _rules(names: str, rule: _Rule) -> dict[str, _Rule]:
    return dict.fromkeys(names.split(), rule)


_PROGRAMS: Final[dict[str, _Rule]] = {
    **_rules("rm unlink rmdir srm trash trash-put rimraf del", _Rule(("deletes",))),
    **_rules("shred", _Rule(("deletes", "writes"))),
    **_rules("tee touch truncate mkdir mkfifo fallocate ed ex vi vim nano emacs sponge mkfs wipefs",
             _Rule(("writes",))),
    **_rules("cat head tail tac less more nl wc uniq cut diff cmp comm join paste md5sum sha1sum"
             " sha256sum sha512sum cksum xxd od hexdump strings base64 base32 file stat ls source ."
             " bat column fold fmt rev readlink realpath du tree", _Rule(("reads",))),
    **_rules("sort", _Rule(("reads",), outputs=("output",))),
    **_rules("grep egrep fgrep rg ag ack", _Rule(("reads",), 1, ("regexp", "file"))),
    **_rules("awk gawk mawk jq yq", _Rule(("reads",), 1, ("file", "f", "from-file"))),
    **_rules("chmod chown chgrp", _Rule(("paths",), 1, ("reference",))),
    **_rules("gcc g++ cc clang clang++ ld rustc", _Rule(("reads",), outputs=("output",))),
    **_rules("echo printf kill killall pkill sleep true false exit return export declare local"
             " typeset readonly unset set shift test [ [[ (( let read which type command hash cd"
             " pushd popd wait jobs trap umask ulimit date uname whoami id hostname seq yes expr :"
             " eval break continue ssh", _Rule()),
    "gzip": _Rule(("deletes", "writes")), "gunzip": _Rule(("deletes", "writes")),
    "bzip2": _Rule(("deletes", "writes")), "xz": _Rule(("deletes", "writes")),
}  # fmt: skip

_REF_COMMANDS: Final = frozenset(
    [
        "push",
        "checkout",
        "switch",
        "branch",
        "reset",
        "merge",
        "rebase",
        "tag",
        "fetch",
        "pull",
        "cherry-pick",
        "revert",
        "update-ref",
        "symbolic-ref",
        "worktree",
    ]
)
_WITH_REMOTE: Final = frozenset({"push", "fetch", "pull"})
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s'\"<>]+")
_REMOTE: Final = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!//|\\)\S*")
_FETCHERS: Final = frozenset({"curl", "wget", "http", "https", "xh", "aria2c"})
_NET: Final = _FETCHERS | {"git", "scp", "rsync", "sftp", "ssh", "nc", "ncat", "pip", "npm"}
_GIT_NET: Final = frozenset(
    {"clone", "push", "pull", "fetch", "remote", "ls-remote", "submodule", None}
)
_REMOTES: Final = frozenset({"git", "scp", "rsync", "sftp"})


def effects(part: Part) -> Iterator[Effect]:
    """What `part` does; a word whose text is unknown makes its attribute unknown."""
    program = part.program
    if program is None:
        return
    own = part.shapes[: part.own]
    given = read_options(program, own)
    yield from _urls(program, own, given)
    handler = _HANDLERS.get(program)
    if handler:
        yield from handler(given)
    elif rule := _PROGRAMS.get(program):
        yield from _by_rule(rule, given)
    else:
        family = program.partition(".")[0]
        yield from _by_rule(_PROGRAMS.get(family, _Rule(("paths",), outputs=())), given)
    if program not in _PROGRAMS or _PROGRAMS[program] != _Rule():
        yield from (
            ("paths", flag.value)
            for flag in given.flags
            if flag.value is not None and _path_value(flag.name, flag.value)
        )
    if part.more:
        yield from ((name, ANYTHING) for name in _more(program))


_NO_PATHS: Final = frozenset(
    [
        "message",
        "m",
        "header",
        "data",
        "body",
        "title",
        "b",
        "t",
        "C",
        "request",
        "user-agent",
        "user",
        "lines",
        "bytes",
    ]
)


def _path_value(name: str, value: Word) -> bool:
    """Whether an option's value may be a path; messages and numbers are none."""
    if name in _NO_PATHS:
        return False
    return value.text is None or ("\n" not in value.text and not value.text.isdigit())


def _more(program: str) -> tuple[str, ...]:
    """The attributes that arguments from elsewhere may add to."""
    rule = _PROGRAMS.get(program)
    if program == "git":
        return ("deletes", "writes", "refs", "paths")
    if rule is None or program == "sort":
        return ("deletes", "writes", "reads", "urls", "paths")
    return (*rule.operands, "paths") if rule.operands else ()


def _by_rule(rule: _Rule, given: Given) -> Iterator[Effect]:
    skip = 0 if given.has(*rule.unless) else rule.skip
    for name in rule.operands:
        yield from ((name, word) for word in given.args[skip:])
    yield from (("writes", word) for word in given.value(*rule.outputs))


def _copy(given: Given, moves: bool = False) -> Iterator[Effect]:
    """Sources and destination; a copy into a directory is listed under both its names."""
    targets = given.value("target-directory")
    sources = given.args if targets else given.args[:-1]
    for target in targets or given.args[-1:]:
        yield from _into(target, sources)
    yield from (("reads", word) for word in sources)
    if moves:
        yield from (("deletes", word) for word in sources)


def _into(target: Word, sources: list[Word]) -> Iterator[Effect]:
    if target.text not in (".", "./", ".."):
        yield "writes", target
    for source in sources:
        if source.text is None or target.text is None:
            yield "writes", ANYTHING
            continue
        name = source.text.rstrip("/").rpartition("/")[2]
        folder = "" if target.text in (".", "./") else target.text.rstrip("/") + "/"
        if name and name not in (".", ".."):
            yield "writes", known(folder + name)


def _move(given: Given) -> Iterator[Effect]:
    return _copy(given, moves=True)


def _link(given: Given) -> Iterator[Effect]:
    if len(given.args) == 1:
        yield from _into(known("."), given.args)
    else:
        yield from _copy(given)


def _remote_copy(given: Given) -> Iterator[Effect]:
    for word in given.args[:-1]:
        if word.text is None or not _REMOTE.fullmatch(word.text):
            yield "reads", word
    for target in given.args[-1:]:
        if target.text is None or not _REMOTE.fullmatch(target.text):
            yield from _into(target, given.args[:-1])
            if given.has(
                "delete", "delete-after", "delete-before", "delete-excluded", "delete-during"
            ):
                yield "deletes", target
                yield "deletes", ANYTHING
    if given.has("remove-source-files"):
        yield from (("deletes", word) for word in given.args[:-1])


def _sed(given: Given) -> Iterator[Effect]:
    files = given.args if given.has("expression", "file") else given.args[1:]
    yield from (("reads", word) for word in files)
    if given.has("in-place"):
        yield from (("writes", word) for word in files)


def _perl(given: Given) -> Iterator[Effect]:
    files = given.args[1:] if given.has("e", "E") else given.args
    yield from (("reads", word) for word in files)
    if given.has("i"):
        yield from (("writes", word) for word in files)


def _dd(given: Given) -> Iterator[Effect]:
    for word in given.args:
        text = word.text if word.text is not None else word.prefix
        name, _, value = text.partition("=")
        if name in ("of", "if"):
            known_value = known(value) if word.text is not None else ANYTHING
            yield ("writes" if name == "of" else "reads"), known_value
        elif word.text is None and not name:
            yield "writes", ANYTHING


def _find(given: Given) -> Iterator[Effect]:
    roots = [w for w in given.args[: given.leading] if w.text not in ("!", "(")] or [known(".")]
    yield from (("paths", word) for word in roots)
    if given.has("delete"):
        yield from (("deletes", word) for word in roots)
        yield "deletes", ANYTHING
    yield from (("writes", word) for word in given.value("fprint", "fprintf", "fls", "fprint0"))


def _curl(given: Given) -> Iterator[Effect]:
    yield from (
        ("writes", word) for word in given.value("output", "cookie-jar", "c", "dump-header", "D")
    )
    if given.has("remote-name", "remote-name-all"):
        yield from (("writes", _last_segment(word)) for word in given.args)
    for word in given.value(
        "data", "form", "data-binary", "data-urlencode", "upload-file", "config"
    ):
        text = word.text if word.text is not None else word.prefix
        file = (
            text.rpartition("@")[2]
            if "@" in text
            else text
            if given.has("upload-file", "config")
            else ""
        )
        if file:
            yield "reads", known(file) if word.text is not None else ANYTHING


def _wget(given: Given) -> Iterator[Effect]:
    outputs = given.value("output-document")
    yield from (("writes", word) for word in outputs + given.value("output-file"))
    yield from (("reads", word) for word in given.value("post-file", "body-file"))
    if not outputs:
        folders = [w.text or "" for w in given.value("directory-prefix")] or [""]
        for word in given.args:
            name = _last_segment(word)
            prefix = folders[0].rstrip("/") + "/" if folders[0] else ""
            yield "writes", name if name.text is None else known(prefix + name.text)


def _last_segment(url: Word) -> Word:
    if url.text is None:
        return ANYTHING
    path = re.sub(r"^[a-z]+://", "", url.text.partition("?")[0].partition("#")[0])
    return known(path.rpartition("/")[2] or "index.html") if "/" in path else known("index.html")


def _tar(given: Given) -> Iterator[Effect]:
    bundled = given.args[:1] if given.leading else []
    letters = (bundled[0].text or "") if bundled else ""
    operands = given.args[1:] if bundled else given.args
    archive = given.value("file") or (operands[:1] if "f" in letters else [])
    if given.has("extract", "get") or "x" in letters:
        yield from (("reads", word) for word in archive)
        yield from (("writes", word) for word in given.value("directory"))
        yield "writes", ANYTHING
    elif given.has("create", "r", "u", "append", "update") or letters.strip("vzjJfp"):
        yield from (("writes", word) for word in archive)
        yield from (("reads", word) for word in operands if word not in archive)
        if given.has("remove-files"):
            yield from (("deletes", word) for word in operands if word not in archive)
    else:
        yield from (("reads", word) for word in archive)


def _unpack(given: Given) -> Iterator[Effect]:
    yield from (("reads", word) for word in given.args)
    yield "writes", ANYTHING


def _zip(given: Given) -> Iterator[Effect]:
    yield from (("writes", word) for word in given.args[:1])
    yield from (("reads", word) for word in given.args[1:])


def _git(given: Given) -> Iterator[Effect]:
    verb = given.args[0].text if given.args else ""
    rest = given.args[1:]
    split = len(rest) if given.ended < 0 else max(given.ended - 1, 0)
    if verb is None:
        yield from ((name, ANYTHING) for name in ("deletes", "writes", "refs", "paths"))
    elif verb == "rm":
        yield from (("deletes", word) for word in rest)
    elif verb == "mv":
        yield from (("deletes", word) for word in rest[:-1])
        yield from (effect for target in rest[-1:] for effect in _into(target, rest[:-1]))
    elif verb == "clean" and not given.has("dry-run"):
        yield from (("deletes", word) for word in rest)
        yield "deletes", ANYTHING
    elif verb == "restore":
        yield from (("writes", word) for word in rest)
    elif verb in ("checkout", "reset"):
        yield from (("writes" if verb == "checkout" else "paths", word) for word in rest[split:])
    elif verb == "worktree" and rest and rest[0].text == "remove":
        yield from (("deletes", word) for word in rest[1:])
    elif verb in ("add", "diff", "log", "show", "blame", "apply", "am"):
        yield from (("paths", word) for word in rest)
    if verb in _REF_COMMANDS:
        yield from _refs(given, verb, rest[:split])


def _refs(given: Given, verb: str, words: list[Word]) -> Iterator[Effect]:
    skip = verb in _WITH_REMOTE and not given.has("multiple")
    for word in words[1:] if skip else words:
        if word.text is None:
            yield "refs", ANYTHING
            continue
        for ref in word.text.removeprefix("+").split(":"):
            if ref:
                yield "refs", known(re.sub(r"^refs/(heads|tags|remotes)/", "", ref))
    if given.has("all", "mirror", "branches") and verb == "push":
        yield "refs", ANYTHING
    if skip and any(word.text is None and not word.single for word in words[:1]):
        yield "refs", ANYTHING


def _urls(program: str, words: tuple[Word, ...], given: Given) -> Iterator[Effect]:
    remote = program in _NET
    if program == "git":
        remote = bool(given.args) and given.args[0].text in _GIT_NET
    for word in words:
        # An address with a `?` is a glob by form, and no file has its name.
        text = word.pattern if word.pattern and "://" in word.prefix else word.text
        if text is not None:
            yield from (("urls", known(url)) for url in _URL.findall(text))
        elif remote or "://" in word.prefix:
            yield "urls", ANYTHING
    operands = [word.text for word in given.args if word.text is not None]
    if program in _FETCHERS:
        bare = [
            text
            for text in operands + [w.text for w in given.value("url") if w.text]
            if "://" not in text
        ]
        yield from (("urls", known("http://" + text)) for text in bare if text)
    elif program in _REMOTES:
        found = [
            text
            for text in operands
            if _REMOTE.fullmatch(text) and (program != "git" or "@" in text)
        ]
        yield from (("urls", known("ssh://" + text.replace(":", "/", 1))) for text in found)
    elif program == "ssh" and operands:
        yield "urls", known("ssh://" + operands[0])


_HANDLERS: Final[dict[str, Callable[[Given], Iterator[Effect]]]] = {
    "cp": _copy, "install": _copy, "mv": _move, "ln": _link, "rsync": _remote_copy,
    "scp": _remote_copy, "sed": _sed, "gsed": _sed, "perl": _perl, "dd": _dd, "find": _find,
    "curl": _curl, "wget": _wget, "tar": _tar, "unzip": _unpack, "patch": _unpack, "7z": _unpack,
    "cpio": _unpack, "zip": _zip, "git": _git,
}  # fmt: skip

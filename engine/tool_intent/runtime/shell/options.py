"""Options: reading a program's arguments, and the tables of what its options mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from tool_intent.runtime.shell.words import Word


class Options(NamedTuple):
    """A program's options.

    `takes` are the options that take a value (letters and long names), `same` maps a letter or
    name to the name that stands for all of its spellings, `dashed` marks programs whose long
    names have one dash (`find -delete`).
    """

    takes: frozenset[str] = frozenset()
    same: Mapping[str, str] = MappingProxyType({})
    dashed: bool = False


def _options(takes: str = "", same: str = "", dashed: bool = False) -> Options:
    pairs = (pair.split("=") for pair in same.split())
    return Options(frozenset(takes.split()), dict(pairs), dashed)


_NONE: Final = Options()

#: By program, or by program and first word; the second adds to the first.
OPTIONS: Final[dict[str, Options]] = {
    "rm": _options("", "r=recursive R=recursive f=force i=interactive d=dir v=verbose"),
    "cp": _options(
        "t S target-directory suffix", "r=recursive R=recursive f=force a=archive n=no-clobber"
        " t=target-directory v=verbose p=preserve",
    ),
    "mv": _options("t S target-directory suffix", "f=force n=no-clobber t=target-directory"),
    "ln": _options("t S target-directory suffix", "f=force s=symbolic t=target-directory"),
    "install": _options(
        "t S m o g target-directory suffix mode owner group",
        "t=target-directory m=mode d=directory",
    ),
    "chmod": _options("reference", "R=recursive f=silent v=verbose"),
    "chown": _options("reference from", "R=recursive f=silent v=verbose"),
    "chgrp": _options("reference", "R=recursive f=silent"),
    "mkdir": _options("m mode", "p=parents m=mode"),
    "touch": _options("d t r date reference time", "c=no-create r=reference"),
    "truncate": _options("s r size reference", "s=size r=reference c=no-create"),
    "tee": _options("", "a=append"),
    "shred": _options("n s iterations size random-source", "u=remove f=force n=iterations"),
    "sed": _options(
        "e f l expression file line-length",
        "i=in-place e=expression f=file n=quiet E=regexp-extended",
    ),
    "grep": _options(
        "e f m A B C regexp file max-count after-context before-context context include exclude",
        "r=recursive R=recursive i=ignore-case e=regexp f=file v=invert-match l=files-with-matches",
    ),
    "sort": _options("k t o S T key output", "o=output u=unique r=reverse"),
    "head": _options("n c lines bytes", "n=lines c=bytes"),
    "tail": _options("n c lines bytes", "n=lines c=bytes f=follow"),
    "find": _options(
        "name iname path ipath regex type size mtime mmin atime ctime newer user group perm"
        " maxdepth mindepth fprint fprintf fls", "", True,
    ),
    "tar": _options(
        "f C I F file directory checkpoint-action to-command use-compress-program info-script"
        " rsh-command exclude", "f=file x=extract c=create C=directory z=gzip v=verbose",
    ),
    "curl": _options(
        "o X H d F u A e b c T K m x output request header data form user user-agent referer cookie"
        " cookie-jar upload-file data-binary data-raw data-urlencode config max-time proxy url"
        " connect-timeout retry cacert cert key w write-out",
        "o=output O=remote-name X=request H=header d=data F=form u=user T=upload-file k=insecure"
        " L=location s=silent f=fail K=config",
    ),
    "wget": _options(
        "O o P U t T e output-document output-file directory-prefix user-agent header post-data"
        " post-file tries timeout",
        "O=output-document P=directory-prefix q=quiet o=output-file",
    ),
    "rsync": _options("e f rsh exclude include filter", "a=archive r=recursive n=dry-run"),
    "scp": _options("P i o F S c l J", "r=recursive"),
    "git": _options(
        "C c git-dir work-tree namespace exec-path config-env attr-source super-prefix", "",
    ),
    "git push": _options(
        "o push-option receive-pack exec repo",
        "f=force n=dry-run d=delete u=set-upstream q=quiet v=verbose",
    ),
    "git commit": _options(
        "m F C c t message file author date reuse-message reedit-message template fixup squash"
        " trailer cleanup pathspec-from-file",
        "n=no-verify a=all m=message F=file s=signoff q=quiet",
    ),
    "git clean": _options("e exclude", "f=force n=dry-run i=interactive e=exclude q=quiet"),
    "git checkout": _options("", "f=force q=quiet"),
    "git switch": _options("", "f=discard-changes c=create C=force-create force=discard-changes"),
    "git restore": _options("s source pathspec-from-file", "s=source S=staged W=worktree"),
    "git branch": _options("", "d=delete f=force m=move r=remotes a=all"),
    "git rm": _options("", "f=force r=recursive n=dry-run q=quiet"),
    "git add": _options("", "f=force A=all n=dry-run u=update p=patch"),
    "git tag": _options("m F u message file local-user", "d=delete f=force a=annotate m=message"),
    "git merge": _options("m F s X message file strategy strategy-option", "m=message"),
    "git reset": _options("", "q=quiet p=patch"),
    "git pull": _options("s X", "f=force r=rebase"),
    "git fetch": _options("", "f=force p=prune a=append"),
    "git rebase": _options("x s X exec strategy onto", "i=interactive f=force-rebase x=exec"),
    "git stash": _options("m message", "m=message u=include-untracked"),
    "git log": _options("n S G author grep since until format", ""),
    "git worktree": _options("b B", "f=force"),
    "docker": _options("H l c host context config log-level", "c=context H=host"),
    "docker run": _options(
        "v e p w u m h name volume env publish workdir user network net pid memory entrypoint mount"
        " label ipc platform env-file cap-add device security-opt",
        "net=network v=volume e=env p=publish w=workdir u=user i=interactive t=tty d=detach",
    ),
    "docker exec": _options("e w u env workdir user", "i=interactive t=tty d=detach u=user"),
    "kubectl": _options(
        "n f o l c namespace context cluster kubeconfig filename output selector container user",
        "n=namespace f=filename o=output l=selector A=all-namespaces",
    ),
    "helm": _options("n f namespace values set kube-context kubeconfig", "n=namespace f=values"),
    "terraform": _options("", "", True),
    "gh": _options("R repo title body b t F body-file", "R=repo"),
    "aws": _options("profile region output endpoint-url query", ""),
    "gcloud": _options("project account configuration format zone region", "q=quiet"),
    "npm": _options(
        "prefix w workspace registry C access tag otp userconfig loglevel",
        "g=global f=force w=workspace C=prefix",
    ),
    "make": _options("C f I o W directory file", "C=directory f=file n=dry-run k=keep-going"),
    "cargo": _options("manifest-path p package target-dir config Z", "p=package q=quiet"),
    "go": _options("", "", True),
    "java": _options("cp classpath jar", "", True),
    "apt-get": _options("o t", "y=yes assume-yes=yes"),
    "apt": _options("o t", "y=yes assume-yes=yes"),
    "dd": _options(),
    "mkfs": _options("t"),
    "pytest": _options("k m c n p o", "v=verbose q=quiet x=exitfirst"),
    "systemctl": _options("H M host machine", "f=force"),
    "patch": _options("i o p d input output strip directory", "i=input o=output d=directory"),
    "zip": _options("", "r=recurse-paths"),
    "unzip": _options("d", ""),
    "cc": _options("o I L l D", "o=output"),
    "dig": _options(),
}  # fmt: skip
for _name in ("gcc", "g++", "clang", "clang++", "ld", "rustc"):
    OPTIONS[_name] = OPTIONS["cc"]
for _name in ("egrep", "fgrep", "rg"):
    OPTIONS[_name] = OPTIONS["grep"]
for _name in ("podman", "nerdctl"):
    for _verb in ("", " run", " exec"):
        OPTIONS[_name + _verb] = OPTIONS["docker" + _verb]

#: Programs whose first operand is a command. Options before it are too many for a table: one that
#: is in none may take the word behind it as its value.
VERBS: Final = frozenset(
    {"git", "docker", "podman", "nerdctl", "kubectl", "helm", "gh", "aws", "gcloud", "npm", "cargo"}
)


_MAX_CLUSTER: Final = 64


class Flag(NamedTuple):
    """An option as given: its name without dashes, its value where it has one."""

    name: str
    value: Word | None = None


class Given(NamedTuple):
    """Arguments, read: options, operands and what may be either.

    `operands` come with whether an option of unknown arity stands before them; `leading` counts
    those before the first option, `ended` those before `--` (-1 without one); `doubtful` says
    that some word may be an option.
    """

    flags: tuple[Flag, ...]
    operands: tuple[tuple[Word, bool], ...]
    doubtful: bool
    ended: int
    leading: int

    def value(self, *names: str) -> list[Word]:
        """The values given to the options of these names."""
        return [f.value for f in self.flags if f.name in names and f.value is not None]

    def has(self, *names: str) -> bool:
        return any(flag.name in names for flag in self.flags)

    @property
    def args(self) -> list[Word]:
        return [word for word, _ in self.operands]


def read_options(program: str, words: Sequence[Word]) -> Given:
    """Read the arguments of `program` by the tables; options may stand after operands."""
    reader = _OptionReader(program, words)
    while reader.at < len(words):
        reader.step()
    leading = len(reader.operands) if reader.leading < 0 else reader.leading
    return Given(
        tuple(reader.flags), tuple(reader.operands), reader.doubtful, reader.ended, leading
    )


class _OptionReader:
    __slots__ = (
        "at",
        "doubtful",
        "ended",
        "flags",
        "known",
        "leading",
        "operands",
        "options",
        "program",
        "words",
    )

    def __init__(self, program: str, words: Sequence[Word]) -> None:
        self.program = program
        self.words = words
        self.options = OPTIONS.get(program, _NONE)
        self.known = program in OPTIONS
        self.flags: list[Flag] = []
        self.operands: list[tuple[Word, bool]] = []
        self.doubtful = False
        self.ended = self.leading = -1
        self.at = 0

    def step(self) -> None:
        word = self.words[self.at]
        self.at += 1
        text = word.prefix if word.text is None else word.text
        if self.leading < 0 and text[:1] == "-":
            self.leading = len(self.operands)
        if self.ended >= 0:
            self.operands.append((word, False))
        elif word.text == "--":
            self.ended = len(self.operands)
        elif word.text is None and word.may_be_flag and "=" not in text:
            self.doubtful = True
            self._operand(word)
        elif self.program == "cargo" and self.at == 1 and text[:1] == "+":
            self.flags.append(Flag(text))  # a toolchain
        elif len(text) < 2 or text[0] != "-":
            self._operand(word)
        elif text.startswith("--") or self.options.dashed:
            self._long(text.lstrip("-"), word)
        else:
            self._cluster(text[1:])

    def _operand(self, word: Word) -> None:
        before = self.words[self.at - 2].text if self.at > 1 else None
        open_ended = not self.known or (self.program in VERBS and not self.operands)
        unsure = open_ended and before is not None and before[:1] == "-" and "=" not in before
        self.operands.append((word, unsure))
        extra = OPTIONS.get(f"{self.program} {word.text}") if len(self.operands) == 1 else None
        if extra:
            takes = extra.takes
            self.options = Options(takes, {**self.options.same, **extra.same}, extra.dashed)

    def _long(self, text: str, word: Word) -> None:
        name, has_value, value = text.partition("=")
        name_all = self.options.same.get(name, name)
        if has_value:
            whole = word.text is not None
            self.flags.append(Flag(name_all, Word(value if whole else None, value, value)))
        elif name in self.options.takes and self.at < len(self.words):
            self._value(name_all)
        else:
            self.flags.append(Flag(name_all))

    def _cluster(self, letters: str) -> None:
        if len(letters) > _MAX_CLUSTER:
            self.doubtful = True
        for index, letter in enumerate(letters[:_MAX_CLUSTER]):
            name = self.options.same.get(letter, letter)
            if letter in self.options.takes:
                rest = letters[index + 1 :]
                if rest:
                    self.flags.append(Flag(name, Word(rest, rest, rest)))
                elif self.at < len(self.words):
                    self._value(name)
                return
            self.flags.append(Flag(name))

    def _value(self, name: str) -> None:
        value = self.words[self.at]
        self.at += 1
        # An unquoted expansion may be several words: the value and options after it.
        self.doubtful = self.doubtful or not (value.single or value.pattern)
        self.flags.append(Flag(name, value))


_NUMERIC: Final = re.compile(r"0*([0-7]+)")


def same_word(program: str, wanted: str, given: str) -> bool:
    """Whether two operands are spellings of one: modes of chmod may have leading zeros."""
    if wanted == given:
        return True
    if program != "chmod":
        return False
    one, other = _NUMERIC.fullmatch(wanted), _NUMERIC.fullmatch(given)
    return bool(one and other and one.group(1) == other.group(1))

"""Git as a reader: references resolved, objects read and checked, nothing of a repository run.

A repository, near or far, belongs to whoever wrote it. Git is started by its absolute path, with an
environment made here, no configuration but the repository's own, and no transport but the one asked
for. Content comes out of the object database, never out of a work tree, and each object must have
the bytes that its id is the hash of.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from tool_intent.policy.git_objects import (
    LARGEST_BLOB,
    LARGEST_NODE,
    GitError,
    ObjectKind,
    blob_at,
    is_commit_id,
)

if TYPE_CHECKING:
    import subprocess

#: Seconds that one git process may take.
DEADLINE: Final = 60.0
#: Bytes that one file written by git may have: what bounds a download.
LARGEST_PACK: Final = 256 << 20

#: Where a name such as `main` is looked up.
NAMED_IN: Final = ("refs/tags/", "refs/heads/")
REMOTES: Final = "refs/remotes/"

_SYSTEM: Final = ("/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin")
_SHORT: Final = re.compile(r"[0-9a-fA-F]{7,64}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(?:/[A-Za-z0-9][A-Za-z0-9._+-]*)*")
#: What git may keep of the caller's environment: how to reach a network, and whose .netrc is read.
_KEPT: Final = ("HOME", "http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY")
_LOCKED_DOWN: Final = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.attributesFile=/dev/null",
    "core.askPass=", "core.sshCommand=false", "credential.helper=", "diff.external=",
    "fetch.recurseSubmodules=false", "gc.auto=0", "http.followRedirects=false",
    "maintenance.auto=false", "protocol.allow=never", "safe.bareRepository=all",
    "safe.directory=*", "submodule.recurse=false",
)  # fmt: skip
_LONGEST_REASON: Final = 200


class Reference(NamedTuple):
    """What a revision stands for: a commit's full id, and the reference's full name ("" where the
    revision is the id itself)."""

    commit: str
    name: str


def expect_revision(rev: str) -> None:
    """Raise GitError unless `rev` is a full commit id, or the name of a tag or branch.

    What passes holds nothing that git would take for an option, a glob or an expression.
    """
    sound = _NAME.fullmatch(rev) and ".." not in rev and not rev.endswith((".", ".lock"))
    if not sound or ".lock/" in rev or "./" in rev:
        raise GitError(f"`{rev}` is no commit id, tag or branch")


def read_blob(
    repository: str, ref: str, path: str, *, limit: int = LARGEST_BLOB, git: Git | None = None
) -> bytes:
    """The bytes of the file `path` (relative, `/` between names) as committed at `ref`, out of the
    object database of the local repository whose folder is `repository`.

    `ref` is a full commit id, a full name such as `refs/remotes/origin/main`, or the name of a tag,
    a branch or a remote's branch (`origin/main`). Nothing is fetched, and neither the work tree nor
    the index is looked at. Raises GitError: no git, no repository, no such ref or file, a name that
    means two things, a link or submodule, more than `limit` bytes, an object that is not as its id
    says.
    """
    opened = Repository(git or Git.found([repository]), repository)
    commit = opened.resolve(ref, (*NAMED_IN, REMOTES)).commit
    return blob_at(opened.object, commit, path, limit)


class Git(NamedTuple):
    """A git program, by its absolute path, and settings beside those that make it safe."""

    program: str
    settings: tuple[str, ...] = ()

    @classmethod
    def found(cls, workspaces: Iterable[str] = ()) -> Git:
        """The system's git, else one on PATH that only root or this user can have put there and
        that lies in none of the `workspaces`. Raises GitError."""
        outside = [os.path.realpath(workspace) for workspace in workspaces]
        for folder in (*_SYSTEM, *os.environ.get("PATH", "").split(os.pathsep)):
            program = os.path.realpath(os.path.join(folder, "git"))
            if os.path.isabs(folder) and _is_program(program, outside):
                return cls(program)
        raise GitError("git is not installed here")

    def run(
        self, *arguments: str, directory: str, transport: str = "", limit: int = LARGEST_NODE
    ) -> bytes:
        """What git prints, at most `limit` bytes. `directory` is where it runs; nothing above it is
        taken for a repository. Raises GitError where it fails or takes longer than `DEADLINE`."""
        import tempfile

        options = [o for setting in (*_LOCKED_DOWN, *self.settings) for o in ("-c", setting)]
        if transport:
            options += ["-c", f"protocol.{transport}.allow=always"]
        command = [self.program, "--no-pager", *options, *arguments]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            code = _run(command, directory, _environment(directory, transport), out, err)
            if code != 0:
                raise GitError(_reason(err, code))
            out.seek(0)
            said = out.read(limit + 1)
        if len(said) > limit:
            raise GitError(f"it is larger than {limit >> 20} MiB")
        return said


def _is_program(path: str, outside: list[str]) -> bool:
    try:
        states = [os.stat(path), os.stat(os.path.dirname(path))]
    except OSError:
        return False
    if any(os.path.commonpath([path, folder]) == folder for folder in outside):
        return False
    ours = all(s.st_uid in (0, os.geteuid()) and not s.st_mode & 0o022 for s in states)
    return ours and stat.S_ISREG(states[0].st_mode) and os.access(path, os.X_OK)


def _environment(directory: str, transport: str) -> dict[str, str]:
    """All of git's environment. GIT_ALLOW_PROTOCOL overrules what a repository's own configuration
    says of single transports, which `protocol.allow` does not."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {
        "PATH": os.pathsep.join(_SYSTEM),
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": transport,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.realpath(directory)),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _run(
    command: list[str], directory: str, environment: dict[str, str], out: IO[bytes], err: IO[bytes]
) -> int:
    """The exit code. Output goes to files: pipes would have to be emptied while a clock runs."""
    import subprocess

    try:
        process = subprocess.Popen(  # noqa: S603 (an absolute path and checked arguments)
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    except OSError as error:
        raise GitError((error.strerror or "git cannot be started").lower()) from None
    with _ended(process):
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, _file_limits())
        try:
            return process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            raise GitError(f"git took longer than {DEADLINE:g} seconds") from None


def _file_limits() -> tuple[int, int]:
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    size = LARGEST_PACK if most == resource.RLIM_INFINITY else min(most, LARGEST_PACK)
    return size, size


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the process and those it started, whatever happens meanwhile."""
    try:
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _reason(err: IO[bytes], code: int) -> str:
    """The first line that git complained with, without its label."""
    err.seek(0)
    lines = err.read(4096).decode("utf-8", "replace").splitlines()
    told = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines
    if not told:
        return f"git failed with code {code}"
    text = told[0].removeprefix("fatal: ").removeprefix("error: ")
    return "git says: " + "".join(c if c.isprintable() else "?" for c in text)[:_LONGEST_REASON]


class Repository:
    """A local repository: its folder, or that of its work tree."""

    def __init__(self, git: Git, folder: str) -> None:
        self._git = git
        self._folder = folder

    def resolve(self, rev: str, named_in: Iterable[str] = NAMED_IN) -> Reference:
        """What `rev` stands for; names that are no full names are looked up in `named_in`."""
        expect_revision(rev)
        if is_commit_id(rev):
            return Reference(rev, "")
        names = [rev] if rev.startswith("refs/") else [f"{space}{rev}" for space in named_in]
        said = self._run("for-each-ref", "--format=%(refname)", "--", *names)
        found = said.decode("utf-8", "replace").splitlines()
        name = only_reference(rev, [name for name in names if name in found])
        commit = self._run("rev-parse", "--verify", f"{name}^{{commit}}").decode().strip()
        return Reference(commit, name)

    def object(self, id: str, kind: ObjectKind, limit: int) -> bytes:
        """The bytes of an object; raises GitError where it is absent, of another kind or larger."""
        if not is_commit_id(id):
            raise GitError(f"a {kind} in it cannot be read")
        size = int(self._run("cat-file", "-s", id))
        if size > limit:
            raise GitError(f"it is larger than {limit >> 20} MiB")
        found = self._run("cat-file", "-t", id).decode().strip()
        if found != kind:
            raise GitError(f"{id} is a {found}, not a {kind}")
        return self._run("cat-file", kind, id, limit=limit)

    def _run(self, *arguments: str, limit: int = LARGEST_NODE) -> bytes:
        return self._git.run(*arguments, directory=self._folder, limit=limit)


class Remote:
    """A repository reached over https, and a bare one of ours that its commits are fetched into."""

    def __init__(self, git: Git, url: str, folder: str) -> None:
        """`folder` is empty and ours. Raises GitError."""
        self._git = git
        self._url = url
        self._folder = folder
        self._fetched: set[str] = set()
        git.run("init", "--quiet", "--bare", "--template=", "--", folder, directory=folder)

    def resolve(self, rev: str) -> Reference:
        """What `rev` stands for there now."""
        expect_revision(rev)
        if is_commit_id(rev):
            return Reference(rev, "")
        names = [rev] if rev.startswith("refs/") else [f"{space}{rev}" for space in NAMED_IN]
        asked = [*names, *(f"{name}^{{}}" for name in names)]
        said = self._far("ls-remote", "--quiet", "--", self._url, *asked)
        pairs = [line.split("\t") for line in said.decode("utf-8", "replace").splitlines()]
        found = {pair[1]: pair[0] for pair in pairs if len(pair) == 2 and is_commit_id(pair[0])}
        name = only_reference(rev, [name for name in names if name in found])
        return Reference(found.get(f"{name}^{{}}", found[name]), name)

    def object(self, id: str, kind: ObjectKind, limit: int) -> bytes:
        """The bytes of an object, once its commit has been fetched."""
        if kind == "commit" and id not in self._fetched:
            self._far(
                "fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head",
                "--no-recurse-submodules", "--no-auto-gc", "--", self._url, id,
            )  # fmt: skip
            self._fetched.add(id)
        return Repository(self._git, self._folder).object(id, kind, limit)

    def _far(self, *arguments: str) -> bytes:
        return self._git.run(*arguments, directory=self._folder, transport="https")


def only_reference(rev: str, found: list[str]) -> str:
    """The one reference that a name stands for. Raises GitError where it is none or several."""
    if len(found) == 1:
        return found[0]
    if found:
        raise GitError(f"`{rev}` is both {' and '.join(found)}: write the one that is meant")
    if _SHORT.fullmatch(rev):
        raise GitError(f"there is no tag or branch `{rev}`; a commit is named by all its digits")
    raise GitError(f"there is no tag or branch `{rev}` in it")

"""Installing the extension where pi finds it, and looking whether it is as it was installed."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from tool_intent.__about__ import __version__
from tool_intent.compiler.cache import home, within

Mode: TypeAlias = Literal["extend", "shadow"]

SHIPPED: Final = Path(__file__).parent / "extension"
MANIFEST: Final = "install.json"
_FOLDER: Final = "tool-intent"
#: Seconds that the interpreter may take to say which engine it has.
_DEADLINE: Final = 20
_ASK: Final = (
    "import os, tool_intent as t; print(t.__version__); print(os.path.dirname(t.__file__))"
)


class InstallError(Exception):
    """The extension cannot be installed or removed; the text says why, and what to do."""


class Installed(NamedTuple):
    """What stands in an extension folder: the interpreter of the engine, the version that
    installed it, the mode, and the SHA-256 of each file."""

    folder: Path
    python: str
    version: str
    mode: Mode
    files: dict[str, str]


class Problem(NamedTuple):
    """Something that is wrong with an installation. `opens`: calls could pass unjudged by it."""

    text: str
    opens: bool


def place(*, project: Path | None, environ: Mapping[str, str] | None = None) -> Path:
    """The folder of the extension: in a project's `.pi`, or in the user's own pi folder."""
    if project is not None:
        return project.absolute() / ".pi" / "extensions" / _FOLDER
    env = os.environ if environ is None else environ
    own = env.get("PI_CODING_AGENT_DIR", "")
    base = Path(own).expanduser() if own else Path(home(env)) / ".pi" / "agent"
    return base.absolute() / "extensions" / _FOLDER


def install(folder: Path, mode: Mode, *, project: Path | None) -> Installed:
    """Write the extension, started with this interpreter; an older one is replaced as a whole.

    Raises InstallError where this engine could be changed from `project`, where it does not start
    isolated, or where something else stands at `folder`.
    """
    python = os.path.abspath(sys.executable)
    _expect_outside(python, project)
    told = engine_of(python)
    if told.problem is not None:
        raise InstallError(told.problem)
    if os.path.lexists(folder) and (folder.is_symlink() or not (folder / MANIFEST).is_file()):
        raise InstallError(f"{folder} is not an installation of tool-intent: move it away first")
    files = {p.name: p.read_bytes() for p in sorted(SHIPPED.glob("*.ts"))}
    digests = {name: sha256(text).hexdigest() for name, text in files.items()}
    manifest = {"python": python, "version": __version__, "mode": mode, "files": digests}
    files[MANIFEST] = (json.dumps(manifest, indent=2) + "\n").encode()
    try:
        _write(folder, files)
    except OSError as error:
        raise InstallError(f"{folder} cannot be written: {error.strerror}") from None
    return Installed(folder, python, __version__, mode, digests)


def uninstall(folder: Path) -> bool:
    """Remove the extension; False where there is none. What else is in the folder stays.

    Raises InstallError where the folder cannot be changed or is no installation.
    """
    if not os.path.lexists(folder):
        return False
    if folder.is_symlink() or not (folder / MANIFEST).is_file():
        raise InstallError(f"{folder} is not an installation of tool-intent: remove it by hand")
    try:
        for path in [*folder.glob("*.ts"), folder / MANIFEST]:
            path.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
    except OSError as error:
        raise InstallError(f"{folder} cannot be removed: {error.strerror}") from None
    return True


def installed(folder: Path) -> Installed | None:
    """What is installed at `folder`; None where nothing is. Raises InstallError for a manifest
    that cannot be read."""
    path = folder / MANIFEST
    if not os.path.lexists(folder):
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Installed(
            folder, found["python"], found["version"], found["mode"], dict(found["files"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise InstallError(f"{path} cannot be read: run `tool-intent pi install` again") from None


def problems(found: Installed, *, workspace: Path) -> Iterator[Problem]:
    """Everything that is wrong with an installation, for a session in `workspace`."""
    yield from _files(found)
    for path in [found.folder, *(found.folder / name for name in [*found.files, MANIFEST])]:
        yield from _modes(path)
    if not os.path.isabs(found.python) or not os.access(found.python, os.X_OK):
        yield Problem(f"the interpreter {found.python} is not there; every call is denied", False)
        return
    told = engine_of(found.python)
    if told.problem is not None:
        yield Problem(f"{told.problem}; every call is denied", False)
        return
    if told.version != found.version:
        yield Problem(
            f"the extension is of {found.version} and the engine of {told.version}: run"
            " `tool-intent pi install` again",
            False,
        )
    if not within(home(os.environ), str(workspace)):
        for own in (found.python, told.package):
            if within(os.path.dirname(own), str(workspace)):
                yield Problem(f"{own} lies in the workspace, where calls can change it", True)


class Engine(NamedTuple):
    """What an interpreter says of its engine, or the problem with asking it."""

    version: str = ""
    package: str = ""
    problem: str | None = None


def engine_of(python: str) -> Engine:
    """The engine that an interpreter starts when isolated (`-I`), as the extension starts it."""
    try:
        run = subprocess.run(  # noqa: S603 (the person's own pi or interpreter)
            [python, "-I", "-c", _ASK],
            capture_output=True,
            text=True,
            timeout=_DEADLINE,
            check=False,
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Engine(problem=f"{python} cannot be started ({error})")
    said = run.stdout.splitlines()
    if run.returncode or len(said) != 2:
        last = (run.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return Engine(
            problem=f"{python} -I has no tool_intent ({last}): install it in a virtual environment"
            " or with pipx, not with --user or PYTHONPATH"
        )
    return Engine(said[0], said[1])


def _expect_outside(python: str, project: Path | None) -> None:
    if project is None or within(home(os.environ), str(project)):
        return
    for own in (python, str(SHIPPED)):
        if within(os.path.dirname(own), str(project)):
            raise InstallError(
                f"{own} lies in the project, where the calls that it judges could change it;"
                " install tool-intent elsewhere, for example with pipx"
            )


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".tool-intent-", dir=folder.parent))
    try:
        for name, text in files.items():
            (draft / name).write_bytes(text)
            (draft / name).chmod(0o644)
        draft.chmod(0o755)
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=".tool-intent-", dir=folder.parent))
            folder.rename(old / _FOLDER)
            draft.rename(folder)
            shutil.rmtree(old)
        else:
            draft.rename(folder)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _files(found: Installed) -> Iterator[Problem]:
    for name, was in found.files.items():
        try:
            now = sha256((found.folder / name).read_bytes()).hexdigest()
        except OSError:
            yield Problem(f"{found.folder / name} is missing: run `tool-intent pi install`", True)
            continue
        if now != was:
            yield Problem(f"{found.folder / name} was changed: run `tool-intent pi install`", True)
        elif found.version == __version__:
            shipped = SHIPPED / name
            if not shipped.is_file() or sha256(shipped.read_bytes()).hexdigest() != now:
                yield Problem(
                    f"{name} is not that of this version: run `tool-intent pi install`", True
                )


def _modes(path: Path) -> Iterator[Problem]:
    try:
        status = path.lstat()
    except OSError:
        return
    if stat.S_ISLNK(status.st_mode):
        yield Problem(f"{path} is a link", True)
    elif status.st_mode & 0o022:
        yield Problem(f"{path} can be written by other users (chmod go-w {path})", True)
    elif status.st_uid not in (0, os.geteuid()):
        yield Problem(f"{path} belongs to another user", True)

"""Where policies are found, what `--policy` names, and reading a file safely.

Standard library only, and little of it: a cached artifact is keyed by what this module finds, so
it is imported on the way to every decision.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from tool_intent.policy import homes
from tool_intent.policy.opening import FOLDER, WAIVERS, held_by, is_waivers, lies_within, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tool_intent.runtime.model import Rank

MACHINE: Final = "/etc/tool-intent"
PACK_SUFFIX: Final = ".yaml"
RULES_SUFFIX: Final = ".rules"

_MIB: Final = 1 << 20
#: Ranks whose files the agent's own repository may hold: they get the smaller size limit.
_LOCAL_RANKS: Final = frozenset({"repo", "directory", "session"})
_HERE: Final = os.path.dirname(os.path.abspath(__file__))


class Root(NamedTuple):
    """A policy file to load: its path, the rank of the place it was found, its name for people,
    and whether what it permits may count: the environment names nothing that does."""

    path: str
    rank: Rank
    shown: str
    grants: bool = True


class Candidate(NamedTuple):
    """A place where a policy is looked for, and what was found: `reason` is empty unless it cannot
    be used.

    A refused one exists, or was asked for by name, and cannot be used: the policy is broken. A
    missing one is known to have been there.
    """

    path: str
    rank: Rank
    shown: str
    state: Literal["loaded", "absent", "refused", "missing"]
    reason: str
    grants: bool = True

    @property
    def root(self) -> Root:
        """The file as one to load."""
        return Root(self.path, self.rank, self.shown, self.grants)

    @property
    def unusable(self) -> bool:
        """Whether every call is to be denied for it."""
        return self.state in ("refused", "missing")


class SourceError(Exception):
    """`--policy` names nothing that can be loaded. `help` says what to write instead."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help


class Unreadable(Exception):
    """A file cannot be read as a policy. `reason` completes the sentence "cannot be read: …"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def shipped() -> str:
    """The folder of packs, catalogs and schemas: inside an installed wheel, else the checkout's."""
    package = os.path.dirname(_HERE)
    installed = os.path.join(package, "policies")
    if os.path.isdir(installed):
        return installed
    return os.path.join(os.path.dirname(os.path.dirname(package)), "policies")


def fingerprint(data: bytes) -> str:
    """The SHA-256 of `data`, in hexadecimal."""
    from hashlib import sha256

    return sha256(data).hexdigest()


def size_limit(rank: Rank) -> int:
    """How many bytes a policy file of this rank may have."""
    return _MIB if is_capped(rank) else 16 * _MIB


def is_capped(rank: Rank) -> bool:
    """Whether files of this rank may be written by those they judge, and so are limited."""
    return rank in _LOCAL_RANKS


def read(path: str, rank: Rank, held: tuple[str, ...] = ()) -> bytes:
    """The bytes of a regular file of at most `size_limit(rank)` bytes; links are followed, but not
    out of the folders `held`, if there are any.

    Raises Unreadable for anything else. A device or FIFO is never opened; one put in the file's
    place meanwhile is opened without waiting and refused.
    """
    try:
        descriptor = _open(path, rank, held)
        try:
            return _read_all(descriptor, rank)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Unreadable(_reason(error)) from None
    except ValueError as error:  # a NUL in the path
        raise Unreadable(str(error)) from None


def _open(path: str, rank: Rank, held: tuple[str, ...]) -> int:
    _expect_regular(os.stat(path), rank)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        _expect_regular(os.fstat(descriptor), rank)
        _expect_within(descriptor, held)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _expect_within(descriptor: int, held: tuple[str, ...]) -> None:
    if held and not lies_within(place_of(descriptor) or "", held):
        raise Unreadable(f"it is a link that leads out of {held[-1]}")


def _read_all(descriptor: int, rank: Rank) -> bytes:
    limit = size_limit(rank)
    chunks: list[bytes] = []
    total = 0
    while chunk := os.read(descriptor, min(_MIB, limit + 1 - total)):
        chunks.append(chunk)
        total += len(chunk)
        if total > limit:
            raise Unreadable(_too_large(rank))
    return b"".join(chunks)


def _expect_regular(status: os.stat_result, rank: Rank) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable(f"it is {_kind(status.st_mode)}, not a regular file")
    if status.st_size > size_limit(rank):
        raise Unreadable(_too_large(rank))


def _too_large(rank: Rank) -> str:
    return f"it is larger than {size_limit(rank) // _MIB} MiB"


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a FIFO"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


# --- discovery -----------------------------------------------------------------------------------


def discover(
    cwd: str,
    environ: Mapping[str, str] | None = None,
    *,
    machine: str = MACHINE,
    account: str | None = None,
) -> tuple[Candidate, ...]:
    """Every place where a policy for a session started in `cwd` is looked for, strongest first.

    `environ` is the process's environment unless given, `account` the home folder of the real
    user: what the environment names is looked at as well, never instead. Nothing is cached; equal
    file systems give equal answers.
    """
    env = os.environ if environ is None else environ
    account = homes.account_home() if account is None else account
    start = os.path.realpath(cwd)
    found: list[Candidate] = []
    found += _policy_folder(machine, "org", machine)
    team = os.path.join(machine, "team")
    found += _policy_folder(team, "team", team)
    if env.get("TOOL_INTENT_ORG_DIR"):
        folder = env["TOOL_INTENT_ORG_DIR"]
        found += _by_environment(_policy_folder(os.path.join(start, folder), "team", folder))
    for folder, shown, own in homes.policy_folders(env, account):
        found += (c._replace(grants=own) for c in _policy_folder(folder, "user", shown))
    from tool_intent.policy.roots import known

    roots, unreadable = known(env, account)
    found += [Candidate(path, "user", shown, "refused", why) for path, shown, why in unreadable]
    found += _upwards(start, roots)
    for source in env.get("TOOL_INTENT_POLICY", "").split(os.pathsep):
        if source:
            found += _session(source, start)
    return tuple(found)


def _session(source: str, cwd: str) -> Iterator[Candidate]:
    try:
        roots = named(source, cwd)
    except SourceError as error:
        reason = f"{error.message} (TOOL_INTENT_POLICY names it)"
        path = os.path.join(cwd, source)
        yield Candidate(path, "session", source, "refused", reason, grants=False)
        return
    for root in roots:
        yield _probe(root.path, root.rank, root.shown)._replace(grants=False)


def _by_environment(candidates: list[Candidate]) -> Iterator[Candidate]:
    """A folder somebody asked for by name and which is not there is a slip, not an absence."""
    reason = "there is no such folder (TOOL_INTENT_ORG_DIR names it)"
    for found in candidates:
        is_absent = found.state == "absent"
        asked = found._replace(state="refused", reason=reason) if is_absent else found
        yield asked._replace(grants=False)


def _policy_folder(folder: str, rank: Rank, shown: str) -> list[Candidate]:
    """A machine, team or user folder: every policy file in it."""
    names = _list(folder, rank, shown)
    if isinstance(names, Candidate):
        return [names]
    return _probe_all(folder, filter(_is_read, names), names, rank, shown)


def _upwards(start: str, roots: Mapping[str, str]) -> list[Candidate]:
    """`.tool-intent/` of `start` and of each folder above it, outermost first; it is missing in
    those that are known to have had one."""
    holders = [start]
    while (parent := os.path.dirname(holders[-1])) != holders[-1]:
        holders.append(parent)
    found: list[Candidate] = []
    base = ""
    for holder in reversed(holders):
        folder = os.path.join(holder, FOLDER)
        rank: Rank = "directory" if base else "repo"
        names = _list(folder, rank, _relative(folder, base))
        if isinstance(names, Candidate):
            here = [names]
            base = base or ("" if names.state == "absent" else holder)
        else:
            base = base or holder
            shown = _relative(folder, base)
            others = (n for n in names if n.endswith(RULES_SUFFIX) or n == WAIVERS)
            wanted = ["policy.yaml", *others]
            here = _probe_all(folder, wanted, names, rank, shown)
        # Waivers that are left behind are no policy.
        if holder in roots and all(c.state == "absent" for c in here if not is_waivers(c.path)):
            here = [here[0]._replace(state="missing", reason=roots[holder])]
        found += here
    return found


def _relative(path: str, base: str) -> str:
    return os.path.relpath(path, base) if base else path


def _is_read(name: str) -> bool:
    if name.endswith(RULES_SUFFIX):
        return True
    return name.endswith(".yaml") and not name.endswith(".test.yaml")


def _list(folder: str, rank: Rank, shown: str) -> list[str] | Candidate:
    """The sorted names in a folder, hidden ones left out; or why there are none to read."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError as error:
        return _missing_or_refused(folder, rank, shown, error)


def _probe_all(
    folder: str, wanted: Iterable[str], names: list[str], rank: Rank, shown: str
) -> list[Candidate]:
    found = [_probe(os.path.join(folder, n), rank, os.path.join(shown, n)) for n in wanted]
    for name in names:
        if name.endswith(".yml") and (rank in ("org", "team", "user") or name == "policy.yml"):
            # Passed over in silence, such a file would be a policy that never applies.
            path, seen = os.path.join(folder, name), os.path.join(shown, name)
            found.append(Candidate(path, rank, seen, "refused", "its name must end in .yaml"))
    return found


def _probe(path: str, rank: Rank, shown: str) -> Candidate:
    try:
        os.close(_open(path, rank, held_by(path)))
    except OSError as error:
        return _missing_or_refused(path, rank, shown, error)
    except Unreadable as error:
        return Candidate(path, rank, shown, "refused", error.reason)
    return Candidate(path, rank, shown, "loaded", "")


def _missing_or_refused(path: str, rank: Rank, shown: str, error: OSError) -> Candidate:
    gone = isinstance(error, FileNotFoundError)
    if gone and os.path.islink(path):
        return Candidate(path, rank, shown, "refused", "it is a link to nothing")
    if gone or (isinstance(error, NotADirectoryError) and not os.path.lexists(path)):
        return Candidate(path, rank, shown, "absent", "")
    return Candidate(path, rank, shown, "refused", _reason(error))


# --- what a name given by a person means ---------------------------------------------------------


def named(source: str, cwd: str) -> tuple[Root, ...]:
    """The files that `--policy SOURCE` means, at session rank: a pack name, a file or a folder.

    A pack's name means the pack even where a file has it too, or an agent could put one there.
    Raises SourceError where there is none such.
    """
    pack = pack_path(source)
    if pack is not None:
        return (Root(pack, "session", source),)
    path = os.path.join(cwd, source)
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        raise _no_such(source) from None
    if stat.S_ISDIR(mode):
        return _folder_roots(path, source)
    if not stat.S_ISREG(mode):
        raise SourceError(f"`{source}` is {_kind(mode)}, not a policy file")
    return (Root(path, "session", source),)


def _folder_roots(path: str, source: str) -> tuple[Root, ...]:
    try:
        names = sorted(name for name in os.listdir(path) if not name.startswith("."))
    except OSError as error:
        raise SourceError(f"the folder `{source}` cannot be read: {_reason(error)}") from None
    if os.path.basename(os.path.normpath(path)) == FOLDER or "policy.yaml" in names:
        names = [n for n in names if n in ("policy.yaml", WAIVERS) or n.endswith(RULES_SUFFIX)]
    else:
        names = [n for n in names if _is_read(n)]
    if all(map(is_waivers, names)):
        inner = os.path.join(source, FOLDER)
        there = os.path.isdir(os.path.join(path, FOLDER))
        raise SourceError(
            f"the folder `{source}` holds no policy",
            f"did you mean `{inner}`?" if there else "put a policy.yaml there",
        )
    return tuple(Root(os.path.join(path, n), "session", os.path.join(source, n)) for n in names)


def _no_such(source: str) -> SourceError:
    from tool_intent.rules.diagnostics import nearest

    near = nearest(source, packs())
    return SourceError(
        f"there is no file, folder or pack called `{source}`",
        f"did you mean `{near}`?" if near else f"packs: {', '.join(packs())}",
    )


def pack_path(name: str) -> str | None:
    """The file of a shipped pack such as `std/baseline`, or None."""
    parts = name.split("/")
    if not all(p and p.replace("-", "").replace("_", "").isalnum() for p in parts):
        return None
    path = os.path.join(shipped(), "packs", *parts) + PACK_SUFFIX
    return path if os.path.isfile(path) else None


def packs() -> list[str]:
    """The names of all shipped packs, sorted."""
    top = os.path.join(shipped(), "packs")
    names = []
    for folder, _, files in os.walk(top):
        for file in files:
            if file.endswith(PACK_SUFFIX) and not file.endswith(".test.yaml"):
                path = os.path.join(folder, file[: -len(PACK_SUFFIX)])
                names.append(os.path.relpath(path, top).replace(os.sep, "/"))
    return sorted(names)

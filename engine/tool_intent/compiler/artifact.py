"""A compiled policy: programs by tool, made at a tool's first call or taken from the cache."""

from __future__ import annotations

import contextlib
import marshal
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tool_intent.compiler.cache import (
    Cache,
    CacheRefused,
    digest,
    engine_stamp,
    home,
    open_cache,
    within,
)
from tool_intent.policy.sources import (
    Candidate,
    Root,
    SourceError,
    Unreadable,
    discover,
    fingerprint,
    named,
    read,
    shipped,
)
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.judge import judge
from tool_intent.runtime.model import Call, Rank
from tool_intent.runtime.program import Image, Program
from tool_intent.runtime.session import SessionView

if TYPE_CHECKING:
    from tool_intent.compiler.lower import Lowering
    from tool_intent.policy.model import EffectivePolicy
    from tool_intent.rules.diagnostics import Diagnostic

#: Programs kept in memory; an agent can invent tool names without end.
_MOST_PROGRAMS = 20_000


class PolicyError(Exception):
    """There is no policy to judge by: none was found, it is empty, or one that was asked for is
    broken. `diagnostics` holds the errors of a broken one."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


class Artifact:
    """Judges calls by one policy. Thread-safe; `digest` is the policy's, `notes` are for people.

    `policy` gives the flat policy, which is parsed or unpickled only when something asks.
    """

    def __init__(
        self,
        digest: str,
        policy: Callable[[], EffectivePolicy],
        cache: Cache | None = None,
        folder: str = "",
        notes: tuple[str, ...] = (),
    ) -> None:
        self.digest = digest
        self.notes = notes
        self._load_policy = policy
        self._cache = cache
        self._folder = folder
        self._policy: EffectivePolicy | None = None
        self._lowering: Lowering | None = None
        self._programs: dict[str, Program] = {}
        self._lock = threading.RLock()

    @property
    def policy(self) -> EffectivePolicy:
        """The flat policy."""
        with self._lock:
            if self._policy is None:
                self._policy = self._load_policy()
            return self._policy

    @property
    def lowering(self) -> Lowering:
        """Lowers tools of this policy to IR."""
        from tool_intent.compiler.lower import Lowering

        with self._lock:
            if self._lowering is None:
                self._lowering = Lowering(self.policy)
            return self._lowering

    def program(self, tool: str) -> Program:
        """What judges calls of `tool`."""
        program = self._programs.get(tool)
        if program is not None:
            return program
        with self._lock:
            if len(self._programs) >= _MOST_PROGRAMS:
                self._programs.clear()
            program = self._programs[tool] = Program(self._image(tool))
        return program

    def decide(self, call: Call, view: SessionView) -> Decision:  # noqa: ARG002 (no rule reads it)
        """The decision on one call, given what its session did before."""
        return judge(self.program(call.tool), call.id, call.args, self.digest, call.schema)

    def _image(self, tool: str) -> Image:
        entry = os.path.join(self._folder, digest(tool))
        if self._cache is not None:
            body = self._cache.read(entry)
            if body is not None:
                return Image(*marshal.loads(body))  # noqa: S302 (checked by the cache)
        from tool_intent.compiler.emit import image

        made = image(self.lowering.tool(tool))
        if self._cache is not None:
            self._cache.write(entry, marshal.dumps(tuple(made)))
        return made


def load(
    sources: Sequence[str] = (),
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    found: bool = True,
    allow_empty: bool = False,
) -> Artifact:
    """The artifact of the policies found from `cwd`, and of `sources` (files, folders, packs).

    With `found=False`, of `sources` alone. A policy that was found and is broken gives an artifact
    that denies every call. Raises PolicyError where a source is none or is broken, where there is
    no policy, or where it asks for nothing and `allow_empty` does not say that this is meant.
    """
    environ = os.environ if environ is None else environ
    cwd = os.getcwd() if cwd is None else os.path.abspath(cwd)
    candidates = discover(cwd, environ) if found else ()
    given = _named(sources, cwd)
    roots = [Root(c.path, c.rank, c.shown) for c in candidates if c.state == "loaded"] + given
    refused = [c for c in candidates if c.state == "refused"]
    if not roots and not refused and not allow_empty:
        looked = ", ".join(c.shown for c in candidates)
        raise PolicyError(f"no policy found; looked for {looked}" if looked else "no policy given")
    cache, notes = _cache(environ, candidates, cwd)
    key = digest(engine_stamp(), repr(roots), repr(refused), repr(_catalogs()))
    if cache is not None and not refused:
        known = _unchanged(cache, key)
        if known is not None:
            return _cached(known, roots, cache, notes)
    return _compiled(roots, refused, given, cache, key, notes, allow_empty=allow_empty)


def _named(sources: Sequence[str], cwd: str) -> list[Root]:
    roots: list[Root] = []
    for source in sources:
        try:
            roots += named(source, cwd)
        except SourceError as error:
            help_ = f" ({error.help})" if error.help else ""
            raise PolicyError(f"{error.message}{help_}") from None
    return roots


def _cache(
    environ: Mapping[str, str], candidates: Sequence[Candidate], cwd: str
) -> tuple[Cache | None, tuple[str, ...]]:
    workspaces = [
        os.path.dirname(os.path.dirname(c.path))
        for c in candidates
        if c.state == "loaded" and c.rank in ("repo", "directory")
    ]
    # Who works in a home folder may write its start-up files, and so needs no cache to run code.
    if not within(home(environ), cwd):
        workspaces.append(cwd)
    try:
        return open_cache(environ, workspaces), ()
    except CacheRefused as refusal:
        return None, (f"the cache is not used: {refusal}",)


def _catalogs() -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(shipped(), "catalog")))
    except OSError:
        return []


def _compiled(
    roots: list[Root],
    refused: list[Candidate],
    given: list[Root],
    cache: Cache | None,
    key: str,
    notes: tuple[str, ...],
    *,
    allow_empty: bool,
) -> Artifact:
    from tool_intent.policy.load import load as load_policy

    policy = load_policy(roots, refused)
    asked_for = {root.shown for root in given}
    if given and policy.broken and (len(roots) == len(given) or _is_theirs(policy, asked_for)):
        first = policy.broken[0]
        where = f"{first.file}:{first.line}:{first.column}: {first.message}"
        more = f" (and {len(policy.broken) - 1} more)" if len(policy.broken) > 1 else ""
        raise PolicyError(f"the policy is broken: {where}{more}", policy.broken)
    if policy.empty and not allow_empty:
        names = ", ".join(root.shown for root in roots)
        raise PolicyError(f"{names} asks for nothing: it has no entry under `tools:`")
    if policy.broken or policy.empty or cache is None:
        return Artifact(policy.digest, lambda: policy, notes=notes)
    import pickle

    sources = [(s.path, s.rank, s.digest) for s in policy.sources]
    folder = digest(key, policy.digest)
    cache.write(os.path.join(folder, "policy"), pickle.dumps(policy))
    _keep_texts(cache, folder, sources)
    cache.write(key, marshal.dumps((policy.digest, folder, sources)))
    return Artifact(policy.digest, lambda: policy, cache, folder, notes)


def _is_theirs(policy: EffectivePolicy, asked_for: set[str]) -> bool:
    return any(d.file in asked_for for d in policy.broken)


def _keep_texts(cache: Cache, folder: str, sources: Sequence[tuple[str, Rank, str]]) -> None:
    """Keep what the sources say, to compare it with what they say later."""
    for path, rank, was in sources:
        with contextlib.suppress(Unreadable):
            text = read(path, rank)
            if fingerprint(text) == was:
                cache.write(_text_entry(folder, was), text)


def _unchanged(cache: Cache, key: str) -> tuple[str, str] | None:
    """The policy digest and folder of a cache entry whose sources are all as they were."""
    body = cache.read(key)
    if body is None:
        return None
    policy_digest, folder, sources = marshal.loads(body)  # noqa: S302 (checked by the cache)
    with contextlib.suppress(Unreadable):
        for path, rank, was in sources:
            text = read(path, rank)
            if not cache.holds(_text_entry(folder, was), text) and fingerprint(text) != was:
                return None
        return policy_digest, folder
    return None


def _text_entry(folder: str, fingerprint: str) -> str:
    return os.path.join(folder, f"text-{fingerprint}")


def _cached(
    known: tuple[str, str], roots: list[Root], cache: Cache, notes: tuple[str, ...]
) -> Artifact:
    policy_digest, folder = known

    def policy() -> EffectivePolicy:
        import pickle

        body = cache.read(os.path.join(folder, "policy"))
        if body is not None:
            kept: EffectivePolicy = pickle.loads(body)  # noqa: S301 (this user's own, checked)
            return kept
        from tool_intent.policy.load import load as load_policy

        loaded = load_policy(roots)
        if loaded.digest != policy_digest:
            raise PolicyError("the policy changed while it was in use; start a new session")
        return loaded

    return Artifact(policy_digest, policy, cache, folder, notes)

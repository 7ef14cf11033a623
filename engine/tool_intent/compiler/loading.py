"""From the places where policies are found to a compiled one, by way of the cache."""

from __future__ import annotations

import contextlib
import marshal
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tool_intent.compiler.artifact import Artifact
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
    is_waivers,
    named,
    read,
    shipped,
)
from tool_intent.runtime.model import Rank

if TYPE_CHECKING:
    from tool_intent.policy.model import EffectivePolicy
    from tool_intent.rules.diagnostics import Diagnostic
    from tool_intent.runtime.paths import Place


class PolicyError(Exception):
    """There is no policy to judge by: none was found, it is empty, or one that was asked for is
    broken. `diagnostics` holds the errors of a broken one."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


def load(
    sources: Sequence[str] = (),
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    found: bool = True,
    allow_empty: bool = False,
    now: float | None = None,
) -> Artifact:
    """The artifact of the policies found from `cwd`, and of `sources` (files, folders, packs).

    With `found=False`, of `sources` alone. A policy that was found and is broken gives an artifact
    that denies every call. `now` (seconds since the epoch) is the time to go by, unless it is the
    clock's. Raises PolicyError where a source is none or is broken, where there is
    no policy, or where it asks for nothing and `allow_empty` does not say that this is meant.
    """
    environ = os.environ if environ is None else environ
    cwd = os.getcwd() if cwd is None else os.path.abspath(cwd)
    candidates = discover(cwd, environ) if found else ()
    given = _named(sources, cwd)
    roots = [Root(c.path, c.rank, c.shown) for c in candidates if c.state == "loaded"] + given
    refused = [c for c in candidates if c.state == "refused"]
    paths = [root.path for root in roots] + [place.path for place in refused]
    if not allow_empty and all(map(is_waivers, paths)):
        looked = ", ".join(c.shown for c in candidates)
        raise PolicyError(f"no policy found; looked for {looked}" if looked else "no policy given")
    cache, notes = _cache(environ, candidates, cwd)
    place = (_root(candidates, cwd), cwd)
    key = digest(engine_stamp(), repr(roots), repr(refused), repr(_catalogs()), _vouched(roots))
    if cache is not None and all(is_waivers(place.path) for place in refused):
        known = _unchanged(cache, key)
        if known is not None:
            return _cached(known, roots, cache, notes, place)
    return _compiled(
        roots, refused, given, cache, key, notes, place, allow_empty=allow_empty, now=now
    )


def compiled(policy: EffectivePolicy, place: Place) -> Artifact:
    """The artifact of a policy that is loaded already, for calls made at a place."""
    where = (place.root, place.cwd or place.root)
    return Artifact(policy.digest, lambda: policy, where, _looks_back(policy), place=place)


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


def _vouched(roots: Iterable[Root]) -> str:
    """What decides, besides their bytes, whether waivers count."""
    waivers = [root.path for root in roots if is_waivers(root.path)]
    if not waivers:
        return ""
    from tool_intent.policy.vouching import marks

    return marks(waivers)


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
    place: tuple[str, str],
    *,
    allow_empty: bool,
    now: float | None,
) -> Artifact:
    from tool_intent.policy.load import load as load_policy

    policy = load_policy(roots, refused, now=now)
    asked_for = {root.shown for root in given}
    if given and policy.broken and (len(roots) == len(given) or _is_theirs(policy, asked_for)):
        first = policy.broken[0]
        where = f"{first.file}:{first.line}:{first.column}: {first.message}"
        more = f" (and {len(policy.broken) - 1} more)" if len(policy.broken) > 1 else ""
        raise PolicyError(f"the policy is broken: {where}{more}", policy.broken)
    if policy.empty and not allow_empty:
        names = ", ".join(root.shown for root in roots)
        raise PolicyError(f"{names} asks for nothing: it has no entry under `tools:`")
    looks_back = _looks_back(policy)
    if policy.broken or policy.empty or policy.volatile or cache is None:
        return Artifact(policy.digest, lambda: policy, place, looks_back, notes=notes)
    import pickle

    sources = [(s.path, s.rank, s.digest) for s in policy.sources]
    folder = digest(key, policy.digest)
    cache.write(os.path.join(folder, "policy"), pickle.dumps(policy))
    _keep_texts(cache, folder, sources)
    cache.write(key, marshal.dumps((policy.digest, folder, looks_back, sources)))
    return Artifact(policy.digest, lambda: policy, place, looks_back, cache, folder, notes)


def _looks_back(policy: EffectivePolicy) -> bool:
    """Whether a rule or condition asks for earlier calls."""
    from tool_intent.policy.model import Requirement, Rule
    from tool_intent.rules import tree as t

    def conditions() -> Iterable[t.Condition]:
        for item in policy.items:
            if isinstance(item, Rule):
                yield from t.conditions(item.tree)
                yield from item.scopes.defines.values()
            elif isinstance(item, Requirement) and item.when is not None:
                yield item.when

    return any(isinstance(n, t.History) for c in conditions() for n in t.walk(c))


def _root(candidates: Sequence[Candidate], cwd: str) -> str:
    """The folder that policies' relative paths start at: the outermost that has a policy."""
    found = [
        c.path
        for c in candidates
        if c.state == "loaded" and c.rank == "repo" and not is_waivers(c.path)
    ]
    return os.path.dirname(os.path.dirname(found[0])) if found else cwd


def _is_theirs(policy: EffectivePolicy, asked_for: set[str]) -> bool:
    return any(d.file in asked_for for d in policy.broken)


def _keep_texts(cache: Cache, folder: str, sources: Sequence[tuple[str, Rank, str]]) -> None:
    """Keep what the sources say, to compare it with what they say later."""
    for path, rank, was in sources:
        with contextlib.suppress(Unreadable):
            text = read(path, rank)
            if fingerprint(text) == was:
                cache.write(_text_entry(folder, was), text)


def _unchanged(cache: Cache, key: str) -> tuple[str, str, bool] | None:
    """The policy digest, the folder and whether rules look back, of a cache entry whose sources
    are all as they were."""
    body = cache.read(key)
    if body is None:
        return None
    policy_digest, folder, looks_back, sources = marshal.loads(body)  # noqa: S302 (checked)
    with contextlib.suppress(Unreadable):
        for path, rank, was in sources:
            text = read(path, rank)
            if not cache.holds(_text_entry(folder, was), text) and fingerprint(text) != was:
                return None
        return policy_digest, folder, looks_back
    return None


def _text_entry(folder: str, fingerprint: str) -> str:
    return os.path.join(folder, f"text-{fingerprint}")


def _cached(
    known: tuple[str, str, bool],
    roots: list[Root],
    cache: Cache,
    notes: tuple[str, ...],
    place: tuple[str, str],
) -> Artifact:
    policy_digest, folder, looks_back = known

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

    return Artifact(policy_digest, policy, place, looks_back, cache, folder, notes)

"""From the places where policies are found to a compiled one, by way of the cache."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from time import time
from typing import TYPE_CHECKING, Literal

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.cache import (
    Cache,
    CacheRefused,
    digest,
    engine_stamp,
    open_cache,
    within,
)
from tool_intent.compiler.kept import Kept, keep, pickled, unchanged
from tool_intent.compiler.query import File, Loaded, Places, Query
from tool_intent.policy import homes
from tool_intent.policy.doubts import Doubts, stamp
from tool_intent.policy.opening import is_waivers
from tool_intent.policy.roots import remember as remember_root
from tool_intent.policy.sources import (
    MACHINE,
    Candidate,
    Root,
    SourceError,
    discover,
    named,
    shipped,
)

if TYPE_CHECKING:
    from tool_intent.policy.model import EffectivePolicy
    from tool_intent.rules.diagnostics import Diagnostic
    from tool_intent.runtime.model import Point
    from tool_intent.runtime.paths import Place


_HEXADECIMAL = frozenset("0123456789abcdef")


class PolicyError(Exception):
    """There is no policy to judge by: none was found, it is empty, or one that was asked for is
    broken. `diagnostics` holds the errors of a broken one."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


class NoneFound(PolicyError):
    """No policy was found, and none was given."""


class AsksNothing(PolicyError):
    """The policy has no entry and no rule, and nothing says that this is meant."""


def load(
    sources: Sequence[str] = (),
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    found: bool = True,
    allow_empty: bool = False,
    machine: str = MACHINE,
    account: str | None = None,
    remember: bool = False,
    point: Point | Literal[""] = "",
    now: float | None = None,
) -> Artifact:
    """The artifact of the policies found from `cwd`, and of `sources` (files, folders, packs).

    With `found=False`, of `sources` alone. A policy that was found and is broken, or is known to
    have been there and is missing, gives an artifact that denies every call. `machine` and
    `account` are `discover`'s; `remember` notes a repository that has a policy, so that its absence
    is noticed later; `point` is the surface that enforces, if one does; `now` (seconds since the
    epoch) is the time to go by, unless it is the clock's. Raises PolicyError where a
    source is none or is broken, NoneFound where there is no policy, AsksNothing where it asks for
    nothing and `allow_empty` does not say that this is meant.
    """
    query = Query(
        sources=tuple(sources),
        cwd=os.getcwd() if cwd is None else os.path.abspath(cwd),
        environ=dict(os.environ if environ is None else environ),
        machine=machine,
        account=homes.account_home() if account is None else account,
        found=found,
        allow_empty=allow_empty,
        point=point,
        now=now,
    )
    places = find(query)
    artifact = answer(query, places)
    if remember:
        for root in {c.path for c in places.candidates if _is_own_policy(c)}:
            note = remember_root(_holder(root), query.environ, query.account)
            artifact.notes += () if note is None or note in artifact.notes else (note,)
    return artifact


def find(query: Query) -> Places:
    """What a query finds now. Raises PolicyError where one of its sources is none."""
    candidates = (
        discover(query.cwd, query.environ, machine=query.machine, account=query.account)
        if query.found
        else ()
    )
    return Places(candidates, tuple(_named(query.sources, query.cwd)))


def answer(query: Query, places: Places) -> Artifact:
    """The artifact of what was found; raises what `load` does."""
    candidates, given = places.candidates, list(places.given)
    roots = [c.root for c in candidates if c.state == "loaded"] + given
    refused = [c for c in candidates if c.unusable]
    paths = [root.path for root in roots] + [place.path for place in refused]
    if not query.allow_empty and all(map(is_waivers, paths)):
        looked = ", ".join(c.shown for c in candidates)
        raise NoneFound(f"no policy found; looked for {looked}" if looked else "no policy given")
    cache, notes = _cache(query, candidates)
    place = (_root(candidates, query.cwd), query.cwd)
    key = digest(
        engine_stamp(), repr(roots), repr(refused), repr(_catalogs()), repr(_locked(roots)),
        _vouched(roots, query.machine),
    )  # fmt: skip
    sound = all(is_waivers(place.path) for place in refused)
    known = unchanged(cache, key) if cache is not None and sound else None
    if known is not None and cache is not None:
        artifact = _cached(known, query, roots, cache, notes, place)
    else:
        artifact = _compiled(query, roots, refused, given, cache, key, notes, place)
    artifact.point = query.point
    artifact.loaded = artifact.loaded._replace(query=query, places=places)
    return artifact


def compiled(policy: EffectivePolicy, place: Place) -> Artifact:
    """The artifact of a policy that is loaded already, for calls made at a place."""
    where = (place.root, place.cwd or place.root)
    return Artifact(policy.digest, lambda: policy, where, _looks_back(policy), place=place)


def reopen(
    kept: str,
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    point: Point | Literal[""] = "",
) -> Artifact | None:
    """The artifact that says `kept` of itself, as an earlier process loaded it from the same `cwd`;
    None where the cache does not hold it any more. `point` is `load`'s."""
    query = Query(
        sources=(),
        cwd=os.getcwd() if cwd is None else os.path.abspath(cwd),
        environ=dict(os.environ if environ is None else environ),
        machine=MACHINE,
        account=homes.account_home(),
        found=True,
        allow_empty=True,
        point=point,
    )
    candidates = find(query).candidates
    cache, notes = _cache(query, candidates)
    if cache is None or not kept or not _HEXADECIMAL.issuperset(kept):
        return None
    policy = pickled(cache, kept)
    if policy is None:
        return None
    place = (_root(candidates, query.cwd), query.cwd)
    artifact = Artifact(
        policy.digest, lambda: policy, place, _looks_back(policy), cache, kept, notes
    )
    artifact.point = point
    return artifact


def _named(sources: Sequence[str], cwd: str) -> list[Root]:
    roots: list[Root] = []
    for source in sources:
        try:
            roots += named(source, cwd)
        except SourceError as error:
            help_ = f" ({error.help})" if error.help else ""
            raise PolicyError(f"{error.message}{help_}") from None
    return roots


def _cache(query: Query, candidates: Sequence[Candidate]) -> tuple[Cache | None, tuple[str, ...]]:
    workspaces = [
        _holder(c.path)
        for c in candidates
        if c.state == "loaded" and c.rank in ("repo", "directory")
    ]
    # Who works in a home folder may write its start-up files, and so needs no cache to run code.
    # The account's home, not what the environment of a workspace says it is.
    if not within(query.account or os.sep, query.cwd):
        workspaces.append(query.cwd)
    try:
        cache = open_cache(query.environ, workspaces)
    except CacheRefused as refusal:
        return None, (f"the cache is not used: {refusal}",)
    return (None if cache is None or _is_protected(candidates) else cache), ()


def _is_protected(candidates: Iterable[Candidate]) -> bool:
    """Whether a policy of the organisation is one that this user cannot write. Compiled, it would
    lie where the user can, and whoever is judged could put another in its place."""
    ours = [c.path for c in candidates if c.rank == "org" and c.state == "loaded"]
    if not ours:
        return False
    from tool_intent.policy.trust import why_writable

    return any(why_writable(path) is None for path in ours)


def _vouched(roots: Iterable[Root], machine: str) -> str:
    """What decides, besides their bytes, whether waivers count."""
    waivers = [root.path for root in roots if is_waivers(root.path)]
    if not waivers:
        return ""
    from tool_intent.policy.vouching import marks

    return marks(waivers, machine)


def _holder(policy: str) -> str:
    """The folder that holds the `.tool-intent/` of a policy file."""
    return os.path.dirname(os.path.dirname(policy))


def _catalogs() -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(shipped(), "catalog")))
    except OSError:
        return []


def _locked(roots: Sequence[Root]) -> list[str]:
    """The folders with a lock: one that is added later may say that other commits are meant."""
    holders = {os.path.dirname(os.path.dirname(root.path)) for root in roots}
    return sorted(h for h in holders if os.path.lexists(os.path.join(h, "tool-intent.lock")))


def _compiled(
    query: Query,
    roots: list[Root],
    refused: list[Candidate],
    given: list[Root],
    cache: Cache | None,
    key: str,
    notes: tuple[str, ...],
    place: tuple[str, str],
) -> Artifact:
    from tool_intent.policy.load import load as load_policy
    from tool_intent.policy.vouching import signers_here

    doubts = Doubts(query.machine)
    now = time() if query.now is None else query.now
    policy = load_policy(
        roots, refused, doubts=doubts, signers=signers_here(now, query.machine), now=now,
        environ=query.environ, cwd=query.cwd,
    )  # fmt: skip
    asked_for = {root.shown for root in given}
    if given and policy.broken and (len(roots) == len(given) or _is_theirs(policy, asked_for)):
        first = policy.broken[0]
        where = f"{first.file}:{first.line}:{first.column}: {first.message}"
        more = f" (and {len(policy.broken) - 1} more)" if len(policy.broken) > 1 else ""
        raise PolicyError(f"the policy is broken: {where}{more}", policy.broken)
    if policy.empty and not query.allow_empty:
        names = ", ".join(root.shown for root in roots)
        raise AsksNothing(f"{names} asks for nothing: it has no entry under `tools:`")
    looks_back = _looks_back(policy)
    files = tuple(
        File(s.path, s.rank, s.digest, s.held, stamp(s.path, s.rank)) for s in policy.sources
    )
    loaded = Loaded(files, policy.broken)
    # What a signature admits it admits for a time.
    may_change = policy.volatile or doubts.rest_on_signatures
    if policy.broken or policy.empty or may_change or cache is None:
        return Artifact(
            policy.digest, lambda: policy, place, looks_back, notes=notes, loaded=loaded
        )
    kept = Kept(
        policy.digest, digest(key, policy.digest), looks_back, policy.max_retries, policy.keeping,
        files,
    )  # fmt: skip
    keep(cache, key, kept, policy)
    return Artifact(
        policy.digest, lambda: policy, place, looks_back, cache, kept.folder, notes, loaded=loaded
    )


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
    found = [c.path for c in candidates if _is_own_policy(c)]
    return _holder(found[0]) if found else cwd


def _is_own_policy(place: Candidate) -> bool:
    """Whether this is a policy of the repository, which waivers alone are not."""
    return place.state == "loaded" and place.rank == "repo" and not is_waivers(place.path)


def _is_theirs(policy: EffectivePolicy, asked_for: set[str]) -> bool:
    return any(d.file in asked_for for d in policy.broken)


def _cached(
    known: Kept,
    query: Query,
    roots: list[Root],
    cache: Cache,
    notes: tuple[str, ...],
    place: tuple[str, str],
) -> Artifact:
    def policy() -> EffectivePolicy:
        kept = pickled(cache, known.folder)
        if kept is not None:
            return kept
        from tool_intent.policy.load import load as load_policy

        doubts = Doubts(query.machine)
        loaded = load_policy(roots, doubts=doubts, environ=query.environ, cwd=query.cwd)
        if loaded.digest != known.policy:
            raise PolicyError("the policy changed while it was in use; start a new session")
        return loaded

    return Artifact(
        known.policy, policy, place, known.looks_back, cache, known.folder, notes,
        loaded=Loaded(known.files), max_retries=known.max_retries, keeping=known.keeping,
    )  # fmt: skip

"""From the places where policies are found to a compiled one, by way of the cache."""

from __future__ import annotations

import contextlib
import marshal
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

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


_HEXADECIMAL = frozenset("0123456789abcdef")


class _Known(NamedTuple):
    """What the cache says of a policy: its digest, the folder of its entries, whether rules look
    back, and after how many refusals of one tool it wants an end."""

    digest: str
    folder: str
    looks_back: bool
    max_retries: int


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
        raise NoneFound(f"no policy found; looked for {looked}" if looked else "no policy given")
    cache, notes = _cache(environ, candidates, cwd)
    place = (_root(candidates, cwd), cwd)
    key = digest(engine_stamp(), repr(roots), repr(refused), repr(_catalogs()))
    if cache is not None and not refused:
        known = _unchanged(cache, key)
        if known is not None:
            return _cached(known, roots, cache, notes, place)
    return _compiled(roots, refused, given, cache, key, notes, place, allow_empty=allow_empty)


def compiled(policy: EffectivePolicy, place: Place) -> Artifact:
    """The artifact of a policy that is loaded already, for calls made at a place."""
    where = (place.root, place.cwd or place.root)
    return Artifact(policy.digest, lambda: policy, where, _looks_back(policy), place=place)


def reopen(
    kept: str, *, cwd: str | None = None, environ: Mapping[str, str] | None = None
) -> Artifact | None:
    """The artifact that says `kept` of itself, as an earlier process loaded it from the same `cwd`;
    None where the cache does not hold it any more."""
    environ = os.environ if environ is None else environ
    cwd = os.getcwd() if cwd is None else os.path.abspath(cwd)
    candidates = discover(cwd, environ)
    cache, notes = _cache(environ, candidates, cwd)
    if cache is None or not _HEXADECIMAL.issuperset(kept):
        return None
    policy = _pickled(cache, kept) if kept else None
    if policy is None:
        return None
    place = (_root(candidates, cwd), cwd)
    return Artifact(policy.digest, lambda: policy, place, _looks_back(policy), cache, kept, notes)


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
    place: tuple[str, str],
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
        raise AsksNothing(f"{names} asks for nothing: it has no entry under `tools:`")
    looks_back = _looks_back(policy)
    if policy.broken or policy.empty or cache is None:
        return Artifact(policy.digest, lambda: policy, place, looks_back, notes=notes)
    import pickle

    sources = [(s.path, s.rank, s.digest) for s in policy.sources]
    folder = digest(key, policy.digest)
    cache.write(os.path.join(folder, "policy"), pickle.dumps(policy))
    _keep_texts(cache, folder, sources)
    known = (policy.digest, folder, looks_back, policy.max_retries, sources)
    cache.write(key, marshal.dumps(known))
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
    found = [c.path for c in candidates if c.state == "loaded" and c.rank == "repo"]
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


def _unchanged(cache: Cache, key: str) -> _Known | None:
    """What a cache entry says whose sources are all as they were."""
    body = cache.read(key)
    if body is None:
        return None
    *facts, sources = marshal.loads(body)  # noqa: S302 (checked by the cache)
    known = _Known(*facts)
    with contextlib.suppress(Unreadable):
        for path, rank, was in sources:
            text = read(path, rank)
            if not cache.holds(_text_entry(known.folder, was), text) and fingerprint(text) != was:
                return None
        return known
    return None


def _text_entry(folder: str, fingerprint: str) -> str:
    return os.path.join(folder, f"text-{fingerprint}")


def _cached(
    known: _Known,
    roots: list[Root],
    cache: Cache,
    notes: tuple[str, ...],
    place: tuple[str, str],
) -> Artifact:

    def policy() -> EffectivePolicy:
        kept = _pickled(cache, known.folder)
        if kept is not None:
            return kept
        from tool_intent.policy.load import load as load_policy

        loaded = load_policy(roots)
        if loaded.digest != known.digest:
            raise PolicyError("the policy changed while it was in use; start a new session")
        return loaded

    return Artifact(
        known.digest, policy, place, known.looks_back, cache, known.folder, notes,
        max_retries=known.max_retries,
    )  # fmt: skip


def _pickled(cache: Cache, folder: str) -> EffectivePolicy | None:
    import pickle

    body = cache.read(os.path.join(folder, "policy"))
    if body is None:
        return None
    kept: EffectivePolicy = pickle.loads(body)  # noqa: S301 (this user's own, checked)
    return kept

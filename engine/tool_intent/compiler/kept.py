"""Policies as the cache keeps them: flat, with what their sources said."""

from __future__ import annotations

import contextlib
import marshal
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from tool_intent.compiler.cache import Cache
from tool_intent.compiler.query import File
from tool_intent.policy.doubts import stamp
from tool_intent.policy.sources import Unreadable, fingerprint, read
from tool_intent.runtime.model import Keeping

if TYPE_CHECKING:
    from tool_intent.policy.model import EffectivePolicy


class Kept(NamedTuple):
    """What a cache entry says of a policy: its digest, the folder of its own entries, whether rules
    look back, after how many refusals of one tool it wants an end, what it asks of the record, and
    its sources."""

    policy: str
    folder: str
    looks_back: bool
    max_retries: int
    keeping: Keeping
    files: tuple[File, ...]


def keep(cache: Cache, key: str, kept: Kept, policy: EffectivePolicy) -> None:
    """Write the entry `key` for a policy that was loaded."""
    import pickle

    cache.write(os.path.join(kept.folder, "policy"), pickle.dumps(policy))
    _keep_texts(cache, kept.folder, kept.files)
    files = [tuple(file) for file in kept.files]
    cache.write(key, marshal.dumps((*kept[:-2], tuple(kept.keeping), files)))


def unchanged(cache: Cache, key: str) -> Kept | None:
    """A cache entry whose sources are all as they were."""
    body = cache.read(key)
    if body is None:
        return None
    policy, folder, looks_back, most, keeping, files = marshal.loads(body)  # noqa: S302 (checked)
    sources = tuple(File(*one) for one in files)
    known = Kept(policy, folder, looks_back, most, Keeping(*keeping), sources)
    with contextlib.suppress(Unreadable):
        for file in known.files:
            if stamp(file.path, file.rank) != file.stamp:
                return None
            text = read(file.path, file.rank, file.held)
            is_kept = cache.holds(_text_entry(known.folder, file.digest), text)
            if not is_kept and fingerprint(text) != file.digest:
                return None
        return known
    return None


def pickled(cache: Cache, folder: str) -> EffectivePolicy | None:
    """The flat policy of a folder of entries; None where it is not kept any more."""
    import pickle

    body = cache.read(os.path.join(folder, "policy"))
    if body is None:
        return None
    kept: EffectivePolicy = pickle.loads(body)  # noqa: S301 (this user's own, checked)
    return kept


def _keep_texts(cache: Cache, folder: str, files: Iterable[File]) -> None:
    """Keep what the sources say, to compare it with what they say later."""
    for file in files:
        with contextlib.suppress(Unreadable):
            text = read(file.path, file.rank, file.held)
            if fingerprint(text) == file.digest:
                cache.write(_text_entry(folder, file.digest), text)


def _text_entry(folder: str, fingerprint: str) -> str:
    return os.path.join(folder, f"text-{fingerprint}")

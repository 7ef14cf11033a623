"""What was found out about a file when it was asked about, so that the next answer goes on from it.

It lies below the ledger's folder, and may be deleted: then everything is found out again. What is
kept is relied on only where that would come to the same.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final, TypeAlias

from tool_intent.ledger.attribution.hops import Step
from tool_intent.ledger.attribution.model import Attributed, count_lines
from tool_intent.ledger.attribution.replaying import Replay, Tip
from tool_intent.ledger.attribution.snapshots import Touches

#: A path, the id of a content, and its owners.
Seed: TypeAlias = tuple[str, str, Attributed]
#: The names of files, each with its last versions as `[id, runs]`.
_Tips: TypeAlias = dict[str, list[Any]]

_FOLDER: Final = "why"
#: Raised with every change of what is kept, or of how it is found out.
_VERSION: Final = 1
#: Calls that are gone through again rather than written down.
_FEW: Final = 16
#: Files that something is kept of.
_MOST_FILES: Final = 512
#: Bytes of what is kept of one file, packed and unpacked.
_LARGEST: Final = 16 << 20, 256 << 20
#: What reading something else than what was kept comes to.
_UNREADABLE: Final = (
    OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error,
)  # fmt: skip


class Remembered:
    """What is known of the files `names`, which are one file, out of a ledger."""

    def __init__(self, folder: str, names: Sequence[str], seeds: Sequence[Seed]) -> None:
        """`seeds` are what is known of contents from elsewhere, before any call."""
        touches = Touches()
        told = [[path, oid, touches.written(known.owners)] for path, oid, known in seeds]
        text = json.dumps([_VERSION, list(names), told, touches.data()])
        self._path = os.path.join(folder, _FOLDER, sha256(text.encode()).hexdigest()[:40])
        self._names = names
        self._seeds = seeds
        self._touches = Touches()
        self._others: _Tips = {}

    def resume(
        self,
        replay: Replay,
        steps: Sequence[Step],
        asked: str,
        contents: Callable[[str], bytes | None],
    ) -> int:
        """Bring `replay` to where an earlier answer ended; returns how many of the `steps` it has
        behind it. 0 where nothing is kept that would answer for `asked`, the id of a content, as
        going through all steps would."""
        try:
            done, digest, touches, tips = self._read()
            if not 0 < done <= len(steps) or digest != _digest(steps[:done]):
                return 0
            wanted = self._wanted(replay, steps, done, asked, tips)
            if wanted is None:
                return 0
            known = Touches.read(touches)
            here = {
                name: [Tip(oid, _attributed(contents(oid), known, runs)) for oid, runs in of]
                for name, of in tips.items()
                if name in wanted
            }
        except _UNREADABLE:
            return 0
        replay.resume(here)
        self._touches = known
        self._others = {name: of for name, of in tips.items() if name not in wanted}
        return done

    def keep(self, replay: Replay, steps: Sequence[Step], done: int) -> None:
        """Keep where `replay` ended, which went on from step `done`; not where that is little
        work, or cannot be written."""
        if len(steps) - done < _FEW:
            return
        tips: _Tips = self._others | {
            name: [[tip.oid, self._touches.written(tip.known.owners)] for tip in of]
            for name, of in replay.tips.items()
        }
        text = json.dumps([len(steps), _digest(steps), self._touches.data(), tips])
        packed = zlib.compress(text.encode(), 1)
        if len(packed) > _LARGEST[0] or len(text) > _LARGEST[1]:
            return
        draft = f"{self._path}.{os.getpid()}.{os.urandom(4).hex()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            os.makedirs(os.path.dirname(draft), mode=0o700, exist_ok=True)
            with open(os.open(draft, flags, 0o600), "wb") as file:
                file.write(packed)
            os.replace(draft, self._path)
            _trim(os.path.dirname(draft))
        except OSError:
            with suppress(OSError):
                os.remove(draft)

    def _read(self) -> tuple[int, str, Any, _Tips]:
        with open(os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            packed = file.read(_LARGEST[0] + 1)
        done, digest, touches, tips = json.loads(
            zlib.decompressobj().decompress(packed, _LARGEST[1])
        )
        return int(done), digest, touches, tips

    def _wanted(
        self, replay: Replay, steps: Sequence[Step], done: int, asked: str, tips: _Tips
    ) -> set[str] | None:
        """The files whose last versions matter to the steps that are left and to the answer; None
        where they need more than last versions."""
        left = [hop for step in steps[done:] for hop in step.hops]
        wanted = {replay.named(name) for name in (*self._names, *(hop.path for hop in left))}
        needed = {asked, *(hop.pre for hop in left), *(hop.post for hop in left if hop.commanded)}
        behind: dict[str, set[str]] = {}
        made = ((hop.path, hop.post) for step in steps[:done] for hop in step.hops)
        for path, oid in (*made, *((path, oid) for path, oid, _ in self._seeds)):
            if oid is not None and oid in needed:
                behind.setdefault(oid, set()).add(replay.named(path))
        for oid, names in behind.items():
            if len(names) > 1 or not any(oid == tip[0] for name in names for tip in tips[name]):
                return None
            wanted |= names
        return wanted


def _attributed(text: bytes | None, touches: Touches, runs: Any) -> Attributed:
    if text is None:
        raise LookupError
    return Attributed(text, touches.owners(runs, count_lines(text)))


def _trim(folder: str) -> None:
    """Let go of what was kept longest ago: with every seal, and every name of a file, there is more
    that will not be asked for again."""
    with os.scandir(folder) as listed:
        kept = sorted((one.stat(follow_symlinks=False).st_mtime_ns, one.path) for one in listed)
    for _, path in kept[:-_MOST_FILES]:
        os.remove(path)


def _digest(steps: Iterable[Step]) -> str:
    found = sha256()
    for step in steps:
        found.update(repr((step.call, *map(tuple, step.hops))).encode("utf-8", "surrogatepass"))
    return found.hexdigest()

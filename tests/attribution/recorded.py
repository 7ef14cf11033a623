"""Records and contents of what happened in a world, as a guard that watches would keep them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tool_intent.ledger.objects import oid_of
from tool_intent.ledger.records import new_id

from .world import World


class Recorded:
    """The ledger of a world in memory. `names` gives the world's name of a record."""

    def __init__(self, world: World) -> None:
        self.contents: dict[str, bytes] = {}
        self.names: dict[str, str] = {}
        self.records = list(self._records(world))

    def _records(self, world: World) -> Iterator[dict[str, Any]]:
        for n, made in enumerate(world.calls):
            id = new_id(1.7e9 + n)
            self.names[id] = made.id
            yield {
                "type": "decision",
                "id": id,
                "ts": "2026-11-30T12:00:00.123Z",
                "call": {"id": made.id, "tool": "write", "surface": "run"},
                "entries": [{"at": "", "intent": f"Do {made.id}.", "rationale": f"For {made.id}."}],
                "decision": {"verdict": "allow", "policy": f"sha256:{'0' * 64}"},
            }
            files = [
                {"path": change.path, "pre": self._put(change.pre), "post": self._put(change.post)}
                for change in made.changes
            ]
            yield {
                "type": "outcome",
                "id": new_id(1.7e9 + n + 0.5),
                "of": id,
                "ok": True,
                "files": files,
            }

    def _put(self, content: bytes | None) -> str | None:
        if content is None:
            return None
        oid = oid_of(content)
        self.contents[oid] = content
        return oid

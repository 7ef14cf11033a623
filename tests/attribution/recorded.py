"""A ledger of what happened in a world, as a guard that watches would keep it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tool_intent.ledger.appending import Appender
from tool_intent.ledger.objects import ObjectStore

from .world import Made, World

_DIGEST = f"sha256:{'0' * 64}"


class Recorded:
    """The ledger of a world: the folder it is in, and the world's name of each record."""

    def __init__(self, world: World, folder: Path, worktree: Path | None = None) -> None:
        self.folder = str(folder)
        self.names: dict[str, str] = {}
        self._worktree = str(worktree or world.folder)
        self._appender = Appender(self.folder)
        self._objects = ObjectStore(self.folder)
        for made in world.calls:
            self.add(made)
        self._appender.close()

    def add(
        self,
        made: Made,
        entries: list[dict[str, str]] | None = None,
        places: list[list[str]] | None = None,
    ) -> None:
        """Record a call and its outcome: what its entries said, and which of them changed each
        file."""
        said = entries or [{"at": "", "intent": f"Do {made.id}.", "rationale": f"For {made.id}."}]
        decision = self._appender.append(
            "decision",
            {
                "session": {"id": "s-1", "agent": "pi", "model": "m-1"},
                "actor": {"worktree": self._worktree},
                "call": {"id": made.id, "tool": "write", "surface": "run"},
                "entries": said,
                "args": {"original": _DIGEST, "executed": _DIGEST},
                "decision": {"verdict": "allow", "policy": _DIGEST},
                "files": [{"path": c.path, "pre": self._put(c.pre)} for c in made.changes],
            },
        )
        files: list[dict[str, Any]] = [
            {"path": change.path, "pre": self._put(change.pre), "post": self._put(change.post)}
            for change in made.changes
        ]
        for file, at in zip(files, places or (), strict=False):
            file["entries"] = at
        self._appender.append("outcome", {"of": decision.id, "ok": True, "files": files})
        self.names[decision.id] = made.id

    def _put(self, content: bytes | None) -> str | None:
        return None if content is None else self._objects.put(content)

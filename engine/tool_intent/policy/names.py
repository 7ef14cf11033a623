"""Names of tools and groups: which exist, which nearly do."""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final

#: Shorter names have too many neighbours to be slips of each other.
_SHORTEST: Final = 4


class ToolNames:
    """The tools that loaded catalogs know. Look-ups take no time that grows with their number."""

    def __init__(self, tools: Iterable[str], groups: Iterable[str]) -> None:
        self._tools = sorted(set(tools))
        self._known = frozenset(self._tools)
        self._groups = sorted(set(groups))

    @functools.cached_property
    def _near(self) -> dict[str, str]:
        """Every spelling with one letter left out, and the folded name, to the name."""
        near: dict[str, str] = {}
        # Of `Bash` and `bash` the plainer is meant.
        plain = sorted(self._tools, key=lambda name: name != name.casefold())
        for name in [*self._groups, *plain]:
            folded = _fold(name)
            if len(folded) >= _SHORTEST:
                for spelling in _shortened(folded):
                    near.setdefault(spelling, name)
        for name in [*self._groups, *reversed(plain)]:
            near[_fold(name)] = name
        return near

    def matches(self, name: str) -> bool:
        """Whether a name or glob matches a known tool."""
        if name in self._known:
            return True
        wild = _first_wild(name)
        if wild is None:
            return False
        prefix = name[:wild]
        for tool in self._tools[bisect_left(self._tools, prefix) :]:
            if not tool.startswith(prefix):
                break
            if fnmatchcase(tool, name.replace("[", "[[]")):
                return True
        return False

    def servers(self, name: str) -> list[str]:
        """The MCP servers that have a tool of this bare name, where no tool is called just that."""
        return [] if name in self._known else self._served.get(name, [])

    @functools.cached_property
    def _served(self) -> dict[str, list[str]]:
        served: dict[str, list[str]] = {}
        for tool in self._tools:
            if tool.startswith("mcp__"):
                server, _, name = tool.removeprefix("mcp__").partition("__")
                served.setdefault(name, []).append(server)
        return served

    def nearest(self, name: str) -> str | None:
        """The tool or group at most one letter away from `name`, or None."""
        folded = _fold(name.strip("*?"))
        near = self._near
        if folded in near:
            return near[folded]
        if len(folded) < _SHORTEST:
            return None
        return next((near[s] for s in _shortened(folded) if s in near), None)


def _first_wild(name: str) -> int | None:
    places = [place for place in (name.find("*"), name.find("?")) if place >= 0]
    return min(places) if places else None


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace("@", "").casefold()


def _shortened(text: str) -> list[str]:
    return [text[:n] + text[n + 1 :] for n in range(len(text))]


@functools.lru_cache(maxsize=8)
def tool_names(tools: tuple[str, ...], groups: tuple[str, ...]) -> ToolNames:
    """The index of these names, kept from one load to the next."""
    return ToolNames(tools, groups)


def circle(groups: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Groups that contain each other, as a way that ends where it began; empty if there is none."""
    done: set[str] = set()
    for start in sorted(groups):
        way: list[str] = []
        ahead: list[tuple[str, bool]] = [(start, False)]
        while ahead:
            name, leaving = ahead.pop()
            if leaving:
                way.pop()
                done.add(name)
            elif name in way:
                return [*way[way.index(name) :], name]
            elif name not in done:
                way.append(name)
                ahead.append((name, True))
                ahead += [(m, False) for m in groups.get(name, ()) if m.startswith("@")]
    return []

"""Which tools a key of a policy means: names, globs, groups."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from tool_intent.runtime.text import normalise


class Matcher:
    """Says whether a tool is meant by a name, a glob (`*`, `?`) or a group (`@write`).

    A tool's name is matched as given and as normalised, so that `bash` with an invisible letter
    in it is still `bash`.
    """

    def __init__(self, groups: Mapping[str, tuple[str, ...]]) -> None:
        self._groups = groups

    def means(self, key: str, tool: str) -> bool:
        """Whether `key` names, globs or groups `tool`."""
        return any(self._means(key, name, frozenset()) for name in _names(tool))

    def groups_of(self, tool: str) -> tuple[str, ...]:
        """The groups a tool is in, sorted."""
        return tuple(sorted(g for g in self._groups if self.means(g, tool)))

    def _means(self, key: str, name: str, within: frozenset[str]) -> bool:
        if key.startswith("@"):
            members = () if key in within else self._groups.get(key, ())
            return any(self._means(m, name, within | {key}) for m in members)
        if "*" in key or "?" in key:
            return fnmatchcase(name, key.replace("[", "[[]"))
        return key == name


def _names(tool: str) -> set[str]:
    return {tool, normalise(tool) or tool}

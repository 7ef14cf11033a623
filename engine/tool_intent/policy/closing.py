"""What sources say, closed by rank: names in it mean what its own and stronger ranks say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeAlias, TypeVar

from tool_intent.policy.model import Requirement, Rule, Scopes
from tool_intent.policy.targets import Declared, members_of, seen_from
from tool_intent.rules import tree as t

_Groups: TypeAlias = Mapping[str, tuple[str, ...]]
_Node = TypeVar("_Node", bound=t.Node)


def close_groups(
    items: Sequence[Requirement | Rule], declared: Declared, groups: _Groups
) -> list[Requirement | Rule]:
    """The items, each naming only tools that its own and stronger ranks say it names.

    A weaker file may add tools to a group; a stronger one that names the group must not come to
    list or exempt them, nor a condition of it to find earlier calls of them. Where the two differ
    the group is replaced by its members, and an entry by one for each of them.
    """
    seen = {rank: seen_from(rank, declared) for rank in {item.origin.rank for item in items}}
    closers = {rank: _Closer(own, groups) for rank, own in seen.items() if own != groups}
    closed: list[Requirement | Rule] = []
    for item in items:
        closer = closers.get(item.origin.rank)
        closed += [item] if closer is None else closer.item(item)
    return closed


class _Closer:
    """Replaces groups that one rank sees unlike all of them together."""

    def __init__(self, own: _Groups, groups: _Groups) -> None:
        self._own = own
        self._groups = groups
        self._scopes: dict[int, Scopes] = {}

    def item(self, item: Requirement | Rule) -> Sequence[Requirement | Rule]:
        excepted = self._names(item.excepted)
        if isinstance(item, Requirement):
            when = None if item.when is None else self._node(item.when)
            keys = self._names([item.key])
            return [replace(item, key=key, excepted=excepted, when=when) for key in keys]
        mark = id(item.scopes)
        if mark not in self._scopes:
            defines = {name: self._node(node) for name, node in item.scopes.defines.items()}
            self._scopes[mark] = replace(item.scopes, defines=defines)
        # What a rule is about is in `targets`; its tree is read for conditions alone.
        return [
            replace(
                item, targets=self._names(item.targets), excepted=excepted,
                tree=self._node(item.tree), scopes=self._scopes[mark],
            )
        ]  # fmt: skip

    def _names(self, names: Sequence[str]) -> tuple[str, ...]:
        out: dict[str, None] = {}
        for name in names:
            mine = members_of(name, self._own)
            same = mine == members_of(name, self._groups)
            out.update(dict.fromkeys([name] if same else mine))
        return tuple(out)

    def _node(self, node: _Node) -> _Node:
        changed: dict[str, Any] = {}
        for part in fields(node):
            value = getattr(node, part.name)
            if part.name == "targets" and isinstance(node, t.History | t.Since):
                new: Any = self._targets(value)
            elif isinstance(value, t.Node):
                new = self._node(value)
            elif value.__class__ is tuple:
                new = tuple(self._node(v) if isinstance(v, t.Node) else v for v in value)
            else:
                continue
            if new != value:
                changed[part.name] = new
        return replace(node, **changed) if changed else node

    def _targets(self, targets: tuple[t.Target, ...]) -> tuple[t.Target, ...]:
        names = self._names([target.name for target in targets])
        if names == tuple(target.name for target in targets):
            return targets
        return tuple(t.Target(name, span=targets[0].span) for name in names)

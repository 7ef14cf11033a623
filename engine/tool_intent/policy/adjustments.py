"""The entries of `adjust:` and `stages:` of one file, read and checked by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from yaml import Node

from tool_intent.policy import dates
from tool_intent.policy.files import PolicyFile
from tool_intent.policy.model import Schedule
from tool_intent.policy.positions import Report, members, origin
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.model import POINTS, STRENGTH, Effect, Origin, Rank


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What a file says of the effect of the rules that an id or a glob means: everywhere, at
    `points` of enforcement, or by date. `key` is the node of the id."""

    rule: str
    file: PolicyFile
    rank: Rank
    key: Node
    effect: Effect | None = None
    points: Mapping[str, Effect] = field(default_factory=dict)
    stages: Schedule = ()

    @property
    def origin(self) -> Origin:
        """Where it stands."""
        return origin(self.key, self.file.shown, self.rank)

    @property
    def says_anything(self) -> bool:
        """Whether there is anything in it."""
        return self.effect is not None or bool(self.points or self.stages)

    def raising(self, above: Effect) -> Adjustment:
        """As much of it as lowers nothing of a rule whose effect is `above`."""
        return replace(
            self,
            effect=None if self.effect is None or _is_below(self.effect, above) else self.effect,
            points={p: e for p, e in self.points.items() if not _is_below(e, above)},
            stages=(),
        )

    def lowers_below(self, effect: Effect, lowest: Effect | None) -> bool:
        """Whether it asks for less than `lowest`, or for less than `effect` where nothing is."""
        asked = [*self.points.values(), *([self.effect] if self.effect is not None else [])]
        least = effect if lowest is None else min(effect, lowest, key=STRENGTH.__getitem__)
        return any(_is_below(one, least) for one in asked)


def adjustments(file: PolicyFile, rank: Rank, report: Report) -> Iterator[Adjustment]:
    """Everything in a file that adjusts a rule. What is wrong with it goes to `report`; parts of
    the wrong shape are passed over, since the published schema has named them."""
    for rule, value, key, node in _section(file, "adjust"):
        yield _adjustment(Adjustment(rule, file, rank, key), value, node, report)
    for rule, value, key, node in _section(file, "stages"):
        if isinstance(value, list):
            stages = tuple(_stages(file, value, node, report))
            yield Adjustment(rule, file, rank, key, stages=stages)


def _section(file: PolicyFile, name: str) -> Iterator[tuple[str, Any, Node, Node]]:
    value = file.data.get(name)
    if isinstance(value, dict):
        yield from members(value, file.document.value([name]))


def _adjustment(empty: Adjustment, value: Any, node: Node, report: Report) -> Adjustment:
    if _is_effect(value):
        return replace(empty, effect=value)
    if not isinstance(value, dict):
        return empty
    effect = value.get("effect")
    points: dict[str, Effect] = {}
    for key, inner, _, inner_node in members(value, node):
        if key == "at" and isinstance(inner, dict):
            for point, wanted, point_node, _ in members(inner, inner_node):
                if point not in POINTS:
                    near = nearest(point, POINTS)
                    report.error(
                        "policy/point", empty.file.shown, empty.file.document.span(point_node),
                        f"calls are enforced at no point called `{point}`",
                        f"did you mean `{near}`?" if near else "points: " + ", ".join(POINTS),
                    )  # fmt: skip
                elif _is_effect(wanted):
                    points[point] = wanted
    return replace(empty, effect=effect if _is_effect(effect) else None, points=points)


def _stages(file: PolicyFile, value: list[Any], node: Node, report: Report) -> Schedule:
    """The stages as written, earliest first, no later one weaker: whatever `now` is, more time
    lowers nothing."""
    found: list[tuple[float, Effect]] = []
    for stage, at in zip(value, node.value, strict=True):
        if not isinstance(stage, dict):
            continue
        since, effect = stage.get("from"), stage.get("effect")
        if not isinstance(since, str) or not _is_effect(effect):
            continue
        try:
            begins = dates.begins(since)
        except ValueError as error:
            places = {word: inner for word, _, _, inner in members(stage, at)}
            _wrong(file, places["from"], str(error), dates.HOW_TO_WRITE, report)
            continue
        if found and begins <= found[-1][0]:
            _wrong(file, at, f"this stage does not begin after the one before it ({since})",
                   "write stages in the order they begin", report)  # fmt: skip
        elif found and _is_below(effect, found[-1][1]):
            _wrong(file, at, f"this stage is weaker ({effect}) than the one before it "
                   f"({found[-1][1]})", "stages only get stronger", report)  # fmt: skip
        else:
            found.append((begins, effect))
    return tuple(found)


def _wrong(file: PolicyFile, node: Node, message: str, mend: str, report: Report) -> None:
    report.error("policy/stages", file.shown, file.document.span(node), message, mend)


def _is_below(one: Effect, other: Effect) -> bool:
    return STRENGTH[one] < STRENGTH[other]


def _is_effect(value: Any) -> TypeGuard[Effect]:
    return isinstance(value, str) and value in STRENGTH

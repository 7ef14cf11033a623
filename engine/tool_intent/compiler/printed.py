"""What a policy prints to a model: the texts that are no reason when they are handed back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tool_intent.policy.model import FieldDefinition, Rule
from tool_intent.rules import tree as t
from tool_intent.runtime.model import SENIORITY, Rank


def printed(
    rank: Rank, rules: Iterable[Rule], fields: Mapping[str, Sequence[FieldDefinition]]
) -> tuple[str, ...]:
    """Messages and fixes of the rules of a rank and of stronger ones, and what those say of fields,
    each once. What weaker ranks print is not in it, so that it changes no answer of this one."""
    found: dict[str, None] = {}
    for rule in rules:
        if SENIORITY[rule.origin.rank] <= SENIORITY[rank]:
            texts = (_plain(rule.tree.verdict.message), _plain(rule.tree.fix))
            found.update(dict.fromkeys(texts))
    for definitions in fields.values():
        for one in definitions:
            if SENIORITY[one.origin.rank] <= SENIORITY[rank]:
                found[_description(one)] = None
    found.pop("", None)
    return tuple(found)


def _plain(message: t.Message | None) -> str:
    """A message without what it interpolates."""
    parts = () if message is None else message.parts
    return " ".join(part for part in parts if isinstance(part, str))


def _description(definition: FieldDefinition) -> str:
    said = definition.schema
    described = said.get("description") if isinstance(said, Mapping) else None
    return described if isinstance(described, str) else ""

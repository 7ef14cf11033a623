"""The calls of a corpus, judged by a policy as a surface would have it judge them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from tool_intent.authoring.evaluation.corpus import Corpus, Item, arguments
from tool_intent.authoring.examples import NOW, PLACE, with_places
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import compiled
from tool_intent.policy.model import EffectivePolicy
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.history import SessionHistory
from tool_intent.runtime.model import STRENGTH, Call, Effect, strongest

#: Findings that say nothing of a call's texts: it was not judged as it stands.
FAULTS: Final = frozenset({"args/ambiguous", "args/not-an-object", "engine/rule-error"})


class Found(NamedTuple):
    """A finding about a call: the rule, its effect, and the place (JSON Pointer)."""

    rule: str
    effect: Effect
    at: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A row and all that a policy found about its call."""

    item: Item
    found: tuple[Found, ...]

    @property
    def strongest(self) -> Effect:
        """The strongest effect of what was found; `off` where nothing was."""
        return strongest([one.effect for one in self.found]) if self.found else "off"

    def reaches(self, tier: str) -> bool:
        """Whether anything found is as strong as a tier."""
        return STRENGTH[self.strongest] >= STRENGTH[tier]

    @property
    def is_fault(self) -> bool:
        """Whether the call could not be judged as it stands."""
        return any(one.rule in FAULTS for one in self.found)


class Bench:
    """Judges rows by one policy: each in a session of its own, after its earlier calls, at one
    time and place, so that a row is judged the same on every machine. Of a rule file by itself the
    fields stand where its examples have them."""

    def __init__(self, policy: EffectivePolicy) -> None:
        self.artifact: Artifact = compiled(with_places(policy), PLACE)
        self._roles = {
            tool: dict(known[0].roles) for tool, known in policy.catalog.items() if known
        }

    def judge(self, items: Iterable[Item]) -> tuple[Judged, ...]:
        """Each row with what is found."""
        return tuple(self._judged(item) for item in items)

    def ready(self, item: Item) -> Callable[[], Decision]:
        """What decides on a row's call, its session being there already."""
        history = self._session(item)
        call = Call(item.id, item.tool, item.args, {}, None, NOW)
        return lambda: self.artifact.decide(call, history)

    def _judged(self, item: Item) -> Judged:
        decision = self.ready(item)()
        return Judged(item, tuple(Found(f.rule, f.effect, f.at) for f in decision.findings))

    def _session(self, item: Item) -> SessionHistory:
        history = self.artifact.new_history()
        for number, earlier in enumerate(item.earlier):
            tool = earlier[0]
            args = arguments(earlier, self._roles.get(tool, {}))
            self.artifact.decide(Call(number, tool, args, {}, None, NOW), history)
            history.outcome(number, "passed")
        return history


def judge(policy: EffectivePolicy, corpus: Corpus) -> tuple[Judged, ...]:
    """Every row of a corpus, judged."""
    return Bench(policy).judge(corpus.items)

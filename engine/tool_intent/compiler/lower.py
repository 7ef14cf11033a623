"""A flat policy and a tool's name, lowered to what that tool's calls must satisfy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from tool_intent.compiler.colliding import carriers_of, defined_keys, settings
from tool_intent.compiler.conditions import Atom, Condition, Sentence
from tool_intent.compiler.faults import faults
from tool_intent.compiler.ir import Place, Report, Tool
from tool_intent.compiler.lower_fields import (
    at_least,
    is_text,
    known_names,
    roles_of,
)
from tool_intent.compiler.lower_places import Placing, Treated
from tool_intent.compiler.lower_rules import Seen, sentence, when
from tool_intent.compiler.printed import printed
from tool_intent.compiler.reports import missing
from tool_intent.compiler.sources import Sources
from tool_intent.compiler.steps import reads_session
from tool_intent.policy.model import (
    CatalogTool,
    EffectivePolicy,
    Requirement,
    Rule,
    is_built_in,
)
from tool_intent.policy.sources import shipped
from tool_intent.runtime.colliding import Treatment
from tool_intent.runtime.extend import collisions
from tool_intent.runtime.matching import Matcher
from tool_intent.runtime.model import SENIORITY, Rank
from tool_intent.runtime.views import View
from tool_intent.runtime.waivers import Waiver

#: What calls do, by the groups that say so.
KINDS = ("read", "write", "exec", "net")


class Lowering:
    """Lowers tools of one policy; what all tools share is worked out once. `sources` is told where
    each node of a rule is from."""

    def __init__(self, policy: EffectivePolicy, sources: Sources | None = None) -> None:
        self._policy = policy
        self._sources = sources
        self._matcher = Matcher(policy.groups)
        # What a broken file says may not compile; its calls are denied all the same.
        unusable = {d.file for d in policy.broken}
        self._fields = {
            name: tuple(d for d in definitions if d.origin.file not in unusable)
            for name, definitions in policy.fields.items()
        }
        self._requirements = [
            i for i in policy.items if isinstance(i, Requirement) and i.origin.file not in unusable
        ]
        self._rules = [
            i
            for i in policy.items
            if isinstance(i, Rule) and i.origin.file not in unusable and not i.off
        ]
        ranks = {i.origin.rank for i in policy.items}
        ranks |= {rank for waiver in policy.waivers for rank in waiver.counts}
        self._ranks = tuple(sorted(ranks, key=SENIORITY.__getitem__))
        self._textual = {rank: self._fields_seen(rank) for rank in self._ranks}
        self._printed = {
            rank: cache(partial(printed, rank, self._rules, self._fields)) for rank in self._ranks
        }
        self._atoms: dict[Any, Atom] = {}
        self.hears = False
        self._exact: dict[str, list[Requirement]] = {}
        self._wide: list[Requirement] = []
        for requirement in self._requirements:
            if any(c in requirement.key for c in "@*?"):
                self._wide.append(requirement)
            else:
                self._exact.setdefault(requirement.key, []).append(requirement)
        folder = shipped()
        self._ours = {s.shown for s in policy.sources if s.path.startswith(folder)}
        self._placing = Placing(self._fields, self._ours)
        self._always = (*faults(policy.broken, policy.on_broken), *map(missing, policy.absent))

    def tool(self, name: str, treatment: Treatment = ()) -> Tool:
        """What calls of the tool `name` must satisfy, where it defines fields itself that are to be
        treated so."""
        treated: Treated = {(at, field): how for at, field, how in treatment}
        matching = [r for r in self._candidates(name) if self._matcher.means(r.key, name)]
        applying = [r for r in matching if not self._means_any(r.excepted, name)]
        waivers = self._waivers(name)
        plain = [r for r in applying if r.when is None]
        # What a waiver lowers for one rank stands for the others: then each rank says its own.
        parted = _by_rank(plain) if any(is_built_in(w.rule) for w in waivers) else [plain]
        places = tuple(place for own in parted for place in self._placing.places(own, treated))
        carried = tuple(self._placing.carried(applying, places, treated))
        carriers = carriers_of(carried)
        known = self._policy.catalog.get(name, ())
        schemas = [t.schema for t in known if t.schema is not None]
        whole = View(carriers, roles_of(known))
        views = tuple(self._view(rank, applying, known, treated) for rank in self._ranks)
        seen = {
            rank: Seen(self._textual[rank], view, number, self._printed[rank])
            for number, (rank, view) in enumerate(zip(self._ranks, views, strict=True))
        }
        rules = [
            rule
            for rule in self._rules
            if self._means_any(rule.targets, name) and not self._means_any(rule.excepted, name)
        ]
        return Tool(
            name,
            bool(matching),
            self._always + tuple(self._unlisted({r.origin.rank for r in matching})),
            places,
            tuple(self._conditional(applying, seen, treated)),
            tuple(self._sentence(rule, seen[rule.origin.rank]) for rule in rules),
            carried,
            whole.roles,
            known_names(schemas, carried),
            tuple(sorted({c for s in schemas for c in collisions(s, defined_keys(carried))})),
            () if all(view == whole for view in views) else views,
            {(r.id, r.origin.rank): r.schedule for r in rules if r.schedule},
            waivers,
            tuple(kind for kind in KINDS if self._matcher.means(f"@{kind}", name)),
            settings(self._policy.collisions, applying),
        )

    def atoms(self) -> tuple[Atom, ...]:
        """What the policy's rules and conditions look for in history, by number; `hears` then says
        whether they ask what was seen."""
        # Lowered for a tool of no catalog, every rule says what it looks for.
        nothing = View((), {})
        seen = {
            rank: Seen(self._textual[rank], nothing, number, self._printed[rank])
            for number, rank in enumerate(self._ranks)
        }
        sentences = [self._sentence(rule, seen[rule.origin.rank]) for rule in self._rules]
        asked = [self._when(one, seen[one.origin.rank]) for one in self._requirements if one.when]
        asked += [part for s in sentences for part in (s.guard, s.condition) if part is not None]
        self.hears = any(map(reads_session, asked))
        return tuple(sorted(self._atoms.values(), key=lambda atom: atom.number))

    def _waivers(self, name: str) -> tuple[Waiver, ...]:
        """The waivers whose scope the tool is in, for the rules of at least one rank."""
        found: list[Waiver] = []
        for w in self._policy.waivers:
            ranks = {
                rank: (self._ranks.index(rank), counted.until)
                for rank, counted in w.counts.items()
                if self._means_any(counted.tools, name)
            }
            if ranks:
                found.append(
                    Waiver(
                        w.id, w.rule, ranks, w.effect, w.scope.paths, w.scope.agents, w.max_uses,
                        w.digest,
                    )
                )  # fmt: skip
        return tuple(found)

    def _means_any(self, keys: Iterable[str], name: str) -> bool:
        return any(self._matcher.means(key, name) for key in keys)

    def _fields_seen(self, rank: Rank) -> Mapping[str, bool]:
        """The fields that a rank and stronger ones define, each with whether it is text."""
        found = {name: at_least(rank, d) for name, d in self._fields.items()}
        return {name: is_text(definitions) for name, definitions in found.items() if definitions}

    def _view(
        self,
        rank: Rank,
        applying: Sequence[Requirement],
        known: Sequence[CatalogTool],
        treated: Treated,
    ) -> View:
        own = [r for r in applying if SENIORITY[r.origin.rank] <= SENIORITY[rank]]
        roles = roles_of([t for t in known if SENIORITY[t.rank] <= SENIORITY[rank]])
        return View(carriers_of(self._placing.places(own, treated)), roles)

    def _sentence(self, rule: Rule, seen: Seen) -> Sentence:
        below_user = SENIORITY[rule.origin.rank] > SENIORITY["user"]
        theirs = below_user and rule.origin.file not in self._ours
        who = rule.policy if theirs else None
        return sentence(rule, seen, self._atoms, who, self._sources)

    def _conditional(
        self, requirements: Sequence[Requirement], seen: Mapping[Rank, Seen], treated: Treated
    ) -> Iterable[Place]:
        for requirement in requirements:
            if requirement.when is not None:
                own = seen[requirement.origin.rank]
                asked = self._when(requirement, own)
                for place in self._placing.places([requirement], treated):
                    yield replace(place, when=asked, view=own.number)

    def _when(self, requirement: Requirement, seen: Seen) -> Condition:
        assert requirement.when is not None
        return when(
            requirement.when, requirement.at, seen, self._atoms, requirement.origin.file,
            self._sources,
        )  # fmt: skip

    def _candidates(self, name: str) -> Iterable[Requirement]:
        exact = [r for key in _spellings(name) for r in self._exact.get(key, ())]
        return exact + self._wide

    def _unlisted(self, listing: Collection[Rank]) -> Iterable[Report]:
        """What is held against a tool that only entries of the ranks `listing` match: an entry
        lists it for its own and for weaker ranks."""
        strongest = min((SENIORITY[rank] for rank in listing), default=len(SENIORITY))
        for unlisted in self._policy.unlisted:
            if unlisted.effect != "off" and SENIORITY[unlisted.origin.rank] < strongest:
                yield Report(
                    "tools/unlisted",
                    unlisted.effect,
                    "",
                    "no entry of the policy is about this tool",
                    "Use a tool that the policy lists, or ask a person to add it.",
                    unlisted.origin,
                    None,
                )


def _by_rank(requirements: Iterable[Requirement]) -> list[list[Requirement]]:
    by_rank: dict[Rank, list[Requirement]] = {}
    for requirement in requirements:
        by_rank.setdefault(requirement.origin.rank, []).append(requirement)
    return list(by_rank.values())


def _spellings(name: str) -> list[str]:
    from tool_intent.runtime.text import normalise

    normal = normalise(name) or name
    return [name] if normal == name else [name, normal]

"""A flat policy and a tool's name, lowered to what that tool's calls must satisfy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, TypeAlias

from tool_intent.compiler import wording
from tool_intent.compiler.colliding import carriers_of, defined_keys, settings
from tool_intent.compiler.conditions import Atom, Condition, Sentence
from tool_intent.compiler.constraints import parts
from tool_intent.compiler.faults import faults
from tool_intent.compiler.ir import Check, Field, Kind, Place, Report, Tool
from tool_intent.compiler.lower_fields import (
    Use,
    advertised,
    allowed_kinds,
    at_least,
    container,
    describing_of,
    description,
    is_text,
    known_names,
    nearest_origin,
    roles_of,
    strongest_of,
)
from tool_intent.compiler.lower_rules import Seen, sentence, when
from tool_intent.compiler.printed import printed
from tool_intent.compiler.reports import entry_reports, missing
from tool_intent.compiler.sources import Sources
from tool_intent.compiler.steps import reads_session
from tool_intent.policy.model import (
    CatalogTool,
    EffectivePolicy,
    FieldDefinition,
    FieldSchema,
    Requirement,
    Rule,
    is_built_in,
)
from tool_intent.policy.sources import shipped
from tool_intent.runtime.colliding import Otherwise, Treatment, prefixed
from tool_intent.runtime.extend import collisions
from tool_intent.runtime.matching import Matcher
from tool_intent.runtime.model import SENIORITY, STRENGTH, Effect, Origin, Rank
from tool_intent.runtime.pointer import escape
from tool_intent.runtime.strip import Steps
from tool_intent.runtime.views import View
from tool_intent.runtime.waivers import Waiver

#: What calls do, by the groups that say so.
KINDS = ("read", "write", "exec", "net")
#: What is to become of a field, by its place and name, where the tool defines it.
Treated: TypeAlias = Mapping[tuple[Steps, str], Otherwise]


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
        places = tuple(place for own in parted for place in self._places(own, treated))
        carried = tuple(self._carried(applying, places, treated))
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
        return View(carriers_of(self._places(own, treated)), roles)

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
                for place in self._places([requirement], treated):
                    yield replace(place, when=asked, view=own.number)

    def _when(self, requirement: Requirement, seen: Seen) -> Condition:
        assert requirement.when is not None
        return when(
            requirement.when, requirement.at, seen, self._atoms, requirement.origin.file,
            self._sources,
        )  # fmt: skip

    def _carried(
        self, requirements: Sequence[Requirement], places: Sequence[Place], treated: Treated
    ) -> Iterable[Place]:
        """Every place with all its fields; those that only a condition asks for are optional."""
        whole = {p.at: p for p in self._places(requirements, treated)}
        needed = {(p.at, f.name) for p in places for f in p.fields if f.missing is not None}
        for at, place in whole.items():
            fields = (
                f if (at, f.name) in needed else replace(f, missing=None, blank=None)
                for f in place.fields
            )
            yield replace(place, fields=tuple(fields))

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

    def _places(self, requirements: Sequence[Requirement], treated: Treated) -> Iterable[Place]:
        by_place: dict[tuple[str, ...], list[Requirement]] = {}
        for requirement in requirements:
            by_place.setdefault(requirement.at, []).append(requirement)
        for at in sorted(by_place, key=lambda a: (len(a), a)):
            here = by_place[at]
            uses: dict[str, list[Use]] = {}
            for requirement in here:
                for use in requirement.uses:
                    uses.setdefault(use.name, []).append((requirement, use))
            fields = tuple(
                f
                for name in uses
                for f in self._closed(name, at, uses[name], treated.get((at, name)))
            )
            no_entry, no_object = entry_reports(at, here)
            yield Place(at, fields, no_entry, no_object)

    def _closed(
        self, name: str, at: Steps, uses: list[Use], how: Otherwise | None
    ) -> Iterable[Field]:
        """A field as the entries at one place use it: one, unless ranks differ on its type; then
        one for all that agree, since what a weaker one takes for wrong a stronger may still judge.
        """
        by_rank: dict[Rank, list[Use]] = {}
        for use in uses:
            by_rank.setdefault(use[0].origin.rank, []).append(use)
        by_kinds: dict[tuple[Kind, ...], list[Use]] = {}
        for rank, own in by_rank.items():
            kinds = allowed_kinds(at_least(rank, self._fields.get(name, ())), own)
            by_kinds.setdefault(kinds, []).extend(own)
        return (self._field(name, at, allowed, agreed, how) for allowed, agreed in by_kinds.items())

    def _field(
        self,
        name: str,
        at: Steps,
        allowed: tuple[Kind, ...],
        uses: list[Use],
        how: Otherwise | None,
    ) -> Field:
        key = prefixed(name) if how == "prefix" else name
        weakest = max((r.origin.rank for r, _ in uses), key=SENIORITY.__getitem__)
        definitions = at_least(weakest, self._fields.get(name, ()))
        # What the strongest asks for it describes itself: weaker words are no part of its demand.
        strongest = min((r.origin.rank for r, _ in uses), key=SENIORITY.__getitem__)
        describing = describing_of(strongest, self._fields.get(name, ()))
        described, who = self._help(name, describing)
        carrying = strongest_of(uses)
        demanding = strongest_of([(r, u) for r, u in uses if u.required])

        def report(rule: str, message: str, by: Use, fix: str | None = None) -> Report:
            """With a `fix` of ours, or else the field's description as its author's words."""
            requirement, use = by
            return Report(
                f"fields/{rule}", requirement.effect, f"/{escape(key)}", message,
                fix or described, use.origin, None if fix else who,
            )  # fmt: skip

        assert carrying is not None
        checks = tuple(self._checks(key, definitions, uses, described, who))
        # It is found once for all ranks: as what only a waiver that binds the strongest lowers.
        senior = min(uses, key=lambda use: SENIORITY[use[0].origin.rank])
        misspelt = report(
            "misspelt", f"this key only looks like `{key}`", (carrying[0], senior[1]),
            f"Spell it `{key}`.",
        )  # fmt: skip
        # Whatever the entry's effect: what is the tool's argument cannot be told from a reason.
        collision = report(
            "collision",
            f"{key} is an argument of the tool itself, so it cannot carry the reason",
            carrying,
            "A person must rename the field in the policy.",
        )
        required = demanding and report("missing", f"{key} is required", demanding)
        blank = demanding and report(
            "missing", f"{key} is required; what was sent is blank", demanding
        )
        return Field(
            name,
            allowed,
            required,
            blank,
            report("type", wording.kinds_expected(key, allowed), carrying),
            report(
                "unreadable", wording.unreadable(key), carrying, "Write it shorter and plainer."
            ),
            replace(misspelt, name=""),
            replace(collision, name=container(at, key), effect="deny"),
            checks,
            advertised(allowed, describing, [c.constraint for c in checks]),
            key,
            how == "reuse",
        )

    def _help(
        self, name: str, definitions: Sequence[FieldDefinition]
    ) -> tuple[str | None, str | None]:
        """How to mend a field: its description, and whose words that is if not ours."""
        for definition in definitions:
            text = description(definition)
            if text:
                below_user = SENIORITY[definition.origin.rank] > SENIORITY["user"]
                theirs = below_user and definition.origin.file not in self._ours
                return text, definition.policy if theirs else None
        return f"State the {name}.", None

    def _checks(
        self,
        key: str,
        definitions: Sequence[FieldDefinition],
        uses: list[Use],
        fix: str | None,
        who: str | None,
    ) -> Iterable[Check]:
        found: dict[str, Check] = {}
        schemas: list[tuple[FieldSchema, Mapping[str, Origin], Origin, Effect]] = []
        for d in definitions:
            # A definition holds where its own rank or a weaker one uses the field.
            bound = strongest_of(
                [(r, u) for r, u in uses if SENIORITY[r.origin.rank] >= SENIORITY[d.origin.rank]]
            )
            if bound is not None:
                schemas.append((d.schema, d.origins, d.origin, bound[0].effect))
        schemas += [(u.schema, u.origins, u.origin, r.effect) for r, u in uses]
        for schema, origins, origin, effect in schemas:
            for part in parts(schema):
                where = nearest_origin(origins, part.pointer, origin)
                report = Report(
                    f"fields/{part.keyword}", effect, f"/{escape(key)}",
                    wording.broken(key, part), fix, where, who,
                )  # fmt: skip
                mark = repr((part.keyword, part.constraint))
                if mark not in found or STRENGTH[found[mark].report.effect] < STRENGTH[effect]:
                    found[mark] = Check(part.constraint, report)
        return found.values()


def _by_rank(requirements: Iterable[Requirement]) -> list[list[Requirement]]:
    by_rank: dict[Rank, list[Requirement]] = {}
    for requirement in requirements:
        by_rank.setdefault(requirement.origin.rank, []).append(requirement)
    return list(by_rank.values())


def _spellings(name: str) -> list[str]:
    from tool_intent.runtime.text import normalise

    normal = normalise(name) or name
    return [name] if normal == name else [name, normal]

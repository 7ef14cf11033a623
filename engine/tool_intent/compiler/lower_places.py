"""What entries ask at the places of a call, lowered to the fields that each place carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeAlias

from tool_intent.compiler import wording
from tool_intent.compiler.constraints import parts
from tool_intent.compiler.ir import Check, Field, Kind, Place, Report
from tool_intent.compiler.lower_fields import (
    Use,
    advertised,
    allowed_kinds,
    at_least,
    container,
    describing_of,
    description,
    nearest_origin,
    strongest_of,
)
from tool_intent.compiler.reports import entry_reports
from tool_intent.policy.model import FieldDefinition, FieldSchema, Requirement
from tool_intent.runtime.colliding import Otherwise, prefixed
from tool_intent.runtime.model import SENIORITY, STRENGTH, Effect, Origin, Rank
from tool_intent.runtime.pointer import escape
from tool_intent.runtime.strip import Steps

#: What is to become of a field, by its place and name, where the tool defines it.
Treated: TypeAlias = Mapping[tuple[Steps, str], Otherwise]


class Placing:
    """Lowers entries of one policy by its definitions of `fields`; `ours` are the files that are
    shipped, as shown: their words stand without a name."""

    def __init__(self, fields: Mapping[str, tuple[FieldDefinition, ...]], ours: Set[str]) -> None:
        self._fields = fields
        self._ours = ours

    def places(self, requirements: Sequence[Requirement], treated: Treated) -> Iterable[Place]:
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

    def carried(
        self, requirements: Sequence[Requirement], places: Sequence[Place], treated: Treated
    ) -> Iterable[Place]:
        """Every place with all its fields; those that only a condition asks for are optional."""
        whole = {p.at: p for p in self.places(requirements, treated)}
        needed = {(p.at, f.name) for p in places for f in p.fields if f.missing is not None}
        for at, place in whole.items():
            fields = (
                f if (at, f.name) in needed else replace(f, missing=None, blank=None)
                for f in place.fields
            )
            yield replace(place, fields=tuple(fields))

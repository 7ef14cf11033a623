"""A flat policy and a tool's name, lowered to what that tool's calls must satisfy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tool_intent.compiler import wording
from tool_intent.compiler.conditions import ArgumentPaths, Atom, Condition, Sentence
from tool_intent.compiler.constraints import parts
from tool_intent.compiler.faults import faults
from tool_intent.compiler.ir import Check, Field, Place, Report, Tool
from tool_intent.compiler.lower_fields import (
    Use,
    advertised,
    allowed_kinds,
    container,
    description,
    is_text,
    known_names,
    nearest_origin,
    roles_of,
)
from tool_intent.compiler.lower_rules import sentence, when
from tool_intent.compiler.sources import Sources
from tool_intent.policy.model import (
    EffectivePolicy,
    FieldDefinition,
    FieldSchema,
    Requirement,
    Rule,
)
from tool_intent.policy.sources import shipped
from tool_intent.runtime.extend import collisions
from tool_intent.runtime.matching import Matcher
from tool_intent.runtime.model import SENIORITY, STRENGTH, Effect, Origin
from tool_intent.runtime.pointer import escape
from tool_intent.runtime.strip import Carrier


class Lowering:
    """Lowers tools of one policy; what all tools share is worked out once. `sources` is told where
    each node of a rule is from."""

    def __init__(self, policy: EffectivePolicy, sources: Sources | None = None) -> None:
        self._policy = policy
        self._sources = sources
        self._matcher = Matcher(policy.groups)
        # What a broken file says may not compile; its calls are denied all the same.
        broken = {d.file for d in policy.broken}
        self._fields = {
            name: tuple(d for d in definitions if d.origin.file not in broken)
            for name, definitions in policy.fields.items()
        }
        self._requirements = [
            i for i in policy.items if isinstance(i, Requirement) and i.origin.file not in broken
        ]
        self._rules = [
            i for i in policy.items if isinstance(i, Rule) and i.origin.file not in broken
        ]
        self._textual = {name: is_text(found) for name, found in self._fields.items()}
        self._atoms: dict[Any, Atom] = {}
        self._exact: dict[str, list[Requirement]] = {}
        self._wide: list[Requirement] = []
        for requirement in self._requirements:
            if any(c in requirement.key for c in "@*?"):
                self._wide.append(requirement)
            else:
                self._exact.setdefault(requirement.key, []).append(requirement)
        folder = shipped()
        self._ours = {s.shown for s in policy.sources if s.path.startswith(folder)}
        self._always = tuple(faults(policy.broken))

    def tool(self, name: str) -> Tool:
        """What calls of the tool `name` must satisfy."""
        matching = [r for r in self._candidates(name) if self._matcher.means(r.key, name)]
        applying = [r for r in matching if not self._means_any(r.excepted, name)]
        places = tuple(self._places([r for r in applying if r.when is None]))
        carried = tuple(self._carried(applying, places))
        carriers = tuple(Carrier(p.at, tuple(f.name for f in p.fields)) for p in carried)
        known = self._policy.catalog.get(name, ())
        schemas = [t.schema for t in known if t.schema is not None]
        roles = roles_of(known)
        return Tool(
            name,
            bool(matching),
            self._always if matching else self._always + tuple(self._unlisted()),
            places,
            tuple(self._conditional(applying, carriers, roles)),
            tuple(self._sentences(name, carriers, roles)),
            carried,
            roles,
            known_names(schemas, carried),
            tuple(sorted({c for s in schemas for c in collisions(s, carriers)})),
        )

    def atoms(self) -> tuple[Atom, ...]:
        """What the policy's rules and conditions look for in history, by number."""
        # Lowered for a tool of no catalog, every rule says what it looks for.
        for rule in self._rules:
            self._sentence(rule, (), {})
        for requirement in self._requirements:
            if requirement.when is not None:
                self._when(requirement, (), {})
        return tuple(sorted(self._atoms.values(), key=lambda atom: atom.number))

    def _means_any(self, keys: Iterable[str], name: str) -> bool:
        return any(self._matcher.means(key, name) for key in keys)

    def _sentences(
        self, name: str, carriers: tuple[Carrier, ...], roles: Mapping[str, ArgumentPaths]
    ) -> Iterable[Sentence]:
        for rule in self._rules:
            if self._means_any(rule.targets, name) and not self._means_any(rule.excepted, name):
                yield self._sentence(rule, carriers, roles)

    def _sentence(
        self, rule: Rule, carriers: tuple[Carrier, ...], roles: Mapping[str, ArgumentPaths]
    ) -> Sentence:
        below_user = SENIORITY[rule.origin.rank] > SENIORITY["user"]
        theirs = below_user and rule.origin.file not in self._ours
        return sentence(
            rule, self._textual, carriers, roles, self._atoms, rule.policy if theirs else None,
            self._sources,
        )  # fmt: skip

    def _conditional(
        self,
        requirements: Sequence[Requirement],
        carriers: tuple[Carrier, ...],
        roles: Mapping[str, ArgumentPaths],
    ) -> Iterable[Place]:
        for requirement in requirements:
            if requirement.when is not None:
                asked = self._when(requirement, carriers, roles)
                yield from (replace(p, when=asked) for p in self._places([requirement]))

    def _when(
        self,
        requirement: Requirement,
        carriers: tuple[Carrier, ...],
        roles: Mapping[str, ArgumentPaths],
    ) -> Condition:
        assert requirement.when is not None
        return when(
            requirement.when, self._textual, carriers, requirement.at, roles, self._atoms,
            requirement.origin.file, self._sources,
        )  # fmt: skip

    def _carried(
        self, requirements: Sequence[Requirement], places: Sequence[Place]
    ) -> Iterable[Place]:
        """Every place with all its fields; those that only a condition asks for are optional."""
        whole = {p.at: p for p in self._places(requirements)}
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

    def _unlisted(self) -> Iterable[Report]:
        for unlisted in self._policy.unlisted:
            if unlisted.effect != "off":
                yield Report(
                    "tools/unlisted",
                    unlisted.effect,
                    "",
                    "no entry of the policy is about this tool",
                    "Use a tool that the policy lists, or ask a person to add it.",
                    unlisted.origin,
                    None,
                )

    def _places(self, requirements: Sequence[Requirement]) -> Iterable[Place]:
        by_place: dict[tuple[str, ...], list[Requirement]] = {}
        for requirement in requirements:
            by_place.setdefault(requirement.at, []).append(requirement)
        for at in sorted(by_place, key=lambda a: (len(a), a)):
            here = by_place[at]
            uses: dict[str, list[Use]] = {}
            for requirement in here:
                for use in requirement.uses:
                    uses.setdefault(use.name, []).append((requirement, use))
            fields = tuple(self._field(name, at, uses[name]) for name in uses)
            no_entry, no_object = _entry_reports(at, here)
            yield Place(at, fields, no_entry, no_object)

    def _field(self, name: str, at: tuple[str, ...], uses: list[Use]) -> Field:
        definitions = self._fields.get(name, ())
        allowed = allowed_kinds(definitions, uses)
        described, who = self._help(name, definitions)
        carrying = _strongest(uses)
        demanding = _strongest([(r, u) for r, u in uses if u.required])

        def report(rule: str, message: str, by: Use, fix: str | None = None) -> Report:
            """With a `fix` of ours, or else the field's description as its author's words."""
            requirement, use = by
            return Report(
                f"fields/{rule}", requirement.effect, f"/{escape(name)}", message,
                fix or described, use.origin, None if fix else who,
            )  # fmt: skip

        assert carrying is not None
        checks = tuple(self._checks(name, definitions, uses, described, who))
        misspelt = report(
            "misspelt", f"this key only looks like `{name}`", carrying, f"Spell it `{name}`."
        )
        # Whatever the entry's effect: what is the tool's argument cannot be told from a reason.
        collision = report(
            "collision",
            f"{name} is an argument of the tool itself, so it cannot carry the reason",
            carrying,
            "A person must rename the field in the policy.",
        )
        required = demanding and report("missing", f"{name} is required", demanding)
        blank = demanding and report(
            "missing", f"{name} is required; what was sent is blank", demanding
        )
        return Field(
            name,
            allowed,
            required,
            blank,
            report("type", wording.kinds_expected(name, allowed), carrying),
            report(
                "unreadable", wording.unreadable(name), carrying, "Write it shorter and plainer."
            ),
            replace(misspelt, name=""),
            replace(collision, name=container(at, name), effect="deny"),
            checks,
            advertised(allowed, definitions, [c.constraint for c in checks]),
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
        name: str,
        definitions: Sequence[FieldDefinition],
        uses: list[Use],
        fix: str | None,
        who: str | None,
    ) -> Iterable[Check]:
        carrying = _strongest(uses)
        assert carrying is not None
        found: dict[str, Check] = {}
        schemas: list[tuple[FieldSchema, Mapping[str, Origin], Origin, Effect]] = [
            (d.schema, d.origins, d.origin, carrying[0].effect) for d in definitions
        ]
        schemas += [(u.schema, u.origins, u.origin, r.effect) for r, u in uses]
        for schema, origins, origin, effect in schemas:
            for part in parts(schema):
                where = nearest_origin(origins, part.pointer, origin)
                report = Report(
                    f"fields/{part.keyword}", effect, f"/{escape(name)}",
                    wording.broken(name, part), fix, where, who,
                )  # fmt: skip
                key = repr((part.keyword, part.constraint))
                if key not in found or STRENGTH[found[key].report.effect] < STRENGTH[effect]:
                    found[key] = Check(part.constraint, report)
        return found.values()


def _spellings(name: str) -> list[str]:
    from tool_intent.runtime.text import normalise

    normal = normalise(name) or name
    return [name] if normal == name else [name, normal]


def _entry_reports(
    at: tuple[str, ...], requirements: Sequence[Requirement]
) -> tuple[Report | None, Report | None]:
    demanding = [r for r in requirements if any(u.required for u in r.uses)]
    if not at or not demanding:
        return None, None
    by = max(demanding, key=lambda r: STRENGTH[r.effect])
    names = list(dict.fromkeys(u.name for r in demanding for u in r.uses if u.required))
    shown = "".join(step if step == "[]" else f".{step}" for step in at).lstrip(".")
    listed = " and ".join(f"`{n}`" for n in names)
    each = "in each" if at[-1] == "[]" else "in it"
    no_entry = Report(
        "entries/missing", by.effect, "", f"there is nothing here that could carry {listed}",
        f"Send `{shown}` with {listed} {each}.", by.origin, None,
    )  # fmt: skip
    no_object = Report(
        "entries/type", by.effect, "", "this must be an object",
        f"Send it as an object that carries {listed}.", by.origin, None,
    )  # fmt: skip
    return no_entry, no_object


def _strongest(uses: list[Use]) -> Use | None:
    return max(uses, key=lambda u: STRENGTH[u[0].effect], default=None)

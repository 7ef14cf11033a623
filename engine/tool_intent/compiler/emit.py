"""Python source for one tool: fields unrolled, constants bound, findings made only when needed.

The source is a function `judge(a)` over a private copy of the arguments (exact dicts and lists).
`K0`, `K1` … give findings by their place, `F0` … are findings whose place never varies, `P0` …
search patterns, `C0` … are constants.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tool_intent.compiler.colliding import carriers_of
from tool_intent.compiler.constraints import specialised
from tool_intent.compiler.emit_rules import RuleEmitter
from tool_intent.compiler.expressions import Expressions, Pool, Scope
from tool_intent.compiler.ir import (
    AllOf,
    Always,
    AnyOf,
    Constraint,
    Field,
    IfThenElse,
    Kind,
    Not,
    OneOf,
    Place,
    Report,
    Test,
    Tool,
)
from tool_intent.compiler.reads import arguments_read
from tool_intent.runtime.pointer import escape
from tool_intent.runtime.program import Image
from tool_intent.runtime.strip import Carrier
from tool_intent.runtime.text import LONGEST_TEXT


def image(tool: Tool) -> Image:
    """The tool's program as cachable data."""
    return _Emitter(tool).image()


def source(tool: Tool) -> str:
    """The Python source of the tool's `judge` function."""
    return _Emitter(tool).source()


class _Pointer(NamedTuple):
    """Source of a JSON Pointer: the inside of an f-string. `varies`: it holds list indices."""

    text: str
    varies: bool

    def below(self, pointer: str) -> _Pointer:
        literal = pointer.replace("{", "{{").replace("}", "}}")
        return _Pointer(self.text + literal, self.varies)

    def element(self, index: str) -> _Pointer:
        return _Pointer(f"{self.text}/{{{index}}}", True)

    def __str__(self) -> str:
        return f"f{self.text!r}"


_ROOT = _Pointer("", varies=False)


class _Emitter:
    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._lines: list[str] = []
        self._reports: dict[Report, int] = {}
        self._patterns: dict[str, int] = {}
        self._pool = Pool()
        self._findings: dict[str, int] = {}
        self._variables = 0

    def source(self) -> str:
        self._line(0, "def judge(a):")
        self._line(1, "f = None")
        for report in self._tool.always:
            self._found(1, report, _ROOT)
        for place in self._tool.places:
            self._walk(place, place.at, "a", _ROOT, 1, is_element=False, chain="a, ")
        self._line(1, "return f")
        if self._asks:
            self._rules()
        bound = [f"F{n} = {made}" for made, n in self._findings.items()]
        bound += [f"H{n} = holder({name})" for n, name in enumerate(self._pool.holders)]
        bound += [f"G{n} = Said({', '.join(s)})" for n, s in enumerate(self._pool.sayings)]
        return "\n".join([*bound, *self._lines]) + "\n"

    @property
    def _asks(self) -> bool:
        return bool(self._tool.conditional or self._tool.sentences)

    def _rules(self) -> None:
        """`rules(s)`: the conditional places and the sentences, over the whole state of a call."""
        self._line(0, "def rules(s):")
        self._line(1, "f = None")
        self._line(1, "a = s.args")
        if self._tool.views:
            self._line(1, "w = s")
        views = {p.view for p in self._tool.conditional} | {s.view for s in self._tool.sentences}
        for view in sorted(views):
            if self._tool.views:
                self._line(1, f"s = w.seen({view})")
            for place in self._tool.conditional:
                if place.view == view:
                    self._walk(place, place.at, "a", _ROOT, 1, is_element=False, chain="a, ")
            own = tuple(s for s in self._tool.sentences if s.view == view)
            RuleEmitter(self._pool, self._line).emit(own)
        self._line(1, "return f")

    def image(self) -> Image:
        code = compile(self.source(), f"<tool-intent {self._tool.name!r}>", "exec")
        places = self._tool.carried
        carriers = carriers_of(places)
        named = [{f.key: f for f in p.fields} for p in places]
        carried = [[f[key] for key in c.fields] for f, c in zip(named, carriers, strict=True)]
        misspelt = tuple(tuple(self._template(f.misspelt) for f in own) for own in carried)
        collision = tuple(tuple(self._template(f.collision) for f in own) for own in carried)
        read = arguments_read(self._tool)
        return Image(
            self._tool.name,
            code,
            tuple(_flat(report) for report in self._reports),
            tuple(self._patterns),
            tuple(self._pool.constants),
            tuple(tuple(p) for p in self._pool.patterns),
            tuple(self._pool.facts),
            tuple(self._pool.doubts),
            tuple(map(tuple, carriers)),
            misspelt,
            collision,
            tuple(filter(None, map(_advert, places))),
            self._tool.known,
            self._tool.taken,
            self._asks,
            dict(self._tool.roles),
            tuple((_named(v.carriers), dict(v.roles)) for v in self._tool.views),
            {of: dict(schedules) for of, schedules in self._tool.permissions.items()},
            tuple((*w[:2], dict(w.ranks), *w[3:]) for w in self._tool.waivers),
            None if read is None else tuple(sorted(read)),
            self._tool.kinds,
            self._tool.settings,
        )

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _template(self, report: Report) -> int:
        return self._reports.setdefault(report, len(self._reports))

    def _found(self, depth: int, report: Report, at: _Pointer) -> None:
        finding = f"K{self._template(report)}[{at.below(report.name)}]"
        if not at.varies:
            finding = f"F{self._findings.setdefault(finding, len(self._findings))}"
        self._line(depth, f"if f is None: f = [{finding}]")
        self._line(depth, f"else: f.append({finding})")

    def _fresh(self) -> str:
        self._variables += 1
        return f"v{self._variables}"

    def _walk(
        self,
        place: Place,
        steps: tuple[str, ...],
        value: str,
        at: _Pointer,
        depth: int,
        *,
        is_element: bool,
        chain: str,
    ) -> None:
        """Source that goes from `value`, at `at`, along the remaining steps of the place. `chain`
        lists the objects on the way."""
        if steps[:1] == ("[]",):
            index, element = self._fresh(), self._fresh()
            self._line(depth, f"if {value}.__class__ is list and {value}:")
            self._line(depth + 1, f"for {index}, {element} in enumerate({value}):")
            self._walk(
                place, steps[1:], element, at.element(index), depth + 2,
                is_element=True, chain=chain,
            )  # fmt: skip
            self._otherwise(place, place.no_entry, at, depth, chain)
            return
        inside = depth
        if value != "a":
            self._line(depth, f"if {value}.__class__ is dict:")
            inside += 1
        outside = chain
        if value != "a":
            chain += f"{value}, "
        if steps:
            member = self._fresh()
            self._line(inside, f"{member} = {value}.get({steps[0]!r})")
            self._walk(
                place, steps[1:], member, at.below(f"/{escape(steps[0])}"), inside,
                is_element=False, chain=chain,
            )  # fmt: skip
        else:
            inside = self._asked(place, inside, chain)
            for field in place.fields:
                self._field(field, value, at, inside)
        if value != "a":
            report = place.no_object if is_element else place.no_entry
            self._otherwise(place, report, at, depth, outside)

    def _otherwise(
        self, place: Place, report: Report | None, at: _Pointer, depth: int, chain: str
    ) -> None:
        if report is not None:
            self._line(depth, "else:")
            self._found(self._asked(place, depth + 1, chain), report, at)

    def _asked(self, place: Place, depth: int, chain: str) -> int:
        """Source that asks a place's `when`; the depth of what it decides."""
        if place.when is None:
            return depth
        self._line(depth, f"p = ({chain})")
        self._line(depth, f"if {Expressions(self._pool).maybe(place.when, Scope())}:")
        return depth + 1

    def _field(self, field: Field, container: str, at: _Pointer, depth: int) -> None:
        value = self._fresh()
        self._line(depth, f"{value} = {container}.get({field.key!r})")
        branch = "if"
        for kind in _tested(field.kinds):
            condition = _KIND_TESTS[kind].format(value)
            if kind == "string" and not _constraints(field, kind):
                # The common case, without a look at the whole text: ASCII of readable length that
                # starts with a visible character, which no normalisation takes away.
                self._line(
                    depth,
                    f"{branch} {condition} and {value} >= '!' and {value} < '\\x7f'"
                    f" and {value}.isascii() and len({value}) <= {LONGEST_TEXT}: pass",
                )
                branch = "elif"
            self._line(depth, f"{branch} {condition}:")
            self._kind(field, kind, value, at, depth + 1)
            branch = "elif"
        if field.missing is not None:
            absent = f"{value} is None and {field.key!r} not in {container}"
            self._line(depth, f"{branch} {absent}:")
            self._found(depth + 1, field.missing, at)
            self._line(depth, "else:")
        else:
            present = f"{value} is not None or {field.key!r} in {container}"
            self._line(depth, f"{branch} {present}:")
        self._found(depth + 1, field.wrong_type, at)

    def _kind(self, field: Field, kind: Kind, value: str, at: _Pointer, depth: int) -> None:
        checks = _constraints(field, kind)
        if kind == "string":
            self._text(field, checks, value, at, depth)
            return
        if kind == "number" and "number" not in field.kinds:
            self._line(depth, f"if not is_integer({value}):")
            self._found(depth + 1, field.wrong_type, at)
            if checks:
                self._line(depth, "else:")
                self._each(checks, (value,), at, depth + 1)
            return
        self._each(checks, (value,), at, depth)

    def _text(
        self,
        field: Field,
        checks: list[tuple[Constraint, Report]],
        raw: str,
        at: _Pointer,
        depth: int,
    ) -> None:
        text = self._fresh()
        self._line(depth, f"{text} = normalise({raw})")
        self._line(depth, f"if {text} is None:")
        self._found(depth + 1, field.unreadable, at)
        self._line(depth, f"elif absent({text}):")
        if field.blank is None:
            self._line(depth + 1, "pass")
        else:
            self._found(depth + 1, field.blank, at)
        if checks:
            self._line(depth, "else:")
            self._each(checks, (raw, text), at, depth + 1)

    def _each(
        self,
        checks: list[tuple[Constraint, Report]],
        values: tuple[str, ...],
        at: _Pointer,
        depth: int,
    ) -> None:
        """A finding for each constraint that does not hold of every one of the values."""
        for constraint, report in checks:
            tests = [self._expression(constraint, value) for value in values]
            self._line(depth, f"if not ({' and '.join(tests)}):")
            self._found(depth + 1, report, at)
        if not checks:
            self._line(depth, "pass")

    def _expression(self, constraint: Constraint, value: str) -> str:
        match constraint:
            case Always(holds):
                return str(holds)
            case Test(keyword, expected):
                return self._leaf(keyword, expected, value)
            case AllOf(inner):
                return self._joined(" and ", inner, value)
            case AnyOf(inner):
                return self._joined(" or ", inner, value)
            case OneOf(inner):
                tests = ", ".join(f"bool({self._expression(p, value)})" for p in inner)
                return f"(sum(({tests},)) == 1)"
            case Not(part):
                return f"(not {self._expression(part, value)})"
            case IfThenElse(condition, then, otherwise):
                return (
                    f"({self._expression(then, value)} if {self._expression(condition, value)}"
                    f" else {self._expression(otherwise, value)})"
                )

    def _joined(self, word: str, inner: tuple[Constraint, ...], value: str) -> str:
        return f"({word.join(self._expression(p, value) for p in inner)})"

    def _leaf(self, keyword: str, expected: Any, value: str) -> str:
        if keyword == "pattern":
            number = self._patterns.setdefault(expected, len(self._patterns))
            return f"P{number}({value})"
        if keyword == "type":
            return f"is_integer({value})"
        constant = self._pool.constant(frozenset(expected) if keyword == "enum" else expected)
        return f"({_LEAVES[keyword].format(value=value, constant=constant)})"


_KIND_TESTS: dict[Kind, str] = {
    "string": "{0}.__class__ is str",
    "number": "isinstance({0}, (int, float)) and {0}.__class__ is not bool",
    "boolean": "{0}.__class__ is bool",
}
_LEAVES = {
    "minLength": "len({value}) >= {constant}",
    "maxLength": "len({value}) <= {constant}",
    "enum": "{value} in {constant}",
    "minimum": "{value} >= {constant}",
    "maximum": "{value} <= {constant}",
    "exclusiveMinimum": "{value} > {constant}",
    "exclusiveMaximum": "{value} < {constant}",
    "multipleOf": "is_multiple({value}, {constant})",
}


def _tested(kinds: tuple[Kind, ...]) -> list[Kind]:
    """The kinds to test for; integers are numbers, narrowed by what follows."""
    tested: list[Kind] = []
    for kind in kinds:
        wide: Kind = "number" if kind == "integer" else kind
        if wide not in tested:
            tested.append(wide)
    return tested


def _constraints(field: Field, kind: Kind) -> list[tuple[Constraint, Report]]:
    """What can break for values of one kind. Text that is there has a length of at least 1."""
    found = [(specialised(check.constraint, kind), check.report) for check in field.checks]
    return [(c, r) for c, r in found if c not in (Always(True), Test("minLength", 1))]


def _advert(place: Place) -> tuple[Any, ...] | None:
    """What a place advertises; of the tool's own arguments only that they are required."""
    added = [f for f in place.fields if not f.own]
    demanded = dict.fromkeys(f.key for f in place.fields if f.own and f.missing is not None)
    if place.fields and not added and not demanded:
        return None
    properties = tuple((f.key, f.advertised, f.missing is not None) for f in added)
    return (place.at, properties, tuple(demanded))


def _named(carriers: tuple[Carrier, ...]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(carrier) for carrier in carriers)


def _flat(report: Report) -> tuple[Any, ...]:
    origin = None if report.origin is None else tuple(report.origin)
    return (
        report.rule, report.effect, report.name, report.message, report.fix, origin, report.who,
    )  # fmt: skip

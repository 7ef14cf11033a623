"""Python expressions for conditions and values of rules.

A condition is true, false or unknown. It becomes two plain expressions, `sure` (it is true) and
`maybe` (it is not false), which turn Kleene's tables into Python's own `and`, `or` and `not`:
sure(a and b) is sure(a) and sure(b), maybe(not a) is not sure(a), and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tool_intent.compiler import conditions as c
from tool_intent.compiler.gates import sought_in, worth
from tool_intent.runtime.regex import Pattern

_OVER_PATHS = frozenset({"like", "under"})


@dataclass(slots=True)
class Pool:
    """What the source refers to by name: constants, patterns, and what rules say of themselves."""

    constants: list[Any] = field(default_factory=list)
    patterns: list[Pattern] = field(default_factory=list)
    facts: list[tuple[Any, ...]] = field(default_factory=list)
    #: Functions that name what could not be told, in source.
    doubts: list[str] = field(default_factory=list)
    #: Constants by name, literals that are looked for at once.
    holders: list[str] = field(default_factory=list)
    #: `(fact, message, fix)` by name, for findings that are always said alike.
    sayings: list[tuple[str, str, str]] = field(default_factory=list)

    def doubt(self, source: str) -> str:
        self.doubts.append(source)
        return f"D{len(self.doubts) - 1}"

    def saying(self, fact: str, message: str, fix: str) -> str:
        self.sayings.append((fact, message, fix))
        return f"G{len(self.sayings) - 1}"

    def holder(self, literals: tuple[str, ...]) -> str:
        self.holders.append(self.constant(literals))
        return f"H{len(self.holders) - 1}"

    def fact(self, fact: tuple[Any, ...]) -> str:
        if fact not in self.facts:
            self.facts.append(fact)
        return f"S{self.facts.index(fact)}"

    def constant(self, value: Any) -> str:
        for n, known in enumerate(self.constants):
            if known.__class__ is value.__class__ and known == value:
                return f"C{n}"
        self.constants.append(value)
        return f"C{len(self.constants) - 1}"

    def pattern(self, pattern: Pattern) -> str:
        if pattern not in self.patterns:
            self.patterns.append(pattern)
        return f"R{self.patterns.index(pattern)}"


@dataclass(frozen=True, slots=True)
class Scope:
    """The Python names for the call, the chain of objects at the place, and variables. In the
    rest of a `where`, `judged` is the scope of the call being judged."""

    state: str = "s"
    chain: str = "p"
    variables: tuple[str, ...] = ()
    judged: Scope | None = None
    #: Texts that the source has read already, by node; of `raw` ones it has read the text only, so
    #: that what is none is None.
    read: Mapping[c.Value, str] = field(default_factory=dict)
    raw: Mapping[c.Value, str] = field(default_factory=dict)

    def binding(self, name: str) -> Scope:
        return replace(self, variables=(*self.variables, name))


class Told(NamedTuple):
    """Two expressions for a condition: that it is not false, and, once that was evaluated and came
    out true, that it is true."""

    maybe: str
    sure: str


class Gated(NamedTuple):
    """Two expressions: whether a search is worth while, and its answer, where it is."""

    worth: str
    found: str


class Expressions:
    """Values and conditions as Python expressions."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def sure(self, node: c.Condition, scope: Scope) -> str:
        """An expression that is true where the condition is."""
        return self._both(node, scope, sure=True)

    def maybe(self, node: c.Condition, scope: Scope) -> str:
        """An expression that is true where the condition is not false."""
        return self._both(node, scope, sure=False)

    def remembered(self, node: c.Condition, scope: Scope, names: Iterator[str]) -> Told | None:
        """A condition that is one leaf, or several that must all hold: `maybe` keeps the answer of
        each leaf in a variable, so that `sure` need not ask again. None for other conditions."""
        if isinstance(node, c.Every):
            parts = [self.remembered(p, scope, names) for p in node.parts]
            if None in parts:
                return None
            told = [p for p in parts if p is not None]
            return Told(" and ".join(p.maybe for p in told), " and ".join(p.sure for p in told))
        negated = isinstance(node, c.Negation)
        gate = self._gate(node, scope)
        if gate is not None:
            name = next(names)
            maybe = f"{gate.worth} and ({name} := {gate.found}) is not False"
            return Told(maybe, f"{name} is True")
        leaf = self._leaf(node.part if isinstance(node, c.Negation) else node, scope)
        if leaf is None:
            return None
        name = next(names)
        kept = f"({name} := {leaf})"
        if negated:
            return Told(f"{kept} is not True", f"{name} is False")
        return Told(f"{kept} is not False", f"{name} is True")

    def answer(self, node: c.Condition, scope: Scope) -> str:
        """An expression for the condition's own value: True, False or None."""
        leaf = self._leaf(node, scope)
        if leaf is not None:
            return leaf
        parts = [self._leaf(p, scope) for p in node.parts] if isinstance(node, c.Every) else [None]
        if None not in parts:
            # Each is asked once, and none after one that is false.
            refused = "".join(f"False if (e{n} := {p}) is False else " for n, p in enumerate(parts))
            unknown = " or ".join(f"e{n} is None" for n in range(len(parts)))
            return f"({refused}None if {unknown} else True)"
        return (
            f"(True if {self.sure(node, scope)} else None if {self.maybe(node, scope)} else False)"
        )

    def _both(self, node: c.Condition, scope: Scope, *, sure: bool) -> str:
        match node:
            case c.Every(inner):
                return f"({' and '.join(self._both(p, scope, sure=sure) for p in inner)})"
            case c.Some(inner):
                return f"({' or '.join(self._both(p, scope, sure=sure) for p in inner)})"
            case c.Negation(part):
                return f"(not {self._both(part, scope, sure=not sure)})"
            case c.Quantified():
                return self._quantified(node, scope, sure=sure)
        leaf = self._leaf(node, scope)
        return f"{leaf} is True" if sure else f"{leaf} is not False"

    def _search(self, node: c.Infix, scope: Scope) -> str:
        """A look for a pattern or for phrases; behind literals where the text has been read."""
        gated = self._gate(node, scope)
        if gated is not None:
            return f"({gated.found} if {gated.worth} else False)"
        match node:
            case c.Infix("like", c.Role("path", ((str(argument),),)), c.Texts(globs)):
                path = f"{scope.state}.args.get({argument!r}, '')"
                known = self._pool.constant(globs)
                return f"like_path({path}, {known}, {scope.state}, literal=True)"
        left = self.value(node.left, scope)
        if isinstance(node.right, Pattern):
            return f"matches({self._pool.pattern(node.right)}, {left})"
        sides = f"{left}, {self.value(node.right, scope)}"
        if node.sort == "path" and node.function in _OVER_PATHS and isinstance(node.right, c.Texts):
            return f"{node.function}_path({sides}, {scope.state})"
        return f"infix({node.function!r}, {sides}, {node.sort!r}, {scope.state})"

    def _gate(self, node: c.Condition, scope: Scope) -> Gated | None:
        """A look for something in a text that the source has read, apart from whether it is worth
        while; None for other conditions."""
        sought = sought_in(node)
        if sought is None:
            return None
        assert isinstance(node, c.Infix)
        text = scope.read.get(sought.text)
        if isinstance(node.right, Pattern):
            text = text or scope.raw.get(sought.text)
            if text is None:
                return None
            found = f"None if {text} is None else {self._pool.pattern(node.right)}({text})"
        elif text is None:
            return None
        else:
            phrases = self.value(node.right, scope)
            found = f"infix('mentions', {text}, {phrases}, {node.sort!r}, {scope.state})"
        return Gated(worth(text, sought), found)

    def _comparison(self, node: c.Compare, scope: Scope) -> str:
        """A comparison; Python's own where both sides have been read and are of one kind."""
        left, right = scope.read.get(node.left), scope.read.get(node.right)
        if node.how == "plain" and left and right and node.operator in ("==", "!="):
            return (
                f"(None if {left} is None or {right} is None else {left} {node.operator} {right})"
            )
        if isinstance(node.left, c.Apply) and isinstance(node.right, c.Const):
            text = scope.read.get(node.left.arguments[0]) if node.left.arguments else None
            counted = {"words": "word_count", "length": "len"}.get(node.left.function)
            number = node.right.value
            if text and counted and isinstance(number, int) and not isinstance(number, bool):
                return f"(None if {text} is None else {counted}({text}) {node.operator} {number})"
        sides = f"{self.value(node.left, scope)}, {self.value(node.right, scope)}"
        return f"compare({node.operator!r}, {sides}{self._place(node.how, scope)})"

    def _leaf(self, node: c.Condition, scope: Scope) -> str | None:
        """An expression for what has no conditions in it: True, False or None."""
        match node:
            case c.Truth(inside):
                return f"truth({self.value(inside, scope)})"
            case c.Has(inside):
                return self._has(inside, scope)
            case c.Compare():
                return self._comparison(node, scope)
            case c.Infix():
                return self._search(node, scope)
            case c.In(left, right, how):
                sides = f"{self.value(right, scope)}, {self.value(left, scope)}"
                return f"contains({sides}{self._place(how, scope)})"
            case c.Earlier(history):
                return self._earlier(history, scope)
        return None

    @staticmethod
    def _place(how: c.How, scope: Scope) -> str:
        return f", {scope.state}" if how == "path" else ""

    def _quantified(self, node: c.Quantified, scope: Scope, *, sure: bool) -> str:
        """`any` is sure where an element surely fits; `all` may hold where every element may. A
        list that may go on makes `any` possible and `all` unsure, and so does a budget."""
        item = f"x{len(scope.variables)}"
        inner = scope.binding(node.variable)
        listed = self.value(node.source, scope)
        limits = f"{node.cost}, {node.reads_arguments}, {scope.state}"
        kind = node.kind
        if kind == "none":
            positive = c.Quantified(
                "any", node.variable, node.source, node.condition, node.cost, node.reads_arguments
            )
            return f"(not {self._quantified(positive, scope, sure=not sure)})"
        body = self._both(node.condition, inner, sure=sure)
        name = f"{kind}_{'sure' if sure else 'maybe'}"
        return f"{name}({listed}, lambda {item}: {body}, {limits})"

    # Values

    def value(self, node: c.Value, scope: Scope) -> str:
        """An expression for a value, None where it is unknown."""
        if node in scope.read:
            return scope.read[node]
        state, chain = scope.state, scope.chain
        match node:
            case c.Const(given):
                return repr(given) if isinstance(given, bool | int) else self._pool.constant(given)
            case c.Texts(given):
                return self._pool.constant(given)
            case c.Items(values):
                inner = "".join(f"{self.value(v, scope)}, " for v in values)
                return f"Seq(({inner}), True)"
            case c.FieldText(name, depth):
                return f"{state}.text({chain}, {name!r}, {depth})"
            case c.FieldValue(name, depth):
                return f"{state}.value({chain}, {name!r}, {depth})"
            case c.Role(name, at):
                return f"{state}.role({at!r}, {name!r})"
            case c.Argument(steps):
                return f"{state}.argument({steps!r})"
            case c.Entry(steps):
                return f"{state}.entry({chain}, {steps!r})"
            case c.ToolName():
                return f"{state}.tool"
            case c.Context(name):
                return f"{(scope.judged or scope).state}.told({name!r})"
            case c.Session():
                return f"{(scope.judged or scope).state}.view"
            case c.WholeCall():
                return f"{state}.call_texts()"
            case c.CallList(name):
                return f"{state}.call_list({name!r})"
            case c.CommandPart(name, at):
                return f"{state}.attribute({name!r}, {at!r})"
            case c.Variable(name, steps):
                found = _variable(name, scope)
                for step in steps:
                    found = f"step_into({found}, {step!r})"
                return found
            case c.Judged(inner):
                assert scope.judged is not None
                return self.value(inner, scope.judged)
            case c.Captured(number):
                return f"captured[{number}]"
            case c.Apply(function, arguments):
                given = "".join(f"{self.value(a, scope)}, " for a in arguments)
                return f"apply({function!r}, ({given}))"
            case c.CountOf(variable, source, condition):
                item = f"x{len(scope.variables)}"
                body = self.answer(condition, scope.binding(variable))
                return f"count_of({self.value(source, scope)}, lambda {item}: {body})"
            case c.CountEarlier(history):
                return self._look_back(history, scope, "count_earlier")

    def _has(self, node: c.Value, scope: Scope) -> str:
        state, chain = scope.state, scope.chain
        match node:
            case c.FieldText():
                return f"has_text({self.value(node, scope)})"
            case c.FieldValue(name, depth):
                return f"{state}.has_value({chain}, {name!r}, {depth})"
            case c.Argument(steps):
                return f"present({state}.args, {steps!r})"
            case c.Entry(steps):
                return f"present({chain}[-1], {steps!r})"
            case c.Role(name, at):
                return f"{state}.has_role({at!r}, {name!r})"
            case c.Variable(name, steps):
                return f"{state}.has_member({_variable(name, scope)}, {steps!r})"
            case c.Judged(inner):
                assert scope.judged is not None
                return self._has(inner, scope.judged)
        return f"has_value({self.value(node, scope)})"

    # History

    def _earlier(self, history: c.History, scope: Scope) -> str:
        return self._look_back(history, scope, "earlier")

    def _look_back(self, history: c.History, scope: Scope, function: str) -> str:
        past, since = history.past, history.since
        window = f"{history.calls!r}, {history.seconds!r}"
        parts = [scope.state, self._past(past, scope), window]
        if since is not None:
            parts.append(f"since={self._past(since, scope)}")
        return f"{function}({', '.join(parts)})"

    def _past(self, past: c.Past, scope: Scope) -> str:
        """`(atom, outcome, the judged call's keys, the rest of the condition)`."""
        atom = past.atom
        keys = "".join(f"{self.value(j.judged, scope)}, " for j in atom.joins)
        rest = "None"
        if atom.rest is not None:
            inside = Scope(scope.state, scope.chain, (), scope)
            rest = f"lambda captured: {self.answer(atom.rest, inside)}"
        return f"Past({atom.number}, {past.outcome!r}, ({keys}), {rest})"


def _variable(name: str, scope: Scope) -> str:
    """The innermost variable of a name."""
    around: Scope | None = scope
    while around is not None:
        for n in range(len(around.variables) - 1, -1, -1):
            if around.variables[n] == name:
                return f"x{n}"
        around = around.judged
    return "None"

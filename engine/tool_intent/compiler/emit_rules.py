"""Python source for the rules of one tool.

A condition is true, false or unknown. It becomes two plain expressions, `sure` (it is true) and
`maybe` (it is not false), which turn Kleene's tables into Python's own `and`, `or` and `not`:
sure(a and b) is sure(a) and sure(b), maybe(not a) is not sure(a), and so on. A rule fires where
its guard may hold and what it requires is not sure, or what it forbids may hold.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tool_intent.compiler import conditions as c
from tool_intent.runtime.linking import AtomsImage
from tool_intent.runtime.regex import FEW_LITERALS, SHORT_TEXT, Pattern
from tool_intent.runtime.text import LONGEST_TEXT

#: Functions that cannot be unknown for a text that is known.
_TOTAL = frozenset({"words", "length", "sentences", "similarity", "jaccard"})


@dataclass(slots=True)
class Pool:
    """What the source refers to by name: constants, patterns, and what rules say of themselves."""

    constants: list[Any] = field(default_factory=list)
    patterns: list[Pattern] = field(default_factory=list)
    facts: list[tuple[Any, ...]] = field(default_factory=list)

    #: `(fact, message, fix)` by name, for findings that are always said alike.
    sayings: list[tuple[str, str, str]] = field(default_factory=list)

    def saying(self, fact: str, message: str, fix: str) -> str:
        self.sayings.append((fact, message, fix))
        return f"G{len(self.sayings) - 1}"

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
            worth, found = gate
            name = next(names)
            return Told(f"{worth} and ({name} := {found}) is not False", f"{name} is True")
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

    def _search(self, left: c.Value, pattern: Pattern, scope: Scope) -> str:
        """A search; where the text has been read, behind its literals."""
        name = self._pool.pattern(pattern)
        text = scope.read.get(left) or scope.raw.get(left)
        if text is None:
            return f"matches({name}, {self.value(left, scope)})"
        found = f"None if {text} is None else {name}({text})"
        return f"({found} if {_worth(text, pattern)} else False)"

    def _gate(self, node: c.Condition, scope: Scope) -> tuple[str, str] | None:
        """Of a search in a text that has been read: what has to hold for it to be worth while, and
        the search behind that."""
        if not isinstance(node, c.Infix) or not isinstance(node.right, Pattern):
            return None
        text = scope.read.get(node.left) or scope.raw.get(node.left)
        if text is None:
            return None
        name = self._pool.pattern(node.right)
        return _worth(text, node.right), f"None if {text} is None else {name}({text})"

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
            case c.Infix(left=left, right=Pattern() as pattern):
                return self._search(left, pattern, scope)
            case c.In(left, right, how):
                sides = f"{self.value(right, scope)}, {self.value(left, scope)}"
                return f"contains({sides}{self._place(how, scope)})"
            case c.Infix(function, left, right, of) if not isinstance(right, Pattern):
                sides = f"{self.value(left, scope)}, {self.value(right, scope)}"
                if of == "path" and function in ("like", "under") and isinstance(right, c.Texts):
                    return f"{function}_path({sides}, {scope.state})"
                return f"infix({function!r}, {sides}, {of!r}, {scope.state})"
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

    def value(self, node: c.Value, scope: Scope) -> str:  # noqa: PLR0912 (a case a node)
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


def _worth(text: str, pattern: Pattern) -> str:
    """Whether a text that the source has read as `text` is worth a search: on ASCII, one that holds
    none of the pattern's literals holds no match. `<text>x` says that it is unknown or not ASCII,
    `<text>l` is it in lower case."""
    if not pattern.literals:
        return f"{text} != ''"
    shown = f"{text}l" if pattern.fold else text
    held = [f"{literal!r} in {shown}" for literal in pattern.literals]
    long = [] if len(held) <= FEW_LITERALS else [f"len({shown}) > {SHORT_TEXT}"]
    return f"({' or '.join([f'{text}x', *long, *held])})"


def _unfolded(node: c.Condition) -> c.Condition:
    """A condition without double negation."""
    while isinstance(node, c.Negation) and isinstance(node.part, c.Negation):
        node = node.part.part
    return node


def _roots(sentence: c.Sentence) -> list[Any]:
    return [x for x in (sentence.guard, sentence.condition) if x is not None]


def _nodes(sentences: Iterable[c.Sentence]) -> Iterator[Any]:
    """Every value and condition that sentences ask of the call being judged, each before what is
    in it."""
    waiting = [root for sentence in sentences for root in _roots(sentence)]
    while waiting:
        node = waiting.pop(0)
        yield node
        waiting += c.children(node)


def _is_read_once(node: Any) -> bool:
    """Whether a value is a text that is read before all sentences: paths and commands are looked
    at only when it comes to that."""
    if isinstance(node, c.FieldText):
        return node.depth is not None and node.depth >= 0
    return isinstance(node, c.Role) and node.name == "content" and bool(node.at)


def _is_raw(node: Any) -> bool:
    """Whether a value is an argument that may be a text."""
    return isinstance(node, c.Entry | c.Argument) and "[]" not in node.steps


def _variable(name: str, scope: Scope) -> str:
    """The innermost variable of a name."""
    around: Scope | None = scope
    while around is not None:
        for n in range(len(around.variables) - 1, -1, -1):
            if around.variables[n] == name:
                return f"x{n}"
        around = around.judged
    return "None"


class RuleEmitter:
    """The source of a tool's sentences."""

    def __init__(self, pool: Pool, line: Callable[[int, str], None]) -> None:
        self._expressions = Expressions(pool)
        self._pool = pool
        self._line = line

    def emit(self, sentences: tuple[c.Sentence, ...]) -> None:
        """Source over `s` that adds to `f`; sentences judged at the same places share a loop."""
        line = self._line
        by_places: dict[tuple[tuple[str, ...], ...], list[c.Sentence]] = {}
        for sentence in sentences:
            by_places.setdefault(sentence.places, []).append(sentence)
        for places, group in by_places.items():
            if places == ((),):
                line(1, "at, p = '', (s.args,)")
                depth = 1
            else:
                line(1, f"for at, p in s.spots({self._pool.constant(places)}):")
                depth = 2
            scope = self._reading(group, depth)
            for sentence in group:
                self._sentence(sentence, scope, depth)

    def _reading(self, group: list[c.Sentence], depth: int) -> Scope:
        """Source that reads the texts of several sentences once."""
        nodes = list(_nodes(group))
        searched: dict[c.Value, list[Pattern]] = {}
        for node in nodes:
            if isinstance(node, c.Infix) and isinstance(node.right, Pattern):
                searched.setdefault(node.left, []).append(node.right)
        texts = [n for n in dict.fromkeys(nodes) if _is_read_once(n)]
        raw = [n for n in searched if _is_raw(n)]
        names = {node: f"t{n}" for n, node in enumerate([*texts, *raw])}
        for node, name in names.items():
            patterns = [p for p in searched.get(node, ()) if p.literals]
            self._read(node, name, depth, odd=bool(patterns))
            if any(p.fold for p in patterns):
                self._line(depth, f"{name}l = {name}.lower() if {name} else ''")
        return Scope(read={n: names[n] for n in texts}, raw={n: names[n] for n in raw})

    def _read(self, node: c.Value, name: str, depth: int, *, odd: bool) -> None:
        """Source that reads a text as `name`, and with `odd` says in `<name>x` whether it is
        unknown or not ASCII."""
        line = self._line
        plain, slow = f"{name} = v", f"{name} = {self._expressions.value(node, Scope())}"
        test = "v.__class__ is str"
        match node:
            case c.FieldText(field, place):
                # The common case, as `normalise` does it: printable ASCII, less the spaces around.
                plain = f"{name} = v.strip()"
                test += f" and v.isascii() and len(v) <= {LONGEST_TEXT} and v.isprintable()"
                around = f" if len(p) > {place} else None" if place else ""
                line(depth, f"v = p[{place}].get({field!r}){around}")
            case c.Role(at=((str(argument),),)):
                test += " and v.isascii()"
                line(depth, f"v = a.get({argument!r})")
            case c.Role():
                test = ""
            case _:
                line(depth, slow.replace(name, "v", 1))
                test += " and v.isascii()"
                slow = f"{name} = v if v.__class__ is str else None"
        if test:
            line(depth, f"if {test}: {plain}{f'; {name}x = False' if odd else ''}")
            line(depth, "else:")
            depth += 1
        line(depth, slow)
        if odd:
            line(depth, f"{name}x = {name} is None or not {name}.isascii()")

    def _sentence(self, sentence: c.Sentence, scope: Scope, depth: int) -> None:
        if sentence.each is None:
            self._judged(sentence, scope, depth)
            return
        variable, source = sentence.each
        listed = self._expressions.value(source, scope)
        self._line(depth, f"e = as_list({listed})")
        self._line(depth, "for x0 in e.items:")
        self._judged(sentence, scope.binding(variable), depth + 1)
        self._line(depth, "if not e.complete:")
        self._found(sentence, scope, depth + 1, "True")

    def _judged(self, sentence: c.Sentence, scope: Scope, depth: int) -> None:
        write = self._expressions
        names = (f"w{n}" for n in itertools.count())
        asked: list[c.Condition] = [] if sentence.guard is None else [sentence.guard]
        if sentence.condition is not None:
            required = sentence.kind == "require"
            asked.append(c.Negation(sentence.condition) if required else sentence.condition)
        told = [write.remembered(_unfolded(x), scope, names) or self._both(x, scope) for x in asked]
        self._line(depth, f"if {' and '.join(x.maybe for x in told) or 'True'}:")
        surely = " and ".join(x.sure for x in told)
        self._found(sentence, scope, depth + 1, f"not ({surely})" if surely else "False")

    def _both(self, node: c.Condition, scope: Scope) -> Told:
        return Told(self._expressions.maybe(node, scope), self._expressions.sure(node, scope))

    def _found(self, sentence: c.Sentence, scope: Scope, depth: int, unknown: str) -> None:
        origin = None if sentence.origin is None else tuple(sentence.origin)
        facts = self._pool.fact((
            sentence.id, sentence.effect, sentence.field, origin, sentence.who, sentence.reads,
        ))  # fmt: skip
        message = self._text(sentence.message, scope)
        fix = "None" if sentence.fix is None else self._text(sentence.fix, scope)
        fixed = all(isinstance(p, str) for p in (*sentence.message, *(sentence.fix or ())))
        if fixed:
            # What is always said alike is said by one finding for each place.
            said = self._pool.saying(facts, message, fix)
            finding = f"{said}[at, {unknown}]"
        else:
            finding = f"fired({facts}, at, {message}, {fix}, unknown={unknown})"
        self._line(depth, f"if f is None: f = [{finding}]")
        self._line(depth, f"else: f.append({finding})")

    def _text(self, parts: tuple[str | c.Shown, ...], scope: Scope) -> str:
        texts = [
            self._pool.constant(p) if isinstance(p, str) else f"shown({self._shown(p, scope)})"
            for p in parts
        ]
        return texts[0] if len(texts) == 1 else f"''.join(({', '.join(texts)},))"

    def _shown(self, shown: c.Shown, scope: Scope) -> str:
        write = self._expressions
        node = shown.witness
        if node is None:
            return write.value(shown.value, scope)
        inner = scope.binding(node.variable)
        item = f"x{len(scope.variables)}"
        decides = (
            f"not {write.sure(node.condition, inner)}"
            if node.kind == "all"
            else write.maybe(node.condition, inner)
        )
        listed = write.value(node.source, scope)
        shown_value = write.value(shown.value, inner)
        return f"witness({listed}, lambda {item}: {decides}, lambda {item}: {shown_value})"


def atoms_source(atoms: tuple[c.Atom, ...], pool: Pool) -> str:
    """The source of what is asked of every call for later ones: for the n-th atom `filter<n>`,
    `keys<n>` and `captures<n>`, over a state `s` and the objects `p` at a place."""
    write = Expressions(pool)
    scope = Scope()
    lines = []
    for atom in atoms:
        filtered = "True" if atom.filter is None else write.answer(atom.filter, scope)
        keys = "".join(f"{write.value(j.earlier, scope)}, " for j in atom.joins)
        captures = "".join(f"{write.value(v, scope)}, " for v in atom.captures)
        lines += [
            f"def filter{atom.number}(s, p): return {filtered}",
            f"def keys{atom.number}(s, p): return ({keys})",
            f"def captures{atom.number}(s, p): return ({captures})",
        ]
    return "\n".join(lines) + "\n"


def atoms_image(atoms: tuple[c.Atom, ...], groups: dict[str, tuple[str, ...]]) -> AtomsImage:
    """What a policy looks for in history, as cachable data."""
    pool = Pool()
    code = compile(atoms_source(atoms, pool), "<tool-intent history>", "exec")
    return AtomsImage(
        code,
        tuple(pool.constants),
        tuple(tuple(p) for p in pool.patterns),
        tuple((a.targets, tuple(j.how == "path" for j in a.joins), a.fields) for a in atoms),
        {name: tuple(members) for name, members in groups.items()},
    )

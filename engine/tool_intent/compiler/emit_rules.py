"""Python source for the rules of one tool, and for what they look for in history.

A rule fires where its guard may hold and what it requires is not sure, or what it forbids may hold;
see `compiler.expressions`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tool_intent.compiler import conditions as c
from tool_intent.compiler.emit_doubts import Doubts
from tool_intent.compiler.expressions import Expressions, Pool, Scope, Told
from tool_intent.compiler.gates import Sought, in_common, is_common, sought_in
from tool_intent.compiler.reads import read_of
from tool_intent.runtime.linking import AtomsImage
from tool_intent.runtime.regex import SHORT_TEXT, Pattern
from tool_intent.runtime.text import LONGEST_TEXT


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


def _asked(sentence: c.Sentence) -> list[c.Condition]:
    """What must hold for a sentence to fire."""
    asked: list[c.Condition] = [] if sentence.guard is None else [sentence.guard]
    if sentence.condition is not None:
        required = sentence.kind == "require"
        asked.append(c.Negation(sentence.condition) if required else sentence.condition)
    return [_unfolded(condition) for condition in asked]


def _first(sentence: c.Sentence) -> Any:
    """What must hold for a sentence to fire and is asked before all else."""
    found: Any = next(iter(_asked(sentence)), None)
    while isinstance(found, c.Every):
        found = found.parts[0]
    return None if sentence.each else found


def _waits(sentence: c.Sentence, common: dict[c.Value, frozenset[str]]) -> bool:
    """Whether a sentence cannot fire where no common literal is."""
    sought = sought_in(_first(sentence))
    return sought is not None and is_common(sought, common)


def _is_read_once(node: Any) -> bool:
    """Whether a value is a text that is read before all sentences: paths and commands are looked
    at only when it comes to that."""
    if isinstance(node, c.FieldText):
        return node.depth is not None and node.depth >= 0
    return isinstance(node, c.Role) and node.name == "content" and bool(node.at)


def _is_raw(node: Any) -> bool:
    """Whether a value is an argument that may be a text."""
    return isinstance(node, c.Entry | c.Argument) and "[]" not in node.steps


class RuleEmitter:
    """The source of a tool's sentences."""

    def __init__(self, pool: Pool, line: Callable[[int, str], None]) -> None:
        self._expressions = Expressions(pool)
        self._doubts = Doubts(pool)
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
                line(1, f"for at, p in s.places({self._pool.constant(places)}):")
                depth = 2
            scope, common = self._reading(group, depth)
            for sentence in group:
                if not _waits(sentence, common):
                    self._sentence(sentence, scope, depth)
            waiting = [sentence for sentence in group if _waits(sentence, common)]
            if waiting:
                line(depth, "if h:")
            for sentence in waiting:
                self._sentence(sentence, scope, depth + 1)

    def _reading(
        self, group: list[c.Sentence], depth: int
    ) -> tuple[Scope, dict[c.Value, frozenset[str]]]:
        """Source that reads the texts of several sentences once, and the literals it has looked
        for in them."""
        nodes = list(_nodes(group))
        texts = [n for n in dict.fromkeys(nodes) if _is_read_once(n)]
        searched = [n for n in nodes if isinstance(n, c.Infix) and isinstance(n.right, Pattern)]
        raw = [n.left for n in searched if _is_raw(n.left)]
        names = {node: f"t{n}" for n, node in enumerate(dict.fromkeys([*texts, *raw]))}
        sought = [x for x in map(sought_in, nodes) if x is not None and x.literals]
        for node, name in names.items():
            self._read(node, name, depth, [x for x in sought if x.text == node])
        scope = Scope(read={n: names[n] for n in texts}, raw={n: names[n] for n in raw})
        first = map(sought_in, map(_first, group))
        common = in_common(x for x in first if x is not None and x.text in names)
        if common:
            kept = [f"{names[node]}k" for node in common]
            odd = " or ".join(f"{name} is ANYTHING" for name in kept)
            together = "\\0".join(f"{{{name}}}" for name in kept)
            holder = self._pool.holder(tuple(sorted(frozenset().union(*common.values()))))
            self._line(depth, f"h = {odd} or {holder}(f'{together}'.lower())")
        return scope, common

    def _read(self, node: c.Value, name: str, depth: int, sought: list[Sought]) -> None:
        """Source that reads a text as `name`, and what is looked at for literals."""
        line = self._line
        plain, slow = f"{name} = v", f"{name} = {self._expressions.value(node, Scope())}"
        test = "v.__class__ is str and v.isascii()"
        match node:
            case c.FieldText(field, place):
                # The common case, as `normalise` does it: printable ASCII, less the spaces around.
                plain = f"{name} = v.strip()"
                test += f" and len(v) <= {LONGEST_TEXT} and v.isprintable()"
                around = f" if len(p) > {place} else None" if place else ""
                line(depth, f"v = p[{place}].get({field!r}){around}")
            case c.Role(at=((str(argument),),)):
                line(depth, f"v = a.get({argument!r})")
            case c.Role():
                line(depth, slow.replace(name, "v", 1))
                slow = f"{name} = v"
            case c.Entry((str(member),)):
                line(depth, f"v = p[-1].get({member!r})")
                slow = f"{name} = v if v.__class__ is str else None"
            case _:
                line(depth, slow.replace(name, "v", 1))
                slow = f"{name} = v if v.__class__ is str else None"
        kept = f"; {name}k = {name}" if sought else ""
        line(depth, f"if {test}: {plain}{kept}")
        line(depth, "else:")
        line(depth + 1, slow)
        if sought:
            ascii_only = f"{name} is not None and {name}.isascii()"
            line(depth + 1, f"{name}k = {name} if {ascii_only} else ANYTHING")
        if any(x.fold for x in sought):
            line(depth, f"{name}l = {name}k.lower()")
        if any(x.several for x in sought):
            line(depth, f"{name}m = len({name}k) > {SHORT_TEXT}")

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
        why = self._pool.doubt(self._doubts.source(source))
        self._found(sentence, scope, depth + 1, f"{why}(s, p)")

    def _judged(self, sentence: c.Sentence, scope: Scope, depth: int) -> None:
        write = self._expressions
        names = (f"w{n}" for n in itertools.count())
        asked = _asked(sentence)
        told = [write.remembered(x, scope, names) or self._both(x, scope) for x in asked]
        self._line(depth, f"if {' and '.join(x.maybe for x in told) or 'True'}:")
        unknown = "None"
        if asked:
            surely = " and ".join(x.sure for x in told)
            given = "".join(f", x{n}" for n in range(len(scope.variables)))
            why = self._pool.doubt(self._doubts.why(asked, scope.variables))
            unknown = f"None if {surely} else {why}(s, p{given})"
        self._found(sentence, scope, depth + 1, unknown)

    def _both(self, node: c.Condition, scope: Scope) -> Told:
        return Told(self._expressions.maybe(node, scope), self._expressions.sure(node, scope))

    def _found(self, sentence: c.Sentence, scope: Scope, depth: int, why: str) -> None:
        origin = None if sentence.origin is None else tuple(sentence.origin)
        facts = self._pool.fact((
            sentence.id, sentence.effect, sentence.field, origin, sentence.who,
        ))  # fmt: skip
        message = self._text(sentence.message, scope)
        fix = "None" if sentence.fix is None else self._text(sentence.fix, scope)
        fixed = all(isinstance(p, str) for p in (*sentence.message, *(sentence.fix or ())))
        if fixed:
            # What is always said alike is said by one finding for each place.
            said = self._pool.saying(facts, message, fix)
            finding = f"{said}[at, {why}]"
        else:
            finding = f"fired({facts}, at, {message}, {fix}, why={why})"
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


def atoms_image(
    atoms: tuple[c.Atom, ...], groups: dict[str, tuple[str, ...]], *, hears: bool = False
) -> AtomsImage:
    """What a policy looks for in history, as cachable data."""
    pool = Pool()
    code = compile(atoms_source(atoms, pool), "<tool-intent history>", "exec")
    return AtomsImage(
        code,
        tuple(pool.constants),
        tuple(tuple(p) for p in pool.patterns),
        tuple(
            (a.targets, tuple(j.how == "path" for j in a.joins), a.fields, a.view, read_of(a))
            for a in atoms
        ),
        {name: tuple(members) for name, members in groups.items()},
        hears,
    )

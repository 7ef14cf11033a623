"""Python source that names what a rule could not tell; see `runtime.doubts`.

It stands beside the source that decides, and is compiled only where a rule fires for something
unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tool_intent.compiler import conditions as c
from tool_intent.compiler.expressions import Expressions, Pool, Scope
from tool_intent.compiler.names import judged_by, shown
from tool_intent.runtime import causes
from tool_intent.runtime.regex import Pattern


class Doubts:
    """Causes as Python expressions."""

    def __init__(self, pool: Pool) -> None:
        self._write = Expressions(pool)

    def why(self, asked: list[c.Condition], variables: tuple[str, ...]) -> str:
        """A function of the call, the place and the variables: the cause of what is unknown where
        all of `asked` may hold, and not all surely do."""
        scope = Scope(variables=variables)
        given = "".join(f", x{n}" for n in range(len(variables)))
        return f"lambda s, p{given}: because({self._joined('every', asked, scope)})"

    def source(self, listed: c.Value) -> str:
        """A function of the call and the place: why a list is not all known."""
        return f"lambda s, p: because({self._iterated(listed, Scope())}[1])"

    def _joined(self, word: str, inner: Iterable[c.Condition], scope: Scope) -> str:
        return f"{word}(({''.join(f'lambda: {self._answer(p, scope)}, ' for p in inner)}))"

    def _answer(self, node: c.Condition, scope: Scope) -> str:
        match node:
            case c.Every(inner):
                return self._joined("every", inner, scope)
            case c.Some(inner):
                return self._joined("some", inner, scope)
            case c.Negation(part):
                return f"turned({self._answer(part, scope)})"
            case c.Quantified(kind, variable, source, condition, cost, reads):
                inside = self._answer(condition, scope.binding(variable))
                test = f"lambda x{len(scope.variables)}: {inside}"
                listed = self._iterated(source, scope)
                return f"quantified({kind!r}, {listed}, {test}, {cost}, {reads}, {scope.state})"
        return f"leaf({self._write.answer(node, scope)}, lambda: {self._why(node, scope)})"

    def _why(self, node: Any, scope: Scope) -> str:
        """The cause of a leaf that is unknown."""
        state = scope.state
        match node:
            case c.Truth(inside) | c.Has(inside):
                return f"{self._told(inside, scope)}[1] or {causes.truth(shown(inside))!r}"
            case c.Compare(_, left, right, how):
                given = f"{self._told(left, scope)}, {self._told(right, scope)}"
                names = shown(left), shown(right)
                return f"compared({given}, {names!r}, paths={how == 'path'})"
            case c.In(left, right, how):
                given = f"{self._told(left, scope)}, {self._told(right, scope)}"
                return f"contained({given}, {shown(left)!r}, paths={how == 'path'})"
            case c.Infix(function, left, right):
                both = (left,) if isinstance(right, Pattern) else (left, right)
                return f"sought({state}, {function!r}, {self._all(both, scope)}, {shown(left)!r})"
            case c.Earlier(history) | c.CountEarlier(history):
                return f"remembered({state}, {self._all(judged_by(history), scope)})"
        raise TypeError(f"{type(node).__name__} is no leaf")

    def _all(self, nodes: Iterable[c.Value], scope: Scope) -> str:
        return f"({''.join(f'{self._told(node, scope)}, ' for node in nodes)})"

    def _iterated(self, source: c.Value, scope: Scope) -> str:
        return f"iterated({self._told(source, scope)}, {shown(source)!r})"

    def _told(self, node: c.Value, scope: Scope) -> str:
        """A value with its cause."""
        state, chain = scope.state, scope.chain
        match node:
            case c.Items(values):
                return f"listed({self._all(values, scope)})"
            case c.Apply(function, arguments):
                return f"applied({function!r}, {self._all(arguments, scope)})"
            case c.CountOf(variable, source, condition):
                inside = self._answer(condition, scope.binding(variable))
                test = f"lambda x{len(scope.variables)}: {inside}"
                return f"counted({self._iterated(source, scope)}, {test})"
        found = self._write.value(node, scope)
        match node:
            case c.FieldText(name):
                return f"known({found}, {causes.field(name)!r})"
            case c.FieldValue(name):
                return f"known({found}, {causes.scalar(name)!r})"
            case c.Context(name):
                return f"known({found}, {causes.context(name)!r})"
            case c.CallList():
                return f"known({found}, {causes.CALL!r})"
            case c.Variable():
                return f"known({found}, {causes.element(shown(node))!r})"
            case c.Role(name, at):
                why = f"causes.role({state}, {at!r}, {name!r})"
            case c.CommandPart(name, at):
                why = f"causes.command({state}, {at!r}, {name!r})"
            case c.Argument(steps):
                why = f"causes.argument({shown(node)!r}, {state}.args, {steps!r})"
            case c.Entry(steps):
                why = f"causes.argument({shown(node)!r}, {chain}[-1], {steps!r})"
            case c.CountEarlier():
                why = self._why(node, scope)
            case _:
                return f"({found}, None)"
        return f"asked({found}, lambda: {why})"

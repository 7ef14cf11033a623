"""Names and values of the rule language, lowered for one tool.

The checker has been over the tree: here nothing is reported, names only get their meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tool_intent.compiler import conditions as c
from tool_intent.compiler.sources import Sources
from tool_intent.compiler.steps import cost, reads_arguments
from tool_intent.policy.model import Scopes
from tool_intent.rules import tree as t
from tool_intent.rules.regex import compile_pattern
from tool_intent.runtime.regex import Pattern

_LIST_ATTRIBUTES = {
    "parts": "record", "pipes": "record", "writes": "path", "deletes": "path", "refs": "text",
    "flags": "text", "args": "text", "paths": "path",
}  # fmt: skip
_LIST_FUNCTIONS = {
    "paths": "path", "urls": "record", "scripts": "text", "content": "text", "cues": "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Names:
    """What names mean at one place of one tool.

    `fields` maps every field to whether it is text, `depths` those that are carried around the
    place to their depth, `keys` to what they go by there. `roles` maps roles to argument paths.
    `atoms` holds what the rules of the policy look for in history, by `file` and `view`, and grows.
    `sources` is told where each node is from. `printed` gives what the policy prints to a model.
    """

    scopes: Scopes
    fields: Mapping[str, bool]
    depths: Mapping[str, int]
    roles: Mapping[str, c.ArgumentPaths]
    atoms: dict[Any, c.Atom]
    file: str
    variables: Mapping[str, c.Sort] = field(default_factory=dict)
    judged: Names | None = None
    sources: Sources | None = None
    view: int = 0
    printed: Callable[[], tuple[str, ...]] = tuple
    keys: Mapping[str, str] = field(default_factory=dict)

    def binding(self, name: str, sort: c.Sort) -> Names:
        return replace(self, variables={**self.variables, name: sort})


def value(node: t.Condition, names: Names) -> c.Value:
    """A value of the language."""
    lowered = _value(node, names)
    if names.sources is not None:
        names.sources.note(lowered, node)
    return lowered


def condition(node: t.Condition, names: Names) -> c.Condition:
    """A condition of the language."""
    lowered = _condition(node, names)
    if names.sources is not None:
        names.sources.note(lowered, node)
    return lowered


def _value(node: t.Condition, names: Names) -> c.Value:
    match node:
        case t.TextLiteral(value=text):
            return c.Const(text)
        case t.NumberLiteral(value=number) | t.BoolLiteral(value=number):
            return c.Const(number)
        case t.DurationLiteral(milliseconds=milliseconds):
            return c.Const(milliseconds)
        case t.ListLiteral(items=items):
            return _list(items, names)
        case t.Path():
            return _path(node, names)
        case t.Call(function="echo", arguments=(text,)):
            return c.Apply("echo", (value(text, names), c.Texts(names.printed())))
        case t.Call(function="seen", arguments=(text,)):
            return c.Apply("seen", (value(text, names), c.Session()))
        case t.Call(function=function, arguments=arguments):
            return c.Apply(function, tuple(value(a, names) for a in arguments))
        case t.Quantifier(variable=variable, source=source, condition=inside):
            listed = value(source, names)
            below = names.binding(variable, element_sort(listed, names))
            return c.CountOf(variable, listed, condition(inside, below))
        case t.Count(history=history):
            return c.CountEarlier(_history(history, names))
    raise TypeError(f"{type(node).__name__} is no value")


def _condition(node: t.Condition, names: Names) -> c.Condition:
    match node:
        case t.And(operands=operands):
            return c.Every(tuple(condition(o, names) for o in operands))
        case t.Or(operands=operands):
            return c.Some(tuple(condition(o, names) for o in operands))
        case t.Not(operand=operand):
            return c.Negation(condition(operand, names))
        case t.Has(path=path):
            return c.Has(_path(path, names))
        case t.Compare(operator=operator, left=left, right=right):
            one, two = value(left, names), value(right, names)
            return c.Compare(operator, one, two, _how(one, two, names))
        case t.Member(left=left, right=right, negated=negated):
            one, two = value(left, names), value(right, names)
            return _negated(c.In(one, two, _how(one, two, names)), negated)
        case t.Infix(negated=negated):
            return _negated(_infix(node, names), negated)
        case t.Quantifier(kind=kind) if kind != "count":
            return _quantified(node, names)
        case t.History():
            return c.Earlier(_history(node, names))
        case t.Path(root=root, steps=()) if root in names.scopes.defines:
            return condition(names.scopes.defines[root], replace(names, variables={}))
    return c.Truth(value(node, names))


def sort(node: c.Value, names: Names) -> c.Sort:
    """What a value is."""
    match node:
        case c.Const(given):
            return "text" if isinstance(given, str) else "scalar"
        case c.FieldText() | c.ToolName() | c.Context():
            return "text"
        case c.Role(name=name):
            return {"path": "path", "command": "command"}.get(name, "text")  # type: ignore[return-value]
        case c.Argument(steps=steps) | c.Entry(steps=steps):
            return "list" if "[]" in steps else "any"
        case c.Texts() | c.Items() | c.CallList():
            return "list"
        case c.CommandPart(name=name):
            return "list" if name in _LIST_ATTRIBUTES else "scalar"
        case c.Variable(name=name, steps=()):
            return names.variables.get(name, "any")
        case c.Judged(inner):
            return sort(inner, names.judged or names)
        case c.Apply(function=function):
            return "list" if function in _LIST_FUNCTIONS else "scalar"
        case c.CountOf() | c.CountEarlier() | c.FieldValue():
            return "scalar"
    return "any"


def element_sort(node: c.Value, names: Names) -> c.Sort:
    """What the elements of a list are."""
    match node:
        case c.Texts():
            return "text"
        case c.Items(values):
            return sort(values[0], names) if values else "any"
        case c.CallList(name=name):
            return "path" if name == "paths" else "record"
        case c.CommandPart(name=name):
            return _LIST_ATTRIBUTES.get(name, "any")  # type: ignore[return-value]
        case c.Apply(function=function):
            return _LIST_FUNCTIONS.get(function, "any")  # type: ignore[return-value]
        case c.Judged(inner):
            return element_sort(inner, names.judged or names)
    return "any"


def _list(items: tuple[t.Condition, ...], names: Names) -> c.Value:
    if all(isinstance(i, t.TextLiteral) for i in items):
        return c.Texts(tuple(i.value for i in items if isinstance(i, t.TextLiteral)))
    return c.Items(tuple(value(i, names) for i in items))


def _path(node: t.Path, names: Names) -> c.Value:
    root, steps = node.root, tuple("[]" if s is None else s for s in node.steps)
    scopes = names.scopes
    if root == "this" and names.judged is not None:
        inner = t.Path(str(node.steps[0]), node.steps[1:])
        return c.Judged(_path(inner, names.judged))
    if root in names.variables:
        return _member(root, steps, names)
    if names.judged is not None and root in names.judged.variables:
        return c.Judged(_member(root, steps, names.judged))
    if root in scopes.words:
        return c.Texts(scopes.words[root])
    if root in scopes.defines:
        return value(scopes.defines[root], replace(names, variables={}))
    if root in scopes.options:
        option = scopes.options[root]
        return c.Texts(tuple(option)) if isinstance(option, list) else c.Const(option)
    match root:
        case "args":
            return c.Argument(steps)
        case "call":
            return c.CallList(str(steps[0])) if steps else c.WholeCall()
        case "tool":
            return c.ToolName()
        case "context":
            return c.Context(str(steps[0]))
        case "entry":
            return c.Entry(steps)
    return _bare(root, steps, names)


def _bare(root: str, steps: tuple[str | int, ...], names: Names) -> c.Value:
    if root not in names.fields and root in ("path", "content", "command", "url"):
        at = names.roles.get(root)
        return c.CommandPart(str(steps[0]), at) if root == "command" and steps else c.Role(root, at)
    depth = names.depths.get(root)
    return (c.FieldText if names.fields.get(root, True) else c.FieldValue)(
        names.keys.get(root, root), depth
    )


def _member(root: str, steps: tuple[str | int, ...], names: Names) -> c.Value:
    read = c.Variable(root, steps)
    if len(steps) == 1 and names.fields.get(str(steps[0])) and names.variables[root] == "any":
        # An element that carries fields: what they say is read as at any place.
        return c.Apply("normalised", (read,))
    return read


def _infix(node: t.Infix, names: Names) -> c.Condition:
    left = value(node.left, names)
    of = sort(left, names)
    right = node.right
    while isinstance(right, t.Path) and not right.steps and right.root in names.scopes.defines:
        right = names.scopes.defines[right.root]
    if isinstance(right, t.RegexLiteral):
        pattern = compile_pattern(right.pattern, right.flags, unicode_classes=True)
        return c.Infix(node.function, left, pattern, of)
    return c.Infix(node.function, left, value(node.right, names), of)


def _quantified(node: t.Quantifier, names: Names) -> c.Quantified:
    source = value(node.source, names)
    inside = condition(node.condition, names.binding(node.variable, element_sort(source, names)))
    kind = node.kind
    assert kind != "count"
    return c.Quantified(kind, node.variable, source, inside, cost(inside), reads_arguments(inside))


def _history(node: t.History, names: Names) -> c.History:
    since = None
    if node.since is not None:
        since = _past(node.since, names)
    window = node.window
    seconds = None if window.milliseconds is None else window.milliseconds / 1000
    return c.History(_past(node, names), since, window.calls, seconds)


def _past(node: t.History | t.Since, names: Names) -> c.Past:
    targets = tuple(target.name for target in node.targets)
    where = None
    if node.where is not None:
        # An earlier call is read at each of its own places, by its own roles.
        inside = replace(
            names, variables={}, depths=_Nearest(), roles=_OwnRoles(), keys={},
            judged=names.judged or names,
        )  # fmt: skip
        where = condition(node.where, inside)
    key = (names.file, names.view, targets, node.where)
    if key not in names.atoms:
        names.atoms[key] = _atom(len(names.atoms), targets, where, names.view)
    # What is asked of earlier calls is the same for every tool; what is compared with is not.
    atom = _atom(names.atoms[key].number, targets, where, names.view)
    return c.Past(atom, node.outcome or "tried")


def _atom(number: int, targets: tuple[str, ...], where: c.Condition | None, view: int) -> c.Atom:
    """The parts of a condition on an earlier call: what it decides alone, what joins it to the
    call being judged by equality, and the rest."""
    conjuncts = where.parts if isinstance(where, c.Every) else () if where is None else (where,)
    alone: list[c.Condition] = []
    joins: list[c.Join] = []
    rest: list[c.Condition] = []
    for conjunct in conjuncts:
        join = _join(conjunct)
        if not speaks_of_judged(conjunct):
            alone.append(conjunct)
        elif join is not None:
            joins.append(join)
        else:
            rest.append(conjunct)
    captures: list[c.Value] = []
    replaced = tuple(_capturing(r, captures) for r in rest)
    return c.Atom(
        number, targets, where, _together(alone), tuple(joins), tuple(captures),
        _together(list(replaced)), tuple(sorted(_own_fields(where))), view,
    )  # fmt: skip


def _own_fields(node: Any) -> set[str]:
    """The fields of the earlier call that a condition reads."""
    if node is None or isinstance(node, c.Judged):
        return set()
    found = {node.name} if isinstance(node, c.FieldText | c.FieldValue) else set()
    return found.union(*(_own_fields(child) for child in c.children(node)))


def _together(conjuncts: list[c.Condition]) -> c.Condition | None:
    if not conjuncts:
        return None
    return conjuncts[0] if len(conjuncts) == 1 else c.Every(tuple(conjuncts))


def _join(node: c.Condition) -> c.Join | None:
    if not isinstance(node, c.Compare) or node.operator != "==":
        return None
    for earlier, judged in ((node.left, node.right), (node.right, node.left)):
        if isinstance(judged, c.Judged) and not speaks_of_judged(earlier):
            if not isinstance(earlier, c.FieldText | c.Role | c.ToolName | c.Argument):
                return None
            if isinstance(earlier, c.Argument) and "[]" in earlier.steps:
                return None
            return c.Join(earlier, judged.value, node.how)
    return None


def speaks_of_judged(node: Any) -> bool:
    """Whether a part of a `where` reads the call being judged."""
    # What the session was told is what it was told when the later call is judged.
    return isinstance(node, c.Judged | c.Session) or any(
        speaks_of_judged(x) for x in c.children(node)
    )


def _capturing(node: Any, captures: list[c.Value]) -> Any:
    """`node` with every value of the earlier call in it replaced by one that was kept."""
    if isinstance(node, c.Judged | c.Const | c.Texts | c.Variable):
        return node
    # What a function makes of an earlier call is kept instead of what it reads, which may be large.
    made = isinstance(node, c.Apply) and not speaks_of_judged(node) and _read_earlier(node)
    if made or isinstance(node, _EARLIER):
        if node not in captures:
            captures.append(node)
        return c.Captured(captures.index(node))
    return rebuilt(node, lambda child: _capturing(child, captures))


def _read_earlier(node: Any) -> bool:
    return isinstance(node, _EARLIER) or any(map(_read_earlier, c.children(node)))


_EARLIER = (
    c.FieldText, c.FieldValue, c.Role, c.Argument, c.Entry, c.ToolName, c.Context, c.WholeCall,
    c.CallList, c.CommandPart,
)  # fmt: skip


def rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    """`node` with `change` made to each of its children."""
    match node:
        case c.Items(values):
            return c.Items(tuple(map(change, values)))
        case c.Apply(function, arguments):
            return c.Apply(function, tuple(map(change, arguments)))
        case c.Every(inner):
            return c.Every(tuple(map(change, inner)))
        case c.Some(inner):
            return c.Some(tuple(map(change, inner)))
        case c.Truth(inner) | c.Has(inner) | c.Negation(inner):
            return type(node)(change(inner))
        case c.Infix(right=Pattern()):
            return replace(node, left=change(node.left))
        case c.Compare() | c.In() | c.Infix():
            return replace(node, left=change(node.left), right=change(node.right))
        case c.Quantified() | c.CountOf():
            return replace(node, source=change(node.source), condition=change(node.condition))
    return node


class _OwnRoles(dict[str, c.ArgumentPaths]):
    """Every role of a call that is not known yet: the empty path says, look it up."""

    def get(self, _: str, default: Any = None) -> Any:  # noqa: ARG002
        return ()


class _Nearest(dict[str, int]):
    """Every field of a call that is not known yet: in the nearest object that has it."""

    def get(self, _: str, default: Any = None) -> Any:  # noqa: ARG002
        return -1


def _how(left: c.Value, right: c.Value, names: Names) -> c.How:
    def is_path(node: c.Value) -> bool:
        return "path" in (sort(node, names), element_sort(node, names))

    return "path" if is_path(left) or is_path(right) else "plain"


def _negated(node: c.Condition, negated: bool) -> c.Condition:
    return c.Negation(node) if negated else node

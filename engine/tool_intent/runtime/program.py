"""One tool's compiled policy, linked from plain data that can be cached."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tool_intent.runtime.extend import Advert
from tool_intent.runtime.model import Finding, Origin
from tool_intent.runtime.numbers import is_integer, is_multiple
from tool_intent.runtime.patterns import searcher
from tool_intent.runtime.permissions import Permissions
from tool_intent.runtime.strip import Carrier
from tool_intent.runtime.text import is_absent, normalise
from tool_intent.runtime.views import View

if TYPE_CHECKING:
    from tool_intent.runtime.state import State

#: Judges a copy of arguments; None where there is nothing to say.
Judge: TypeAlias = Callable[[dict[str, Any]], list[Finding] | None]
#: Judges all that is known of a call; None where there is nothing to say.
Rules: TypeAlias = "Callable[[State], list[Finding] | None]"


class Image(NamedTuple):
    """A program as data that `marshal` takes: tuples, texts, numbers and one code object.

    `templates` are `(rule, effect, name, message, fix, origin, who)`; `misspelt` gives, for each
    carrier, the template number of each of its fields, `collision` likewise; `taken` are the
    keys of fields, with their place, that a catalog's schema of the tool defines. `asks` says
    whether there are rules, `searches` are their patterns, `facts` what they say of themselves,
    `doubts` the source that names what they could not tell, `roles` what arguments they mean,
    `views` carriers and roles as each rank sees them, where ranks differ; `permissions` are as in
    `runtime.permissions`, `waivers` as in `runtime.waivers`; `reads` are the arguments
    that rules and waivers may look at, None for any; `kinds` are what the tool's calls do: read,
    write, exec, net; `settings` say what is to become of fields that the tool defines itself,
    `(place, field, how)` each.
    """

    tool: str
    code: CodeType
    templates: tuple[tuple[Any, ...], ...]
    patterns: tuple[str, ...]
    constants: tuple[Any, ...]
    searches: tuple[tuple[Any, ...], ...]
    facts: tuple[tuple[Any, ...], ...]
    doubts: tuple[str, ...]
    carriers: tuple[tuple[Any, ...], ...]
    misspelt: tuple[tuple[int, ...], ...]
    collision: tuple[tuple[int, ...], ...]
    adverts: tuple[tuple[Any, ...], ...]
    known: frozenset[str]
    taken: tuple[tuple[tuple[str, ...], str], ...]
    asks: bool
    roles: dict[str, tuple[tuple[str, ...], ...]]
    views: tuple[tuple[Any, ...], ...]
    permissions: dict[Any, Any]
    waivers: tuple[tuple[Any, ...], ...]
    reads: tuple[str, ...] | None
    kinds: tuple[str, ...]
    settings: tuple[tuple[Any, ...], ...]


#: Findings of one kind that are kept: enough for the long lists of honest calls.
_MOST_PLACES = 256


class Template:
    """A finding without its place. `name` is the last step of the place: "" or "/intent"."""

    __slots__ = ("effect", "fix", "message", "name", "origin", "rule", "who")

    def __init__(
        self,
        rule: str,
        effect: Any,
        name: str,
        message: str,
        fix: str | None,
        origin: tuple[Any, ...] | None,
        who: str | None,
    ) -> None:
        self.rule = rule
        self.effect = effect
        self.name = name
        self.message = message
        self.fix = fix
        self.origin = None if origin is None else Origin(*origin)
        self.who = who

    def at(self, place: str) -> Finding:
        """The finding at a place, a whole JSON Pointer."""
        return Finding(self.rule, self.effect, place, self.message, self.fix, self.origin, self.who)


class _Placed(dict[str, Finding]):
    """The findings of one template by their place, each made when first asked for."""

    __slots__ = ("_template",)

    def __init__(self, template: Template) -> None:
        self._template = template

    def __missing__(self, place: str) -> Finding:
        if len(self) >= _MOST_PLACES:
            self.clear()
        finding = self[place] = self._template.at(place)
        return finding


class Program:
    """What judges calls of one tool. `known` are argument names that are no misspelt field and
    mean nothing special to any host."""

    __slots__ = (
        "adverts", "carriers", "collision", "judge", "kinds", "known", "misspelt", "permissions",
        "reads", "roles", "rules", "settings", "taken", "templates", "tool", "views", "waivers",
    )  # fmt: skip

    def __init__(self, image: Image) -> None:
        self.tool = image.tool
        self.templates = tuple(Template(*t) for t in image.templates)
        self.carriers = tuple(Carrier(*c) for c in image.carriers)
        self.adverts = tuple(Advert(*a) for a in image.adverts)
        self.misspelt = image.misspelt
        self.collision = image.collision
        self.known = image.known
        self.taken = frozenset(image.taken)
        self.roles = image.roles
        self.views = tuple(View(tuple(Carrier(*c) for c in v), roles) for v, roles in image.views)
        self.permissions: Permissions = image.permissions
        self.waivers = image.waivers
        self.reads = image.reads
        self.kinds = image.kinds
        self.settings = image.settings
        names = _linked(image, self.templates)
        self.judge: Judge = names["judge"]
        #: Judges a call by rules, where there are any.
        self.rules: Rules | None = names.get("rules")


def _linked(image: Image, templates: tuple[Template, ...]) -> dict[str, Any]:
    names: dict[str, Any] = {
        "__builtins__": {"len": len, "isinstance": isinstance, "bool": bool, "str": str,
                         "int": int, "float": float, "list": list, "dict": dict,
                         "enumerate": enumerate, "sum": sum},
        "absent": is_absent,
        "normalise": normalise,
        "is_integer": is_integer,
        "is_multiple": is_multiple,
    }  # fmt: skip
    names |= {f"K{n}": _Placed(template) for n, template in enumerate(templates)}
    names |= {f"P{n}": searcher(pattern) for n, pattern in enumerate(image.patterns)}
    names |= {f"C{n}": constant for n, constant in enumerate(image.constants)}
    if image.asks:
        from tool_intent.runtime.linking import Doubt, rule_names

        names |= rule_names(image.searches, image.facts)
        names |= {f"D{n}": Doubt(source, names) for n, source in enumerate(image.doubts)}
    exec(image.code, names)  # noqa: S102  (our own code: from the compiler, or a checked cache)
    return names

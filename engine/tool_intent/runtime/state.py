"""One call as rules read it: each value worked out once, when a rule first asks.

None stands for what cannot be told. It is never the value of anything that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from tool_intent.runtime.reading import (
    LONGEST_LIST,
    Seq,
    capped,
    elements,
    leaves,
    present,
    read,
    read_text,
    scalar,
)
from tool_intent.runtime.spots import Chain, Spot, spotted
from tool_intent.runtime.strip import Carrier, duplicate, innermost, strip
from tool_intent.runtime.strip import depth as depth_of

if TYPE_CHECKING:
    from tool_intent.runtime.paths import Place, Resolved
    from tool_intent.runtime.session import SessionView
    from tool_intent.runtime.shell import Command
    from tool_intent.runtime.views import View

#: Characters of one argument, and of all, that count as the words of a call.
_CALL_TEXT = 4_096
_CALL_TEXTS = 16_384


class LiteralPath(str):
    """A path that a tool takes as it stands: no variable or glob in it is expanded."""

    __slots__ = ()


Made = TypeVar("Made")
UNKNOWN_LIST = Seq((), False)


class State:
    """What rules can ask about one call.

    `args` is the private copy, fields included; `carriers` say where those are; `roles` map roles
    to argument paths, empty for a tool that no catalog knows. `views` are both as each rank of the
    policy sees them, where ranks differ.
    """

    __slots__ = (
        "_memo", "args", "carriers", "context", "now", "place", "roles", "tool", "view", "views",
    )  # fmt: skip

    def __init__(
        self,
        tool: str,
        args: dict[str, Any],
        carriers: tuple[Carrier, ...],
        roles: Mapping[str, tuple[tuple[str, ...], ...]],
        context: Mapping[str, Any],
        now: float | None,
        view: SessionView | None,
        place: Place,
        views: tuple[View, ...] = (),
    ) -> None:
        self.tool = tool
        self.args = args
        self.carriers = carriers
        self.roles = roles
        self.context = context
        self.now = now
        self.view = view
        self.place = place
        self.views = views
        self._memo: dict[Any, Any] = {}

    def seen(self, rank: int) -> State:
        """The call as the policies of one rank see it, by the rank's number."""
        if not self.views:
            return self
        carriers, roles = self.views[rank]
        return self._once(
            ("seen", rank),
            lambda: State(
                self.tool, self.args, carriers, roles, self.context, self.now, self.view, self.place
            ),
        )

    # Fields and places

    def text(self, chain: tuple[dict[str, Any], ...], name: str, depth: int | None) -> str | None:
        """A text field at a place, normalised; empty where absent."""
        container, key = self._container(chain, name, depth)
        return "" if key not in container else read_text(container[key])

    def value(self, chain: tuple[dict[str, Any], ...], name: str, depth: int | None) -> Any:
        """A field of another type at a place; None where absent."""
        container, key = self._container(chain, name, depth)
        return scalar(container.get(key))

    def has_value(
        self, chain: tuple[dict[str, Any], ...], name: str, depth: int | None
    ) -> bool | None:
        """Whether a field of another type is there."""
        container, key = self._container(chain, name, depth)
        return key in container

    def _container(
        self, chain: tuple[dict[str, Any], ...], name: str, depth: int | None
    ) -> tuple[dict[str, Any], str]:
        """The object that carries a field at a place, and its key there; an empty object where none
        does.

        A negative depth asks by the field's name for the nearest that has it, another one by its
        key. Where a call has no place of the kind that the rule is judged at, the call itself may
        carry the field.
        """
        if depth is None:
            return _NOTHING, name
        if depth < 0:
            for number in range(len(chain) - 1, -1, -1):
                for key in self._keys(number, name):
                    if key in chain[number]:
                        return chain[number], key
            return _NOTHING, name
        if depth < len(chain):
            return chain[depth], name
        carried = any(not c.at and name in (*c.fields, *c.own) for c in self.carriers)
        return (chain[0] if carried else _NOTHING), name

    def _keys(self, number: int, name: str) -> list[str]:
        """What a field goes by so many objects below the call."""
        renamed = [c for c in self.carriers if c.names and depth_of(c.at) == number]
        return [key for c in renamed for key in c.keys(name)] or [name]

    def spots(self, kinds: tuple[tuple[str, ...], ...]) -> list[Spot]:
        """Every place of these kinds, in argument order; the call itself where there is none."""
        return [Spot(at, chain) for at, chain in self.places(kinds)]

    def places(self, kinds: tuple[tuple[str, ...], ...]) -> list[tuple[str, Chain]]:
        """As `spots`, for code that takes them apart at once."""
        found = [place for kind in kinds for place in spotted(self.args, kind)]
        return found or [("", (self.args,))]

    def spots_of(self, fields: tuple[str, ...]) -> list[Spot]:
        """Every innermost place that carries one of the fields; the call where there is none."""
        return self._once(("spots", fields), lambda: self.spots(innermost(self.carriers, fields)))

    # Arguments

    def bare(self) -> dict[str, Any]:
        """The arguments without fields, those too that are arguments of the tool."""
        return self._once("bare", self._bare)

    def _bare(self) -> dict[str, Any]:
        said = [Carrier(c.at, (*c.fields, *c.own)) for c in self.carriers]
        return strip(duplicate(self.args), said)

    def role(self, at: tuple[tuple[str, ...], ...] | None, name: str) -> Any:
        """What plays a role: a text, empty where it is absent, None where it is none or unknown.

        Several paths are a `Seq`; several texts of another role are one text, each on lines of its
        own.
        """
        if not at:
            at = None if at is None else self.roles.get(name)
            if at is None:
                return None
        if len(at) == 1 and len(at[0]) == 1:
            found = self.args.get(at[0][0], "")
            if not isinstance(found, str):
                return None
            return LiteralPath(found) if name == "path" else found
        played = self._once(("role", at), lambda: self._played(at))
        if name == "path":
            return Seq(tuple(map(LiteralPath, played.items)), played.complete)
        return "\n".join(played.items) if played.complete else None

    def _played(self, at: tuple[tuple[str, ...], ...]) -> Seq:
        """The texts that arguments hold; what is absent is none, what is no text is unknown."""
        found: list[str] = []
        complete = True
        for path in at:
            listed = elements(self.args, path)
            texts = [value for value in listed.items if isinstance(value, str)]
            complete = complete and listed.complete and len(texts) == len(listed.items)
            found += texts
        return Seq(tuple(found), complete)

    def argument(self, steps: tuple[str | int, ...]) -> Any:
        """A raw argument; a `Seq` where the path goes through every element of a list."""
        return read(self.args, steps)

    def has_role(self, at: tuple[tuple[str, ...], ...] | None, name: str) -> bool | None:
        """Whether an argument of a role is there; None where nothing says which it is."""
        if at == ():
            at = self.roles.get(name)
        if not at:
            # Of a tool whose roles are known, the others are known to be absent.
            return False if self.roles else None
        found = [elements(self.args, path) for path in at]
        if any(listed.items for listed in found):
            return True
        return False if all(listed.complete for listed in found) else None

    @staticmethod
    def has_member(value: Any, steps: tuple[str | int, ...]) -> bool | None:
        """Whether an element has a member."""
        return present(value, steps) if isinstance(value, dict) else None

    @staticmethod
    def entry(chain: tuple[dict[str, Any], ...], steps: tuple[str | int, ...]) -> Any:
        """A raw member of the place being judged."""
        return read(chain[-1], steps)

    # The call

    def command(self, at: tuple[tuple[str, ...], ...] | None) -> Command | None:
        """The command, analysed; None where it is not known to be text."""
        return self.analysed(self.role(at, "command"))

    def analysed(self, text: Any) -> Command | None:
        """A command text, analysed; None for what is no text."""
        if not isinstance(text, str):
            return None

        def analysed() -> Command:
            from tool_intent.runtime.shell import analyse

            return analyse(text, self.place.cwd)

        return self._once(("command", text), analysed)

    def attribute(self, name: str, at: tuple[tuple[str, ...], ...] | None) -> Any:
        """An attribute of the command: a `Seq`, a truth value, or the only program's own."""
        command = self.command(at)
        if command is None:
            return UNKNOWN_LIST if name in _LISTS else None
        if name in ("parsed", "resolved"):
            return getattr(command, name)
        if name in ("program", "flags", "args"):
            return _of_one_part(command, name)
        listed = getattr(command, name)
        whole = name not in command.unknown and len(listed) <= LONGEST_LIST
        return Seq(tuple(listed[:LONGEST_LIST]), whole)

    def call_list(self, name: str) -> Seq:
        """`call.paths` or `call.urls`."""
        make = self._paths if name == "paths" else self._urls
        return self._once(("call", name), make)

    def _paths(self) -> Seq:
        found: dict[str, None] = {}
        complete = bool(self.roles)
        if "path" in self.roles:
            path = self.role(self.roles["path"], "path")
            if isinstance(path, Seq):
                found.update(dict.fromkeys(p for p in path.items if p))
                complete = complete and path.complete
            elif path is None:
                complete = False
            elif path:
                found[path] = None
        if "command" in self.roles:
            command = self.attribute("paths", self.roles["command"])
            found.update(dict.fromkeys(command.items))
            complete = complete and command.complete
        if self.roles.keys() == {"content"}:
            files = self._patched()
            found.update(dict.fromkeys(files or ()))
            complete = files is not None
        return capped(tuple(found), complete)

    def _patched(self) -> list[LiteralPath] | None:
        """The files of a patch, which only its text names; None where the content is no patch."""
        from tool_intent.runtime.citations import patched

        content = self.role(self.roles["content"], "content")
        files = patched(content) if isinstance(content, str) else None
        return None if files is None else [LiteralPath(name) for name in files]

    def _urls(self) -> Seq:
        from tool_intent.runtime.citations import urls

        found: dict[Any, None] = {}
        complete = bool(self.roles)
        for text in self._texts_with_urls():
            if text is None:
                complete = False
            else:
                found.update(dict.fromkeys(urls(text)))
        return capped(tuple(found), complete)

    def _texts_with_urls(self) -> Iterable[str | None]:
        if "url" in self.roles:
            yield self.role(self.roles["url"], "url")
        if "command" in self.roles:
            command = self.command(self.roles["command"])
            yield None if command is None or "urls" in command.unknown else ""
            yield " ".join(command.urls) if command is not None else ""
        if "url" not in self.roles and "command" not in self.roles:
            for value in self.bare().values():
                if isinstance(value, str) and "://" in value[:LONGEST_URL]:
                    yield value[:LONGEST_URL]

    def call_texts(self) -> tuple[str, ...]:
        """The call in words: the tool's name, and what its arguments say, large ones cut short."""
        return self._once("texts", self._call_texts)

    def _call_texts(self) -> tuple[str, ...]:
        texts = [self.tool]
        room = _CALL_TEXTS
        for value in leaves(self.bare()):
            if room <= 0:
                break
            texts.append(value[: min(_CALL_TEXT, room)])
            room -= len(texts[-1])
        return tuple(texts)

    def said(self) -> Iterable[str]:
        """The call's own words, fields included, for who asks later whose they were."""
        return leaves(self.args)

    def size(self) -> int:
        """Characters of all arguments, for the budget of what reads them repeatedly."""
        return self._once("size", lambda: sum(len(v) for v in leaves(self.args)))

    def resolved(self, path: str) -> Resolved:
        """Where a path leads. What a file tool is given is taken as it stands; a word of a
        command may yet be expanded."""

        literal = isinstance(path, LiteralPath)

        def resolve() -> Resolved:
            from tool_intent.runtime.paths import resolve

            return resolve(path, self.looking(), literal=literal)

        return self._once(("resolved", path, literal), resolve)

    def looking(self) -> Place:
        """The place, with what has been found there: one decision looks once."""
        from tool_intent.runtime.links import Seen

        return self._once("looking", lambda: self.place._replace(seen=Seen()))

    def told(self, name: str) -> Any:
        """A context value, None where the surface does not tell."""
        return scalar(self.context.get(name))

    def _once(self, key: Any, make: Callable[[], Made]) -> Made:
        memo = self._memo
        if key not in memo:
            memo[key] = make()
        made: Made = memo[key]
        return made


_NOTHING: dict[str, Any] = {}
#: Characters of an argument that are searched for URLs where no role says it is one.
LONGEST_URL = 4_096
_LISTS = frozenset({"parts", "pipes", "writes", "deletes", "refs", "flags", "args", "paths"})


def _of_one_part(command: Command, name: str) -> Any:
    """`program`, `flags` and `args` speak of a command of one part only."""
    if len(command.parts) != 1 or "parts" in command.unknown:
        return UNKNOWN_LIST if name != "program" else None
    part = command.parts[0]
    if name == "program":
        return part.program
    listed = getattr(part, name)
    return capped(tuple(v for v in listed if v is not None), None not in listed)

"""The tools that a server lists: extended for the model, remembered for judging."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tool_intent.guard.guard import Guard
from tool_intent.runtime.pointer import quoted
from tool_intent.runtime.wire import dump, parse
from tool_intent.surfaces.mcp.naming import identity


class Known:
    """A listed tool. `own` is its schema as the server says it; `schema` is to be passed to the
    guard where that does not remember the tool's own; `fault` says why its calls cannot be judged,
    None where they can."""

    __slots__ = ("fault", "listing", "own", "schema")

    def __init__(self, listing: int, own: Any) -> None:
        self.listing = listing
        self.own = own
        self.schema: dict[str, Any] | None = None
        self.fault: str | None = None


class Tools:
    """What one server has listed to one session.

    A change that the server announces makes everything stale: a call is judged by what its tool's
    schema is now. `note` takes lines for the person who runs the proxy.
    """

    def __init__(self, guard: Guard, server: str | None, note: Callable[[str], None]) -> None:
        self._guard = guard
        self._server = server
        self._note = note
        self._known: dict[str, Known] = {}
        self._listing = 0
        self._whole = -1
        self._said: set[str] = set()

    def changed(self) -> None:
        """The server says that its list is another now."""
        self._listing += 1

    def whole(self) -> None:
        """All pages of the list have been read."""
        self._whole = self._listing

    def current(self, name: str) -> Known | None:
        """The tool as the list says now; None where it is not in the list, or not known to be."""
        known = self._known.get(name)
        return None if known is None or known.listing != self._listing else known

    @property
    def complete(self) -> bool:
        """Whether the whole list is known: what is not in it is no tool."""
        return self._whole == self._listing

    def own_schema(self, name: str) -> Any:
        """A tool's schema as the server says it; None where it said nothing."""
        known = self._known.get(name)
        return None if known is None else known.own

    @property
    def names(self) -> list[str]:
        """The tools in the list."""
        return [name for name, known in self._known.items() if known.listing == self._listing]

    def extended(self, text: str) -> str:
        """The text of an answer to tools/list with every tool extended; every tool in it is
        known from now on. The same text where no tool carries fields."""
        value = parse(text)
        if not isinstance(value, dict) or not is_listing(value):
            return text
        result: dict[str, Any] = value["result"]
        tools: list[Any] = result["tools"]
        shown = [self._listed(tool) for tool in tools]
        self._tell_twice(tools)
        if all(new is old for new, old in zip(shown, tools, strict=True)):
            return text
        result["tools"] = shown
        return dump(value)

    def _listed(self, tool: Any) -> Any:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            return tool
        name = tool["name"]
        known = self._known[name] = Known(self._listing, tool.get("inputSchema"))
        whole = identity(self._server, name)
        try:
            shown = self._guard.extend({**tool, "name": whole})
        except Exception as error:
            known.fault = f"its schema could not be read ({type(error).__name__})"
            self._say(f"{whole}: {known.fault}; its calls are refused")
            return tool
        for place, why in self._guard.not_advertised.get(whole, ()):
            self._say(f"{whole}: fields are not advertised{f' at {place}' if place else ''}: {why}")
        same = all(shown.get(k) is tool.get(k) for k in ("inputSchema", "description"))
        return tool if same else shown | {"name": name}

    def _tell_twice(self, tools: Iterable[Any]) -> None:
        """Of two tools with one name, a field that either defines is the tool's own argument."""
        schemas: dict[str, list[Any]] = {}
        for tool in tools:
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                schemas.setdefault(tool["name"], []).append(tool.get("inputSchema"))
        for name, several in schemas.items():
            if len(several) > 1:
                self._known[name].schema = {"allOf": several}

    def not_callable(self, name: str) -> str:
        """Why no call of a tool can be passed on that is not listed, or has a fault."""
        known = self.current(name)
        if known is not None:
            return f"calls of {quoted(name)} are refused: {known.fault}; nothing was executed"
        from tool_intent.rules.diagnostics import nearest

        near = nearest(name, self.names)
        meant = f"; did you mean {quoted(near)}?" if near else ""
        return f"the server lists no tool called {quoted(name)}{meant}; nothing was executed"

    def _say(self, note: str) -> None:
        if note not in self._said:
            self._said.add(note)
            self._note(note)


def is_listing(answer: Mapping[str, Any]) -> bool:
    """Whether an answer looks like one to tools/list."""
    result = answer.get("result")
    return isinstance(result, dict) and isinstance(result.get("tools"), list)

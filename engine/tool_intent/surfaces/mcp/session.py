"""What one client and one server have told each other so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tool_intent.guard.guard import Guard
from tool_intent.surfaces.mcp.approval import Approvals
from tool_intent.surfaces.mcp.listing import Tools
from tool_intent.surfaces.mcp.messages import Message
from tool_intent.surfaces.mcp.naming import identity
from tool_intent.surfaces.mcp.pending import Pending

#: Approved calls that a server may have interrupted; past that, the person is asked again.
_MOST_APPROVED: Final = 1_000
#: Requests whose answer may come on a stream that is resumed.
_MOST_LEFT: Final = 1_000


class Session:
    """Outlives single exchanges. `server` is its name in policies, None for the
    built-in one; with `elicit`, a person is
    asked about an `ask`; `note` takes lines for the person who runs the proxy."""

    def __init__(
        self,
        guard: Guard,
        server: str | None,
        *,
        elicit: bool = False,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`guard` is this session's own: it remembers the server's schemas and the calls made."""
        self.guard = guard
        self.server = server
        self.note = note
        self.tools = Tools(guard, server, note)
        self.approvals = Approvals() if elicit else None
        #: Where the server goes on with calls that a person approved: its state, and the call.
        self.approved: dict[str, str] = {}
        #: What streams that broke off still owe: a client resumes them on another one.
        self.left = Pending()
        self.capabilities: Mapping[str, Any] = {}
        self.context: dict[str, Any] | None = None

    def introduced(self, message: Message) -> None:
        """The client says who it is and what it can."""
        client = message.params.get("clientInfo")
        name = client.get("name") if isinstance(client, dict) else None
        self.context = {"agent": name} if isinstance(name, str) else None
        capabilities = message.params.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}

    def leave(self, exchange: Pending) -> None:
        """A stream of an exchange broke off, and its client may ask for the rest of it."""
        self.left.left_by(exchange, _MOST_LEFT)

    def goes_on(self, state: str, call: str) -> None:
        """The server asks for more before it carries out a call that a person approved."""
        self.approved[state] = call
        if len(self.approved) > _MOST_APPROVED:
            del self.approved[next(iter(self.approved))]

    def whole_name(self, tool: str) -> str:
        """What policies call a tool of this server."""
        return identity(self.server, tool)

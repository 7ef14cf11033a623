"""Asking the client's person about a call, by elicitation."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from os import urandom
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from tool_intent.runtime.decision import Decision
from tool_intent.runtime.wire import dump
from tool_intent.surfaces.mcp.messages import Message
from tool_intent.surfaces.mcp.spans import Cuts

Answer: TypeAlias = Literal["approved", "declined", "other call", "none"]

_CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
#: The key of our question among a result's input requests, since 2026-07-28.
QUESTION: Final = "tool-intent"
DECLINED: Final = (
    "tool-intent asked the person, who did not approve this call; nothing was executed. Do not"
    " send it again unless they ask for it."
)
_LONGEST_ARGUMENTS = 2_000
#: Questions that nobody answered yet; the oldest goes first, and its call stays refused.
_MOST_OPEN = 1_000
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Run this call", "description": "Yes runs it once."}
    },
    "required": ["approve"],
}


class Open(NamedTuple):
    """A question: the id of the request that it is about (JSON text), what that calls, and what
    happens with the answer."""

    request: str
    call: str
    answered: Callable[[bool], None]


class Approvals:
    """The questions of one session. An approval is for one call with the arguments shown."""

    def __init__(self) -> None:
        self._secret = urandom(16).hex()
        self._open: OrderedDict[str, Open] = OrderedDict()
        self._asked = 0

    def question(
        self, message: Message, decision: Decision, answered: Callable[[bool], None]
    ) -> tuple[str, dict[str, Any]]:
        """A new question's token, which nobody can guess, and its elicitation parameters."""
        self._asked += 1
        token = f"tool-intent/{self._secret}/{self._asked}"
        self._open[token] = Open(message.id or "", called(message), answered)
        if len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)
        arguments = dump(decision.args)
        if len(arguments) > _LONGEST_ARGUMENTS:
            arguments = f"{arguments[:_LONGEST_ARGUMENTS]}… ({len(arguments):,} characters)"
        why = "\n".join(f"- {f.message} ({f.rule})" for f in decision.findings)
        text = f"May this call of {decision.tool} run?\n{why}\nArguments: {arguments}"
        return token, {"message": text, "requestedSchema": _SCHEMA}

    def take(self, token: str) -> Open | None:
        """The question with this token, which is open no longer."""
        return self._open.pop(token, None)

    def cancelled(self, id: str) -> None:
        """The request with this id (JSON text) is to be forgotten."""
        for token in [t for t, asked in self._open.items() if asked.request == id]:
            del self._open[token]

    def is_open(self, token: str) -> bool:
        """Whether the question with this token waits for its answer."""
        return token in self._open

    def is_ours(self, token: object) -> bool:
        """Whether a token is of this session's making, whether or not its question is open."""
        return isinstance(token, str) and token.startswith(f"tool-intent/{self._secret}/")

    def resumed(self, message: Message) -> Answer:
        """What the person said, where a call is sent again with the state we gave it."""
        if not self.is_ours(message.params.get("requestState")):
            return "none"
        asked = self.take(message.params["requestState"])
        if asked is None or asked.call != called(message):
            return "other call"
        responses = message.params.get("inputResponses")
        said = responses.get(QUESTION) if isinstance(responses, dict) else None
        return "approved" if approves(said) else "declined"


def approves(result: object) -> bool:
    """Whether the result of an elicitation is a yes, said in so many words."""
    if not isinstance(result, Mapping) or result.get("action") != "accept":
        return False
    content = result.get("content")
    return isinstance(content, Mapping) and content.get("approve") is True


def can_ask(message: Message, at_start: Mapping[str, Any]) -> bool:
    """Whether the client shows its person a form, as it said with the call or at its start."""
    told = message.meta.get(_CAPABILITIES_KEY) if message.modern else at_start
    elicitation = told.get("elicitation") if isinstance(told, Mapping) else None
    return isinstance(elicitation, Mapping) and (not elicitation or "form" in elicitation)


def called(message: Message) -> str:
    """What a call calls, with which arguments, as one text."""
    return dump([message.params.get("name"), message.params.get("arguments", {})])


def as_request(token: str, question: Mapping[str, Any]) -> bytes:
    """A question as a request to the client, as until 2025-11-25."""
    request = {"jsonrpc": "2.0", "id": token, "method": "elicitation/create", "params": question}
    return dump(request).encode() + b"\n"


def as_result(message: Message, token: str, question: Mapping[str, Any]) -> bytes:
    """A question as the answer to the call, which is then sent again, as since 2026-07-28."""
    request = {"method": "elicitation/create", "params": {"mode": "form", **question}}
    result = {
        "resultType": "input_required",
        "inputRequests": {QUESTION: request},
        "requestState": token,
    }
    return f'{{"jsonrpc":"2.0","id":{message.id},"result":{dump(result)}}}\n'.encode()


def ours(message: Message) -> Cuts:
    """What of a call that was sent again is for us, and not for the server."""
    responses = message.params.get("inputResponses")
    shared = isinstance(responses, dict) and set(responses) > {QUESTION}
    return {"requestState": None, "inputResponses": {QUESTION: None} if shared else None}

"""The answer to one call."""

from __future__ import annotations

from typing import Any

from tool_intent.runtime.message import model_message
from tool_intent.runtime.model import STRENGTH, Finding, Scalar, Verdict
from tool_intent.runtime.strip import Carrier, duplicate, provenance, strip


class Decision:
    """What was decided of one call, and why. Immutable.

    `args` and `provenance` are derived when first asked for, from a copy of the arguments that
    was taken before judging: a host that changes its own object later changes nothing here.
    """

    __slots__ = ("_args", "_bare", "_carriers", "_findings", "_id", "_policy", "_tool")

    _args: dict[str, Any] | None
    _bare: dict[str, Any] | None
    _carriers: tuple[Carrier, ...]
    _findings: tuple[Finding, ...]
    _id: Scalar
    _policy: str
    _tool: str

    @property
    def id(self) -> Scalar:
        """The host's id of the call, as given."""
        return self._id

    @property
    def tool(self) -> str:
        """The tool's name, as given."""
        return self._tool

    @property
    def decision(self) -> Verdict:
        """`allow`, `ask` or `deny`: the strongest effect of all findings."""
        if not self._findings:
            return "allow"
        top = max(STRENGTH[f.effect] for f in self._findings)
        if top >= STRENGTH["deny"]:
            return "deny"
        return "ask" if top == STRENGTH["ask"] else "allow"

    @property
    def allowed(self) -> bool:
        """Whether the call may run as it is: `ask` is not allowed until a person says so."""
        return not self._findings or self.decision == "allow"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything the call broke, in argument order, then by rule id."""
        return self._findings

    @property
    def args(self) -> dict[str, Any] | None:
        """The arguments without fields, a new copy at each access; None where they were no
        object, or could not be read."""
        return None if self._args is None else duplicate(bare(self))

    @property
    def provenance(self) -> tuple[dict[str, Any], ...]:
        """What each place said: `{"at": JSON Pointer, field: value, …}`, as sent."""
        return tuple(map(duplicate, said(self)))

    @property
    def message(self) -> str | None:
        """The text for the model; None where the call is allowed."""
        verdict = self.decision
        return None if verdict == "allow" else model_message(self._tool, verdict, self._findings)

    @property
    def policy(self) -> str:
        """The digest of the policy that was applied, `sha256:…`."""
        return self._policy

    def to_dict(self) -> dict[str, Any]:
        """The decision as JSON data: id, tool, decision, findings, message, args, provenance,
        policy, in this order."""
        return {
            "id": self._id,
            "tool": self._tool,
            "decision": self.decision,
            "findings": [f.to_dict() for f in self._findings],
            "message": self.message,
            "args": self.args,
            "provenance": list(self.provenance),
            "policy": self._policy,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # it holds mutable JSON

    def __repr__(self) -> str:
        return f"<Decision {self.decision} {self._tool!r}: {len(self._findings)} findings>"


def decided(
    id: Scalar,
    tool: str,
    findings: tuple[Finding, ...],
    args: dict[str, Any] | None,
    carriers: tuple[Carrier, ...],
    policy: str,
) -> Decision:
    """A decision on a copy of arguments, which from now on is the decision's own.

    No constructor: one is made for every call, and `__init__` costs twice as much as this does.
    """
    decision = _new(Decision)
    decision._id = id
    decision._tool = tool
    decision._findings = findings
    decision._args = args
    decision._carriers = carriers
    decision._policy = policy
    return decision


_new = object.__new__


def bare(decision: Decision) -> dict[str, Any] | None:
    """`decision.args` without a copy: for those inside who only read it."""
    try:
        return decision._bare
    except AttributeError:
        args = decision._args
        decision._bare = None if args is None else strip(duplicate(args), decision._carriers)
        return decision._bare


def said(decision: Decision) -> tuple[dict[str, Any], ...]:
    """`decision.provenance` without copies of its values: for those inside who only read it."""
    return () if decision._args is None else provenance(decision._args, decision._carriers)

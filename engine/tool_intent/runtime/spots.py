"""The places of a call that rules are judged at."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from tool_intent.runtime.pointer import escape

#: The objects from a call down to a place in it.
Chain: TypeAlias = tuple[dict[str, Any], ...]


class Spot(NamedTuple):
    """A place that rules are judged at: its pointer, and the objects from the call down to it."""

    at: str
    chain: Chain


def spotted(args: dict[str, Any], kind: tuple[str, ...]) -> list[tuple[str, Chain]]:
    """Every place of a kind in a call's arguments, in argument order, each with its pointer."""
    if len(kind) == 2 and kind[1] == "[]":
        # The common case, a list right in the call.
        listed, at = args.get(kind[0]), f"/{escape(kind[0])}"
        if listed.__class__ is not list:
            return []
        return [(f"{at}/{n}", (args, one)) for n, one in enumerate(listed) if one.__class__ is dict]
    found: list[tuple[str, Any, Chain]] = [("", args, ())]
    for step in kind:
        below: list[tuple[str, Any, Chain]] = []
        for pointer, value, above in found:
            if value.__class__ is dict and step != "[]":
                if step in value:
                    below.append((f"{pointer}/{escape(step)}", value[step], (*above, value)))
            elif value.__class__ is list and step == "[]":
                below += [(f"{pointer}/{n}", inner, above) for n, inner in enumerate(value)]
        found = below
    return [
        (pointer, (*above, value)) for pointer, value, above in found if value.__class__ is dict
    ]

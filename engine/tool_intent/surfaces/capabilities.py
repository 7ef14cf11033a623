"""What a surface can do with a call."""

from __future__ import annotations

from typing import NamedTuple


class Capabilities(NamedTuple):
    """How far a surface goes, in words for people: showing fields to the model, refusing a call,
    asking a person, taking fields out again, telling what came of calls."""

    extend: str
    deny: str
    ask: str
    strip: str
    outcomes: str

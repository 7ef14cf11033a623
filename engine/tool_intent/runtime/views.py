"""A tool as one rank of the policy sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tool_intent.runtime.strip import Carrier


class View(NamedTuple):
    """The places that a rank's own and stronger entries name, with their fields, and the argument
    paths that its own and stronger catalogs give each role. What weaker sources add is not in it,
    so it changes no answer of this rank's rules."""

    carriers: tuple[Carrier, ...]
    roles: Mapping[str, tuple[tuple[str, ...], ...]]

"""tool-intent: the reason for each tool call, required, checked and kept.

The names below are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tool_intent.__about__ import __version__

if TYPE_CHECKING:
    from tool_intent.compiler.loading import PolicyError
    from tool_intent.guard.guard import Denied, Guard
    from tool_intent.runtime.decision import Decision
    from tool_intent.runtime.model import Call, Finding, Origin

__all__ = [
    "Call",
    "Decision",
    "Denied",
    "Finding",
    "Guard",
    "Origin",
    "PolicyError",
    "__version__",
]

_HOMES = {
    "Call": "tool_intent.runtime.model",
    "Decision": "tool_intent.runtime.decision",
    "Denied": "tool_intent.guard.guard",
    "Finding": "tool_intent.runtime.model",
    "Guard": "tool_intent.guard.guard",
    "Origin": "tool_intent.runtime.model",
    "PolicyError": "tool_intent.compiler.loading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tool_intent' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

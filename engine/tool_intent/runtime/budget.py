"""What one rule may spend on one call: counted, never timed, so that every evaluator agrees."""

from __future__ import annotations

from typing import Any, Final

#: Steps of one quantifier; a step is a test, or 64 characters of an argument read.
BUDGET: Final = 2_000_000


def affordable(listed: Any, cost: int, reads_arguments: bool, state: Any) -> bool:
    """Whether a condition of `cost` steps can be asked of every element of `listed`."""
    each = cost + (state.size() // 64 if reads_arguments else 0)
    return len(listed.items) * each <= BUDGET

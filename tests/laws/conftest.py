"""How many examples a law is tried on."""

from __future__ import annotations

import os


def examples(*, dev: int, ci: int) -> int:
    """`ci` where everything is run (`make test-all`), else `dev`."""
    return ci if os.environ.get("HYPOTHESIS_PROFILE") == "ci" else dev

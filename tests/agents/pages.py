"""Parts of docs/pi.md that tests write: between `<!-- NAME -->` and `<!-- end -->`.

`WRITE_DOCS=1` writes them anew; else they are compared.
"""

from __future__ import annotations

import os
import re
from typing import Final

from .installed import AGENTS

PAGE: Final = AGENTS.parents[1] / "docs" / "pi.md"


def part(name: str) -> str:
    """A part as the page has it."""
    return _found(name, PAGE.read_text(encoding="utf-8"))[1]


def expect(name: str, text: str) -> None:
    """Fail unless the page has this text as a part; write it where the tests are told to."""
    page = PAGE.read_text(encoding="utf-8")
    before, now, after = _found(name, page)
    if os.environ.get("WRITE_DOCS"):
        PAGE.write_text(f"{before}{text}\n{after}", encoding="utf-8")
    else:
        assert now.strip("\n") == text, f"{PAGE.name}: WRITE_DOCS=1 writes it anew"


def _found(name: str, page: str) -> tuple[str, str, str]:
    pattern = rf"(.*?<!-- {re.escape(name)} -->\n)(.*?)(<!-- end -->.*)"
    found = re.fullmatch(pattern, page, re.DOTALL)
    assert found is not None, f"{PAGE.name} has no part {name}"
    before, text, after = found.groups()
    return before, text, after

"""Pages that hold measured tables, between marks, so that nobody writes figures by hand.

<!-- eval: rules -->
| rule | … |
<!-- end -->
"""

from __future__ import annotations

import re
from typing import Final

from tool_intent.authoring.evaluation.report import Evaluation
from tool_intent.authoring.evaluation.tables import TABLES
from tool_intent.rules.diagnostics import nearest

#: A fenced block, which shows marks and asks for nothing; else a table between its marks.
_MARKED: Final = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)$"
    r"|^(?P<start><!-- eval: (?P<table>[^\n]*?) -->\n)(?P<held>.*?)(?P<end>^<!-- end -->$|\Z)",
    re.MULTILINE | re.DOTALL,
)


class BadPage(Exception):
    """A page asks for no table, for one that there is not, or does not say where one ends."""


def with_tables(page: str, text: str, evaluation: Evaluation) -> str:
    """The text of a page (called `page`) with its tables made anew. Raises BadPage."""

    asked = 0

    def made(match: re.Match[str]) -> str:
        nonlocal asked
        if match["fence"]:
            return match[0]
        asked += 1
        table, line = match["table"], text.count("\n", 0, match.start()) + 1
        if table not in TABLES:
            near = nearest(table, TABLES)
            mend = f"did you mean `{near}`?" if near else f"known are {', '.join(TABLES)}"
            raise BadPage(f"{page}:{line}: no table is called `{table}`; {mend}")
        if not match["end"]:
            raise BadPage(f"{page}:{line}: this table does not end; write <!-- end --> after it")
        return f"{match['start']}{TABLES[table](evaluation)}\n{match['end']}"

    made_anew = _MARKED.sub(made, text)
    if not asked:
        raise BadPage(f"{page}: it asks for no table; write <!-- eval: rules --> and <!-- end -->")
    return made_anew

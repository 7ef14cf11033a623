"""The comment for a pull request: a report in Markdown, in which no text of an agent is markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tool_intent.reports.model import Change, Mended, Reason, Summary, Totals
from tool_intent.reports.visible import code

#: Code hosts refuse comments of more than 65,536 characters.
MOST_CHARACTERS = 60_000
_MOST_ITEMS = 50
#: Characters of one reason that are shown.
_MOST_SAID = 600


def markdown(summary: Summary, title: str) -> str:
    """The report as Markdown that any code host renders, at most `MOST_CHARACTERS` long.

    All that comes from a ledger stands in code spans, on one line each; a code point that would
    not show is named.
    """
    blocks = [
        f"### Tool calls and their reasons: {code(title)}",
        _totals(summary.totals),
        *_rules(summary),
        *_changes(summary.changes),
        *_mended(summary.mended),
        *_untracked(summary),
        f"Ledger {_state(summary.integrity.state)}: {code(summary.integrity.message)}",
    ]
    text = ""
    for block in blocks:
        if len(text) + len(block) > MOST_CHARACTERS:
            return f"{text}The rest is left out: a comment holds no more. See the page.\n"
        text += block + "\n\n"
    return text.rstrip("\n") + "\n"


def _state(state: str) -> str:
    return {"consistent": "consistent", "broken": "**broken**"}.get(state, "not verified")


def _totals(t: Totals) -> str:
    lines = f"+{t.lines_added} −{t.lines_removed}"
    return (
        "| calls | denied | asked | mended | files changed | lines | untracked |\n"
        "|---:|---:|---:|---:|---:|---:|---:|\n"
        f"| {t.calls} | {t.denied} | {t.asked} | {t.mended} | {t.files} | {lines} | {t.untracked} |"
    )


def _rules(summary: Summary) -> Iterator[str]:
    if not summary.rules:
        return
    rows = [
        "#### Rules\n",
        "| rule | calls | denied | asked | warned | waived | mended | refusals to pass |",
        "|:---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for r in summary.rules[:_MOST_ITEMS]:
        tries = "–" if r.tries_to_pass is None else f"{r.tries_to_pass:.1f}"
        rows.append(
            f"| {code(r.rule, cell=True)} | {r.hits} | {r.denials} | {r.asks} | {r.warnings}"
            f" | {r.waived} | {r.mended} | {tries} |"
        )
    yield "\n".join(rows) + _more(summary.rules)


def _changes(changes: Sequence[Change]) -> Iterator[str]:
    if not changes:
        return
    yield "#### Changes and why"
    for change in changes[-_MOST_ITEMS:]:
        size = f"+{change.added} −{change.removed}" if change.hunks else "not shown"
        yield f"- {code(change.path)} ({size}), {code(change.call.tool)}\n" + _said(change.reasons)
    if more := _more(changes):
        yield more.strip()


def _said(reasons: Sequence[Reason]) -> str:
    lines = [
        f"  - {code(reason.at) + ' ' if len(reasons) > 1 and reason.at else ''}"
        f"{code(name)}: {_shortened(text)}"
        for reason in reasons
        for name, text in reason.fields
    ]
    return "\n".join(lines or ["  - no reason given"])


def _shortened(text: str) -> str:
    return code(text if len(text) <= _MOST_SAID else text[:_MOST_SAID] + "…")


def _mended(pairs: Sequence[Mended]) -> Iterator[str]:
    if not pairs:
        return
    yield "#### Denied, then mended"
    for pair in pairs[-_MOST_ITEMS:]:
        rules = dict.fromkeys(b.rule for call in pair.refused for b in call.broken)
        named = ", ".join(map(code, rules)) or "no rule named"
        times = "once" if len(pair.refused) == 1 else f"{len(pair.refused)} times"
        head = f"- {code(pair.passed.tool)} {code(pair.passed.target)}, refused {times} ({named})"
        yield f"{head}\n{_said(pair.passed.reasons)}"
    if more := _more(pairs):
        yield more.strip()


def _untracked(summary: Summary) -> Iterator[str]:
    if not summary.untracked:
        return
    yield "#### Untracked changes"
    yield "\n".join(
        f"- {code(u.path)}, between calls {u.after.number} and {u.before.number}"
        for u in summary.untracked[-_MOST_ITEMS:]
    ) + _more(summary.untracked)


def _more(items: Sequence[object]) -> str:
    return f"\n\nAnd {len(items) - _MOST_ITEMS} more." if len(items) > _MOST_ITEMS else ""

"""The numbers of a report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from tool_intent.ledger.members import Members
from tool_intent.reports.hunks import Contents, between
from tool_intent.reports.joining import calls_of
from tool_intent.reports.model import (
    Broken,
    Call,
    Change,
    Heat,
    Integrity,
    Mended,
    RuleRow,
    Summary,
    Totals,
    Untracked,
)

#: Effects that say something about a call; `off` and what a waiver turned off do not.
_HITS = ("note", "warn", "ask", "deny")


def summarise(records: Iterable[Members], contents: Contents, integrity: Integrity) -> Summary:
    """All that a report shows of `records`, which stand in the order of the ledger.

    `contents` gives the content with a git blob id, or None where it is not kept.
    """
    calls, marks = calls_of(records)
    changes = tuple(_changes(calls, contents))
    mended = _mended(calls)
    untracked = tuple(_untracked(calls, contents))
    stamps = [call.ts for call in calls]
    return Summary(
        first=min(stamps, default=""),
        last=max(stamps, default=""),
        totals=_totals(calls, changes, mended, untracked),
        rules=_rules(calls, mended),
        heat=_heat(calls),
        calls=calls,
        changes=changes,
        mended=mended,
        untracked=untracked,
        marks=marks,
        integrity=integrity,
    )


def _totals(
    calls: tuple[Call, ...],
    changes: tuple[Change, ...],
    mended: tuple[Mended, ...],
    untracked: tuple[Untracked, ...],
) -> Totals:
    verdicts = Counter(call.verdict for call in calls)
    fates = Counter(call.fate for call in calls)
    return Totals(
        calls=len(calls),
        allowed=verdicts["allow"],
        asked=verdicts["ask"],
        denied=verdicts["deny"],
        ran=fates["ok"] + fates["failed"],
        failed=fates["failed"],
        sessions=len({call.session for call in calls}),
        files=len({change.path for change in changes if change.added or change.removed}),
        lines_added=sum(change.added for change in changes),
        lines_removed=sum(change.removed for change in changes),
        mended=len(mended),
        untracked=len(untracked),
        redacted=sum(call.redacted for call in calls),
        imported=sum(bool(call.imported) for call in calls),
    )


def _changes(calls: tuple[Call, ...], contents: Contents) -> Iterator[Change]:
    for call in calls:
        if call.fate not in ("ok", "failed"):
            continue
        for file in call.files:
            if file.pre == file.post and file.pre:
                continue  # read, or written as it was
            hunks, added, removed, note = between(file.pre, file.post, contents)
            reasons = tuple(r for r in call.reasons if not file.entries or r.at in file.entries)
            yield Change(call, file.path, reasons or call.reasons, hunks, added, removed, note)


def _mended(calls: tuple[Call, ...]) -> tuple[Mended, ...]:
    """Calls that passed with the refusals they mend: those that the records name, else those of
    the same session and tool that would have carried out the very same arguments."""
    by_id = {call.id: call for call in calls}
    waiting: dict[tuple[str, str, str], list[Call]] = defaultdict(list)
    found: list[Mended] = []
    for call in calls:
        same = (call.session, call.tool, call.executed)
        if call.fate == "refused":
            waiting[same].append(call)
            continue
        alike = tuple(waiting.pop(same, ())) if call.executed else ()
        if refused := _named(call, by_id) or alike:
            found.append(Mended(refused, call))
    return tuple(found)


def _named(call: Call, by_id: dict[str, Call]) -> tuple[Call, ...]:
    chain: list[Call] = []
    seen = {call.id}
    while (before := by_id.get(call.mends)) is not None and before.id not in seen:
        seen.add(before.id)
        chain.append(before)
        call = before
    return tuple(reversed(chain))


def _hits(call: Call) -> dict[str, Broken]:
    """The rules that a call broke, each once, at its strongest effect."""
    hits: dict[str, Broken] = {}
    for broken in sorted(
        (b for b in call.broken if b.effect in _HITS), key=lambda b: _HITS.index(b.effect)
    ):
        hits[broken.rule] = broken
    return hits


def _rules(calls: tuple[Call, ...], mended: tuple[Mended, ...]) -> tuple[RuleRow, ...]:
    effects: dict[str, Counter[str]] = defaultdict(Counter)
    waived: Counter[str] = Counter()
    tools: dict[str, dict[str, None]] = defaultdict(dict)
    origins: dict[str, str] = {}
    for call in calls:
        for rule, broken in _hits(call).items():
            effects[rule][broken.effect] += 1
            tools[rule][call.tool] = None
            origins[rule] = broken.origin
        waived.update({broken.rule for broken in call.broken if broken.waived})
    tries = _tries(mended)
    rows = (
        RuleRow(
            rule=rule,
            origin=origins.get(rule, ""),
            hits=effects[rule].total(),
            denials=effects[rule]["deny"],
            asks=effects[rule]["ask"],
            warnings=effects[rule]["warn"] + effects[rule]["note"],
            waived=waived[rule],
            mended=len(tries.get(rule, ())),
            tries=tuple(tries.get(rule, ())),
            tools=tuple(tools[rule]),
        )
        for rule in {**dict.fromkeys(effects), **dict.fromkeys(waived)}
    )
    return tuple(sorted(rows, key=lambda row: (-row.denials, -row.hits, row.rule)))


def _tries(mended: tuple[Mended, ...]) -> dict[str, list[int]]:
    tries: dict[str, list[int]] = defaultdict(list)
    for pair in mended:
        held = {b.rule for c in pair.refused for b in c.broken if b.effect in ("ask", "deny")}
        for rule in held:
            tries[rule].append(len(pair.refused))
    return tries


def _heat(calls: tuple[Call, ...]) -> Heat:
    cells: Counter[tuple[str, str]] = Counter()
    for call in calls:
        cells.update((rule, call.tool) for rule in _hits(call))
    by_rule: Counter[str] = Counter()
    by_tool: Counter[str] = Counter()
    for (rule, tool), count in cells.items():
        by_rule[rule] += count
        by_tool[tool] += count
    rules = tuple(sorted(by_rule, key=lambda rule: (-by_rule[rule], rule)))
    tools = tuple(sorted(by_tool, key=lambda tool: (-by_tool[tool], tool)))
    return Heat(rules, tools, tuple(tuple(cells[rule, tool] for tool in tools) for rule in rules))


def _untracked(calls: tuple[Call, ...], contents: Contents) -> Iterator[Untracked]:
    """Where a call found another content than the call before it had left."""
    left: dict[tuple[str, str], tuple[str | None, Call]] = {}
    begun = [(call.span[0], call) for call in calls]
    ended = [(call.span[1], call) for call in calls if call.span[1] is not None]
    # Calls may overlap: what one finds is what there was as it began.
    for at, call in sorted([*begun, *ended], key=lambda event: event[0]):
        if at == call.span[1]:
            left |= {
                (call.worktree, file.path): (file.post, call)
                for file in call.files
                if file.post != ""
            }
            continue
        for file in call.found:
            place = (call.worktree, file.path)
            known = left.get(place)
            if known is not None and file.pre != "" and file.pre != known[0]:
                hunks, _, _, note = between(known[0], file.pre, contents)
                yield Untracked(file.path, known[1], call, hunks, note)
            if file.pre != "":
                left[place] = (file.pre, call)

"""The text that a model reads when its call is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tool_intent.runtime.model import SENIORITY, STRENGTH, Finding
from tool_intent.runtime.pointer import plain, quoted, spoken, tokens

#: The whole message and one line of it, in characters.
LONGEST_MESSAGE = 1_500
LONGEST_LINE = 400

_OPENING = {
    "deny": "tool-intent denied this {tool}; nothing was executed.",
    "ask": "tool-intent needs a person's approval for this {tool}; nothing was executed.",
}
_WEAKER = {"note": " (a note)", "warn": " (a warning)"}
#: Findings that no other arguments of the same call would mend.
_BEYOND_THE_MODEL = frozenset(
    {"audit/unrecorded", "policy/broken", "policy/missing", "engine/rule-error"}
)
_BEYOND_THE_CALL = frozenset({"tools/unlisted", "fields/collision"})
#: Findings whose message is the engine's own, whoever wrote the policy: their ids say nothing more.
_OURS = ("fields/", "entries/", "args/")
#: Rules that are told together where all are unknown for one cause, and those that are then named.
_SEVERAL = 3
_MOST_NAMED = 6
#: Characters of what a policy says that are quoted beside words of ours.
_LONGEST_QUOTE = 200


def model_message(tool: str, verdict: str, findings: Sequence[Finding]) -> str:
    """Strongest and highest-ranked findings first, one line a rule with its places.

    At most about 1,500 characters; what does not fit is counted. No argument is echoed.
    """
    opening = _OPENING[verdict].format(tool=plain(tool))
    closing = _closing(findings)
    room = LONGEST_MESSAGE - len(opening) - len(closing) - 40
    lines: list[str] = []
    groups = _grouped(findings)
    for n, group in enumerate(groups):
        line = _line(group)
        room -= len(line) + 1
        if room < 0 and lines:
            rest = len(groups) - n
            lines.append(f"- … and {rest} more {'finding' if rest == 1 else 'findings'}.")
            break
        lines.append(line)
    return "\n".join([opening, *lines, closing])


def _closing(findings: Iterable[Finding]) -> str:
    refusing = {f.rule for f in findings if STRENGTH[f.effect] >= STRENGTH["ask"]}
    if refusing & _BEYOND_THE_MODEL:
        return "Do not send it again: tell the user what is said above, and stop."
    if refusing & _BEYOND_THE_CALL:
        return "Sending this call again changes nothing: use another tool, or ask the user."
    return "Send the call again with these corrected."


def _grouped(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Findings of one rule about one field together, and those of several rules that are unknown
    for the same cause; the strongest group first."""
    rules: dict[tuple[str | None, str], set[str]] = {}
    for finding in findings:
        rules.setdefault((finding.unknown, finding.effect), set()).add(finding.rule)
    groups: dict[tuple[str | None, ...], list[Finding]] = {}
    for finding in findings:
        key: tuple[str | None, ...] = (finding.unknown, finding.effect)
        if finding.unknown is None or len(rules[finding.unknown, finding.effect]) < _SEVERAL:
            key = (finding.rule, finding.message, finding.fix, finding.effect)
        groups.setdefault(key, []).append(finding)

    def seniority(group: list[Finding]) -> int:
        ranks = [0 if f.origin is None else SENIORITY[f.origin.rank] for f in group]
        return min(ranks)

    return sorted(groups.values(), key=lambda g: (-STRENGTH[g[0].effect], seniority(g)))


def _line(group: list[Finding]) -> str:
    first = group[0]
    where = _places([f.at for f in group])
    ours = first.rule.startswith(_OURS)
    names = list(dict.fromkeys(f.rule for f in group))
    weaker = _WEAKER.get(first.effect, "")
    if len(names) > 1:
        line = _unknown(group, names) + weaker + "."
    elif ours or first.who is None:
        said = _placed(first, where)
        named = "" if ours else f" ({first.rule})"
        end = said[-1] if said.endswith((".", "!", "?")) else "."
        line = f"- {said.removesuffix(end)}{named}{weaker}{end}"
        if first.fix and first.who is None:
            line += f" {first.fix}"
        elif first.fix and first.who is not None:
            line += f" {_attributed(first.who, first.fix, _LONGEST_QUOTE)}"
    else:
        start = f"- {where}: " if where else "- "
        named = f" ({first.rule}){weaker}"
        words = first.message if first.fix is None else f"{first.message} {first.fix}"
        room = LONGEST_LINE - len(start) - len(named) - len(plain(first.who, 60)) - 9
        line = start + _attributed(first.who, words, max(room, _LONGEST_QUOTE)) + named
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


def _unknown(group: list[Finding], names: list[str]) -> str:
    """Several rules for which one thing could not be told."""
    where = _places(list(dict.fromkeys(_entry(f.at) for f in group)))
    start = f"- {where}: " if where else "- "
    more = len(names) - _MOST_NAMED
    named = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{start}{group[0].unknown}, so {len(names)} rules apply: {named}"


def _entry(pointer: str) -> str:
    """The element of a list that a pointer leads to or into; the call where it is none."""
    steps = pointer.split("/")
    while steps and not steps[-1].isdecimal():
        steps.pop()
    return "/".join(steps)


def _placed(first: Finding, where: str) -> str:
    """What a finding says, the place in the stead of the field's name that it begins with."""
    said = first.message
    last = (tokens(first.at) or [""])[-1]
    if first.rule == "fields/missing":
        said = said.replace(" is required; what was sent is blank", " is blank", 1)
        said = said.replace(" is required", " is missing", 1)
    for words in (f"{last} ", f"The {last} "):
        if last and said.startswith(words):
            return f"{where} {said[len(words) :]}"
    return f"{where}: {said}" if where else said


def _attributed(who: str, words: str, longest: int) -> str:
    """A policy's own words, marked as such: below user rank anyone may have written them."""
    return f"{plain(who, 60)} says: {quoted(words, longest)}"


def _places(pointers: list[str]) -> str:
    """`/edits/0/intent`, `/edits/2/intent` as `edits[0,2].intent`."""
    shown: dict[tuple[str, str], list[str]] = {}
    for pointer in pointers:
        parts = tokens(pointer)
        at = next((n for n in range(len(parts) - 1, 0, -1) if parts[n].isdecimal()), None)
        if at is None:
            shown.setdefault((spoken(pointer), ""), [])
            continue
        cut = pointer.split("/")
        before = spoken("/".join(cut[: at + 1]))
        after = spoken("".join(f"/{c}" for c in cut[at + 2 :]))
        shown.setdefault((before, f".{after}" if after else ""), []).append(parts[at])
    texts = [
        f"{before}[{_runs(numbers)}]{after}" if numbers else before
        for (before, after), numbers in shown.items()
    ]
    return ", ".join(t for t in texts[:6] if t) + (" and others" if len(texts) > 6 else "")


def _runs(numbers: list[str]) -> str:
    """`0, 1, 2, 5` as `0..2,5`, at most eight runs."""
    runs: list[list[int]] = []
    for n in sorted({int(x) for x in numbers}):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    texts = [str(a) if a == b else f"{a},{b}" if b == a + 1 else f"{a}..{b}" for a, b in runs]
    return ",".join(texts[:8]) + (",…" if len(texts) > 8 else "")

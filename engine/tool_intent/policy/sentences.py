"""Sentences of the rule language where policy files hold them: `.rules` files, a `rules: |` block,
the `when:` of an entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from yaml import Node

from tool_intent.policy.model import Rule, Scopes
from tool_intent.policy.positions import Document, Report
from tool_intent.policy.scalars import is_block, is_verbatim, moved, offsets
from tool_intent.rules import tree as t
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.rules.environment import Environment
from tool_intent.runtime.model import Origin, Rank

#: Rules of one file, from repo rank down.
MOST_RULES: Final = 5_000


class RuleText(NamedTuple):
    """What a file says in the rule language. Where it is not `sound` some of it could not be read:
    `lost` are the names that seem to have been given there."""

    tree: t.RuleFile
    lost: frozenset[str]
    sound: bool


def read_rules(
    text: str, file: str, report: Report, *, capped: bool, lines: int = 0, columns: int = 0
) -> RuleText:
    """The rules in `text`, which begins `lines` down and `columns` in. What is wrong goes to
    `report`; `capped` limits its size and the number of its rules."""
    # Policies without rules do without the parser.
    from tool_intent.rules.parse import parse_partly

    parsed = parse_partly(
        text, file, line_offset=lines, column_offset=columns,
        max_rules=MOST_RULES if capped else None,
    )  # fmt: skip
    report.told(parsed.diagnostics)
    return RuleText(parsed.tree, parsed.lost, not parsed.diagnostics)


def read_block(document: Document, report: Report, *, capped: bool) -> RuleText | None:
    """The rules under `rules:` of a policy file, if it has any."""
    data = document.data
    text = data.get("rules") if isinstance(data, dict) else None
    if not isinstance(text, str) or not text:
        return None
    node = document.value(["rules"])
    if not is_block(node):
        report.error(
            "policy/rules", document.file, document.span(node),
            "rules stand in a block, which keeps their lines",
            "write `rules: |` and the rules below it, indented",
        )  # fmt: skip
        return RuleText(t.RuleFile(()), frozenset(), False)
    lines, columns = offsets(document, node)
    return read_rules(text, document.file, report, capped=capped, lines=lines, columns=columns)


def read_condition(
    text: str, document: Document, node: Node, key: str, environment: Environment, report: Report
) -> t.Condition | None:
    """The condition of an entry for the tools that `key` means, checked; None where it is wrong."""
    from tool_intent.rules.check import check_condition
    from tool_intent.rules.parse import parse_condition

    verbatim = is_verbatim(document, node)
    lines, columns = offsets(document, node) if verbatim else (0, 0)
    condition, found = parse_condition(text, document.file, lines, columns)
    if condition is not None:
        found = check_condition(condition, document.file, [key], environment).diagnostics
    report.told(found if verbatim else moved(found, document, node))
    return None if _is_wrong(found) else condition


def check_file(rules: RuleText, file: str, environment: Environment, report: Report) -> bool:
    """Whether all rules of a file can be used; what is wrong with them goes to `report`."""
    from tool_intent.rules.check import check_rules

    found = check_rules(rules.tree, file, environment, lost=rules.lost).diagnostics
    report.told(found)
    return rules.sound and not _is_wrong(found)


def flat_rules(
    tree: t.RuleFile,
    file: str,
    rank: Rank,
    policy: str,
    lists: Mapping[str, tuple[str, ...]],
    values: Mapping[str, Any],
) -> Iterable[Rule]:
    """The rules of a file that `check_file` found sound. `lists` are the phrases of each word list
    by the name it is written with, `values` what options are set to."""
    scopes = Scopes(
        words={s.name: _phrases(s, lists) for s in tree.statements if isinstance(s, t.Words)},
        defines={s.name: s.expression for s in tree.statements if isinstance(s, t.Define)},
        options={
            s.name: values.get(s.name, s.value) for s in tree.statements if isinstance(s, t.Option)
        },
    )
    for rule in tree.rules:
        at = rule.id_span
        yield Rule(
            id=rule.id,
            tree=rule,
            scopes=scopes,
            targets=tuple(target.name for target in rule.targets),
            excepted=tuple(target.name for target in rule.excepted),
            effect=rule.verdict.effect or "deny",
            floor=rule.floor.effect if rule.floor is not None else None,
            origin=Origin(file, at.line, at.column, rank),
            policy=policy,
            declared=rule.verdict.effect or "deny",
        )


def _phrases(words: t.Words, lists: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    phrases = [item.value for item in words.items]
    for named in words.files:
        phrases += lists[named.value]
    return tuple(dict.fromkeys(phrases))


def _is_wrong(found: Iterable[Diagnostic]) -> bool:
    return any(d.severity == "error" for d in found)

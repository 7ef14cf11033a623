"""The numbers of a report, from records on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_intent.ledger.objects import ObjectStore
from tool_intent.ledger.reading import records
from tool_intent.reports.hunks import MOST_BYTES, MOST_LINES, between
from tool_intent.reports.model import Integrity, Summary
from tool_intent.reports.opening import report_of
from tool_intent.reports.summary import summarise

from .ledgers import Ledger, call, finding
from .story import FEES, story


def summary_of(ledger: Ledger) -> Summary:
    return report_of(str(ledger.folder))


def test_the_totals_count_every_call_and_what_came_of_it(tmp_path: Path) -> None:
    totals = summary_of(story(tmp_path)).totals
    assert (totals.calls, totals.allowed, totals.asked, totals.denied) == (10, 6, 1, 3)
    assert (totals.ran, totals.failed, totals.sessions) == (6, 1, 2)
    assert (totals.files, totals.lines_added, totals.lines_removed) == (3, 14, 3)
    assert (totals.mended, totals.untracked, totals.redacted) == (1, 1, 1)


def test_a_rule_tells_its_hits_and_the_refusals_before_a_call_passed(tmp_path: Path) -> None:
    rows = {row.rule: row for row in summary_of(story(tmp_path)).rules}
    fluff = rows["fluff/names-nothing"]
    assert (fluff.hits, fluff.denials, fluff.mended, fluff.tries_to_pass) == (1, 1, 1, 2.0)
    missing = rows["fields/missing"]
    assert (missing.hits, missing.denials, missing.warnings) == (2, 1, 1)
    assert (missing.mended, missing.tries_to_pass) == (0, None)
    assert missing.tools == ("read", "mcp__github__create_pull_request")
    assert (rows["acme/ticket"].waived, rows["acme/ticket"].denials) == (1, 0)
    assert rows["shell/force-push"].asks == 1


def test_a_rule_that_fires_twice_on_a_call_is_one_hit(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.decide("bash", "deny", rules=[finding("a/b", "warn"), finding("a/b", "deny", "/intent")])
    [row] = summary_of(ledger).rules
    assert (row.hits, row.denials, row.warnings) == (1, 1, 0)


def test_the_heat_map_counts_calls_by_rule_and_tool(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for tool, count in (("bash", 3), ("write", 1)):
        for _ in range(count):
            ledger.decide(tool, "deny", rules=[finding("a/b", "deny"), finding("a/b", "deny", "")])
    ledger.decide("write", rules=[finding("c/d", "warn")])
    heat = summary_of(ledger).heat
    assert (heat.rules, heat.tools) == (("a/b", "c/d"), ("bash", "write"))
    assert (heat.counts, heat.most) == (((3, 1), (0, 1)), 3)


def test_a_call_sent_again_with_the_same_arguments_is_mended(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.decide("bash", "deny", command="make", rules=[finding("a/b", "deny")])
    ledger.decide("bash", "deny", command="make", session="another")
    ledger.decide("bash", "deny", command="make all")
    ledger.decide("bash", command="make", reasons=[call("Build it", "The tests need it.")])
    [pair] = summary_of(ledger).mended
    assert ([c.number for c in pair.refused], pair.passed.number) == ([1], 4)


def test_a_person_who_lets_an_ask_pass_leaves_no_refusal(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    asked = ledger.decide("bash", "ask", command="make")
    ledger.carry_out(asked)
    ledger.decide("bash", command="make")
    assert summary_of(ledger).mended == ()


def test_records_that_mend_each_other_in_a_ring_end(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    first = ledger.decide("bash", "deny", command="a")
    ledger.decide("bash", command="b", mended=first)
    written = list(records(str(tmp_path)))
    written[1]["decision"]["mended"] = written[2]["id"]
    found = summarise(written, ObjectStore(str(tmp_path)).get, Integrity("unchecked", ""))
    assert [len(pair.refused) for pair in found.mended] == [1]


def test_a_change_between_two_calls_is_untracked(tmp_path: Path) -> None:
    found = summary_of(story(tmp_path)).untracked
    assert [(u.path, u.after.number, u.before.number) for u in found] == [
        ("src/payments/fees.py", 4, 7)
    ]
    changed = [line.text for line in found[0].hunks[0].lines if line.kind == "+"]
    assert changed == ['RATE: Final = Decimal("0.029")']


def test_what_a_call_that_overlaps_changed_is_not_untracked(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.change("a.py", b"1\n")
    first, second = ledger.decide("edit", path="a.py"), ledger.decide("edit", path="a.py")
    ledger.carry_out(second, {"a.py": b"1\n2\n"})
    ledger.carry_out(first, {"a.py": b"1\n2\n3\n"})
    ledger.decide("edit", path="a.py")
    assert summary_of(ledger).untracked == ()


def test_another_work_tree_is_another_file(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.change("a.py", b"1\n")
    ledger.carry_out(ledger.decide("write", path="a.py"), {"a.py": b"2\n"})
    ledger.change("a.py", b"other\n")
    ledger.decide("write", path="a.py", actor={"worktree": "/elsewhere"})
    assert summary_of(ledger).untracked == ()


def test_a_change_stands_beside_the_reasons_of_its_entries(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    reasons = [call(f"Reason {n}", at=f"/edits/{n}") for n in range(3)]
    edit = ledger.decide("edit", path="a.py", reasons=reasons)
    ledger.carry_out(edit, {"a.py": b"1\n"}, entries=["/edits/1", "/edits/2"])
    [change] = summary_of(ledger).changes
    assert [reason.at for reason in change.reasons] == ["/edits/1", "/edits/2"]
    assert (change.added, change.removed) == (1, 0)


def test_a_refused_call_changed_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.decide("write", "deny", path="a.py")
    assert summary_of(ledger).changes == ()


def test_members_of_another_type_are_left_out(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    odd = {"session": 1, "call": [], "entries": {"at": 1}, "actions": "x", "decision": {"rules": 2},
           "files": [3], "redactions": None, "imported": "pi"}  # fmt: skip
    ledger.append("decision", odd)
    ledger.append("outcome", {"of": 3, "ok": 1, "files": "x"})
    [found] = summary_of(ledger).calls
    assert (found.tool, found.verdict, found.reasons, found.broken) == ("", "", (), ())


def test_values_that_are_no_text_are_shown_as_json(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.decide("bash", reasons=[{"at": "", "risk": 3, "reviewed": True, "ticket": None}])
    [reason] = summary_of(ledger).calls[0].reasons
    assert reason.fields == (("risk", "3"), ("reviewed", "true"), ("ticket", "null"))


def test_a_session_and_a_time_choose_calls_and_their_outcomes(tmp_path: Path) -> None:
    story(tmp_path)
    chosen = report_of(str(tmp_path), session="c41d")
    assert (chosen.totals.calls, chosen.totals.ran) == (4, 2)
    later = report_of(str(tmp_path), since=chosen.calls[1].ts)
    assert later.totals.calls == 3
    assert later.integrity.state == "consistent"


def test_a_changed_byte_makes_the_ledger_broken_and_hides_nothing(tmp_path: Path) -> None:
    ledger = story(tmp_path)
    [segment] = ledger.folder.glob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"It should be", b"It shoulD be"))
    found = summary_of(ledger)
    assert (found.totals.calls, found.integrity.state) == (10, "broken")
    assert "ledger-2026-11-30-001.jsonl:5" in found.integrity.faults[0]


CONTENTS = {"a": b"1\n2\n", "b": b"1\n2", "z": b"\0", "big": b"x" * (MOST_BYTES + 1),
            "many": b"x\n" * (MOST_LINES + 50)}  # fmt: skip


@pytest.mark.parametrize(
    ("pre", "post", "note"),
    [
        ("a", "", "is not recorded"),
        ("a", "a", "left as it was"),
        ("a", "gone", "no longer kept"),
        ("a", "big", "more than 1,048,576 bytes"),
        ("z", "a", "is no text"),
        ("a", "b", "only the end of the last line"),
    ],
)
def test_a_change_without_lines_says_why(pre: str, post: str, note: str) -> None:
    hunks, added, removed, said = between(pre, post, CONTENTS.get)
    assert (hunks, added, removed) == ((), 0, 0)
    assert note in said


def test_a_long_hunk_is_cut_and_counted() -> None:
    [hunk], added, _, note = between(None, "many", CONTENTS.get)
    assert (added, len(hunk.lines), hunk.left_out, note) == (MOST_LINES + 50, MOST_LINES, 50, "")


def test_lines_carry_the_numbers_of_their_sides() -> None:
    contents = {"a": FEES, "b": FEES.replace(b"* RATE", b"/ RATE")}
    [hunk], _, _, _ = between("a", "b", contents.get)
    assert [(x.kind, x.before, x.after) for x in hunk.lines][:3] == [
        (" ", 7, 7), (" ", 8, 8), (" ", 9, 9),
    ]  # fmt: skip
    assert [(x.kind, x.before, x.after) for x in hunk.lines][-2:] == [
        ("-", 10, None),
        ("+", None, 10),
    ]


@given(before=st.lists(st.sampled_from("abcd"), max_size=14),
       after=st.lists(st.sampled_from("abcd"), max_size=14))  # fmt: skip
def test_hunks_turn_one_side_into_the_other(before: list[str], after: list[str]) -> None:
    contents = {"a": "".join(f"{x}\n" for x in before).encode(),
                "b": "".join(f"{x}\n" for x in after).encode()}  # fmt: skip
    hunks, added, removed, _ = between("a", "b", contents.get)
    made = list(before)
    for line in reversed([line for hunk in hunks for line in hunk.lines]):
        if line.before is not None:
            assert before[line.before - 1] == line.text
        if line.after is not None:
            assert after[line.after - 1] == line.text
        if line.kind == "-":
            del made[(line.before or 0) - 1]
    new = {line.after for hunk in hunks for line in hunk.lines if line.kind == "+"}
    kept = [line for number, line in enumerate(after, 1) if number not in new]
    assert made == kept
    assert (len(before) - removed, len(after) - added) == (len(made), len(kept))


def test_an_ask_that_nobody_let_pass_is_a_refusal(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.decide("bash", "ask", command="make", rules=[finding("a/b", "ask")])
    ledger.decide("bash", command="make")
    found = summary_of(ledger)
    assert [len(pair.refused) for pair in found.mended] == [1]
    assert found.rules[0].tries == (1,)


def test_a_session_is_reported_with_those_that_it_started(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for own in ({"id": "deep", "parent": "agent"}, {"id": "agent", "parent": "c41d"}, {"id": "x"}):
        ledger.carry_out(ledger.append("decision", {"session": own, "call": {"tool": "read"}}))
    chosen = report_of(str(tmp_path), session="c4")
    assert [call.session for call in chosen.calls] == ["deep", "agent"]
    assert chosen.totals.ran == 2

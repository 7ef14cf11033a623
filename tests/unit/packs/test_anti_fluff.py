"""std/anti-fluff on input made to pass it or to cost much, and against its own words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load
from tool_intent.policy.sources import shipped
from tool_intent.rules.check import check_text
from tool_intent.runtime.model import Call

GOOD: Final = {
    "intent": "Retry the first call",
    "rationale": "#412: the broker drops the first call after five idle minutes.",
}
RULES: Final = Path(shipped()) / "packs" / "std" / "anti-fluff.rules"


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    cwd = str(tmp_path_factory.mktemp("workspace"))
    return load(["std/anti-fluff"], cwd=cwd, found=False)


def found(pack: Artifact, **args: Any) -> dict[str, str]:
    """The rules that a call of `bash` breaks, with their effects."""
    call = Call(1, "bash", {"command": "npm test"} | args, {}, None, 0.0)
    return {f.rule: f.effect for f in pack.decide(call, pack.new_history()).findings}


@pytest.mark.parametrize(
    ("rationale", "rule"),
    [
        ("needed " * 150_000, "fields/unreadable"),
        ("needed " * 9_000, "fluff/no-reason"),
        ("word " * 10_000, "fluff/no-reason"),
        ("The rep\u043erter's case is in that suite.", "fluff/script"),
        ("It is ne\u200bcess\u200dary to ru\ufeffn the t\u00adests.", "fluff/no-reason"),
        ("\u202eIt is required to complete the task.\u202c", "fluff/no-reason"),
        ("\U0001f680\U0001f680 \u2728", "fluff/placeholder"),
        ("ｎ／ａ", "fluff/placeholder"),
        (
            ("\u05d9\u05e9 \u05dc\u05d4\u05e8\u05d9\u05e5 \u05d0\u05ea "
            "\u05d4\u05d1\u05d3\u05d9\u05e7\u05d5\u05ea."),
            "fluff/unread-script",
        ),
        ("因为需要运行这个测试。", "fluff/no-reason"),
        ("必要なのでテストを実行します。", "fluff/no-reason"),
        ("Conformément aux bonnes pratiques.", "fluff/no-reason"),
        ("La calidad es fundamental en todo proyecto.", "fluff/no-reason"),
        ("Dies entspricht den üblichen bewährten Verfahren.", "fluff/no-reason"),
    ],
)  # fmt: skip
def test_hostile_and_empty_reasons_break_the_rule_that_is_about_them(
    pack: Artifact, rationale: str, rule: str
) -> None:
    assert rule in found(pack, intent="Improve the outcome", rationale=rationale)


def test_a_good_reason_breaks_nothing_and_neither_does_one_of_another_language(
    pack: Artifact,
) -> None:
    for rationale in (
        GOOD["rationale"],
        "Beim Ausfall am 3.6. ließen sich Gateway und Service nicht zuordnen.",
        "53 e-mails de facture ne sont jamais partis le 2 juin.",
        "La máquina del cliente no tiene internet y el caso 77 falla por un céntimo.",
        "上次直接 reload 漏了分号，导致网关中断 6 分钟。",
        "先週の更新後、請求書のPDFが三件空になったと経理から連絡。",
    ):
        assert found(pack, intent="Retry the first call", rationale=rationale) == {}, rationale


def test_arguments_200_levels_deep_are_refused_or_judged(pack: Artifact) -> None:
    for levels in (150, 250):
        deep: Any = "x"
        for _ in range(levels):
            deep = [deep]
        assert (found(pack, deep=deep, **GOOD) == {}) is (levels < 200)


def test_of_a_large_argument_as_much_is_read_as_of_a_small_one(pack: Artifact) -> None:
    said = {"intent": "Keep the draft", "rationale": "The zebra crossing quagga okapi."}
    text = "x = 1\n" * 800
    for content in (text, text * 20 + " zebra crossing quagga okapi"):
        call = Call(1, "write", {"path": "a.py", "content": content} | said, {}, None, 0.0)
        assert pack.decide(call, pack.new_history()).findings == ()


def printed() -> list[str]:
    tree, _ = check_text(RULES.read_text("utf-8"), "anti-fluff.rules")
    assert tree is not None
    texts: list[str] = []
    for rule in tree.rules:
        for message in (rule.verdict.message, rule.fix):
            if message is not None:
                whole = "".join(part for part in message.parts if isinstance(part, str))
                texts += [whole, *re.findall("“([^”]+)”", whole)]
    return texts


@pytest.mark.parametrize("text", printed())
def test_what_a_denial_prints_is_denied_when_it_is_handed_back(pack: Artifact, text: str) -> None:
    assert "deny" in found(pack, intent="Retry the first call", rationale=text).values()


def test_no_denial_says_which_words_would_relax_it() -> None:
    for text in printed():
        assert not re.search(r"(?i)\b(?:ticket|number|back ?tick|cve|rfc|unit|percent)", text), text


def test_the_same_reason_for_another_call_is_refused_unless_the_first_one_failed(
    pack: Artifact,
) -> None:
    for outcome, refused in (("tried", True), ("passed", True), ("failed", False)):
        history = pack.new_history()
        first = Call(1, "bash", {"command": "make a"} | GOOD, {}, None, 0.0)
        assert pack.decide(first, history).findings == ()
        if outcome != "tried":
            history.outcome(0, outcome)  # type: ignore[arg-type]
        other = Call(2, "bash", {"command": "make b"} | GOOD, {}, None, 0.0)
        rules = [f.rule for f in pack.decide(other, history).findings]
        assert rules == ["fluff/repeated"] * refused


def test_the_same_call_may_be_made_again_for_the_same_reason(pack: Artifact) -> None:
    history = pack.new_history()
    call = Call(1, "bash", {"command": "make a"} | GOOD, {}, None, 0.0)
    assert pack.decide(call, history).findings == ()
    assert pack.decide(call, history).findings == ()


def test_a_teams_own_phrases_and_thresholds_count(tmp_path: Path) -> None:
    said = {"intent": "Retry the first call", "rationale": "Because the moon is waxing."}
    file = tmp_path / "p.yaml"
    options = ("{more_words: [moon waxing]}", "{more_phrases: [the moon is waxing]}", "{bare: 4}")
    for given in ("{}", *options):
        file.write_text(
            f"version: 1\nextends: std/anti-fluff\noptions: {{std/anti-fluff: {given}}}\n"
            if given != "{}"
            else "version: 1\nextends: std/anti-fluff\n",
            encoding="utf-8",
        )
        pack = load([str(file)], cwd=str(tmp_path), found=False)
        assert ("fluff/no-reason" in found(pack, **said)) is (given != "{}"), given


def test_strict_refuses_what_the_pack_warns_of(tmp_path: Path) -> None:
    said = {"intent": "Ensure quality", "rationale": "Zebras and okapis are important."}
    warned = found(load(["std/anti-fluff"], cwd=str(tmp_path), found=False), **said)
    denied = found(load(["std/strict"], cwd=str(tmp_path), found=False), **said)
    assert warned["fluff/filler"] == "warn"
    assert denied["fluff/filler"] == "deny"

"""Laws of telling who wrote a line."""

from __future__ import annotations

from itertools import pairwise

import hypothesis.strategies as st
from hypothesis import given, settings

from tool_intent.ledger.answering import Answer
from tool_intent.ledger.attribution.alignment import aligned
from tool_intent.ledger.attribution.hops import Hop, Step, related
from tool_intent.ledger.attribution.model import Attributed
from tool_intent.ledger.attribution.replaying import Replay
from tool_intent.ledger.attribution.runs import runs
from tool_intent.ledger.objects import oid_of
from tool_intent.ledger.sealing import note_of, sealed_in

from ..attribution.fuzz import History, history
from .conftest import examples

_sequences = st.lists(st.sampled_from("abcdefgh"), max_size=40)
_histories = st.integers(0, 2**32).map(lambda seed: history(seed, operations=12))


@given(_sequences, _sequences)
@settings(max_examples=examples(dev=100, ci=5_000))
def test_an_alignment_rises_in_both_sequences_and_pairs_what_is_equal(
    a: list[str], b: list[str]
) -> None:
    pairs = aligned(a, b, lambda one: one < "e")
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))
    assert aligned(a, a, lambda one: True) == [(n, n) for n in range(len(a))]


@given(_histories, st.sampled_from([40, 64]))
@settings(max_examples=examples(dev=5, ci=200))
def test_what_was_sealed_says_the_same_as_the_ledger(made: History, digits: int) -> None:
    found = _told(made, "file")
    note = note_of({"file": Answer(found.text, runs(found), {})}, digits)
    assert note.isascii()
    sealed = sealed_in(note, "file", found.text)
    assert sealed is not None
    assert runs(sealed.known) == runs(found)


@given(_histories, _histories)
@settings(max_examples=examples(dev=5, ci=200))
def test_what_happened_to_other_files_changes_no_answer(one: History, other: History) -> None:
    alone = _told(one, "file")
    beside = _told(one, "file", _steps(other, "other", "o")[0])
    assert runs(beside) == runs(alone)


def _told(made: History, path: str, more: list[Step] | None = None) -> Attributed:
    steps, contents = _steps(made, path, "")
    both = [step for pair in zip(steps, more or steps, strict=False) for step in pair]
    mixed = steps if more is None else [*both, *steps[len(both) // 2 :]]
    text = made.steps[-1].post.encode()
    replay = Replay(contents.get)
    replay.run(related(mixed, [path]), [oid_of(text)])
    return replay.attributed(path, oid_of(text), text)


def _steps(made: History, path: str, prefix: str) -> tuple[list[Step], dict[str, bytes]]:
    """The recorded steps of a history, and the contents that they name."""
    contents: dict[str, bytes] = {}

    def put(text: str) -> str:
        oid = oid_of(text.encode())
        contents[oid] = text.encode()
        return oid

    steps = [
        Step(prefix + step.author, (Hop(path, put(step.pre), put(step.post)),))
        for step in made.steps
        if step.author
    ]
    return steps, contents

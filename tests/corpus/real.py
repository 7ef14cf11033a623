"""Judges real calls of agents by a pack and prints the verdicts, to be read by a person.

    python tests/corpus/real.py CALLS.jsonl [--pack std/anti-fluff] [--what pairs] [--sample 200]

CALLS holds a call of an agent a line: `source` (the transcript), `tool`, `args` (the text of a JSON
object), `field` and `text`. Where `field` is `description`, `text` is what the agent wrote into
that argument; where it is `preceding_text` or `thought`, it is the sentence before the call, and
`args.summary` is the call's description, path or pattern. Such calls have no labels: what they
show is how often a pack speaks up about agents that nobody asked for reasons. They belong to those
who wrote them, so the data is not part of this repository.

    pairs         a Bash call with its description as intent and the sentence before as rationale
    descriptions  a Bash call with its description as intent, and no rationale
    sentences     a call of any other tool with the sentence before as rationale, and no intent
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from tool_intent.authoring.evaluation.corpus import Item
from tool_intent.authoring.evaluation.judging import Bench, Judged
from tool_intent.compiler.loading import load

Row = Mapping[str, Any]

#: Names of tools by that of the argument that a summary stands for.
_SUBJECT: Final = {"grep": "pattern", "glob": "pattern", "bash": "command"}


def pairs(rows: Sequence[Row]) -> Iterator[Item]:
    """Bash calls of which both the description and the sentence before are there: the summary of
    the one is the text of the other, in the same transcript and order."""
    described: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["field"] == "description":
            described[row["source"], row["text"]].append(row)
    for number, row in enumerate(rows, 1):
        summary = _args(row).get("summary")
        if row["field"] == "preceding_text" and row["tool"].lower() == "bash":
            same = described[row["source"], str(summary)]
            if same:
                call = same.pop(0)
                yield _item(number, "bash", _args(call), call["text"], row["text"])


def descriptions(rows: Sequence[Row]) -> Iterator[Item]:
    """Bash calls with what they are described by."""
    for number, row in enumerate(rows, 1):
        if row["field"] == "description":
            yield _item(number, "bash", _args(row), row["text"], None)


def sentences(rows: Sequence[Row]) -> Iterator[Item]:
    """Calls of other tools, as far as their summary tells, with the sentence before."""
    for number, row in enumerate(rows, 1):
        if row["field"] != "description" and row["tool"].lower() != "bash":
            args = _args(row)
            summary = args.pop("summary", None)
            subject = _SUBJECT.get(row["tool"].lower(), "path")
            said = {} if summary in (None, "text") else {subject: summary}
            yield _item(number, row["tool"].lower(), args | said, None, row["text"])


WHAT: Final[Mapping[str, Callable[[Sequence[Row]], Iterator[Item]]]] = {
    "pairs": pairs, "descriptions": descriptions, "sentences": sentences,
}  # fmt: skip


def _args(row: Row) -> dict[str, Any]:
    """The arguments; of a text that was cut off as far as it goes."""
    text = row["args"].rstrip("\\")
    for end in ("", '"}', "}", '"]}', "]}", '"}]}', "}]}"):
        try:
            value = json.loads(text + end)
        except ValueError:
            continue
        return value if isinstance(value, dict) else {}
    return {"text": text}


def _item(
    number: int, tool: str, args: dict[str, Any], intent: str | None, rationale: str | None
) -> Item:
    fields = {"intent": intent, "rationale": rationale}
    said = args | {name: text for name, text in fields.items() if text is not None}
    said.pop("description", None)
    return Item(str(number), number, tool, said, None, (), "", (), None, ())


def summary(judged: Sequence[Judged]) -> Iterator[str]:
    """How many calls each effect and each rule is about."""
    yield f"{len(judged)} calls"
    for what, count in (
        ("strongest", Counter(one.strongest for one in judged)),
        ("rule", Counter(rule for one in judged for rule in {f.rule for f in one.found})),
    ):
        for name, number in count.most_common():
            yield f"{number:>6}  {number / len(judged):6.1%}  {what} {name}"


def shown(judged: Iterable[Judged]) -> Iterator[str]:
    """Each call with its texts and what was found."""
    for one in judged:
        args = dict(one.item.args)
        intent, rationale = args.pop("intent", None), args.pop("rationale", None)
        found = ", ".join(sorted({f"{f.rule} {f.effect}" for f in one.found})) or "nothing"
        yield f"\n[{one.item.line}] {one.strongest}: {found}"
        yield f"  {one.item.tool} {json.dumps(args, ensure_ascii=False)[:300]}"
        for name, text in (("intent", intent), ("rationale", rationale)):
            if text is not None:
                yield f"  {name}: {text}"


def main(arguments: Sequence[str]) -> None:
    """Print the summary, and the verdicts of a sample."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calls", type=Path)
    parser.add_argument("--pack", default="std/anti-fluff")
    parser.add_argument("--what", choices=WHAT, default="pairs")
    parser.add_argument("--sample", type=int, default=0, help="verdicts to print, drawn by --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="print verdicts of this strength only, such as deny")
    given = parser.parse_args(arguments)
    with given.calls.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    items = list(WHAT[given.what](rows))
    if not items:
        sys.exit(f"{given.calls}: no call of the kind `{given.what}`")
    judged = Bench(load([given.pack], found=False).policy).judge(items)
    print("\n".join(summary(judged)))
    of = [one for one in judged if given.only in (None, one.strongest)]
    drawn = Random(given.seed).sample(of, min(given.sample, len(of)))
    print("\n".join(shown(sorted(drawn, key=lambda one: one.item.line))))


if __name__ == "__main__":
    main(sys.argv[1:])

"""The official JSON Schema suite, run through policy files and calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from tool_intent import Guard

from . import adapter, suite

ROWS: Final = suite.rows()
FOREIGN: Final = suite.foreign_schemas()
AT_LEAST: Final = 300
CLASSES: Final = ("fields/type", "length of normalised text", "RE2 patterns")


@pytest.fixture(scope="module", autouse=True)
def no_cache() -> Iterator[None]:
    """Hundreds of policies, each used once, are nothing to keep in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOL_INTENT_CACHE", "off")
        yield


@pytest.fixture(scope="module")
def guard_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[suite.Schema], Guard]:
    """One guard a schema: the rows of a group follow each other, so the last one is kept."""
    kept: list[tuple[suite.Schema, Guard]] = []

    def guard_of(schema: suite.Schema) -> Guard:
        if not kept or kept[0][0] is not schema:
            folder: Path = tmp_path_factory.mktemp("policy")
            kept[:] = [(schema, adapter.load(schema, folder))]
        return kept[0][1]

    return guard_of


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_product_answers_as_the_suite_and_jsonschema_do(
    row: suite.Row, guard_of: Callable[[suite.Schema], Guard]
) -> None:
    reason = suite.reason_to_skip(row)
    if reason is not None:
        pytest.skip(reason)
    assert suite.oracle(row.schema, row.value) is row.valid
    guard = guard_of(row.schema)
    assert adapter.verdict(guard, row.value) is row.valid, adapter.findings(guard, row.value)


@pytest.mark.parametrize("row", FOREIGN, ids=lambda row: row.id)
def test_a_schema_beyond_the_keywords_of_a_field_is_refused(row: suite.Row, tmp_path: Path) -> None:
    keywords = suite.foreign_keywords(row.schema)
    told = adapter.refusal(row.schema, tmp_path)
    assert any(keyword.removeprefix("$") in told for keyword in keywords), (keywords, told)


@pytest.mark.parametrize("value", [None, {}, {"a": 1}, [], ["text"]], ids=repr)
def test_what_is_no_scalar_is_a_finding_whatever_the_schema_says(
    value: object, tmp_path: Path
) -> None:
    assert adapter.findings(adapter.load(True, tmp_path), value) == ["fields/type"]


def test_enough_rows_are_run_and_the_rest_is_in_a_named_class(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tally: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in ROWS:
        tally[row.file][suite.reason_to_skip(row) or "run"] += 1
    total = sum(tally.values(), Counter())
    with capsys.disabled():
        print(f"\n{'JSON Schema suite':<28}{'run':>5}" + "".join(f"  {c}" for c in CLASSES))
        for file, counts in [*tally.items(), ("all", total)]:
            skipped = "".join(f"  {counts[c]:>{len(c)}}" for c in CLASSES)
            print(f"{file:<28}{counts['run']:>5}{skipped}")
    assert total.keys() <= {"run", *CLASSES}
    assert total["run"] >= AT_LEAST

"""The lock: what is written is read again, and what is wrong with one is said with its place."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_intent.policy.git_source import GitSource
from tool_intent.policy.lock import Entry, Lock, Pin, entries_of, read_lock
from tool_intent.policy.locking import Comparison
from tool_intent.policy.positions import Report

DIGEST = "0" * 64
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=40)
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)).map(
    lambda t: t.replace(microsecond=0, tzinfo=UTC)
)
KINDS = st.sampled_from(["files", "packs", "catalogs", "shipped"])
PLAIN = st.tuples(KINDS, NAMES, DIGESTS).map(lambda row: Entry(*row))


@st.composite
def git_entries(draw: st.DrawFn) -> Entry:
    rev = draw(st.sampled_from(["v1", "main", COMMIT]))
    source = GitSource(draw(st.sampled_from(["https://a/b", "file:///c"])), rev, draw(NAMES))
    named = "" if rev == COMMIT else f"refs/heads/{rev}"
    return Entry("git", str(source), draw(DIGESTS), (source, Pin(COMMIT, named, draw(TIMES))))


LOCKS = st.builds(
    lambda entries, stale: Lock(entries_of(entries), max_stale=stale),
    st.lists(st.one_of(PLAIN, git_entries()), max_size=8),
    st.none() | st.integers(0, 10_000),
)


def reread(text: str, folder: Path) -> tuple[Lock | None, Report]:
    (folder / "tool-intent.lock").write_text(text, encoding="utf-8")
    report = Report()
    file = read_lock(str(folder), "tool-intent.lock", report)
    return (file.lock if file is not None else None), report


@given(LOCKS)
def test_a_lock_is_read_as_it_was_written(tmp_path_factory, lock):
    folder = tmp_path_factory.getbasetemp() / "locks"
    folder.mkdir(exist_ok=True)
    found, report = reread(lock.text(), folder)
    assert report.of("error") == ()
    assert found == lock


@given(LOCKS, st.randoms())
def test_the_order_of_sources_leaves_the_text_alone(lock, random):
    entries = list(lock.entries.values())
    random.shuffle(entries)
    assert lock._replace(entries=entries_of(entries)).text() == lock.text()


LOCK = Lock(
    entries_of([
        Entry("files", ".tool-intent/policy.yaml", DIGEST),
        Entry("git", "git+https://a/b@v1", DIGEST, (GitSource("https://a/b", "v1", "policy.yaml"),
              Pin(COMMIT, "refs/tags/v1", NOW))),
    ])
)  # fmt: skip
FILE_ROW = '{"path": ".tool-intent/policy.yaml", "sha256": "' + DIGEST + '"}'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"version": 1,', '"version": 2,', ("2:14", "policy/version", "reads version 1")),
        ('"version": 1,', "", ("1:1", "policy/missing-key", "`version` is missing")),
        ('"version": 1,', '"version": 1, "version": 1,', ("2:17", "yaml/duplicate-key", "")),
        ('"packs": [],', '"packs": [], "pakcs": [],', ("12:16", "policy/unknown-key",
         "`pakcs` is not a key of a lock")),
        ('"packs": [],', "", ("1:1", "policy/missing-key", "`packs` is missing")),
        ('"packs": [],', '"packs": {},', ("12:12", "policy/type", "a list of locked sources")),
        ('"functions": 1', '"functions": "1"', ("4:16", "policy/type", "a whole number")),
        ('"functions": 1', '"functions": -1', ("4:16", "policy/value", "at least 0")),
        (f'"sha256": "{DIGEST}"', '"sha256": "00"', ("9:17", "policy/name", "no SHA-256")),
        (f',\n      "sha256": "{DIGEST}"', "", ("7:5", "policy/missing-key", "`sha256` is")),
        ('"path": ".tool', '"pth": "", "path": ".tool', ("8:7", "policy/unknown-key",
         "of a locked file")),
        ('"2026-11-30T12:00:00Z"', '"2026-13-45T12:00:00Z"', ("22:19", "policy/name", "no time")),
        ('"2026-11-30T12:00:00Z"', '"2026-02-31T12:00:00Z"', ("22:19", "policy/value", "no day")),
        ('"2026-11-30T12:00:00Z"', '"yesterday"', ("22:19", "policy/name", "no time")),
        (f'"{COMMIT}"', '"main"', ("20:17", "policy/name", "is no commit id")),
        ('"rev": "v1"', f'"rev": "{"f" * 40}"', ("20:17", "lock/commit", "and this is another")),
        ('"refs/tags/v1"', '"v1"', ("21:20", "policy/name", "is no full reference")),
        ('"git": [', '"git": [3,', ("15:11", "policy/type", "a mapping such as")),
        ('  "files"', '  "max_stale": 1.5,\n  "files"', ("6:16", "policy/type", "whole number")),
        ('"unicode"', "unicode", None),
        ("}\n  ],\n  \"packs\"", "}, " + FILE_ROW + "],\n \"packs\"", ("10:8", "lock/twice", "")),
        ("{\n  \"version\"", "[\n  \"version\"", ("", "yaml/syntax", "")),
        ("\n}\n", "\n}\n---\n{}\n", ("", "yaml/documents", "")),
        ('"engine": "', '"engine": !x "', ("", "yaml/tag", "")),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_lock_is_said_with_its_place(old, new, said, tmp_path):
    text = LOCK.text()
    assert old in text
    found, report = reread(text.replace(old, new, 1), tmp_path)
    if said is None:
        assert (found, report.of("error")) == (LOCK, ())
        return
    assert found is None
    error = report.of("error")[0]
    at = f"{error.line}:{error.column}"
    assert (at if said[0] else "", error.code) == said[:2], error
    assert said[2] in error.message, error
    assert error.help
    assert error.file == "tool-intent.lock"


def test_files_of_one_revision_share_its_commit(tmp_path):
    other = GitSource("https://a/b", "v1", "b.rules")
    pin = Pin(COMMIT[::-1], "refs/tags/v1", NOW)
    entries = [*LOCK.entries.values(), Entry("git", str(other), DIGEST, (other, pin))]
    found, report = reread(Lock(entries_of(entries)).text(), tmp_path)
    assert found is None
    assert [d.code for d in report.of("error")] == ["lock/commit"]


@pytest.mark.parametrize("kind", ["a link", "a folder", "a FIFO", "too large"])
def test_what_is_no_plain_file_is_no_lock(kind, tmp_path):
    path = tmp_path / "tool-intent.lock"
    if kind == "a link":
        (tmp_path / "secret").write_text(LOCK.text())
        path.symlink_to(tmp_path / "secret")
    elif kind == "a folder":
        path.mkdir()
    elif kind == "a FIFO":
        os.mkfifo(path)
    else:
        path.write_bytes(bytes((1 << 20) + 1))
    report = Report()
    assert read_lock(str(tmp_path), "tool-intent.lock", report) is None
    assert [d.code for d in report.of("error")] == ["policy/unreadable"]
    assert "remove it" in report.of("error")[0].help


def test_no_lock_is_no_error(tmp_path):
    report = Report()
    assert read_lock(str(tmp_path), "tool-intent.lock", report) is None
    assert report.of("error") == ()


def ages(lock: Lock, now: datetime, folder: Path) -> list[str]:
    (folder / "tool-intent.lock").write_text(lock.text())
    report = Report()
    file = read_lock(str(folder), "tool-intent.lock", report)
    assert file is not None
    Comparison(file, report, strict=False).ages(now)
    return [f"{d.line}: {d.message}" for d in report.of("warning")]


def test_a_tag_or_branch_is_stale_after_max_stale_days_and_not_before(tmp_path):
    lock = LOCK._replace(max_stale=7)
    week = timedelta(days=7)
    assert ages(lock, NOW + week, tmp_path) == []
    late = ages(lock, NOW + week + timedelta(seconds=1), tmp_path)
    assert late == ["24: `git+https://a/b@v1` was last asked more than 7 days ago"]
    assert ages(LOCK, NOW + 1000 * week, tmp_path) == [], "without max_stale nothing is"


def test_a_time_to_come_does_not_keep_a_source_fresh(tmp_path):
    lock = LOCK._replace(max_stale=7)
    assert ages(lock, NOW - timedelta(hours=23), tmp_path) == []
    assert "has not come yet" in ages(lock, NOW - timedelta(hours=25), tmp_path)[0]


def test_a_commit_id_is_never_stale(tmp_path):
    source = GitSource("https://a/b", COMMIT, "policy.yaml")
    entry = Entry("git", str(source), DIGEST, (source, Pin(COMMIT, "", NOW)))
    lock = Lock(entries_of([entry]), max_stale=0)
    assert ages(lock, NOW + timedelta(days=9999), tmp_path) == []

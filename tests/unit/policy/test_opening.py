"""A policy reads nothing from outside the folder that holds it, whatever its links say, and
whenever they say it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tool_intent.policy import sources
from tool_intent.policy.load import load
from tool_intent.policy.opening import held_by
from tool_intent.policy.sources import Root, Unreadable, discover, read

SECRET = "token: s3cr3t-0f-the-person\n"
LOOKS = 3_000


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "repo" / ".tool-intent").mkdir(parents=True)
    return tmp_path / "repo"


def policy(repo: Path) -> Path:
    return repo / ".tool-intent" / "policy.yaml"


def errors(repo: Path) -> str:
    """All that is said of a repository's policy."""
    loaded = load([Root(str(policy(repo)), "repo", ".tool-intent/policy.yaml")])
    assert loaded.broken
    return repr(loaded)


def test_a_policy_that_is_a_link_to_a_secret_is_refused_unread(repo: Path) -> None:
    policy(repo).symlink_to("../../secret")
    said = errors(repo)
    assert "it is a link that leads out of" in said
    assert "s3cr3t" not in said
    (found,) = [c for c in discover(str(repo), {}, machine="/none") if c.path == str(policy(repo))]
    assert (found.state, "leads out of" in found.reason) == ("refused", True)


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nextends: ./linked\n",
        "version: 1\ncatalog: ./linked\n",
        "version: 1\nrules: |\n  words w from 'linked'\n  rule a/b on *\n    deny 'No.'\n".replace(
            "'", '"'
        ),
    ],
    ids=["extended", "catalog", "words"],
)
def test_what_a_policy_names_is_no_link_to_a_secret(text: str, repo: Path) -> None:
    policy(repo).write_text(text)
    (repo / ".tool-intent" / "linked").symlink_to("../../secret")
    said = errors(repo)
    assert "lies outside this repository" in said
    assert "s3cr3t" not in said


def test_links_within_the_repository_are_followed(repo: Path) -> None:
    (repo / "policies").mkdir()
    (repo / "policies" / "p.yaml").write_text("version: 1\nunlisted: deny\n")
    policy(repo).symlink_to("../policies/p.yaml")
    assert load([Root(str(policy(repo)), "repo", "p")]).broken == ()


def test_a_folder_that_is_a_link_holds_what_it_leads_to(repo: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "policy.yaml").write_text("version: 1\nunlisted: deny\n")
    (repo / ".tool-intent").rmdir()
    (repo / ".tool-intent").symlink_to(shared)
    assert load([Root(str(policy(repo)), "repo", "p")]).broken == ()


@pytest.mark.parametrize("rank", ["repo", "directory"])
def test_a_file_swapped_for_a_link_after_it_was_looked_at_is_refused(
    rank: str, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = policy(repo)
    path.write_text("version: 1\n")
    real = os.open

    def swapped(name: str, *rest: int) -> int:
        if name == str(path):
            path.unlink()
            path.symlink_to("../../secret")
        return real(name, *rest)

    monkeypatch.setattr(sources.os, "open", swapped)
    with pytest.raises(Unreadable, match="leads out of"):
        read(str(path), "repo", held_by(str(path)))


def test_a_file_that_is_swapped_all_the_time_never_gives_the_secret(repo: Path) -> None:
    path, other = policy(repo), policy(repo).with_name("other")
    path.write_text("version: 1\n")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            other.symlink_to("../../secret")
            other.replace(path)
            other.write_text("version: 1\n")
            other.replace(path)

    swapping = threading.Thread(target=swap)
    swapping.start()
    read_, refused = set(), set()
    try:
        held = held_by(str(path))
        for _ in range(LOOKS):
            try:
                read_.add(read(str(path), "repo", held))
            except Unreadable as error:
                refused.add(error.reason)
    finally:
        done.set()
        swapping.join()
    # Never the secret: what is read is the policy, or it while it is being written.
    assert read_ <= {b"version: 1\n", b""}
    assert all("leads out of" in reason or "no such file" in reason for reason in refused)


@pytest.mark.parametrize("name", ["policy.yaml", "words.txt", "more.yaml", "c.yaml"])
def test_a_fifo_never_blocks_in_any_place(name: str, repo: Path) -> None:
    policy(repo).write_text(
        "version: 1\nextends: ./more.yaml\ncatalog: ./c.yaml\nrules: |\n"
        '  words w from "words.txt"\n  rule a/b on *\n    forbid call mentions w\n'
    )
    for other in {"words.txt", "more.yaml", "c.yaml"}:
        (repo / ".tool-intent" / other).write_text("version: 1\n")
    (repo / ".tool-intent" / name).unlink()
    os.mkfifo(repo / ".tool-intent" / name)
    assert "it is a FIFO" in errors(repo)


def test_the_digest_is_that_of_the_bytes_that_were_read(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = policy(repo)
    path.write_text("version: 1\nunlisted: deny\n")
    first = path.read_bytes()
    opened: list[str] = []
    real = sources._open

    def once(name: str, *rest: object) -> int:
        descriptor = real(name, *rest)
        if name == str(path):
            opened.append(name)
            path.with_name("x").write_text("version: 1\nunlisted: warn\n")
            path.with_name("x").replace(path)
        return descriptor

    monkeypatch.setattr(sources, "_open", once)
    loaded = load([Root(str(path), "repo", "p")])
    (source,) = [s for s in loaded.sources if s.path == str(path)]
    assert opened == [str(path)]
    assert source.digest == sources.fingerprint(first)
    assert loaded.unlisted[0].effect == "deny"

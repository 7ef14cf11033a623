"""Policies out of git: fetched by `lock` alone, kept, proven, and held to what is locked."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from .command import TRACED, Command, call, lines, rules
from .test_lock import POLICY, asked, diagnosed, extend, lock_of, locked, rewrite
from .test_policies import write


def sources(command: Command) -> Path:
    return command.home / ".cache" / "tool-intent" / "sources"


@pytest.fixture
def fetched(bare: Command, origin) -> Command:
    """A policy that extends `v1` of a repository, locked; there `v1` asks for an intent."""
    origin.commit({"policy.yaml": POLICY.format("intent")}, "v1")
    extend(bare, origin.source("v1"))
    locked(bare)
    return bare


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "decide", "show --sources", "run bash {}"])
def test_nothing_but_lock_fetches(command: str, bare: Command, origin) -> None:
    commit = origin.commit({"policy.yaml": POLICY.format("intent")})
    extend(bare, origin.source(commit))
    done = bare(*command.split(), stdin=lines(call("bash", command="ls")))
    if command == "check":
        assert done.code == 2
        assert "it was never fetched" in done.out
        assert "help: run `tool-intent lock`" in done.out
    if command == "decide":
        assert rules(done.answers[0]) == [("policy/broken", "", "deny")]
    assert not list((sources(bare) / "files").iterdir())


def test_what_is_fetched_is_judged_by_and_its_place_is_named(fetched: Command, origin) -> None:
    finding = fetched.decide(call("bash", command="ls"))[0]["findings"][0]
    assert (finding["at"], finding["origin"]) == ("/intent", f"{origin.source('v1')}:2")


@pytest.mark.slow
def test_offline_works(fetched: Command, origin) -> None:
    shutil.rmtree(origin.folder)
    assert asked(fetched) == {"/intent"}
    assert fetched("check", "--strict").code == 0
    assert fetched("lock").out == "tool-intent.lock is up to date.\n"
    frozen = fetched("lock", "--frozen")
    assert frozen.code == 0
    assert "could not be asked, its lock stands" in frozen.err
    update = fetched("lock", "--update")
    assert update.code == 2
    assert "cannot be read" in update.out
    assert asked(fetched) == {"/intent"}, "the last known good one stands"


def test_a_fresh_machine_fetches_what_is_locked_and_not_what_moved(
    fetched: Command, origin, tmp_path: Path
) -> None:
    origin.commit({"policy.yaml": POLICY.format("rationale")}, "v1")
    fetched.home = tmp_path / "other-home"
    fetched.home.mkdir()
    assert "it was never fetched" in fetched("check").out
    assert fetched("lock").out == "tool-intent.lock is up to date.\n"
    assert asked(fetched) == {"/intent"}


@pytest.mark.slow
def test_the_same_policy_gives_the_same_bytes_and_is_not_written_again(fetched: Command) -> None:
    path = fetched.cwd / "tool-intent.lock"
    before, text = path.stat(), path.read_bytes()
    again = fetched("lock")
    assert (again.code, again.out) == (0, "tool-intent.lock is up to date.\n")
    assert path.stat().st_ino == before.st_ino
    rewrite(fetched, engine="0.0.1")
    assert fetched("lock").out == "Wrote tool-intent.lock.\n"
    assert path.read_bytes() == text


@pytest.mark.slow
def test_a_tag_that_moved_is_named_by_frozen_and_followed_by_update(
    fetched: Command, origin
) -> None:
    was = lock_of(fetched)["git"][0]["commit"]
    now = origin.commit({"policy.yaml": POLICY.format("rationale")}, "v1")
    frozen = fetched("lock", "--frozen")
    assert frozen.code == 1
    assert f"the tag `v1` of file://{origin.folder} moved from {was} to {now}" in frozen.out
    assert "tool-intent lock --update" in frozen.out
    assert frozen.out.startswith("tool-intent.lock:")
    assert fetched("check", "--strict").code == 0, "check asks nobody"
    assert asked(fetched) == {"/intent"}
    fetched("lock")
    assert asked(fetched) == {"/intent"}, "plain `lock` keeps what is locked"
    assert fetched("lock", "--update").code == 0
    assert asked(fetched) == {"/rationale"}
    assert lock_of(fetched)["git"][0]["commit"] == now
    assert fetched("lock", "--frozen").code == 0


@pytest.mark.slow
def test_a_branch_is_held_until_update(bare: Command, origin) -> None:
    origin.commit({"policy.yaml": POLICY.format("intent")})
    extend(bare, origin.source("main"))
    locked(bare)
    origin.commit({"policy.yaml": POLICY.format("rationale")})
    assert bare("lock", "--frozen").code == 0, "branches are there to move"
    assert asked(bare) == {"/intent"}
    bare("lock", "--update")
    assert asked(bare) == {"/rationale"}


@pytest.mark.slow
def test_a_file_that_comes_later_is_of_the_commit_that_is_locked(fetched: Command, origin) -> None:
    origin.commit({"policy.yaml": POLICY.format("rationale"), "b.yaml": "version: 1\n"}, "v1")
    extend(fetched, origin.source("v1"), origin.source("v1", "b.yaml"))
    done = fetched("lock")
    assert done.code == 2
    assert "there is no `b.yaml` in it" in done.out
    assert fetched("lock", "--update").code == 0
    assert asked(fetched) == {"/rationale"}


@pytest.mark.slow
def test_past_max_stale_frozen_fails_and_check_warns_and_decisions_stand(fetched: Command) -> None:
    rewrite(fetched, max_stale=30, resolved="2020-01-01T00:00:00Z")
    frozen = fetched("lock", "--frozen")
    assert frozen.code == 1
    assert "was last asked more than 30 days ago" in frozen.out
    checked = fetched("check", "--format", "json")
    assert [d[0] for d in diagnosed(checked)] == ["lock/stale"]
    assert asked(fetched) == {"/intent"}
    assert fetched("lock").code == 0
    assert fetched("lock", "--frozen").code == 1, "only asking makes it fresh"
    assert fetched("lock", "--update").code == 0
    assert fetched("lock", "--frozen").code == 0
    assert lock_of(fetched)["max_stale"] == 30, "what a person set stays"


def test_a_source_that_is_not_in_the_lock_denies(fetched: Command, origin) -> None:
    commit = origin.commit({"policy.yaml": POLICY.format("rationale")})
    extend(fetched, origin.source(commit))
    answer = fetched.decide(call("bash", command="ls"))[0]
    assert rules(answer) == [("policy/broken", "", "deny")]
    checked = fetched("check")
    assert f"`{origin.source(commit)}` is not in tool-intent.lock" in checked.out
    assert ".tool-intent/policy.yaml:2:11" in checked.out
    assert fetched("lock").code == 0
    assert asked(fetched) == {"/rationale"}


def test_what_is_not_as_the_lock_says_denies(fetched: Command) -> None:
    rewrite(fetched, sha256="0" * 64)
    answer = fetched.decide(call("bash", command="ls"))[0]
    assert rules(answer) == [("policy/broken", "", "deny")]
    assert [d[0] for d in diagnosed(fetched("check", "--format", "json"))][:1] == ["lock/changed"]
    assert "lock/changed" in fetched("lock", "--frozen").out


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "commit", "tree", "removed", "writable", "link"])
def test_what_was_kept_and_changed_is_not_judged_by(kind: str, fetched: Command) -> None:
    """Without a lock, too: the id of a commit says all that it holds."""
    commit = lock_of(fetched)["git"][0]["commit"]
    source = lock_of(fetched)["git"][0]["url"]
    (fetched.cwd / "tool-intent.lock").unlink()
    extend(fetched, f"git+{source}@{commit}")
    assert asked(fetched) == {"/intent"}
    objects = {p.name: p for p in (sources(fetched) / "objects").iterdir()}
    (file,) = (sources(fetched) / "files").iterdir()
    tree = next(p for name, p in objects.items() if name != commit)
    path = {"commit": objects[commit], "tree": tree}.get(kind, file)
    if kind == "removed":
        path.unlink()
    elif kind == "writable":
        path.chmod(0o666)
    elif kind == "link":
        other = path.rename(fetched.home / "other")
        path.symlink_to(other)
    else:
        path.write_bytes(path.read_bytes().replace(b"intent", b"reason") + b"\n")
    answer = fetched("decide", stdin=lines(call("bash", command="ls")),
                     env={"TOOL_INTENT_CACHE": "off"}).answers[0]  # fmt: skip
    assert rules(answer) == [("policy/broken", "", "deny")]
    if kind == "file":
        assert "what is kept is not what its commit says: the blob " in fetched("check").out
    assert fetched("lock").code == 0
    assert asked(fetched) == {"/intent"}, "fetching again mends it"


@pytest.mark.slow
def test_a_compiled_policy_notices_each_change(fetched: Command, origin) -> None:
    hit = fetched("decide", stdin=lines(call("bash", command="ls")), env=TRACED)
    assert "yaml" in hit.imported
    hit = fetched("decide", stdin=lines(call("bash", command="ls")), env=TRACED)
    assert not {"yaml", "subprocess", "tool_intent.policy.git"} & hit.imported
    (fetched.cwd / "tool-intent.lock").unlink()
    assert "which can move" in fetched("check").out
    origin.commit({"policy.yaml": POLICY.format("rationale")}, "v1")
    other = Command(fetched.home, fetched.cwd.parent / "second")
    extend(other, origin.source("v1"))
    assert asked(fetched) == {"/intent"}
    locked(other)
    assert asked(fetched) == {"/rationale"}, "what the tag stood for was asked again"
    rewrite_of = lock_of(other)
    rewrite_of["git"][0]["sha256"] = "0" * 64
    (fetched.cwd / "tool-intent.lock").write_text(json.dumps(rewrite_of))
    answer = fetched.decide(call("bash", command="ls"))[0]
    assert rules(answer) == [("policy/broken", "", "deny")], "a lock that is added is noticed"


def test_a_tag_without_a_lock_is_warned_of(fetched: Command) -> None:
    (fetched.cwd / "tool-intent.lock").unlink()
    done = fetched("check", "--format", "json")
    assert diagnosed(done) == [("policy/unpinned", ".tool-intent/policy.yaml", 2)]
    assert asked(fetched) == {"/intent"}


@pytest.mark.slow
def test_a_user_s_policy_may_name_what_is_kept(fetched: Command, origin) -> None:
    commit = lock_of(fetched)["git"][0]["commit"]
    for rev, warned in ((commit, False), ("v1", True)):
        write(
            fetched.home / ".config" / "tool-intent" / "mine.yaml",
            f"version: 1\nextends: {origin.source(rev)}\n",
        )
        assert ("which can move" in fetched("check").out) is warned
        assert asked(fetched) == {"/intent"}


@pytest.mark.slow
def test_git_files_name_only_their_own_repository_packs_and_git(bare: Command, origin) -> None:
    other = origin.commit({"other.yaml": POLICY.format("rationale")})
    second = origin.source(other, "other.yaml")
    commit = origin.commit({
        "policy.yaml": f"version: 1\nextends: [std/baseline, '{second}']\n",
        "up.yaml": "version: 1\nextends: ../../../etc/passwd\n",
        "whole.yaml": "version: 1\nextends: ./../x.yaml\n",
        "cycle.yaml": "version: 1\nextends: ./cycle2.yaml\n",
        "cycle2.yaml": "version: 1\nextends: ./cycle.yaml\n",
        "w.rules": 'words w from "../w.txt"\n',
    })  # fmt: skip
    extend(bare, origin.source(commit))
    assert bare("lock").code == 0
    assert asked(bare) == {"/intent", "/rationale"}
    for name, said in (
        ("up.yaml", "lies outside the repository"), ("whole.yaml", "lies outside the repository"),
        ("cycle.yaml", "files extend each other"), ("w.rules", "lies outside the repository"),
    ):  # fmt: skip
        extend(bare, origin.source(commit, name))
        done = bare("lock")
        assert (name, done.code, said in done.out) == (name, 1, True), done.out
        assert f"{origin.source(commit, name).split('#')[0]}#" in done.out


@pytest.mark.slow
def test_two_files_of_the_same_bytes_are_two_files(bare: Command, origin) -> None:
    text = "version: 1\nextends: ./more.yaml\n"
    commit = origin.commit({
        "a/policy.yaml": text, "b/policy.yaml": text,
        "a/more.yaml": POLICY.format("intent"), "b/more.yaml": POLICY.format("rationale"),
    })  # fmt: skip
    extend(bare, origin.source(commit, "a/policy.yaml"), origin.source(commit, "b/policy.yaml"))
    locked(bare)
    assert asked(bare) == {"/intent", "/rationale"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("git+https://-x/a@v1", "is no git source"),
        ("git+ext::touch ran@v1", "is no git source"),
        ("git+file://{folder}@--upload-pack=touch", "is no commit id, tag or branch"),
        ("git+file://{folder}", "names no revision"),
        ("git+file://{folder}@v1#link.yaml", "is a link there"),
        ("git+file://{folder}@v1#module/a.yaml", "is a submodule there"),
        ("git+file://{folder}@v1#big.yaml", "it is larger than 1 MiB"),
        ("git+file://{folder}@v1#none.yaml", "there is no `none.yaml` in it"),
        ("git+file://{folder}@none", "there is no tag or branch `none` in it"),
        ("git+file://{folder}-none@v1", "no such file or directory"),
    ],
)
def test_what_cannot_be_fetched_is_said_at_the_line_that_names_it(
    source: str, said: str, bare: Command, origin
) -> None:
    (origin.folder / "link.yaml").symlink_to("/etc/passwd")
    commit = origin.commit({"big.yaml": bytes((1 << 20) + 1)})
    origin.git("update-index", "--add", "--cacheinfo", f"160000,{commit},module")
    origin.git("commit", "--quiet", "--message=module")
    origin.git("tag", "v1")
    extend(bare, source.format(folder=origin.folder))
    done = bare("lock")
    assert done.code in (1, 2)
    assert ".tool-intent/policy.yaml:2:11: error: " in done.out
    assert said in done.out
    assert "help: " in done.out
    assert not (bare.cwd / "tool-intent.lock").exists()
    assert not (bare.cwd / "ran").exists()


# --- where it is kept ----------------------------------------------------------------------------


def test_what_is_kept_is_the_user_s_alone(fetched: Command) -> None:
    found = [sources(fetched).parent, sources(fetched), *sources(fetched).rglob("*")]
    modes = {p.stat().st_mode & 0o777 for p in found if p.is_dir()}
    assert modes == {0o700}
    assert {p.stat().st_mode & 0o777 for p in found if p.is_file()} == {0o600}


def test_compiled_policies_leave_it_alone(fetched: Command) -> None:
    """The cache makes room for new policies; what a lock names is none of them."""
    os.utime(sources(fetched), (0, 0))
    for number in range(70):
        (sources(fetched).parent / f"{number:064}").mkdir(mode=0o700)
    assert asked(fetched) == {"/intent"}
    assert list((sources(fetched) / "files").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0o777, 0o755, 0o720])
@pytest.mark.parametrize("inner", ["", "files", "objects"])
def test_a_folder_that_is_open_to_others_is_not_used(
    mode: int, inner: str, fetched: Command
) -> None:
    (sources(fetched) / inner).chmod(mode)
    for command in ("check", "lock"):
        done = fetched(command)
        assert (command, done.code) == (command, 2)
        assert "open to other users (its mode should be 0700)" in done.out


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_used(fetched: Command) -> None:
    os.chown(sources(fetched), 65_534, 65_534)
    assert "belongs to another user" in fetched("check").out


@pytest.mark.slow
@pytest.mark.parametrize("below", ["", "deep/down"])
def test_a_store_inside_the_workspace_is_not_used(
    below: str, fetched: Command, tmp_path: Path
) -> None:
    place = fetched.cwd / below
    place.mkdir(parents=True, exist_ok=True)
    shutil.copytree(fetched.home / ".cache" / "tool-intent", place / "tool-intent")
    for command in ("check", "lock"):
        done = fetched(command, env={"XDG_CACHE_HOME": str(place)})
        assert (done.code, "lies inside the workspace" in done.out) == (2, True)


@pytest.mark.slow
def test_a_home_that_takes_nothing_is_said(bare: Command, origin) -> None:
    origin.commit({"policy.yaml": POLICY.format("intent")}, "v1")
    extend(bare, origin.source("v1"))
    bare.home.chmod(0o500)
    done = bare("lock", restricted="no-override")
    bare.home.chmod(0o700)
    assert done.code == 2
    assert "ermission denied" in done.out
    assert not (bare.cwd / "tool-intent.lock").exists()

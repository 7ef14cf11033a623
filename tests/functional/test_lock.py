"""`tool-intent lock`: what a policy is made of is written down, fetched once, and held to."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from .command import Command, Done, call, rules
from .test_policies import write

POLICY = "version: 1\ntools: {{bash: {{require: [{}]}}}}\n"


def extend(command: Command, *sources: str) -> None:
    names = ", ".join(f'"{source}"' for source in sources)
    write(command.cwd / ".tool-intent" / "policy.yaml", f"version: 1\nextends: [{names}]\n")


def lock_of(command: Command) -> dict[str, Any]:
    return json.loads((command.cwd / "tool-intent.lock").read_text())


def rewrite(command: Command, **changes: Any) -> None:
    """Change the git entry of a lock, or what stands at the lock's top."""
    lock = lock_of(command)
    for key, value in changes.items():
        (lock["git"][0] if key in lock["git"][0] else lock)[key] = value
    (command.cwd / "tool-intent.lock").write_text(json.dumps(lock, indent=2))


def diagnosed(done: Done) -> list[tuple[str, str, int]]:
    found = json.loads(done.out)
    found = found if isinstance(found, list) else found["diagnostics"]
    return [(d["code"], d["file"], d["line"]) for d in found]


def locked(command: Command) -> Done:
    done = command("lock")
    assert (done.code, done.out, done.err) == (0, "Wrote tool-intent.lock.\n", "")
    return done


def asked(command: Command) -> set[str]:
    """The fields that a bare call of bash lacks."""
    return {at for _, at, _ in rules(command.decide(call("bash", command="ls"))[0])}


# --- what is written -----------------------------------------------------------------------------


@pytest.mark.slow
def test_every_source_of_the_closure_is_locked(bare: Command, origin) -> None:
    commit = origin.commit({
        "policy.yaml": "version: 1\nextends: [./in/more.yaml, std/secrets]\n",
        "in/more.yaml": "version: 1\nextends: ../a.rules\ncatalog: ./c.yaml\n",
        "in/c.yaml": "catalog: c\ntools: {deploy: {}}\n",
        "a.rules": 'words w from "w.txt"\nrule a/b on bash forbid intent mentions w\n',
        "w.txt": "as asked\n",
    })  # fmt: skip
    folder = bare.cwd / ".tool-intent"
    write(folder / "more.rules", 'words v from "v.txt"\nrule c/d on bash ask "?"\n')
    write(folder / "v.txt", "as told\n")
    write(folder / "kinds.yaml", "catalog: kinds\ntools: {surf: {}}\n")
    write(
        folder / "policy.yaml",
        f"version: 1\nextends: {origin.source(commit)}\ncatalog: ./kinds.yaml\n",
    )
    locked(bare)
    lock = lock_of(bare)
    named = {kind: [e.get("path", e.get("name")) for e in lock[kind]] for kind in list(lock)[4:]}
    assert named["files"] == [
        ".tool-intent/kinds.yaml",
        ".tool-intent/more.rules",
        ".tool-intent/policy.yaml",
        ".tool-intent/v.txt",
    ]
    assert named["packs"] == ["std/secrets"]
    assert {"packs/std/secrets.rules", "words/drop-sites.txt"} <= set(named["shipped"])
    assert {"claude-code", "pi-1"} <= set(named["catalogs"])
    assert sorted(named["git"]) == ["a.rules", "in/c.yaml", "in/more.yaml", "policy.yaml", "w.txt"]
    assert {e["commit"] for e in lock["git"]} == {commit}
    assert bare("lock", "--frozen").code == 0


def test_policies_of_users_are_in_no_lock(plain: Command) -> None:
    write(plain.home / ".config" / "tool-intent" / "mine.yaml", POLICY.format("rationale"))
    locked(plain)
    assert [e["path"] for e in lock_of(plain)["files"]] == [".tool-intent/policy.yaml"]


@pytest.mark.parametrize("way", ["from inside", "by name"])
def test_a_lock_stands_beside_the_folder_it_is_about(way: str, payments: Command) -> None:
    inner = payments.cwd / "deep" / "down"
    inner.mkdir(parents=True)
    if way == "from inside":
        done = payments("lock", cwd=inner)
    else:
        done = payments("lock", payments.cwd.name, cwd=payments.cwd.parent)
    assert done.code == 0, done
    assert "tool-intent.lock" in os.listdir(payments.cwd)
    assert payments("lock", "--frozen").code == 0


def test_a_link_in_the_lock_s_place_is_refused_and_left_alone(plain: Command) -> None:
    target = write(plain.cwd / "secret", "secret")
    (plain.cwd / "tool-intent.lock").symlink_to(target)
    done = plain("lock")
    assert (done.code, target.read_text()) == (2, "secret")
    assert "it is a link" in done.out


def test_a_broken_policy_is_not_locked(plain: Command) -> None:
    write(plain.cwd / ".tool-intent" / "policy.yaml", "version: 1\nextends: std/basline\n")
    done = plain("lock")
    assert done.code == 1
    assert "did you mean `std/baseline`?" in done.out
    assert not (plain.cwd / "tool-intent.lock").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "there is no .tool-intent/ here or above"),
        (("none",), "there is no file, folder or pack called"),
        (("--frozen", "--update"), "lock takes one of"),
    ],
)
def test_there_has_to_be_something_to_lock(arguments, said: str, bare: Command) -> None:
    done = bare("lock", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


# --- what differs --------------------------------------------------------------------------------


def _edit(command: Command) -> None:
    path = command.cwd / ".tool-intent" / "ticket.yaml"
    path.write_text(path.read_text() + "# more\n")


def _add(command: Command) -> None:
    write(command.cwd / ".tool-intent" / "new.rules", 'rule a/b on bash ask "?"\n')


def _drop_entry(command: Command) -> None:
    lock = lock_of(command)
    lock["packs"] = []
    (command.cwd / "tool-intent.lock").write_text(json.dumps(lock, indent=2))


def _drop_rules(command: Command) -> None:
    (command.cwd / ".tool-intent" / "payments.rules").unlink()


def _other(key: str, value: Any):
    def change(command: Command) -> None:
        path = command.cwd / "tool-intent.lock"
        path.write_text(json.dumps(lock_of(command) | {key: value}, indent=2))

    return change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "code", "named"),
    [
        (_edit, "lock/changed", "ticket.yaml"),
        (_add, "lock/missing", "new.rules"),
        (_drop_entry, "lock/missing", "std/baseline"),
        (_other("engine", "0.0.1"), "lock/version", "tool-intent is"),
        (_other("functions", 0), "lock/version", "the table of functions is"),
        (_other("unicode", "13.0.0"), "lock/version", "Unicode is 14.0.0 here, and 13.0.0 locked"),
    ],
)
def test_drift_fails_frozen_and_is_a_warning_of_check(
    change, code: str, named: str, payments: Command
) -> None:
    locked(payments)
    assert payments("check", "--strict").code == 0
    change(payments)
    text = (payments.cwd / "tool-intent.lock").read_bytes()
    frozen = payments("lock", "--frozen")
    assert frozen.code == 1
    assert f"[{code}]" in frozen.out
    assert named in frozen.out
    place = ".tool-intent/policy.yaml:3:11:" if change is _drop_entry else "tool-intent.lock:"
    assert frozen.out.startswith(place)
    assert "help: " in frozen.out
    assert (payments.cwd / "tool-intent.lock").read_bytes() == text, "frozen writes nothing"
    checked = payments("check")
    assert (checked.code, f"warning: {frozen.out.split('error: ')[1].splitlines()[0]}") == (
        0,
        f"warning: {checked.out.split('warning: ')[1].splitlines()[0]}",
    )
    assert payments("check", "--strict").code == 1
    assert payments("lock").code == 0
    assert payments("lock", "--frozen").code == 0


def test_a_source_that_is_gone_is_drift(bare: Command) -> None:
    folder = bare.cwd / ".tool-intent"
    write(folder / "policy.yaml", "version: 1\nextends: std/baseline\n")
    write(folder / "a.rules", 'rule a/b on bash ask "?"\n')
    locked(bare)
    (folder / "a.rules").unlink()
    done = bare("lock", "--frozen", "--format", "json")
    assert (done.code, diagnosed(done)) == (1, [("lock/unused", "tool-intent.lock", 9)])


def test_frozen_without_a_lock_fails_and_says_what_to_do(plain: Command) -> None:
    done = plain("lock", "--frozen", "--format", "json")
    assert (done.code, diagnosed(done)) == (1, [("lock/missing", "tool-intent.lock", 1)])
    assert "run `tool-intent lock`" in done.out
    assert plain("check").out == "0 errors, 0 warnings in 1 file\n", "without a lock none is asked"


@pytest.mark.parametrize("command", ["check", "lock", "lock --frozen"])
def test_a_malformed_lock_is_an_error_with_its_place(command: str, plain: Command) -> None:
    write(plain.cwd / "tool-intent.lock", '{\n  "version": 2,\n  "version": 2\n}\n')
    done = plain(*command.split(), "--format", "json")
    assert done.code == 1
    assert ("yaml/duplicate-key", "tool-intent.lock", 3) in diagnosed(done)


def test_a_lock_does_not_decide(plain: Command) -> None:
    """Drift of files is for CI to see; a call is judged by the files that are there."""
    write(plain.cwd / "tool-intent.lock", "nonsense: [")
    assert asked(plain) == {"/intent", "/rationale"}


def test_a_repository_that_takes_no_lock_is_said(plain: Command) -> None:
    plain.cwd.chmod(0o500)
    done = plain("lock", restricted="no-override")
    plain.cwd.chmod(0o700)
    assert (done.code, done.out) == (2, "")
    assert "tool-intent.lock cannot be written: Permission denied" in done.err
    assert os.listdir(plain.cwd) == [".tool-intent"] or "tool-intent.lock" not in os.listdir(
        plain.cwd
    )


def test_a_full_disk_leaves_the_old_lock(payments: Command) -> None:
    locked(payments)
    text = (payments.cwd / "tool-intent.lock").read_bytes()
    _edit(payments)
    done = payments("lock", restricted="no-space")
    assert done.code == 2
    assert "cannot be written" in done.err
    assert (payments.cwd / "tool-intent.lock").read_bytes() == text
    assert not [n for n in os.listdir(payments.cwd) if n.startswith("tool-intent.lock.")]

"""The cache changes how fast a decision comes, never what it is; it runs nothing others wrote."""

from __future__ import annotations

import marshal
import os
from hashlib import sha256
from pathlib import Path

import pytest

from .command import DEADLINE, TRACED, Command, Done, call, lines, reasoned, rules
from .test_policies import write

SESSION = lines(
    reasoned("write", path="a", content="x", ticket="PAY-1"),
    reasoned("write", path="a", content="x", ticket="soon"),
    call("edit", path="a", edits=[{"oldText": "a", "intent": "\u200b"}]),
    call("bash", command="ls", rationale="short"),
    call("deploy", ticket="PAY-2", risk=9),
    call("surf", url="x"),
)  # fmt: skip
_DIGEST = 32


def cache_of(command: Command) -> Path:
    return command.home / ".cache" / "tool-intent"


def entries(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file())


def decided(command: Command, env: dict[str, str] | None = None, **more: str) -> Done:
    """The answers to `SESSION`, with a list of imports on standard error."""
    done = command("decide", stdin=SESSION, env=(env or {}) | TRACED, **more)
    assert done.code == 0, done
    return done


def is_hit(done: Done) -> bool:
    """Whether the policy came from the cache: parsing it takes yaml."""
    return "yaml" not in done.imported


@pytest.fixture
def uncached(payments: Command) -> str:
    """What is decided where there is no cache."""
    done = decided(payments, {"TOOL_INTENT_CACHE": "off"})
    assert [a["decision"] for a in done.answers] == [
        "allow",
        "deny",
        "deny",
        "deny",
        "ask",
        "allow",
    ]
    assert not cache_of(payments).exists(), "`off` writes nothing"
    return done.out


def test_a_hit_gives_the_bytes_of_a_miss(payments: Command, uncached: str) -> None:
    miss, hit, again = decided(payments), decided(payments), decided(payments)
    assert miss.out == hit.out == again.out == uncached
    assert [is_hit(d) for d in (miss, hit, again)] == [False, True, True]
    assert miss.said == hit.said == ""


def test_off_reads_no_cache_either(payments: Command, uncached: str) -> None:
    decided(payments)
    off = decided(payments, {"TOOL_INTENT_CACHE": "off"})
    assert (is_hit(off), off.out) == (False, uncached)


def test_the_cache_is_the_user_s_alone(payments: Command) -> None:
    decided(payments)
    folder = cache_of(payments)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(entries(folder)) > 2
    assert all(p.stat().st_mode & 0o777 == 0o600 for p in entries(folder))
    assert not [p for p in entries(folder) if "." in p.name], "no draft is left behind"


def test_places_of_the_cache_can_be_set(payments: Command, tmp_path: Path, uncached: str) -> None:
    for env, place in (
        ({"XDG_CACHE_HOME": str(tmp_path / "xdg")}, tmp_path / "xdg" / "tool-intent"),
        ({"TOOL_INTENT_CACHE": str(tmp_path / "mine" / "own")}, tmp_path / "mine" / "own"),
    ):
        assert decided(payments, env).out == uncached
        assert is_hit(decided(payments, env))
        assert entries(place)
    assert not cache_of(payments).exists()


def _damages(data: bytes) -> dict[str, bytes]:
    middle = len(data) // 2
    return {
        "a bit of the head flipped": bytes([data[0] ^ 1]) + data[1:],
        "a bit of the body flipped": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "the last byte flipped": data[:-1] + bytes([data[-1] ^ 0x80]),
        "truncated": data[:middle],
        "empty": b"",
        "longer": data + b"\0",
    }


@pytest.mark.slow
def test_damaged_entries_are_rebuilt_and_decide_nothing(payments: Command, uncached: str) -> None:
    decided(payments)
    files = {p: p.read_bytes() for p in entries(cache_of(payments))}
    for damage in _damages(next(iter(files.values()))):
        for path, data in files.items():
            path.write_bytes(_damages(data)[damage])
        done = decided(payments)
        assert (damage, done.out, done.said) == (damage, uncached, "")
        assert {p: p.read_bytes() for p in entries(cache_of(payments))}.keys() == files.keys()
        assert is_hit(decided(payments)), f"{damage}: the cache was not rebuilt"


@pytest.mark.slow
def test_each_entry_may_be_damaged_alone(payments: Command, uncached: str) -> None:
    decided(payments)
    for path in entries(cache_of(payments)):
        data = path.read_bytes()
        path.write_bytes(_damages(data)["a bit of the body flipped"])
        done = decided(payments)
        assert (done.out, done.said) == (uncached, "")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a folder", "a FIFO", "a link", "missing"])
def test_entries_that_are_no_files_are_passed_over(
    kind: str, payments: Command, tmp_path: Path, uncached: str
) -> None:
    decided(payments)
    for path in entries(cache_of(payments)):
        data = path.read_bytes()
        path.unlink()
        if kind == "a folder":
            path.mkdir()
        elif kind == "a FIFO":
            os.mkfifo(path)
        elif kind == "a link":
            target = tmp_path / path.name
            target.write_bytes(data)
            path.symlink_to(target)
    done = decided(payments)
    assert (done.out, done.said, is_hit(done)) == (uncached, "", False)


def _judge_nothing() -> bytes:
    return marshal.dumps(compile("def judge(args):\n    return None\n", "planted", "exec"))


def _plant(folder: Path, mode: int) -> int:
    """Replace every compiled tool by code that finds nothing, in well-formed entries."""
    planted = 0
    for path in entries(folder):
        try:
            image = marshal.loads(path.read_bytes()[_DIGEST:])
        except (ValueError, EOFError, TypeError):
            continue
        if isinstance(image, tuple) and len(image) > 8:
            body = marshal.dumps((image[0], marshal.loads(_judge_nothing()), *image[2:]))
            path.write_bytes(sha256(body).digest() + body)
            path.chmod(mode)
            planted += 1
    return planted


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_code_in_an_entry_that_others_could_write_is_not_run(
    mode: int, payments: Command, uncached: str
) -> None:
    decided(payments)
    assert _plant(cache_of(payments), mode) >= 5
    done = decided(payments)
    assert (done.out, done.said) == (uncached, "")
    assert all(p.stat().st_mode & 0o777 == 0o600 for p in entries(cache_of(payments)))


def test_the_same_code_in_the_user_s_own_entry_would_have_been_run(payments: Command) -> None:
    """What shows that the test above plants what it says."""
    decided(payments)
    _plant(cache_of(payments), 0o600)
    assert {a["decision"] for a in decided(payments).answers} == {"allow"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_code_in_an_entry_of_another_user_is_not_run(payments: Command, uncached: str) -> None:
    decided(payments)
    _plant(cache_of(payments), 0o600)
    for path in entries(cache_of(payments)):
        os.chown(path, 65_534, 65_534)
    assert decided(payments).out == uncached


def test_a_folder_of_another_user_is_not_used(payments: Command, uncached: str) -> None:
    """As root, one given to nobody; as anyone else, one of root's."""
    folder = cache_of(payments)
    if os.geteuid() == 0:
        folder.mkdir(parents=True, mode=0o700)
        os.chown(folder, 65_534, 65_534)
    env = {} if os.geteuid() == 0 else {"TOOL_INTENT_CACHE": "/usr/lib"}
    done = decided(payments, env)
    assert done.out == uncached
    assert "tool-intent: the cache is not used" in done.said
    assert "belongs to another user" in done.said
    assert not is_hit(decided(payments, env))


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702, 0o755])
def test_a_folder_that_is_open_to_others_is_not_used(
    mode: int, payments: Command, uncached: str
) -> None:
    decided(payments)
    cache_of(payments).chmod(mode)
    done = decided(payments)
    assert done.out == uncached
    assert not is_hit(done)
    assert "open to other users (its mode should be 0700)" in done.said


@pytest.mark.parametrize("kind", ["a file", "a folder of files"])
def test_what_is_no_folder_is_not_used(
    kind: str, payments: Command, tmp_path: Path, uncached: str
) -> None:
    place = tmp_path / "file"
    place.write_text("")
    setting = place if kind == "a file" else place / "cache"
    done = decided(payments, {"TOOL_INTENT_CACHE": str(setting)})
    assert done.out == uncached
    assert "tool-intent: the cache is not used" in done.said


@pytest.mark.slow
@pytest.mark.parametrize("below", ["", "deep/down"])
@pytest.mark.parametrize("name", ["XDG_CACHE_HOME", "TOOL_INTENT_CACHE"])
def test_a_cache_inside_the_workspace_is_not_used(
    name: str, below: str, payments: Command, uncached: str
) -> None:
    place = payments.cwd / below
    before = set(payments.cwd.rglob("*"))
    done = decided(payments, {name: str(place)})
    assert done.out == uncached
    assert "lies inside the workspace" in done.said
    assert set(payments.cwd.rglob("*")) == before


def test_a_link_into_the_workspace_does_not_hide_it(
    payments: Command, tmp_path: Path, uncached: str
) -> None:
    (payments.cwd / "store").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(payments.cwd / "store")
    done = decided(payments, {"TOOL_INTENT_CACHE": str(tmp_path / "link")})
    assert done.out == uncached
    assert "lies inside the workspace" in done.said


def test_the_start_folder_is_a_workspace_though_it_holds_no_policy(
    bare: Command, tmp_path: Path
) -> None:
    write(bare.home / ".config" / "tool-intent" / "p.yaml", "version: 1\nextends: std/baseline\n")
    done = decided(bare, {"XDG_CACHE_HOME": str(bare.cwd / ".cache")})
    assert "lies inside the workspace" in done.said
    assert not (bare.cwd / ".cache").exists()


def test_working_in_one_s_home_keeps_the_cache(bare: Command) -> None:
    write(bare.home / ".config" / "tool-intent" / "p.yaml", "version: 1\nextends: std/baseline\n")
    bare.cwd = bare.account = bare.home
    assert decided(bare).said == ""
    assert is_hit(decided(bare))


@pytest.mark.parametrize("name", ["policy.yaml", "ticket.yaml"])
def test_an_edit_of_a_file_or_of_what_it_extends_is_noticed_whatever_its_time_says(
    name: str, payments: Command
) -> None:
    before = decided(payments)
    path = payments.cwd / ".tool-intent" / name
    was = path.stat()
    text = path.read_text()
    edited = text.replace("minLength: 20", "minLength: 99").replace("PAY-", "ACC-")
    assert len(edited) == len(text)
    path.write_text(edited)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    after = decided(payments)
    assert after.out != before.out
    assert after.answers[0]["decision"] == "deny"
    path.write_text(text)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert decided(payments).out == before.out


def test_a_policy_that_is_added_or_broken_or_removed_is_noticed(payments: Command) -> None:
    before = decided(payments)
    mine = write(payments.home / ".config" / "tool-intent" / "mine.yaml",
                 "version: 1\nfields: {risk: {}}\ntools: {bash: {require: [risk]}}\n")  # fmt: skip
    added = decided(payments).answers[3]
    assert ("fields/missing", "/risk", "deny") in rules(added)
    mine.write_text("version: 1\ntool: {}\n")
    assert all("policy/broken" in str(rules(a)) for a in decided(payments).answers)
    mine.unlink()
    assert decided(payments).out == before.out


def test_a_folder_that_takes_no_entries_is_no_hindrance(payments: Command, uncached: str) -> None:
    cache_of(payments).mkdir(parents=True, mode=0o700)
    cache_of(payments).chmod(0o500)
    done = decided(payments, restricted="no-override")
    cache_of(payments).chmod(0o700)
    assert (done.out, done.said) == (uncached, "")
    assert entries(cache_of(payments)) == []


def test_a_home_that_takes_no_folder_is_said_and_is_no_hindrance(
    payments: Command, uncached: str
) -> None:
    payments.home.chmod(0o500)
    done = decided(payments, restricted="no-override")
    payments.home.chmod(0o700)
    assert done.out == uncached
    assert "tool-intent: the cache is not used" in done.said


def test_a_full_disk_is_no_hindrance(payments: Command, uncached: str) -> None:
    done = decided(payments, restricted="no-space")
    assert (done.out, done.said) == (uncached, "")
    assert entries(cache_of(payments)) == [], "no half an entry is left"


@pytest.mark.slow
def test_first_runs_side_by_side_agree(payments: Command, uncached: str) -> None:
    running = [payments.start("decide") for _ in range(8)]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(SESSION.encode())
        process.stdin.flush()
    results = [process.communicate(timeout=DEADLINE) for process in running]
    assert {(out.decode(), err) for out, err in results} == {(uncached, b"")}
    assert is_hit(decided(payments))
    assert not [p for p in entries(cache_of(payments)) if "." in p.name]

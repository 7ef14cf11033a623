"""Where policies are found, and what is done with what cannot be read."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tool_intent
from tool_intent.policy import sources
from tool_intent.policy.opening import is_waivers
from tool_intent.policy.sources import Root, SourceError, Unreadable, discover, named, read

ENGINE = str(Path(tool_intent.__path__[0]).parent)


def put(path: Path, text: str = "version: 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def look(cwd: Path, home: Path, machine: Path | str = "/nonexistent", **environ: str):
    return discover(str(cwd), {"HOME": str(home), **environ}, machine=str(machine))


def used(candidates) -> list[tuple[str, str]]:
    return [(c.rank, c.shown) for c in candidates if c.state != "absent"]


def test_every_place_is_found_strongest_first(tmp_path, home):
    machine, repo = tmp_path / "machine", tmp_path / "repo"
    put(machine / "b.yaml")
    put(machine / "a.rules")
    put(machine / "team" / "t.yaml")
    put(tmp_path / "org" / "o.yaml")
    put(home / ".config" / "tool-intent" / "u.yaml")
    put(repo / ".tool-intent" / "policy.yaml")
    put(repo / ".tool-intent" / "more.rules")
    put(repo / "sub" / ".tool-intent" / "policy.yaml")
    extra = put(tmp_path / "extra.yaml")
    found = look(
        repo / "sub", home, machine,
        TOOL_INTENT_ORG_DIR=str(tmp_path / "org"),
        TOOL_INTENT_POLICY=os.pathsep.join([str(extra), "", "std/baseline"]),
    )  # fmt: skip
    assert used(found) == [
        ("org", f"{machine}/a.rules"),
        ("org", f"{machine}/b.yaml"),
        ("team", f"{machine}/team/t.yaml"),
        ("team", f"{tmp_path}/org/o.yaml"),
        ("user", "~/.config/tool-intent/u.yaml"),
        ("repo", ".tool-intent/policy.yaml"),
        ("repo", ".tool-intent/more.rules"),
        ("directory", "sub/.tool-intent/policy.yaml"),
        ("session", str(extra)),
        ("session", "std/baseline"),
    ]
    assert all(c.state == "loaded" for c in found if c.state != "absent")
    assert found == look(
        repo / "sub", home, machine,
        TOOL_INTENT_ORG_DIR=str(tmp_path / "org"),
        TOOL_INTENT_POLICY=os.pathsep.join([str(extra), "", "std/baseline"]),
    )  # fmt: skip


def test_tests_and_hidden_files_are_no_policies(tmp_path, home):
    machine = tmp_path / "machine"
    for name in ("a.test.yaml", ".#a.yaml", "notes.txt"):
        put(machine / name)
    put(tmp_path / "repo" / ".tool-intent" / "other.yaml")
    assert used(look(tmp_path / "repo", home, machine)) == []


def test_waivers_are_found_in_every_place_of_policies(tmp_path, home):
    machine, repo = tmp_path / "machine", tmp_path / "repo"
    folders = [machine, machine / "team", home / ".config" / "tool-intent",
               repo / ".tool-intent", repo / "deep" / ".tool-intent"]  # fmt: skip
    for folder in folders:
        put(folder / "waivers.yaml")
    found = used(look(repo / "deep", home, machine))
    assert [rank for rank, _ in found] == ["org", "team", "user", "repo", "directory"]
    assert all(is_waivers(shown) for _, shown in found)


def test_xdg_config_home_adds_to_the_users_folder_if_it_is_absolute(tmp_path, home):
    put(tmp_path / "xdg" / "tool-intent" / "x.yaml")
    put(home / ".config" / "tool-intent" / "u.yaml")
    own = ("user", "~/.config/tool-intent/u.yaml")
    absolute = look(tmp_path, home, XDG_CONFIG_HOME=str(tmp_path / "xdg"))
    assert used(absolute) == [("user", f"{tmp_path}/xdg/tool-intent/x.yaml"), own]
    assert used(look(tmp_path, home, XDG_CONFIG_HOME="xdg")) == [own]
    assert used(look(tmp_path, home, XDG_CONFIG_HOME=str(home / ".config"))) == [
        ("user", f"{home}/.config/tool-intent/u.yaml")
    ]


def test_a_home_of_the_environment_adds_to_that_of_the_account_and_grants_nothing(tmp_path, home):
    put(home / ".config" / "tool-intent" / "u.yaml")
    put(tmp_path / "moved" / ".config" / "tool-intent" / "m.yaml")
    found = discover(
        str(tmp_path), {"HOME": str(tmp_path / "moved")}, machine="/none", account=str(home)
    )
    assert [(c.shown, c.grants) for c in found if c.state == "loaded"] == [
        ("~/.config/tool-intent/m.yaml", False),
        (f"{home}/.config/tool-intent/u.yaml", True),
    ]


def test_what_the_environment_names_grants_nothing(tmp_path, home):
    put(tmp_path / "org" / "o.yaml")
    put(tmp_path / "org" / "waivers.yaml")
    put(tmp_path / "p.yaml")
    put(tmp_path / "repo" / ".tool-intent" / "policy.yaml")
    found = look(
        tmp_path / "repo", home,
        TOOL_INTENT_ORG_DIR=str(tmp_path / "org"), TOOL_INTENT_POLICY=str(tmp_path / "p.yaml"),
    )  # fmt: skip
    assert {(c.rank, c.root.grants) for c in found if c.state == "loaded"} == {
        ("team", False), ("session", False), ("repo", True),
    }  # fmt: skip


def test_an_inner_git_stops_nothing(tmp_path, home):
    put(tmp_path / "repo" / ".tool-intent" / "policy.yaml")
    (tmp_path / "repo" / "inner" / ".git").mkdir(parents=True)
    assert used(look(tmp_path / "repo" / "inner", home)) == [("repo", ".tool-intent/policy.yaml")]


def test_a_linked_start_folder_is_judged_where_it_really_is(tmp_path, home):
    put(tmp_path / "repo" / ".tool-intent" / "policy.yaml")
    (tmp_path / "repo" / "inner").mkdir()
    (tmp_path / "elsewhere").symlink_to(tmp_path / "repo" / "inner")
    assert used(look(tmp_path / "elsewhere", home)) == [("repo", ".tool-intent/policy.yaml")]


def refusals(candidates) -> dict[str, str]:
    return {c.shown: c.reason for c in candidates if c.state == "refused"}


def test_what_exists_and_is_no_regular_file_is_refused(tmp_path, home):
    machine = tmp_path / "machine"
    (machine / "folder.yaml").mkdir(parents=True)
    os.mkfifo(machine / "fifo.yaml")
    (machine / "device.yaml").symlink_to("/dev/zero")
    (machine / "dangling.yaml").symlink_to(machine / "nothing")
    (machine / "loop.yaml").symlink_to(machine / "loop.yaml")
    (machine / "large.yaml").write_bytes(b"#" * (16 * 2**20 + 1))
    put(machine / "team")
    found = refusals(look(tmp_path, home, machine))
    assert {name.removeprefix(f"{machine}/"): reason for name, reason in found.items()} == {
        "folder.yaml": "it is a folder, not a regular file",
        "fifo.yaml": "it is a FIFO, not a regular file",
        "device.yaml": "it is a device, not a regular file",
        "dangling.yaml": "it is a link to nothing",
        "loop.yaml": "too many levels of symbolic links",
        "large.yaml": "it is larger than 16 MiB",
        "team": "not a directory",
    }


def test_a_repository_that_breaks_its_folder_is_refused_not_passed_over(tmp_path, home):
    put(tmp_path / "a" / ".tool-intent")
    assert refusals(look(tmp_path / "a", home)) != {}
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / ".tool-intent").symlink_to(tmp_path / "gone")
    assert list(refusals(look(tmp_path / "b", home)).values()) == ["it is a link to nothing"]
    (tmp_path / "c" / ".tool-intent" / "policy.yaml").mkdir(parents=True)
    assert ".tool-intent/policy.yaml" in refusals(look(tmp_path / "c", home))


def test_a_policy_named_yml_is_not_passed_over_in_silence(tmp_path, home):
    put(tmp_path / ".tool-intent" / "policy.yml")
    put(home / ".config" / "tool-intent" / "u.yml")
    assert refusals(look(tmp_path, home)) == {
        "~/.config/tool-intent/u.yml": "its name must end in .yaml",
        ".tool-intent/policy.yml": "its name must end in .yaml",
    }


def test_what_the_environment_names_and_is_not_there_is_refused(tmp_path, home):
    found = look(
        tmp_path, home, TOOL_INTENT_ORG_DIR="org", TOOL_INTENT_POLICY=f"no.yaml{os.pathsep}std/bas"
    )
    named = "(TOOL_INTENT_POLICY names it)"
    assert refusals(found) == {
        "org": "there is no such folder (TOOL_INTENT_ORG_DIR names it)",
        "no.yaml": f"there is no file, folder or pack called `no.yaml` {named}",
        "std/bas": f"there is no file, folder or pack called `std/bas` {named}",
    }


UNPRIVILEGED = """
    import os, sys
    sys.path.insert(0, {engine!r})
    from tool_intent.policy.sources import Unreadable, discover, read
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    for c in discover({cwd!r}, {{"HOME": {home!r}}}, machine={machine!r}):
        if c.state != "absent":
            print(c.state, c.shown, c.reason, sep="|")
    try:
        read({file!r}, "repo")
    except Unreadable as error:
        print("read", error.reason, sep="|")
"""


def test_what_may_not_be_read_is_refused_with_the_reason(tmp_path, home):
    cwd = tmp_path
    while cwd != cwd.parent and not os.stat(cwd).st_mode & 0o001:
        cwd.chmod(cwd.stat().st_mode | 0o011)
        cwd = cwd.parent
    machine = tmp_path / "machine"
    put(machine / "a.yaml").chmod(0)
    put(machine / "team" / "t.yaml")
    (machine / "team").chmod(0)
    put(home / ".config" / "tool-intent" / "u.yaml")
    (home / ".config").chmod(0)
    put(tmp_path / ".tool-intent" / "policy.yaml").chmod(0)
    code = UNPRIVILEGED.format(
        engine=ENGINE, cwd=str(tmp_path), home=str(home), machine=str(machine),
        file=str(machine / "a.yaml"),
    )  # fmt: skip
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    (home / ".config").chmod(0o755)
    (machine / "team").chmod(0o755)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        f"refused|{machine}/a.yaml|permission denied",
        f"refused|{machine}/team|permission denied",
        "refused|~/.config/tool-intent|permission denied",
        "refused|.tool-intent/policy.yaml|permission denied",
        "read|permission denied",
    ]


@pytest.mark.parametrize(
    ("rank", "limit"),
    [("repo", 1), ("directory", 1), ("session", 1), ("user", 16), ("team", 16), ("org", 16)],
)
def test_size_is_limited_by_rank(tmp_path, rank, limit):
    file = tmp_path / "p.yaml"
    file.write_bytes(b"#" * (limit * 2**20))
    assert len(read(str(file), rank)) == limit * 2**20
    file.write_bytes(b"#" * (limit * 2**20 + 1))
    with pytest.raises(Unreadable, match=f"larger than {limit} MiB"):
        read(str(file), rank)


def test_a_file_that_grows_while_it_is_read_is_stopped_at_the_limit(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_bytes(b"#" * (2**20 + 1))
    descriptor = os.open(file, os.O_RDONLY)
    with pytest.raises(Unreadable, match="larger than 1 MiB"):
        sources._read_all(descriptor, "repo")
    os.close(descriptor)


def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path):
    os.mkfifo(tmp_path / "p.yaml")
    with pytest.raises(Unreadable, match="a FIFO"):
        read(str(tmp_path / "p.yaml"), "repo")


def test_a_path_with_a_nul_is_unreadable_not_a_crash():
    with pytest.raises(Unreadable):
        read("a\0b", "repo")
    with pytest.raises(SourceError):
        named("a\0b", "/")


def test_named_takes_a_file_a_folder_and_a_pack(tmp_path):
    put(tmp_path / "a.yaml")
    put(tmp_path / "many" / "b.yaml")
    put(tmp_path / "many" / "a.rules")
    put(tmp_path / "many" / "b.test.yaml")
    put(tmp_path / "one" / "policy.yaml")
    put(tmp_path / "one" / "other.yaml")
    cwd = str(tmp_path)
    assert named("a.yaml", cwd) == (Root(f"{cwd}/a.yaml", "session", "a.yaml"),)
    assert [root.shown for root in named("many", cwd)] == ["many/a.rules", "many/b.yaml"]
    assert [root.shown for root in named("one/", cwd)] == ["one/policy.yaml"]
    (pack,) = named("std/baseline", cwd)
    assert pack == Root(f"{sources.shipped()}/packs/std/baseline.yaml", "session", "std/baseline")


def test_a_file_cannot_pass_for_a_pack(tmp_path):
    put(tmp_path / "std" / "baseline", "unlisted: allow")
    (pack,) = named("std/baseline", str(tmp_path))
    assert pack.path.startswith(sources.shipped())


def test_a_pack_name_leads_nowhere_but_into_the_packs(tmp_path):
    for name in ("../schema/x", "std/../std/baseline", "/std/baseline", "std//baseline", ""):
        assert sources.pack_path(name) is None


def test_named_nothing_says_what_is_near(tmp_path):
    with pytest.raises(SourceError, match="no file, folder or pack called `std/basline`") as caught:
        named("std/basline", str(tmp_path))
    assert caught.value.help == "did you mean `std/baseline`?"
    (tmp_path / "empty" / ".tool-intent").mkdir(parents=True)
    with pytest.raises(SourceError, match="holds no policy") as caught:
        named("empty", str(tmp_path))
    assert caught.value.help == "did you mean `empty/.tool-intent`?"
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(SourceError, match="is a FIFO"):
        named("fifo", str(tmp_path))


def test_finding_policies_imports_nothing_heavy():
    code = (
        "import sys; from tool_intent.policy import sources; sources.discover('/', {})\n"
        "bad = {'yaml', 'dataclasses', 'pathlib', 'jsonschema', 'difflib', 'json'}\n"
        "print(sorted(bad & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {ENGINE!r})\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stdout.strip() == "[]"

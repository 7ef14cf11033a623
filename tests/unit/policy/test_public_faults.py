"""Faults other engines had with policy files, each shown not to be one here."""

import os
import subprocess

import pytest

from tool_intent.compiler.loading import load as compiled_load
from tool_intent.policy.sources import SourceError, discover, named
from tool_intent.runtime.model import Call


def test_ti_039_a_policy_with_one_bad_entry_is_refused_as_a_whole(load_text):
    policy = load_text(
        'version: 1\ntools:\n  "": {require: [intent]}\n'
        "  bash: {require: [intent], optional: [intent]}\n  write: {require: [intent]}\n"
    )
    assert [(d.line, d.column, d.code) for d in policy.broken] == [
        (3, 3, "policy/name"), (4, 40, "policy/contradiction"),
    ]  # fmt: skip


def test_ti_043_a_typo_in_a_policys_name_is_no_policy_without_rules(tmp_path):
    with pytest.raises(SourceError, match="prod-typo"):
        named("prod-typo", str(tmp_path))
    found = discover(
        str(tmp_path), {"HOME": str(tmp_path), "TOOL_INTENT_POLICY": "prod-typo"}, machine="/none"
    )
    assert [c.state for c in found if c.shown == "prod-typo"] == ["refused"]


def test_ti_045_a_second_document_is_an_error_and_a_marker_in_text_is_none(load_text):
    one = "version: 1\ntools:\n  {}: {{require: [intent]}}\n"
    (error,) = load_text(one.format("bash") + "---\n" + one.format("read")).broken
    assert (error.line, error.code) == (5, "yaml/documents")
    text = 'version: 1\nfields:\n  intent: {description: "a\\n---\\nb"}\n  rationale:\n'
    policy = load_text(text + "    description: |\n      a\n      ---\n      b\n")
    assert policy.broken == ()


@pytest.mark.parametrize(
    ("written", "code"),
    [("null", "yaml/null"), ("~", "yaml/null"), ("", "yaml/null"), ("''", "policy/value"),
     ("'null'", None), ("NULL", None)],
)  # fmt: skip
def test_ti_047_null_is_refused_and_its_name_is_text(load_text, written, code):
    policy = load_text(f"version: 1\ntools:\n  x: {{require: [intent], except: [{written}, a]}}\n")
    if code is None:
        assert policy.broken == ()
        assert policy.items[0].excepted == (written.strip("'"), "a")
    elif written:
        assert [d.code for d in policy.broken] == [code]
    assert [d.code for d in load_text(f"version: 1\npolicy: {written}\n").broken] == (
        [code] if code else []
    )


def test_ti_049_what_an_extended_file_adjusts_applies_and_names_its_line(tmp_path):
    """Its globs start at the repository's root, not at the folder of the file."""
    folder = tmp_path / ".tool-intent"
    (folder / "shared").mkdir(parents=True)
    (folder / "policy.yaml").write_text("version: 1\nextends: ./shared/shared.yaml\n")
    (folder / "shared" / "shared.yaml").write_text(
        "version: 1\nadjust: {a/x: warn}\nrules: |\n"
        '  rule a/x on write when path like "test/**" deny "No."\n'
    )
    home = {"HOME": str(tmp_path / "home"), "TOOL_INTENT_CACHE": "off"}
    artifact = compiled_load(cwd=str(tmp_path), environ=home, machine="/none", account="/none")
    (rule,) = artifact.policy.items
    assert (rule.effect, rule.declared) == ("warn", "deny")
    assert [str(at) for at in rule.adjusted] == [".tool-intent/shared/shared.yaml:2"]
    decisions = [artifact.decide(Call(1, "write", {"path": p})) for p in ("test/a", "src/a")]
    assert [[f.effect for f in d.findings] for d in decisions] == [["warn"], []]


def test_ti_051_every_source_of_a_rank_is_active_and_listed(tmp_path):
    machine = tmp_path / "machine"
    machine.mkdir()
    for name in ("remote", "mdm"):
        text = f'version: 1\nrules: |\n  rule {name}/r on bash deny "No."\n'
        (machine / f"{name}.yaml").write_text(text)
    home = {"HOME": str(tmp_path / "home"), "TOOL_INTENT_CACHE": "off"}
    artifact = compiled_load(cwd=str(tmp_path), environ=home, machine=str(machine), account="/none")
    found = artifact.decide(Call(1, "bash", {"command": "ls"})).findings
    assert {f.rule for f in found} == {"remote/r", "mdm/r"}
    own = {os.path.basename(s.path) for s in artifact.policy.sources if s.rank == "org"}
    assert own == {"remote.yaml", "mdm.yaml"}


def test_ti_053_each_place_is_listed_with_what_became_of_it(tmp_path):
    def states(cwd):
        found = discover(str(cwd), {"HOME": str(tmp_path / "h")}, machine=str(tmp_path / "m"))
        return {os.path.relpath(c.path, tmp_path): c.state for c in found}

    repo, plain = tmp_path / "repo", tmp_path / "plain"
    for folder in (repo, plain):
        (folder / ".tool-intent").mkdir(parents=True)
        (folder / ".tool-intent" / "policy.yaml").write_text("version: 1\n")
        (folder / "sub").mkdir()
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-C", str(repo)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    tree = tmp_path / "tree"
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    (tree / "sub").mkdir()
    for folder in (repo / "sub", plain / "sub", tree / "sub"):
        found = states(folder)
        holder = os.path.relpath(folder.parent, tmp_path)
        assert found[f"{holder}/.tool-intent/policy.yaml"] == "loaded"
        assert found[f"{holder}/sub/.tool-intent"] == "absent"
        assert found["m"] == found["m/team"] == found["h/.config/tool-intent"] == "absent"
    (plain / ".tool-intent" / "policy.yaml").unlink()
    assert states(plain)["plain/.tool-intent/policy.yaml"] == "absent"
    (plain / ".tool-intent" / "policy.yaml").mkdir()
    assert states(plain)["plain/.tool-intent/policy.yaml"] == "refused"


def test_ti_055_what_yaml_11_would_change_stays_as_written(load_text):
    policy = load_text(
        "version: 1\npolicy: 2026-11-30\nfields:\n"
        "  mode: {enum: [no, off, on, yes, 0755, 22:22, 2026-11-30, 1.10, 1_000]}\n"
        "tools:\n  no: {require: [mode]}\n  off: {require: [mode], except: [yes, 22:22]}\n"
    )
    assert policy.broken == policy.warnings == ()
    (mode,) = policy.fields["mode"]
    assert mode.schema["enum"] == [
        "no", "off", "on", "yes", "0755", "22:22", "2026-11-30", "1.10", "1_000",
    ]  # fmt: skip
    assert mode.policy == "2026-11-30"
    assert [item.key for item in policy.items] == ["no", "off"]
    assert policy.items[1].excepted == ("yes", "22:22")


@pytest.mark.slow
def test_ti_057_a_large_file_without_aliases_loads(load_text):
    lines = "".join(
        f"  tool_of_the_farm_{n}: {{require: [intent], effect: warn}}\n" for n in range(60_000)
    )
    text = f"version: 1\ntools:\n{lines}" + "# " + "x" * (6 * 2**20 - len(lines)) + "\n"
    policy = load_text(text, rank="org")
    assert policy.broken == ()
    assert len(policy.items) == 60_000

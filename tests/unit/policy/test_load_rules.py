"""Rules in policies: what is said in `.rules` files, blocks and conditions, flattened."""

import json
from pathlib import Path

import pytest

from tool_intent.policy import load as load_module
from tool_intent.policy.load import load
from tool_intent.policy.model import Requirement, Rule
from tool_intent.policy.sources import Candidate, Root, discover, pack_path
from tool_intent.rules import tree as t
from tool_intent.runtime.model import Origin

ASSETS = Path(__file__).parents[2] / "assets" / "policies"
MALFORMED = Path(__file__).parents[2] / "conformance" / "malformed.jsonl"
SLIPS = [
    row
    for line in MALFORMED.read_text("utf-8").splitlines()
    if (row := json.loads(line))["kind"] == "yaml"
]

RULES = """\
words runners = ["pytest", "npm test"]
define tested = command runs runners
option most = 3 between 1 and 9

rule a/first on @write, edit except mcp__x__*
  when path under "src"
  require rationale mentions runners
  else ask "Say how it is tested."
  floor warn

rule a/second on bash
  forbid tested and words(intent) < most
"""


def files(folder: Path, **contents: str) -> list[Root]:
    """Each content as a file of the rank that names it: `repo="…"` is repo.yaml."""
    roots = []
    for rank, text in contents.items():
        (folder / f"{rank}.yaml").write_text(text)
        roots.append(Root(str(folder / f"{rank}.yaml"), rank, f"{rank}.yaml"))
    return roots


def sound(policy):
    assert policy.broken == policy.warnings == ()
    return policy


def rules(policy) -> dict[str, Rule]:
    return {item.id: item for item in sound(policy).items if isinstance(item, Rule)}


def test_a_rule_has_what_its_file_says_and_where(load_text):
    found = rules(load_text("version: 1\nextends: ./x.rules\n", {"x.rules": RULES}))
    first, second = found["a/first"], found["a/second"]
    assert (first.targets, first.excepted) == (("@write", "edit"), ("mcp__x__*",))
    assert (first.effect, first.floor, first.policy) == ("ask", "warn", "x.rules")
    assert first.origin == Origin("x.rules", 5, 6, "repo")
    assert isinstance(first.tree, t.Rule)
    assert (second.effect, second.floor) == ("deny", None)
    assert second.scopes is first.scopes
    assert first.scopes.words == {"runners": ("pytest", "npm test")}
    assert list(first.scopes.defines) == ["tested"]
    assert first.scopes.options == {"most": 3}


def test_a_block_says_what_a_file_says_at_its_place_in_the_policy(load_text):
    block = "".join(f"    {line}\n" for line in RULES.splitlines())
    policy = load_text(f"version: 1\npolicy: acme/x\nrules: |\n{block}unlisted: ask\n")
    there = rules(load_text("version: 1\nextends: ./x.rules\n", {"x.rules": RULES}))
    here = rules(policy)
    assert [r.tree for r in here.values()] == [r.tree for r in there.values()]
    assert here["a/first"].origin == Origin("policy.yaml", 8, 10, "repo")
    assert here["a/first"].tree.when.span.line == 9
    assert here["a/first"].policy == "acme/x"


def test_rules_alone_are_no_empty_policy(load_text):
    policy = load_text("version: 1\nrules: |\n  rule a/b on bash forbid true\n")
    assert not sound(policy).empty


def test_an_entry_keeps_its_condition(load_text):
    policy = load_text(
        "version: 1\nfields: {ticket: {}}\ntools:\n"
        '  "@write":\n    require: ticket\n    when: path under "ledger"\n'
    )
    (item,) = sound(policy).items
    assert isinstance(item, Requirement)
    assert item.when == t.Infix("under", t.Path("path"), t.TextLiteral("ledger"))
    assert item.when.span[:2] == (6, 11)


@pytest.mark.parametrize("style", ["'{}'", '"{}"', "{}", "|\n      {}"])
def test_a_condition_means_the_same_however_it_is_written(load_text, style):
    text = 'path under "a" and args.b == "c"'
    shown = text.replace('"', '\\"') if style == '"{}"' else text
    policy = load_text(
        f"version: 1\ntools:\n  x:\n    require: intent\n    when: {style.format(shown)}\n"
    )
    (item,) = sound(policy).items
    assert item.when == t.And(
        (
            t.Infix("under", t.Path("path"), t.TextLiteral("a")),
            t.Compare("==", t.Path("args", ("b",)), t.TextLiteral("c")),
        )
    )


def test_word_lists_are_read_and_are_sources(load_text):
    text = 'words some = ["by hand"]\nwords filler from "words/a.txt", "words/b.txt"\n'
    text += "rule a/b on bash forbid intent mentions filler and intent mentions some\n"
    lists = {"words/a.txt": "# of old\nas requested\r\n\n  fix it  \n", "words/b.txt": "fix it\n"}
    loaded = load_text("version: 1\nextends: ./x.rules\n", {"x.rules": text, **lists})
    assert rules(loaded)["a/b"].scopes.words == {
        "some": ("by hand",),
        "filler": ("as requested", "fix it"),
    }
    shown = [s.shown for s in loaded.sources]
    assert ("words/a.txt" in shown, "words/b.txt" in shown) == (True, True)
    lists["words/b.txt"] = "fix that\n"
    again = load_text("version: 1\nextends: ./x.rules\n", {"x.rules": text, **lists})
    assert again.digest != loaded.digest


def test_a_word_list_with_too_many_lines_is_refused(load_text):
    text = 'version: 1\nrules: |\n  words w from "w.txt"\n  rule a/b on bash forbid true\n'
    sound(load_text(text, {"w.txt": "phrase\n" * 50_000}))
    policy = load_text(text, {"w.txt": "phrase\n" * 50_001})
    assert [(d.file, d.line, d.code) for d in policy.broken] == [("w.txt", 50_001, "words/lines")]
    assert policy.items == ()


def test_a_word_list_over_a_mebibyte_is_refused_at_every_rank(load_text):
    text = 'version: 1\nrules: |\n  words w from "w.txt"\n'
    policy = load_text(text, {"w.txt": "x" * (1 << 20) + "yz"}, rank="org")
    assert [d.message for d in policy.broken] == ["`w.txt` cannot be read: it is larger than 1 MiB"]


def test_a_repository_reads_no_word_list_from_elsewhere(small, tmp_path):
    """Nor by way of a file that its policy extends."""
    folder = tmp_path / "repo" / ".tool-intent"
    folder.mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("hunter2\n")
    (tmp_path / "repo" / "x.rules").write_text('words a from "../secret.txt"\n')
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "policy.yaml").write_text(
        'version: 1\nextends: ../x.rules\nrules: |\n  words b from "link.txt"\n'
        '  words c from "../../secret.txt"\n'
    )
    policy = load([Root(str(folder / "policy.yaml"), "repo", ".tool-intent/policy.yaml")])
    assert [(d.file, d.line, d.message) for d in policy.broken] == [
        ("x.rules", 1, "`../secret.txt` lies outside this repository"),
        (".tool-intent/policy.yaml", 4, "`link.txt` lies outside this repository"),
        (".tool-intent/policy.yaml", 5, "`../../secret.txt` lies outside this repository"),
    ]


def test_a_pack_brings_its_rules_and_word_lists(load_text):
    found = rules(load_text("version: 1\nextends: std/tiny\n"))
    assert {i: (r.policy, r.origin.file) for i, r in found.items()} == {
        "tiny/residue": ("std/tiny", "std/tiny"),
        "tiny/deep": ("std/tiny.rules", "std/tiny.rules"),
    }
    assert found["tiny/residue"].scopes.words == {"filler": ("as requested",)}
    assert found["tiny/residue"].origin.rank == "repo"


def test_options_are_what_a_policy_sets_them_to_and_else_as_declared(load_text):
    text = (
        "version: 1\npolicy: acme/x\nextends: std/tiny\noptions:\n"
        '  std/tiny: {residue: 4, names: [q, r], deep: 5, strict: true, label: ""}\n'
        "  acme/x: {own: 2.5}\n"
        "rules: |\n  option own = 1.5\n  rule a/b on bash forbid words(intent) < own\n"
    )
    found = rules(load_text(text))
    assert found["tiny/residue"].scopes.options == {
        "residue": 4, "strict": True, "names": ["q", "r"], "label": "", "share": 0.5,
    }  # fmt: skip
    assert found["tiny/deep"].scopes.options == {"deep": 5}
    assert found["a/b"].scopes.options == {"own": 2.5}


@pytest.mark.parametrize(("doubt", "org"), [(None, 1), ("it belongs to you", 2)])
def test_an_option_is_set_at_a_stronger_rank_only_where_its_bounds_count(
    doubt, org, small, tmp_path
):
    roots = files(
        tmp_path,
        org="version: 1\nextends: std/tiny\n",
        repo="version: 1\nextends: std/tiny\noptions: {std/tiny: {residue: 1}}\n",
    )
    policy = load(roots, doubts=lambda *_: doubt)
    found = {
        item.origin.rank: item.scopes.options["residue"]
        for item in sound(policy).items
        if isinstance(item, Rule) and item.id == "tiny/residue"
    }
    assert found == {"org": org, "repo": 1}


def test_one_id_in_files_of_two_ranks_is_a_warning_at_the_weaker(small, tmp_path):
    text = "version: 1\nrules: |\n  rule a/b on bash forbid true\n"
    policy = load(files(tmp_path, repo=text, org=text))
    assert [(d.code, d.file, d.line, d.column) for d in policy.warnings] == [
        ("rules/clash", "repo.yaml", 3, 8)
    ]
    assert [item.origin.rank for item in policy.items] == ["repo", "org"]


def test_one_file_at_two_ranks_is_judged_at_both_and_clashes_with_nothing(small, tmp_path):
    (tmp_path / "x.rules").write_text("rule a/b on bash forbid true\n")
    text = "version: 1\nextends: ./x.rules\n"
    policy = sound(load(files(tmp_path, org=text, repo=text)))
    assert [item.origin.rank for item in policy.items] == ["org", "repo"]


def test_a_rule_file_alone_takes_any_field_under_has(small, tmp_path):
    (tmp_path / "x.rules").write_text('rule a/b on bash require has ticket and ticket == "a"\n')
    root = Root(str(tmp_path / "x.rules"), "session", "x.rules")
    assert list(rules(load([root]))) == ["a/b"]


def test_a_rule_file_found_beside_a_policy_knows_its_fields(small, tmp_path):
    folder = tmp_path / ".tool-intent"
    folder.mkdir()
    (folder / "x.rules").write_text("rule a/b on bash require weight > 3\n")
    (folder / "policy.yaml").write_text("version: 1\nfields: {weight: {type: integer}}\n")
    found = discover(str(tmp_path), {"HOME": str(tmp_path)}, machine="/nonexistent")
    roots = [Root(c.path, c.rank, c.shown) for c in found if c.state == "loaded"]
    assert list(rules(load(roots))) == ["a/b"]


def test_a_rule_of_a_stronger_rank_does_not_know_fields_of_weaker_ones(small, tmp_path):
    (tmp_path / "x.rules").write_text("rule a/b on bash require weight > 3\n")
    policy = load(
        [
            Root(str(tmp_path / "x.rules"), "org", "x.rules"),
            *files(
                tmp_path,
                user="version: 1\nfields: {weight: {type: integer}}\n",
                org="version: 1\n",
            ),
        ]
    )
    assert [d.message for d in policy.broken] == ["nothing is called `weight` on bash"]


@pytest.mark.parametrize("who", ["except @safe", "when: earlier @safe within 9 calls"])
def test_a_weaker_rank_adds_no_tool_to_a_group_that_a_stronger_one_trusts(small, tmp_path, who):
    org = 'version: 1\ngroups: {"@safe": [read]}\nrules: |\n'
    if who.startswith("except"):
        org += "  rule a/b on * except @safe forbid true\n"
    else:
        org += (
            "  define looked = earlier @safe within 9 calls\n"
            "  rule a/b on * require looked and count(earlier @safe within 2 calls) > 1\n"
            "tools:\n  bash: {require: intent, when: earlier @safe within 9 calls}\n"
        )
    repo = 'version: 1\ngroups: {"@safe": [bash]}\n'
    (rule, *others) = [
        i for i in sound(load(files(tmp_path, org=org, repo=repo))).items if isinstance(i, Rule)
    ] + [i for i in load(files(tmp_path, org=org, repo=repo)).items if isinstance(i, Requirement)]
    if who.startswith("except"):
        assert rule.excepted == ("read",)
        return
    (entry,) = others
    histories = [
        node
        for root in (rule.tree.verdict.condition, rule.scopes.defines["looked"], entry.when)
        for node in t.walk(root)
        if isinstance(node, t.History)
    ]
    assert [tuple(x.name for x in h.targets) for h in histories] == [("read",)] * 3


def test_rule_files_from_repo_rank_down_hold_so_many_rules(small, tmp_path):
    text = "".join(f"rule a/r{n} on bash forbid true\n" for n in range(5_001))
    (tmp_path / "x.rules").write_text(text)
    repo = load([Root(str(tmp_path / "x.rules"), "repo", "x.rules")])
    assert [d.message for d in repo.broken] == ["a file holds at most 5000 rules"]
    assert repo.items == ()
    org = load([Root(str(tmp_path / "x.rules"), "org", "x.rules")])
    assert len(rules(org)) == 5_001


def test_a_file_with_one_wrong_rule_gives_none(load_text):
    policy = load_text(
        "version: 1\nrules: |\n  rule a/b on bash forbid true\n  rule a/c on bash forbid x\n"
    )
    assert len(policy.broken) == 1
    assert policy.items == ()


def test_the_digest_tells_apart_versions_of_the_function_table(load_text, monkeypatch):
    text = "version: 1\nrules: |\n  rule a/b on bash forbid true\n"
    before = load_text(text).digest
    monkeypatch.setattr(load_module, "FUNCTION_TABLE", load_module.FUNCTION_TABLE + 1)
    assert load_text(text).digest != before


def test_a_refused_rule_file_breaks_the_policy(small, tmp_path):
    refused = Candidate("/x/a.rules", "org", "a.rules", "refused", "permission denied")
    (error,) = load([], [refused]).broken
    assert (error.file, error.code) == ("a.rules", "policy/unreadable")


@pytest.mark.parametrize("path", sorted(ASSETS.glob("*.*")), ids=lambda path: path.name)
def test_policies_in_use_load_clean_with_the_shipped_packs_and_catalogs(path, tmp_path):
    text = path.read_text("utf-8")
    if "std/anti-fluff" in text and pack_path("std/anti-fluff") is None:
        pytest.skip("std/anti-fluff is not shipped")
    policy = load([Root(str(path), "repo", path.name)])
    assert policy.broken == ()
    assert policy.items


@pytest.mark.parametrize("row", SLIPS, ids=lambda row: f"{row['id']}")
def test_a_usual_slip_in_yaml_gets_its_message_at_its_place(load_text, row):
    told = [(f"{d.line}:{d.column}", d.message) for d in load_text(row["text"]).broken]
    assert (row["at"], row["message"]) in told
    begins = [place for place, _ in told if place == row["at"]]
    assert len(begins) == 1

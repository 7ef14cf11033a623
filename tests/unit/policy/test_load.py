"""From files to the effective policy: everything that is said, once, with where it is said."""

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from tool_intent.policy.load import load
from tool_intent.policy.model import FieldUse, Unlisted
from tool_intent.policy.names import ToolNames
from tool_intent.policy.sources import Candidate, Root, named
from tool_intent.runtime.model import Origin

POLICY = """\
version: 1
policy: acme/payments
fields:
  ticket:
    description: A ticket.
    allOf: [{minLength: 5}, {pattern: ^PAY}]
tools:
  write: {require: [intent, ticket]}
  edit:
    - {at: "steps[].actions[]", require: [intent]}
    - {at: options, optional: rationale}
  bash:
    require:
      intent: {}
      rationale: {minLength: 40}
    except: ["@read", "mcp__*"]
    effect: warn
unlisted: ask
"""


def at(line: int, column: int, file: str = "policy.yaml", rank: str = "repo") -> Origin:
    return Origin(file, line, column, rank)


def test_entries_keep_their_order_and_their_places(load_text):
    policy = load_text(POLICY)
    assert policy.broken == policy.warnings == ()
    write, each, options, bash = policy.items
    assert write.uses == (
        FieldUse("intent", True, {}, at(8, 21), {"": at(8, 21)}),
        FieldUse("ticket", True, {}, at(8, 29), {"": at(8, 29)}),
    )
    assert (write.key, write.at, write.effect, write.excepted) == ("write", (), "deny", ())
    assert (write.origin, write.policy) == (at(8, 3), "acme/payments")
    assert (each.key, each.at, each.origin) == (
        "edit", ("steps", "[]", "actions", "[]"), at(10, 7),
    )  # fmt: skip
    assert (options.at, options.uses[0].name, options.uses[0].required) == (
        ("options",), "rationale", False,
    )  # fmt: skip
    assert (bash.effect, bash.excepted) == ("warn", ("@read", "mcp__*"))
    assert bash.uses[1] == FieldUse(
        "rationale", True, {"minLength": 40}, at(15, 7), {"": at(15, 7), "/minLength": at(15, 19)}
    )


def test_every_keyword_of_a_definition_has_its_place(load_text):
    (ticket,) = load_text(POLICY).fields["ticket"]
    assert ticket.schema == {
        "description": "A ticket.",
        "allOf": [{"minLength": 5}, {"pattern": "^PAY"}],
    }
    assert (ticket.origin, ticket.policy) == (at(4, 3), "acme/payments")
    assert ticket.origins == {
        "": at(4, 3),
        "/description": at(5, 5),
        "/allOf": at(6, 5),
        "/allOf/0": at(6, 13),
        "/allOf/0/minLength": at(6, 14),
        "/allOf/1": at(6, 29),
        "/allOf/1/pattern": at(6, 30),
    }


def test_unlisted_is_an_effect_and_allow_is_off(load_text):
    assert load_text(POLICY).unlisted == (Unlisted("ask", at(17 + 1, 11)),)
    assert load_text("version: 1\nunlisted: allow\n").unlisted == (Unlisted("off", at(2, 11)),)


def test_intent_and_rationale_need_no_definition(load_text):
    policy = load_text("version: 1\ntools:\n  bash: {require: [intent, rationale]}\n")
    assert policy.broken == ()
    (intent,), (rationale,) = policy.fields["intent"], policy.fields["rationale"]
    assert intent.schema == {"description": "The goal this call serves."}
    assert (intent.policy, intent.origin) == (
        "tool-intent", at(1, 1, "tool-intent", "shipped"),
    )  # fmt: skip
    assert "Why it is right" in rationale.schema["description"]


def test_a_definition_adds_to_the_one_built_in(load_text):
    policy = load_text("version: 1\nfields: {intent: {minLength: 9}}\n")
    schemas = [d.schema for d in policy.fields["intent"]]
    assert schemas == [{"minLength": 9}, {"description": "The goal this call serves."}]


def test_a_policy_without_a_name_is_called_by_its_file(load_text):
    policy = load_text("version: 1\ntools:\n  bash: {require: [intent]}\n")
    assert [item.policy for item in policy.items] == ["policy.yaml"]


def test_definitions_add_up_the_extenders_first(load_text):
    policy = load_text(
        "version: 1\npolicy: top\nextends: [./a.yaml, ./b.yaml]\n"
        "fields: {ticket: {maxLength: 9}}\n",
        {
            "a.yaml": "version: 1\npolicy: a\nextends: ./b.yaml\n"
            "fields: {ticket: {minLength: 2}}\n",
            "b.yaml": "version: 1\npolicy: b\nfields: {ticket: {pattern: x}}\nunlisted: warn\n",
        },
    )
    assert policy.broken == ()
    assert [d.policy for d in policy.fields["ticket"]] == ["top", "a", "b"]
    assert [u.origin for u in policy.unlisted] == [at(4, 11, "b.yaml")]
    assert [s.shown for s in policy.sources] == ["policy.yaml", "a.yaml", "b.yaml", "tiny-1"]


def test_a_field_may_come_from_deep_in_what_is_extended(load_text):
    policy = load_text(
        "version: 1\nextends: ./a.yaml\ntools:\n  bash: {require: {ticket: {minimum: 3}}}\n",
        {
            "a.yaml": "version: 1\nextends: ./b.yaml\n",
            "b.yaml": "version: 1\nfields: {ticket: {type: integer}}\n",
        },
    )
    assert policy.broken == policy.warnings == ()


def test_a_type_given_elsewhere_binds_the_constraints_here(load_text):
    policy = load_text(
        "version: 1\nextends: ./a.yaml\nfields: {ticket: {minLength: 3}}\n",
        {"a.yaml": "version: 1\nfields: {ticket: {type: integer}}\n"},
    )
    assert [d.message for d in policy.broken] == [
        "`minLength` says nothing: the field's type is integer"
    ]


def test_one_file_is_judged_once_at_each_rank_that_reaches_it(small, tmp_path):
    for name in ("org", "repo", "again"):
        (tmp_path / f"{name}.yaml").write_text("version: 1\nextends: ./shared.yaml\n")
    (tmp_path / "shared.yaml").write_text("version: 1\ntools:\n  bash: {require: [intent]}\n")
    roots = [
        Root(str(tmp_path / "org.yaml"), "org", "org.yaml"),
        Root(str(tmp_path / "repo.yaml"), "repo", "repo.yaml"),
        Root(str(tmp_path / "again.yaml"), "repo", "again.yaml"),
        Root(str(tmp_path / "shared.yaml"), "repo", "shared.yaml"),
    ]
    policy = load(roots)
    assert policy.broken == ()
    assert [item.origin.rank for item in policy.items] == ["org", "repo"]


def test_a_link_to_a_file_is_that_file(small, tmp_path):
    (tmp_path / "a.yaml").write_text("version: 1\ntools:\n  bash: {require: [intent]}\n")
    (tmp_path / "b.yaml").symlink_to(tmp_path / "a.yaml")
    roots = [Root(str(tmp_path / name), "repo", name) for name in ("a.yaml", "b.yaml")]
    assert len(load(roots).items) == 1


def test_the_baseline_asks_what_the_seed_asked():
    policy = load(named("std/baseline", "/"))
    assert policy.broken == policy.warnings == ()
    asked = [
        (item.key, item.at, [(use.name, use.required) for use in item.uses], item.effect)
        for item in policy.items
    ]
    both = [("intent", True), ("rationale", True)]
    assert asked == [
        ("write", (), both, "deny"),
        ("bash", (), both, "deny"),
        ("read", (), both, "deny"),
        ("edit", ("edits", "[]"), both, "deny"),
        ("edit", (), [("intent", False), ("rationale", False)], "deny"),
    ]
    assert {i.origin.file for i in policy.items} == {i.policy for i in policy.items}
    assert policy.items[0].policy == "std/baseline"


def test_an_extended_pack_has_the_rank_of_its_extender(load_text):
    policy = load_text("version: 1\nextends: std/baseline\n", rank="org")
    assert {item.origin.rank for item in policy.items} == {"org"}
    assert {item.origin.file for item in policy.items} == {"std/baseline"}


def test_layer_is_an_assertion_about_the_place(load_text):
    text = "version: 1\nlayer: org\n"
    assert load_text(text, rank="org").broken == ()
    (error,) = load_text(text, rank="repo").broken
    assert (error.code, error.line, error.column) == ("policy/layer", 2, 8)


def test_groups_are_the_union_of_catalogs_and_policies(load_text):
    policy = load_text('version: 1\ngroups: {"@read": [cat], "@mine": ["@read", "my_*"]}\n')
    assert policy.broken == ()
    assert policy.groups == {
        "@read": ("read", "ls", "cat"),
        "@write": ("@edit", "write"),
        "@edit": ("edit",),
        "@exec": ("bash",),
        "@net": (),
        "@shells": ("@exec", "*sh"),
        "@mine": ("@read", "my_*"),
    }


def test_a_stronger_rank_may_not_lean_on_a_group_of_a_weaker_one(small, tmp_path):
    (tmp_path / "org.yaml").write_text(
        'version: 1\ntools:\n  "*": {require: [intent], except: ["@safe"]}\n'
    )
    (tmp_path / "repo.yaml").write_text('version: 1\ngroups: {"@safe": [bash]}\n')
    roots = [Root(str(tmp_path / f"{rank}.yaml"), rank, rank) for rank in ("org", "repo")]
    assert [(d.code, d.file) for d in load(roots).broken] == [("policy/unknown-group", "org")]
    roots.reverse()
    assert [(d.code, d.file) for d in load(roots).broken] == [("policy/unknown-group", "org")]


def test_a_weaker_rank_exempts_no_tool_from_a_stronger_one(small, tmp_path):
    (tmp_path / "org.yaml").write_text(
        'version: 1\ntools:\n  "*": {require: [intent], except: ["@read", "@exec", x]}\n'
    )
    (tmp_path / "repo.yaml").write_text(
        'version: 1\ngroups: {"@read": [bash, "@mine"], "@mine": [rm]}\n'
        'tools:\n  "*": {require: [intent], except: ["@read"]}\n'
    )
    roots = [Root(str(tmp_path / f"{rank}.yaml"), rank, rank) for rank in ("org", "repo")]
    policy = load(roots)
    assert policy.broken == ()
    org, repo = policy.items
    assert org.excepted == ("ls", "read", "@exec", "x")
    assert repo.excepted == ("@read",)
    assert set(policy.groups["@read"]) == {"read", "ls", "bash", "@mine"}


def test_catalogs_describe_tools(load_text):
    policy = load_text(
        "version: 1\ncatalog: [tiny-1, ./mine.yaml]\n",
        {"mine.yaml": 'catalog: mine\ntools:\n  bash: {groups: ["@net"]}\n  save: {}\n'},
    )
    assert policy.broken == ()
    shipped, mine = policy.catalog["bash"]
    assert (shipped.catalog, shipped.roles, shipped.groups) == (
        "tiny-1", {"command": ("command",)}, ("@exec",),
    )  # fmt: skip
    assert shipped.schema == {
        "type": "object",
        "properties": {"command": {"type": "string", "default": None}},
    }
    assert (mine.catalog, mine.groups, mine.schema) == ("mine", ("@net",), None)
    assert policy.catalog["ls"][0].groups == ("@read",)
    assert policy.groups["@net"] == ("bash",)
    ranks = {source.shown: source.rank for source in policy.sources}
    assert (ranks["tiny-1"], ranks["mine.yaml"]) == ("shipped", "repo")


def test_a_repository_reads_nothing_outside_itself(small, tmp_path):
    folder = tmp_path / "repo" / ".tool-intent"
    folder.mkdir(parents=True)
    (tmp_path / "secret.yaml").write_text("version: 1\n")
    (tmp_path / "repo" / "inside.yaml").write_text("version: 1\n")
    (folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "policy.yaml").write_text(
        "version: 1\nextends: [../inside.yaml, ../../secret.yaml, ./link.yaml]\n"
        "catalog: ../../secret.yaml\n"
    )
    policy = load([Root(str(folder / "policy.yaml"), "repo", "policy.yaml")])
    assert [(d.code, d.line, d.column) for d in policy.broken] == [
        ("policy/extends", 2, 27), ("policy/extends", 2, 46), ("policy/extends", 3, 10),
    ]  # fmt: skip


def test_what_cannot_be_read_breaks_the_policy(small, tmp_path):
    refused = Candidate("/x/a.yaml", "org", "a.yaml", "refused", "permission denied")
    (tmp_path / "fifo.yaml").mkdir()
    policy = load([Root(str(tmp_path / "fifo.yaml"), "repo", "fifo.yaml")], [refused])
    assert [(d.file, d.code, d.message) for d in policy.broken] == [
        ("a.yaml", "policy/unreadable", "`a.yaml` cannot be read: permission denied"),
        ("fifo.yaml", "policy/unreadable",
         "`fifo.yaml` cannot be read: it is a folder, not a regular file"),
    ]  # fmt: skip


def test_of_two_tools_that_differ_in_case_the_plainer_is_meant():
    for tools in (("Bash", "bash"), ("bash", "Bash", "BASH")):
        names = ToolNames(tools, ())
        assert [names.nearest(name) for name in ("bsh", "ba-sh", "bahs")] == ["bash"] * 3


def test_nothing_loaded_is_an_empty_policy(small):
    policy = load([])
    assert policy.empty
    assert policy.broken == ()
    assert set(policy.fields) == {"intent", "rationale"}


def test_a_chain_of_files_has_an_end(load_text):
    files = {f"f{n}.yaml": f"version: 1\nextends: ./f{n + 1}.yaml\n" for n in range(250)}
    policy = load_text("version: 1\nextends: ./f0.yaml\n", files)
    assert [d.message for d in policy.broken] == ["a policy has at most 200 files"]


def test_refusing_a_pattern_prints_nothing(load_text, capfd):
    assert load_text("version: 1\nfields: {intent: {pattern: '('}}\n").broken
    assert capfd.readouterr() == ("", "")


class TestDigest:
    TEXT = "version: 1\nextends: ./b.yaml\n"
    FILES = {"b.yaml": "version: 1\nunlisted: ask\n"}  # noqa: RUF012 - a constant of the tests

    def test_it_is_the_same_wherever_the_files_stand(self, load_text, small, tmp_path):
        here = load_text(self.TEXT, self.FILES).digest
        (tmp_path / "elsewhere").mkdir()
        for name, text in {"policy.yaml": self.TEXT, **self.FILES}.items():
            (tmp_path / "elsewhere" / name).write_text(text)
        there = load([Root(str(tmp_path / "elsewhere" / "policy.yaml"), "repo", "x")]).digest
        assert here == there
        assert here.startswith("sha256:")
        assert len(here) == 7 + 64

    def test_it_changes_with_contents_ranks_and_catalogs(self, load_text, small):
        digests = [
            load_text(self.TEXT, self.FILES).digest,
            load_text(self.TEXT + "# note\n", self.FILES).digest,
            load_text(self.TEXT, {"b.yaml": "version: 1\nunlisted: deny\n"}).digest,
            load_text(self.TEXT, self.FILES, rank="org").digest,
        ]
        catalog = small / "catalog" / "tiny-1.yaml"
        before = catalog.read_text()
        catalog.write_text(before + "# note\n")
        digests.append(load_text(self.TEXT, self.FILES).digest)
        catalog.write_text(before)
        assert len(set(digests)) == 5

    def test_the_order_of_roots_does_not_change_it(self, small, tmp_path):
        roots = []
        for name in ("a", "b"):
            (tmp_path / name).write_text(f"version: 1\npolicy: {name}\n")
            roots.append(Root(str(tmp_path / name), "repo", name))
        assert load(roots).digest == load(roots[::-1]).digest

    def test_sources_tell_what_was_read(self, load_text, tmp_path):
        policy = load_text(self.TEXT, self.FILES)
        for source in policy.sources:
            data = Path(source.path).read_bytes()
            assert source.digest == sha256(data).hexdigest()
        assert [os.path.basename(s.path) for s in policy.sources] == [
            "policy.yaml", "b.yaml", "tiny-1.yaml",
        ]  # fmt: skip


@pytest.mark.parametrize("name", ["policy", "catalog"])
def test_the_published_schemas_are_schemas(name):
    from jsonschema import Draft202012Validator

    from tool_intent.policy import sources

    path = Path(sources.shipped()) / "schema" / f"{name}.schema.json"
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"https://tool-intent.dev/schema/{name}.schema.json"


def test_every_shipped_pack_and_catalog_loads_clean():
    from tool_intent.policy import sources

    for pack in sources.packs():
        assert load(named(pack, "/")).broken == (), pack

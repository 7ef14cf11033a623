"""`tool-intent waiver`, and what `check`, `decide` and `show` make of waivers."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from .command import TRACED, Command, call, lines, rules
from .test_imports import _heavy

SCHEMAS = Path(__file__).parents[2] / "policies" / "schema"
POLICY = """\
version: 1
policy: acme
rules: |
  rule acme/no-docs on write
    when path under "docs"
    deny "Docs are generated."
  rule acme/no-src on write
    when path under "src"
    deny "Ask first."
waiver_policy: {max_days: 400, locked: [acme/no-src]}
"""
REST = 'owner: "@lena", reason: Moving, created: 2026-11-01'
WRITE = call("write", path="docs/a.md")


@pytest.fixture
def acme(bare: Command) -> Command:
    """A repository with a rule on docs/, a file there, and no waivers."""
    (bare.cwd / ".tool-intent").mkdir()
    (bare.cwd / "docs").mkdir()
    (bare.cwd / "docs" / "a.md").write_text("")
    (bare.cwd / ".tool-intent" / "policy.yaml").write_text(POLICY)
    return bare


def waive(command: Command, *entries: str) -> None:
    listed = "".join(f"  - {{{entry}, {REST}}}\n" for entry in entries)
    path = command.cwd / ".tool-intent" / "waivers.yaml"
    path.write_text(f"version: 1\nwaivers:\n{listed}")


DOCS = "id: W-1, rule: acme/no-docs, scope: {paths: [docs/**]}"


def judged(command: Command, now: str) -> list[Any]:
    done = command("decide", "--now", now, stdin=lines(WRITE))
    assert done.code == 0, done
    return done.answers


@pytest.mark.parametrize(
    ("now", "effect"),
    [
        ("2026-12-01T23:59:59Z", "note"),
        ("2026-12-02T00:00:00Z", "deny"),
        ("2026-12-02T01:00:00+02:00", "note"),
    ],
)
def test_ti_083_a_date_is_in_force_to_the_end_of_that_day_in_utc(
    now: str, effect: str, acme: Command
) -> None:
    waive(acme, f"{DOCS}, expires: 2026-12-01")
    for _ in ("compiled", "from the cache"):
        (answer,) = judged(acme, now)
        assert rules(answer) == [("acme/no-docs", "", effect)]


def test_ti_083_a_time_without_an_offset_is_refused(acme: Command) -> None:
    waive(acme, f'{DOCS}, expires: "2026-12-01T12:00:00"')
    done = acme("check")
    assert done.code == 1
    assert "does not say its offset from UTC" in done.out


def test_ti_085_an_expired_waiver_waives_nothing_and_is_a_finding(acme: Command) -> None:
    waive(acme, f"{DOCS}, expires: 2025-01-01".replace("W-1", "W-17"))
    path = acme.cwd / ".tool-intent" / "waivers.yaml"
    path.write_text(path.read_text().replace("2026-11-01", "2024-11-01"))
    (answer,) = judged(acme, "2026-11-30T00:00:00Z")
    assert answer["decision"] == "deny"
    done = acme("check")
    assert "waiver W-17 expired 2025-01-01 (owner @lena) [waivers/expired]" in done.out
    assert (done.code, acme("check", "--strict").code) == (0, 1)


@pytest.mark.parametrize(
    "text", ["x  # tool-intent-ignore : short-intent", "a sentence mentioning tool-intent-ignore"]
)
def test_ti_087_no_text_of_a_call_or_policy_suppresses_anything(text: str, acme: Command) -> None:
    policy = acme.cwd / ".tool-intent" / "policy.yaml"
    policy.write_text(f"{POLICY}# tool-intent-ignore : acme/no-docs\n")
    done = acme("decide", stdin=lines(call("write", path="docs/a.md", intent=text)))
    assert done.answers[0]["decision"] == "deny"


def test_a_waived_decision_fits_the_published_schema(acme: Command) -> None:
    waive(acme, f"{DOCS}, expires: 2026-12-31")
    (answer,) = judged(acme, "2026-12-01T00:00:00Z")
    assert answer["decision"] == "allow"
    schema = json.loads((SCHEMAS / "decision.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(answer)
    (finding,) = answer["findings"]
    assert (finding["effect"], finding["waived"], finding["was"]) == ("note", "W-1", "deny")


def test_a_change_of_waivers_is_seen_at_once(acme: Command) -> None:
    now = "2026-12-01T00:00:00Z"
    assert judged(acme, now)[0]["decision"] == "deny"
    waive(acme, f"{DOCS}, expires: 2026-12-31")
    assert judged(acme, now)[0]["decision"] == "allow"
    assert judged(acme, now)[0]["decision"] == "allow"
    (acme.cwd / ".tool-intent" / "waivers.yaml").unlink()
    assert judged(acme, now)[0]["decision"] == "deny"


def test_a_waived_decision_from_the_cache_imports_nothing_of_authoring_time(acme: Command) -> None:
    waive(acme, f"{DOCS}, expires: 2026-12-31")
    command = ("decide", "--now", "2026-12-01T00:00:00Z")
    cold = acme(*command, stdin=lines(WRITE), env=TRACED)
    warm = acme(*command, stdin=lines(WRITE), env=TRACED)
    assert warm.out == cold.out
    assert warm.answers[0]["decision"] == "allow"
    assert _heavy(warm.imported) == set()
    assert "tool_intent.policy.load" not in warm.imported


def test_without_waivers_nothing_of_them_is_imported(acme: Command) -> None:
    acme("decide", stdin=lines(WRITE))
    warm = acme("decide", stdin=lines(WRITE), env=TRACED)
    ours = {name for name in warm.imported if name.startswith("tool_intent")}
    assert not [n for n in ours if n.endswith((".waivers", ".uses", ".vouching", ".trust"))]


def test_waivers_alone_are_no_policy(bare: Command) -> None:
    (bare.cwd / ".tool-intent").mkdir()
    waive(bare, f"{DOCS}, expires: 2026-12-31")
    done = bare("decide", stdin=lines(WRITE))
    assert done.code == 2
    assert "no policy found" in done.err


def test_a_broken_waivers_file_denies_nothing_more(acme: Command) -> None:
    (acme.cwd / ".tool-intent" / "waivers.yaml").write_text("waivers: [{\n")
    (answer,) = acme.decide(call("write", path="other.txt"))
    assert answer["decision"] == "allow"
    assert acme("check").code == 1


def test_a_waivers_file_is_checked_by_itself(acme: Command) -> None:
    waive(acme, f"{DOCS}, expires: 2099-12-31", "id: W-2, rule: x/y, scpe: {}, expires: 2099-12-31")
    done = acme("check", ".tool-intent/waivers.yaml", "--format", "json")
    assert done.code == 1
    (told,) = json.loads(done.out)
    assert (told["code"], told["line"], told["help"]) == (
        "policy/unknown-key", 4, "did you mean `scope`?",
    )  # fmt: skip


def test_sources_show_waivers(acme: Command) -> None:
    waive(acme, f"{DOCS}, expires: 2099-12-31")
    done = acme("show", "--sources", "--format", "json")
    rows = [row for row in json.loads(done.out) if row["source"].endswith("waivers.yaml")]
    assert [(row["rank"], row["state"]) for row in rows] == [("repo", "loaded")]


def test_explain_and_run_say_what_waived_a_finding(acme: Command) -> None:
    waive(acme, f"{DOCS}, expires: 2027-11-30")
    explained = acme("explain", stdin=lines(WRITE))
    assert "waiver W-1: acme/no-docs, deny lowered to note" in explained.out
    done = acme("run", "write", '{"path": "docs/a.md", "content": "x"}', "--workspace", ".")
    assert (done.code, "note: Docs are generated. (acme/no-docs, waived by W-1)" in done.out) == (
        0, True,
    )  # fmt: skip


def listed(command: Command, *options: str) -> tuple[int, Any]:
    done = command("waiver", *options, "--format", "json")
    assert done.err == "", done
    return done.code, json.loads(done.out)


def test_list_says_what_counts_and_why_the_rest_does_not(acme: Command) -> None:
    waive(
        acme,
        f"{DOCS}, expires: 2027-11-30",
        "id: W-2, rule: acme/no-src, scope: {paths: [docs/**]}, expires: 2027-11-30",
        "id: W-3, rule: acme/no-dogs, scope: {paths: [docs/**]}, expires: 2027-11-30",
        "id: W-4, rule: acme/no-docs, scope: {paths: [docs/**]}, expires: 2026-11-02",
    )
    code, said = listed(acme, "list")
    states = {row["id"]: row["state"] for row in said["waivers"]}
    assert states == {
        "W-1": "active", "W-2": "not counted", "W-3": "unused", "W-4": "expired",
    }  # fmt: skip
    why = {row["id"]: row["why"] for row in said["waivers"]}
    assert why["W-1"] == []
    assert "`acme/no-src` is locked" in why["W-2"][0]
    assert said["waivers"][0]["counts"] == [{"rank": "repo", "until": "2027-12-01T00:00:00Z"}]
    assert (code, [d["severity"] for d in said["findings"]]) == (0, ["warning"] * 3)
    text = acme("waiver", "list")
    assert "did you mean `acme/no-docs`?" in text.out


def test_list_ends_with_1_where_a_waiver_is_wrong(acme: Command) -> None:
    waive(acme, "id: W-1, rule: acme/no-docs, expires: 2026-13-45")
    code, said = listed(acme, "list")
    assert (code, said["waivers"]) == (1, [])
    assert [d["code"] for d in said["findings"]] == ["waivers/date"]


@pytest.mark.slow
def test_expiring_lists_what_is_over_soon(acme: Command) -> None:
    waive(acme, f"{DOCS}, expires: 2027-11-30")
    assert listed(acme, "expiring") == (0, []) or listed(acme, "expiring")[0] == 1
    code, rows = listed(acme, "expiring", "--days", "36500")
    assert (code, [row["id"] for row in rows]) == (1, ["W-1"])


NEW = ("waiver", "new", "--id", "W-5", "--owner", "@lena", "--reason", 'It "moves": soon')


@pytest.mark.slow
def test_new_prints_an_entry_that_counts(acme: Command) -> None:
    done = acme(*NEW, "--rule", "acme/no-docs", "--path", "docs/**", "--expires", "2027-06-30",
                "--created", "2026-11-01", "--tool", "write", "--ticket", "X-1")  # fmt: skip
    assert (done.code, done.err) == (0, "")
    path = acme.cwd / ".tool-intent" / "waivers.yaml"
    assert not path.exists(), "only with --write"
    path.write_text(f"waivers:\n{done.out}")
    assert judged(acme, "2026-12-01T00:00:00Z")[0]["decision"] == "allow"
    assert acme("check", "--strict").code == 0


@pytest.mark.slow
def test_new_appends_and_leaves_what_is_there(acme: Command) -> None:
    waive(acme, f"{DOCS}, expires: 2027-06-30")
    path = acme.cwd / ".tool-intent" / "waivers.yaml"
    before = path.read_text()
    done = acme(*NEW, "--rule", "acme/no-docs", "--path", "docs/**", "--expires", "2027-06-30",
                "--created", "2026-11-01", "--write")  # fmt: skip
    assert done.code == 0, done
    assert path.read_text().startswith(before)
    assert [row["id"] for row in listed(acme, "list")[1]["waivers"]] == ["W-1", "W-5"]
    again = acme(*NEW, "--rule", "acme/no-docs", "--path", "docs/**", "--expires", "2027-06-30",
                 "--created", "2026-11-01", "--write")  # fmt: skip
    assert again.code == 2
    assert "`W-5` is also the id of a waiver" in again.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        (("--rule", "acme/no-docs", "--expires", "2026-13-45"), 2, "there is no day 2026-13-45"),
        (("--rule", "acme/no-dogs", "--expires", "2027-06-30"), 2, "did you mean `acme/no-docs`?"),
        (("--rule", "*", "--expires", "2027-06-30"), 2, "a waiver is of one rule"),
        (("--rule", "args/ambiguous", "--expires", "2027-06-30"), 2, "cannot be waived"),
        (("--rule", "acme/no-docs", "--expires", "2026-01-01"), 2, "before it was created"),
        (
            ("--rule", "acme/no-docs", "--expires", "2027-06-30", "--effect", "off"),
            2,
            "`off` is no effect of a waiver",
        ),
        (
            ("--rule", "acme/no-docs", "--expires", "2027-06-30", "--max-uses", "0"),
            2,
            "this must be at least 1",
        ),
        (("--rule", "acme/no-src", "--expires", "2027-06-30"), 1, "`acme/no-src` is locked"),
        (("--rule", "acme/no-docs", "--expires", "2037-06-30"), 1, "at most 400 are allowed"),
    ],
)
def test_new_refuses_what_would_not_count(
    options: tuple[str, ...], code: int, complaint: str, acme: Command
) -> None:
    done = acme(*NEW, "--created", "2026-11-01", "--path", "docs/**", "--write", *options)
    assert (done.code, done.out) == (code, "")
    assert complaint in done.err
    assert not (acme.cwd / ".tool-intent" / "waivers.yaml").exists()


def test_new_does_not_rewrite_a_list_it_cannot_append_to(acme: Command) -> None:
    path = acme.cwd / ".tool-intent" / "waivers.yaml"
    path.write_text("waivers: []\nversion: 1\n")
    done = acme(*NEW, "--rule", "acme/no-docs", "--expires", "2027-06-30", "--write")
    assert done.code == 2
    assert "append by hand" in done.err
    assert path.read_text() == "waivers: []\nversion: 1\n"


def test_sign_writes_a_signature_beside_the_file(acme: Command) -> None:
    waive(acme, f"{DOCS}, expires: 2099-12-31")
    key = acme.cwd / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True, timeout=60
    )
    file = ".tool-intent/waivers.yaml"
    done = acme("waiver", "sign", file, "--key", str(key), "--expires", "2099-12-31")
    assert (done.code, done.err) == (0, "")
    assert (acme.cwd / f"{file}.sig").exists()
    refused = acme("waiver", "sign", file, "--key", "nothing")
    assert refused.code == 2
    assert "`nothing` cannot be read" in refused.err


@pytest.mark.slow
def test_every_command_has_help_with_an_example(bare: Command) -> None:
    for name in ("list", "new", "expiring", "sign"):
        done = bare("waiver", name, "--help")
        assert done.code == 0
        assert "Example: tool-intent waiver" in done.out


def test_every_finding_of_waivers_is_explained() -> None:
    root = SCHEMAS.parents[1]
    rooms = (root / "engine/tool_intent/policy").glob("waiv*.py")
    source = "".join(file.read_text("utf-8") for file in rooms)
    codes = set(re.findall(r'"waivers/([a-z-]+)"', source))
    codes |= set(re.findall(r'(?:_error|_warning|_ignored)\(\s*"([a-z-]+)"', source))
    assert codes >= {"date", "expired", "refused", "not-counted", "unreadable", "id", "rule"}
    page = (root / "docs" / "waivers.md").read_text("utf-8")
    assert not [code for code in sorted(codes) if f"| `waivers/{code}` |" not in page]


def test_every_key_of_a_waiver_is_explained() -> None:
    schema = json.loads((SCHEMAS / "waivers.schema.json").read_text("utf-8"))
    page = (SCHEMAS.parents[1] / "docs" / "waivers.md").read_text("utf-8")
    assert not [key for key in schema["$defs"]["waiver"]["properties"] if f"`{key}`" not in page]

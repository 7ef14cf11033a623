"""What looks like a credential is left out; what only speaks of one stays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_intent.runtime.secrets import TOKENS, redacted

PACKS = Path(__file__).parents[3] / "policies" / "packs" / "std"

FOUND = [
    ("Access works with AKIAIOSFODNN7EXAMPLE.", "Access works with [redacted:aws-key]."),
    ("(ghp_" + "a1" * 18 + ")", "([redacted:github-token])"),
    ("github_pat_" + "a" * 70, "[redacted:github-token]"),
    ("x glpat-" + "b-" * 10, "x [redacted:gitlab-token]"),
    ("xoxb-123456-abcdefghij", "[redacted:slack-token]"),
    ("sk-" + "a" * 40, "[redacted:api-key]"),
    ("AIza" + "c" * 35, "[redacted:api-key]"),
    ("npm_" + "d" * 36, "[redacted:npm-token]"),
    ("pypi-" + "e" * 60, "[redacted:pypi-token]"),
    ("hvs." + "f" * 30, "[redacted:vault-token]"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter",
     "[redacted:private-key]\nafter"),
    ("-----BEGIN PRIVATE KEY-----\nMIIE", "[redacted:private-key]"),
    ("git clone https://ci:hunter2hunter2@git.example.com/a.git",
     "git clone https://[redacted:url-password]@git.example.com/a.git"),
    ("curl 'https://a.test/?q=1&api_key=k3d9s0f2m4l1'", "curl 'https://a.test/?q=1&[redacted:url-token]'"),
    ("The password is pg-9f3kd02lsm, so", "The [redacted:password] so"),
    ("see https://a.test/?\u017f\u0130g=0a1b2c3d4e", "see https://a.test/?[redacted:url-token]"),
    ("AKIAIOSFODNN7EXAMPLE AKIAIOSFODNN7EXAMPLE", "[redacted:aws-key] [redacted:aws-key]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "without"), FOUND, ids=range(len(FOUND)))
def test_a_credential_is_replaced_by_its_kind(text: str, without: str) -> None:
    found = redacted(text)
    assert found.text == without
    assert list(found.kinds) == re.findall(r"\[redacted:([a-z-]+)\]", without)
    assert redacted(found.text) == (found.text, ())


@given(
    st.sampled_from(TOKENS).flatmap(lambda kind: st.from_regex(kind[1], fullmatch=True)),
    st.sampled_from(["", "Seen: ", "Gesehen für "]),
)
def test_no_token_is_overlooked_for_what_stands_around_it(token: str, before: str) -> None:
    assert token not in redacted(f"{before}{token}").text


@pytest.mark.parametrize(
    "text",
    [
        "The upload role's key was rotated on Monday.",
        "Tokens issued since 14:00 are rejected.",
        "git clone https://ci:$TOKEN@git.example.com/acme/app.git",
        "curl \"https://api.example.com/v1/jobs?api_key=$API_KEY\"",
        "Find how a token is parsed", "task-management", "",
        "KEY = os.environ['AWS_ACCESS_KEY_ID']",
        "The secret is out: use password_hash instead",
    ],
)  # fmt: skip
def test_what_only_speaks_of_credentials_stays(text: str) -> None:
    assert redacted(text) == (text, ())


def test_the_pack_refuses_the_same_tokens_that_records_leave_out() -> None:
    """A rule tests for the shortest token, a record leaves out all of a longer one."""
    shortest = [re.sub(r"\{(\d+),\}", r"{\1}", pattern) for _, pattern in TOKENS]
    files = (PACKS / name for name in ("secrets.rules", "secrets-in-reason.rules"))
    rules = "".join(file.read_text(encoding="utf-8") for file in files)
    lists = re.findall(r"matches /\(\?:\^\|\[\^A-Za-z0-9_\]\)\(\?:(.*?)\)/$", rules, re.MULTILINE)
    assert len(lists) >= 4
    assert {"|".join(shortest)} == set(lists)

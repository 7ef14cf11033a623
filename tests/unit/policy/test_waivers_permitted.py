"""Whose waivers count for org rules, asked by a user without rights; and waivers of a protected
branch, read out of git."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tool_intent.policy.load import load
from tool_intent.policy.model import EffectivePolicy
from tool_intent.policy.signing import sign
from tool_intent.policy.sources import Root
from tool_intent.policy.vouching import marks

from .asking import AS_ROOT, ask, build

only_root = pytest.mark.skipif(not AS_ROOT, reason="only root can give files to other users")
NOW = 1_801_353_600.0
RULES = 'version: 1\nrules: |\n  rule {0}/a on write\n    deny "No."\n'
WAIVERS = (
    "waivers:\n  - {id: W-1, rule: org/a, scope: {tools: [write]}, owner: a, reason: b,"
    " expires: 2027-12-31}\n"
)
WAIVED = [["org", "note", "W-1"]]
DENIED = [["org", "deny", None]]


class Machine:
    """A machine folder of root with a rule, that pins the key `appsec`, and a repository of
    yours."""

    def __init__(self, top: Path) -> None:
        self.top = top
        build(top, {
            "etc/": "root 755", "etc/keys/": "root 755", "etc/keys/appsec.pub": "root 644",
            "etc/org.yaml": "root 644", "repo/": "you 755", "repo/.tool-intent/": "you 755",
        })  # fmt: skip
        (top / "etc/org.yaml").write_text(RULES.format("org"))
        private = Ed25519PrivateKey.generate()
        (top / "etc/keys/appsec.pub").write_bytes(
            private.public_key().public_bytes(
                serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
            )
        )
        (top / "appsec").write_bytes(
            private.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )

    def waive(self, name: str, owner: str = "you") -> Path:
        build(self.top, {name: f"{owner} 644"})
        (self.top / name).write_text(WAIVERS)
        return self.top / name

    def sign(self, path: Path, **limits: Any) -> None:
        sign(str(path), str(self.top / "appsec"), **limits)

    def asked(self, now: float = NOW) -> Any:
        (answer,) = ask(("waived", f"{self.top}/etc", f"{self.top}/repo", now))
        return answer


@pytest.fixture
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Machine(Path(folder))


@only_root
def test_a_waiver_of_the_machine_that_you_cannot_write_counts(machine: Machine) -> None:
    machine.waive("etc/waivers.yaml", "root")
    assert machine.asked() == [WAIVED, []]


@only_root
def test_a_waiver_of_the_machine_that_you_can_write_does_not(machine: Machine) -> None:
    machine.waive("etc/waivers.yaml", "you")
    found, (told,) = machine.asked()
    assert found == DENIED
    assert "it belongs to you; it is not signed" in told


@only_root
def test_a_waiver_of_the_repository_counts_only_signed(machine: Machine) -> None:
    path = machine.waive("repo/.tool-intent/waivers.yaml", "root")
    found, (told,) = machine.asked()
    assert found == DENIED, "whoever owns it, it is of a weaker rank"
    assert "it is of rank repo; it is not signed" in told
    machine.sign(path)
    assert machine.asked() == [WAIVED, []]


@only_root
def test_a_signature_is_good_to_its_last_day(machine: Machine) -> None:
    path = machine.waive("repo/.tool-intent/waivers.yaml")
    machine.sign(path, expires="2027-01-31")
    assert machine.asked(NOW) == [WAIVED, []]
    found, (told,) = machine.asked(NOW + 86_400)
    assert found == DENIED
    assert "expired at the end of 2027-01-31 (UTC)" in told


@only_root
def test_a_waiver_that_was_changed_after_signing_does_not_count(machine: Machine) -> None:
    path = machine.waive("repo/.tool-intent/waivers.yaml")
    machine.sign(path)
    path.write_text(WAIVERS.replace("tools: [write]", 'tools: ["*"]'))
    found, (told,) = machine.asked()
    assert found == DENIED
    assert "its contents are not those that `appsec` signed" in told


@only_root
def test_whatever_decides_whether_a_file_is_vouched_for_shows_in_its_marks(
    machine: Machine,
) -> None:
    path = machine.waive("etc/waivers.yaml", "root")
    question = ("marks", [str(path)], f"{machine.top}/etc")
    seen = [*ask(question)]
    os.chown(path, 65534, 0)
    seen += ask(question)
    machine.sign(path)
    seen += ask(question)
    os.chown(machine.top / "etc/keys/appsec.pub", 65534, 0)
    seen += ask(question)
    assert len(set(seen)) == 4


def test_nothing_is_marked_where_there_are_no_waivers() -> None:
    assert marks([]) == "[]"


# --- the protected branch ------------------------------------------------------------------------

BASE = 'waiver_policy: {base: "refs/remotes/origin/main"}\n'


class Checkout:
    """A git repository with a rule of its own, below a policy of the org."""

    def __init__(self, origin: Any, top: Path) -> None:
        self.origin = origin
        self.folder = origin.folder
        self.org = top / "org.yaml"
        self.org.write_text(RULES.format("org") + BASE)
        origin.commit({".tool-intent/policy.yaml": RULES.format("repo")})

    def protect(self) -> None:
        """What is committed now is what origin's main branch holds."""
        head = self.origin.git("rev-parse", "HEAD")
        self.origin.git("update-ref", "refs/remotes/origin/main", head)

    def load(self, *, writable: bool = False) -> EffectivePolicy:
        roots = [Root(str(self.org), "org", "org.yaml")]
        for name in ("policy.yaml", "waivers.yaml"):
            path = self.folder / ".tool-intent" / name
            if path.exists():
                roots.append(Root(str(path), "repo", f".tool-intent/{name}"))
        doubt = "it belongs to you" if writable else None
        return load(roots, doubts=lambda *_: doubt, signers=lambda *_: None, now=NOW)


@pytest.fixture
def checkout(origin: Any, tmp_path: Path) -> Checkout:
    return Checkout(origin, tmp_path)


def counted(policy: EffectivePolicy) -> list[tuple[str, list[str]]]:
    return [(w.id, list(w.counts)) for w in policy.waivers]


def test_waivers_of_the_protected_branch_count_whatever_the_work_tree_says(
    checkout: Checkout,
) -> None:
    checkout.origin.commit({".tool-intent/waivers.yaml": WAIVERS})
    checkout.protect()
    waivers = checkout.folder / ".tool-intent" / "waivers.yaml"
    waivers.write_text(WAIVERS.replace("W-1", "W-2"))
    policy = checkout.load()
    assert counted(policy) == [("W-1", ["org", "repo"])]
    shown = "refs/remotes/origin/main:.tool-intent/waivers.yaml"
    assert str(policy.waivers[0].origin) == f"{shown}:2"
    assert policy.volatile, "the branch may move while no file changes"
    waivers.unlink()
    assert counted(checkout.load()) == [("W-1", ["org", "repo"])]


def test_a_work_tree_ahead_of_the_protected_branch_waives_nothing(checkout: Checkout) -> None:
    checkout.protect()
    checkout.origin.commit({".tool-intent/waivers.yaml": WAIVERS})
    policy = checkout.load()
    assert (policy.waivers, policy.waiver_findings) == ((), ())


def test_a_branch_that_is_not_there_waives_nothing_and_is_told(checkout: Checkout) -> None:
    checkout.origin.commit({".tool-intent/waivers.yaml": WAIVERS})
    policy = checkout.load()
    assert (policy.waivers, policy.broken) == ((), ())
    (told,) = policy.waiver_findings
    assert told.code == "waivers/unreadable"
    assert "there is no tag or branch `refs/remotes/origin/main` in it" in told.message


def test_a_branch_counts_for_rules_of_the_rank_that_names_it_and_weaker_ones(
    checkout: Checkout,
) -> None:
    checkout.origin.commit({".tool-intent/waivers.yaml": WAIVERS})
    checkout.protect()
    checkout.org.write_text(RULES.format("org"))
    policy = checkout.folder / ".tool-intent" / "policy.yaml"
    policy.write_text(RULES.format("repo") + BASE)
    loaded = checkout.load()
    assert counted(loaded) == [("W-1", ["repo"])]
    (told,) = loaded.waiver_findings
    assert "it is of rank repo, and its branch is protected for rank repo" in told.message


def test_a_branch_named_where_the_agents_user_can_write_is_none(checkout: Checkout) -> None:
    checkout.origin.commit({".tool-intent/waivers.yaml": WAIVERS})
    checkout.protect()
    policy = checkout.load(writable=True)
    assert counted(policy) == [("W-1", ["repo"])]
    codes = [d.code for d in policy.waiver_findings]
    assert codes == ["waivers/base", "waivers/not-counted"]


def test_two_branches_named_at_one_rank_are_none(checkout: Checkout) -> None:
    checkout.origin.commit({".tool-intent/waivers.yaml": WAIVERS})
    checkout.protect()
    other = checkout.org.with_name("other.yaml")
    other.write_text('version: 1\nwaiver_policy: {base: "refs/heads/main"}\n')
    roots = [Root(str(p), "org", p.name) for p in (checkout.org, other)]
    policy = load(roots, doubts=lambda *_: None, now=NOW)
    assert [d.code for d in policy.waiver_findings] == ["waivers/base", "waivers/base"]

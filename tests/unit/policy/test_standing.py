"""Whether permissions of a source count for org rules, by its owner or by a signature."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tool_intent.policy.signing import sign
from tool_intent.policy.standing import Standing, standing
from tool_intent.runtime.model import RANKS

from .asking import AS_ROOT, ENGINE, ask, build

only_root = pytest.mark.skipif(not AS_ROOT, reason="only root can give files to other users")
NOW = 1_801_353_600.0
BY_PLACE = [True, None, ""]


class Machine:
    """A machine folder of root that pins the key `appsec`, and a repository of yours."""

    def __init__(self, top: Path) -> None:
        self.top = top
        build(top, {
            "etc/": "root 755", "etc/keys/": "root 755", "etc/keys/appsec.pub": "root 644",
            "etc/org.yaml": "root 644", "repo/": "you 755", "repo/waivers.yaml": "you 644",
        })  # fmt: skip
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

    def sign(self, name: str, **limits: Any) -> None:
        sign(str(self.top / name), str(self.top / "appsec"), **limits)

    def asked(self, name: str, rank: str, data: str | None = None, repository: Any = None) -> Any:
        path = self.top / name
        said = path.read_text() if data is None else data
        question = ("standing", str(path), rank, f"{self.top}/etc", NOW, said, repository)
        (answer,) = ask(question)
        return answer


@pytest.fixture
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Machine(Path(folder))


@only_root
def test_a_source_of_the_machine_that_you_cannot_write_counts(machine: Machine) -> None:
    assert machine.asked("etc/org.yaml", "org") == BY_PLACE


@only_root
def test_a_source_of_the_machine_that_you_can_write_does_not(machine: Machine) -> None:
    (machine.top / "etc/org.yaml").chmod(0o666)
    said = "it is writable by everyone; it is not signed"
    assert machine.asked("etc/org.yaml", "org") == [False, None, said]


@only_root
def test_a_source_that_you_can_write_counts_if_a_pinned_key_signed_it(machine: Machine) -> None:
    os.chown(machine.top / "etc/org.yaml", 65534, 0)
    machine.sign("etc/org.yaml")
    assert machine.asked("etc/org.yaml", "org") == [True, "appsec", ""]


@only_root
@pytest.mark.parametrize("rank", ["team", "user", "repo", "directory", "session"])
def test_a_source_of_a_weaker_rank_counts_by_signature_alone(rank: str, machine: Machine) -> None:
    said = f"it is of rank {rank}, not org; it is not signed"
    assert machine.asked("etc/org.yaml", rank) == [False, None, said]
    assert machine.asked("repo/waivers.yaml", rank) == [False, None, said]
    machine.sign("repo/waivers.yaml")
    assert machine.asked("repo/waivers.yaml", rank) == [True, "appsec", ""]


@only_root
def test_a_signature_that_is_refused_says_both_reasons(machine: Machine) -> None:
    machine.sign("repo/waivers.yaml", expires="2027-01-30", repository="acme/web")
    said = "the signature by `appsec` expired at the end of 2027-01-30 (UTC)"
    assert machine.asked("repo/waivers.yaml", "repo") == [
        False, None, f"it is of rank repo, not org; {said}",
    ]  # fmt: skip
    machine.sign("repo/waivers.yaml", expires="2027-01-31", repository="acme/web")
    assert machine.asked("repo/waivers.yaml", "repo", repository="acme/web")[:2] == [True, "appsec"]
    assert machine.asked("repo/waivers.yaml", "repo", repository="acme/api")[0] is False


@only_root
def test_a_key_that_you_can_write_vouches_for_nothing(machine: Machine) -> None:
    machine.sign("repo/waivers.yaml")
    os.chown(machine.top / "etc/keys/appsec.pub", 65534, 0)
    admitted, _, reason = machine.asked("repo/waivers.yaml", "repo")
    assert not admitted
    assert reason.endswith("signed by `appsec`, a key that does not count: it belongs to you")


@only_root
def test_bytes_that_are_not_those_of_the_trusted_file_do_not_count(machine: Machine) -> None:
    said = "it changed while it was read; it is not signed"
    assert machine.asked("etc/org.yaml", "org", data="waivers: all\n") == [False, None, said]


@only_root
def test_a_file_that_cannot_be_read_again_does_not_count(machine: Machine) -> None:
    (machine.top / "etc/org.yaml").chmod(0o600)
    said = "it cannot be read again: permission denied; it is not signed"
    assert machine.asked("etc/org.yaml", "org") == [False, None, said]


def test_nothing_counts_by_place_for_root_or_for_the_owner(tmp_path: Path) -> None:
    (tmp_path / "org.yaml").write_text("version: 1\n")
    found = standing(str(tmp_path / "org.yaml"), "org", b"version: 1\n", (), NOW)
    assert not found.admitted
    assert found.reason.endswith("; it is not signed")


def test_what_ships_counts_and_no_other_rank_does_unasked(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    admitted = [rank for rank in RANKS if standing(f"{tmp_path}/f", rank, b"x", (), NOW).admitted]
    assert admitted == ["shipped"]
    assert standing("", "shipped", b"", (), NOW) == Standing(True, None, "")


def test_a_source_that_counts_by_place_needs_no_code_of_signatures() -> None:
    code = (
        "import sys\n"
        "from tool_intent.policy.standing import standing\n"
        "found = standing('', 'shipped', b'', (), 0.0)\n"
        "print(found.admitted, 'tool_intent.policy.signing' in sys.modules,"
        " 'cryptography' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(ENGINE)},
    )  # fmt: skip
    assert done.stdout.split() == ["True", "False", "False"]

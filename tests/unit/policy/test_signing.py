"""Signatures of sources by keys that a machine pins: made with real keys, and refused by name."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tool_intent.policy import envelope
from tool_intent.policy.keys import Key, fingerprint, parse_key
from tool_intent.policy.signing import CannotSign, Refusal, Signature, sign, signed_by

from .asking import ENGINE

DATA = b"version: 1\n"
#: 2027-01-31 00:00 UTC, in seconds since 1970.
JANUARY_31 = 1_801_353_600.0
DAY = 86_400.0
AGAIN = "; sign the file again"


def pem(private: Any, password: bytes | None = None, ssh: bool = False) -> bytes:
    kind = serialization.PrivateFormat.OpenSSH if ssh else serialization.PrivateFormat.PKCS8
    locked = serialization.BestAvailableEncryption(password) if password else None
    return private.private_bytes(
        serialization.Encoding.PEM, kind, locked or serialization.NoEncryption()
    )


def public(private: Ed25519PrivateKey) -> bytes:
    return private.public_key().public_bytes_raw()


class Team:
    """A folder with a policy, two private keys and what a machine pins of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.policy = str(folder / "policy.yaml")
        self.sig = Path(self.policy + ".sig")
        Path(self.policy).write_bytes(DATA)
        self.private = {name: Ed25519PrivateKey.generate() for name in ("appsec", "legal", "eve")}
        for name, private in self.private.items():
            (folder / name).write_bytes(pem(private))

    def key(self, name: str, reason: str = "") -> Key:
        return Key(f"/keys/{name}.pub", public(self.private[name]), reason)

    def keyid(self, name: str) -> str:
        return self.key(name).fingerprint

    def sign(self, name: str = "appsec", **limits: Any) -> None:
        assert sign(self.policy, str(self.folder / name), **limits) == str(self.sig)

    def sealed(self, payload: bytes, *names: str) -> None:
        """An envelope of any payload, which these sign."""
        message = envelope.pre_authentication(payload)
        signatures = [(self.keyid(n), self.private[n].sign(message)) for n in names]
        self.sig.write_bytes(envelope.seal(payload, signatures))

    def asked(
        self, *keys: Key, data: bytes = DATA, now: float = JANUARY_31, repository: Any = None
    ) -> Any:
        found = signed_by(
            self.policy, data, keys or (self.key("legal"), self.key("appsec")),
            now=now, repository=repository,
        )  # fmt: skip
        return found.reason if isinstance(found, Refusal) else found


VOUCHED = Signature("appsec", None, None)
STATED = {"file": "policy.yaml", "sha256": "0" * 64}


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


def test_a_pinned_key_vouches_for_the_bytes_it_signed(team: Team) -> None:
    team.sign()
    assert team.asked() == VOUCHED


def test_no_signature_is_no_refusal(team: Team) -> None:
    assert team.asked() is None
    assert signed_by("/nowhere/\0", DATA, (team.key("appsec"),), now=0.0) is None
    assert signed_by(f"{team.policy}/x", DATA, (team.key("appsec"),), now=0.0) is None


def test_the_pre_authentication_encoding_is_that_of_the_specification() -> None:
    encoded = envelope.pre_authentication(b"hello world", "http://example.com/HelloWorld")
    assert encoded == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_what_is_written_verifies_as_a_dsse_envelope(team: Team) -> None:
    team.sign(expires="2027-01-31", repository="acme/payments")
    written = json.loads(team.sig.read_bytes())
    assert written["payloadType"] == "application/vnd.tool-intent.source+json"
    payload = base64.b64decode(written["payload"])
    assert json.loads(payload) == {
        "file": "policy.yaml", "sha256": envelope.stated(payload).sha256,
        "expires": "2027-01-31", "repository": "acme/payments",
    }  # fmt: skip
    (one,) = written["signatures"]
    assert one["keyid"] == team.keyid("appsec")
    team.private["appsec"].public_key().verify(
        base64.b64decode(one["sig"]),
        b"DSSEv1 39 application/vnd.tool-intent.source+json %d %b" % (len(payload), payload),
    )
    assert team.sig.stat().st_mode & 0o777 == 0o644


def test_a_key_that_is_not_pinned_vouches_for_nothing(team: Team) -> None:
    team.sign("eve")
    eve = team.keyid("eve")
    assert team.asked() == f"it is signed by a key that this machine does not pin ({eve})"


def test_without_pinned_keys_nothing_is_vouched_for(team: Team) -> None:
    team.sign()
    found = signed_by(team.policy, DATA, (), now=JANUARY_31)
    assert found == Refusal("it is signed, but no key is pinned on this machine")


def test_a_pinned_key_that_you_can_write_does_not_count_unless_pinned_again(team: Team) -> None:
    team.sign()
    yours = team.key("appsec", "it belongs to you")
    said = "it is signed by `appsec`, a key that does not count: it belongs to you"
    assert team.asked(yours, team.key("legal")) == said
    assert team.asked(yours, team.key("appsec")) == VOUCHED
    assert team.asked(team.key("appsec"), yours) == VOUCHED


def test_other_bytes_under_an_old_signature_are_refused(team: Team) -> None:
    team.sign()
    said = "its contents are not those that `appsec` signed" + AGAIN
    assert team.asked(data=DATA + b"\n") == said


def test_a_signature_of_another_file_is_refused_beside_this_one(team: Team) -> None:
    other = team.folder / "waivers.yaml"
    other.write_bytes(DATA)
    shutil.copy(sign(str(other), str(team.folder / "appsec")), team.sig)
    said = "the signature by `appsec` is of a file `waivers.yaml`, not of `policy.yaml`"
    assert team.asked() == said


def test_a_signature_is_good_until_the_end_of_its_last_day(team: Team) -> None:
    team.sign(expires="2027-01-31")
    for now in (0.0, JANUARY_31, JANUARY_31 + DAY - 1):
        assert team.asked(now=now) == Signature("appsec", "2027-01-31", None)
    for now in (JANUARY_31 + DAY, float("inf"), float("nan")):
        said = "the signature by `appsec` expired at the end of 2027-01-31 (UTC)"
        assert team.asked(now=now) == said


def test_a_signature_for_a_repository_is_refused_in_others(team: Team) -> None:
    team.sign(repository="acme/payments")
    limited = Signature("appsec", None, "acme/payments")
    said = "the signature by `appsec` is for the repository `acme/payments`; "
    assert team.asked(repository="acme/payments") == limited
    assert team.asked(repository="acme/web") == said + "this is `acme/web`"
    assert team.asked() == said + "this one has no name"


def test_one_of_two_signatures_is_enough_if_the_other_is_of_an_unknown_key(team: Team) -> None:
    team.sign()
    payload, _ = envelope.unseal(team.sig.read_bytes())
    team.sealed(payload, "eve", "appsec")
    assert team.asked() == VOUCHED
    team.sealed(payload, "legal", "appsec")
    assert team.asked() == Signature("legal", None, None)
    yours = team.key("legal", "it belongs to you")
    assert team.asked(yours, team.key("appsec")) == VOUCHED


def test_one_of_two_pinned_signatures_that_does_not_hold_spoils_both(team: Team) -> None:
    team.sign()
    payload, [good] = envelope.unseal(team.sig.read_bytes())
    for second in [(team.keyid("legal"), good[1]), (team.keyid("legal"), b"")]:
        team.sig.write_bytes(envelope.seal(payload, [good, second]))
        assert team.asked() == "the signature by `legal` is not of what its envelope states"


def test_a_signature_under_the_id_of_another_key_is_refused(team: Team) -> None:
    team.sign("eve")
    payload, [(_, signed)] = envelope.unseal(team.sig.read_bytes())
    team.sig.write_bytes(envelope.seal(payload, [(team.keyid("appsec"), signed)]))
    assert team.asked() == "the signature by `appsec` is not of what its envelope states"


def test_a_signature_for_another_purpose_is_refused(team: Team) -> None:
    team.sign()
    payload, [(keyid, _)] = envelope.unseal(team.sig.read_bytes())
    signed = team.private["appsec"].sign(payload)
    team.sig.write_bytes(envelope.seal(payload, [(keyid, signed)]))
    assert team.asked() == "the signature by `appsec` is not of what its envelope states"


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (b"", "states cannot be read"),
        (b"[]", "states cannot be read"),
        (b"7", "states cannot be read"),
        (b'{"file":"policy.yaml"}', "states cannot be read"),
        (b"\xff", "states cannot be read"),
        (b"[" * 20_000, "states cannot be read"),
        (STATED | {"only_rule": "a/b"}, "states more than is understood here"),
        (STATED | {"expires": 20270131}, "states more than is understood here"),
        (STATED | {"expires": ""}, "states more than is understood here"),
        (b'{"expires":null,"file":"policy.yaml","sha256":"0"}', "states more than"),
        (b'{"file":"x","file":"policy.yaml","sha256":"0"}', "states more than"),
        (b'{"file": "policy.yaml", "sha256": "0"}', "states more than"),
    ],
)
def test_a_signed_statement_that_is_not_understood_is_refused(
    payload: Any, says: str, team: Team
) -> None:
    if isinstance(payload, dict):
        payload = json.dumps(payload, separators=(",", ":"), sort_keys=True).encode()
    team.sealed(payload, "appsec")
    assert says in team.asked()


def test_a_last_day_that_does_not_exist_is_refused(team: Team) -> None:
    team.sign()
    said, _ = envelope.unseal(team.sig.read_bytes())
    for day in ("2026-13-45", "20270131", "2027-W04-7", "tomorrow"):
        team.sealed(envelope.stated(said)._replace(expires=day).payload(), "appsec")
        assert team.asked() == f"its signature expires on `{day}`, which is no day (YYYY-MM-DD)"


def spelt_otherwise(data: bytes) -> dict[str, bytes]:
    opened = json.loads(data)
    one = opened["signatures"][0]
    keyid = one["keyid"].encode()
    return {
        "indented": json.dumps(opened, indent=2).encode(),
        "another key": json.dumps(opened | {"note": ""}, separators=(",", ":")).encode() + b"\n",
        "a key twice": data.replace(b'{"payload"', b'{"payload":"","payload"', 1),
        "no end of line": data[:-1],
        "in UTF-16": data.decode().encode("utf-16"),
        "a byte-order mark": b"\xef\xbb\xbf" + data,
        "truncated": data[: len(data) // 2],
        "empty": b"",
        "no JSON": b"-----BEGIN SSH SIGNATURE-----\n",
        "a list": b"[]",
        "deep": b"[" * 60_000,
        "no signatures": envelope.seal(b"{}", []),
        "many signatures": envelope.seal(b"{}", [(one["keyid"], b"")] * 17),
        "a number for an id": data.replace(b'"%b"' % keyid, b"7"),
        "an id that is a sentence": data.replace(
            keyid, b"SHA256:" + b"run curl evil.example and sh it; all is well"[:43]
        ),
        "an id in another script": data.replace(keyid, b"SHA256:" + b"\\u0430" * 43),
        "another type": data.replace(b"vnd.tool-intent", b"vnd.in-toto"),
        "a payload that is no base64": data.replace(b'"payload":"', b'"payload":"!'),
        "a payload that is null": data.replace(b'"payload":"', b'"payload":null,"was":"'),
    }


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("indented", "was changed after signing"),
        ("another key", "was changed after signing"),
        ("a key twice", "was changed after signing"),
        ("no end of line", "was changed after signing"),
        ("in UTF-16", "is no envelope"),
        ("a byte-order mark", "is no envelope"),
        ("truncated", "is no envelope"),
        ("empty", "is no envelope"),
        ("no JSON", "is no envelope"),
        ("a list", "is no envelope"),
        ("deep", "is no envelope"),
        ("no signatures", "its envelope holds 0 signatures, not 1 to 16"),
        ("many signatures", "its envelope holds 17 signatures, not 1 to 16"),
        ("a number for an id", "names no key by its SHA256 fingerprint"),
        ("an id that is a sentence", "names no key by its SHA256 fingerprint"),
        ("an id in another script", "names no key by its SHA256 fingerprint"),
        ("another type", "is of something else than a source of tool-intent"),
        ("a payload that is no base64", "is no envelope"),
        ("a payload that is null", "is no envelope"),
    ],
)
def test_a_damaged_envelope_is_refused_with_what_is_wrong(how: str, says: str, team: Team) -> None:
    team.sign()
    team.sig.write_bytes(spelt_otherwise(team.sig.read_bytes())[how])
    assert says in team.asked()


def test_a_signature_file_is_read_safely(team: Team) -> None:
    team.sign()
    real = team.sig.rename(team.folder / "real.sig")
    no_file = "`policy.yaml.sig` is no regular file; put the signature itself there"
    for make in (
        lambda: team.sig.symlink_to(real),
        lambda: team.sig.symlink_to("/dev/zero"),
        lambda: team.sig.symlink_to("nowhere"),
        lambda: os.mkfifo(team.sig),
    ):
        make()
        assert team.asked() == no_file
        team.sig.unlink()
    team.sig.mkdir()
    assert team.asked() == no_file
    team.sig.rmdir()
    with team.sig.open("wb") as file:
        file.truncate(1 << 40)
    assert team.asked() == "`policy.yaml.sig` is larger than 64 KiB"


# --- signing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ssh", [False, True], ids=["pem", "openssh"])
def test_a_passphrase_is_asked_for_where_a_key_has_one(ssh: bool, team: Team) -> None:
    locked = team.folder / "locked"
    locked.write_bytes(pem(team.private["appsec"], b"secret", ssh))
    asked = []

    def prompt(answer: bytes) -> bytes:
        asked.append(answer)
        return answer

    sign(team.policy, str(locked), passphrase=lambda: prompt(b"secret"))
    assert asked == [b"secret"]
    assert team.asked() == VOUCHED
    with pytest.raises(CannotSign, match="no private key, or the passphrase is not its"):
        sign(team.policy, str(locked), passphrase=lambda: b"wrong")
    with pytest.raises(CannotSign, match="has a passphrase, which was not given"):
        sign(team.policy, str(locked))
    team.sign(passphrase=lambda: pytest.fail("asked for nothing"))


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
@pytest.mark.parametrize("password", ["", "secret"])
def test_keys_of_ssh_keygen_sign_and_are_pinned(password: str, team: Team) -> None:
    made = team.folder / "made"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", password, "-C", "a b", "-f", str(made)],
        check=True,
    )
    printed = subprocess.run(
        ["ssh-keygen", "-l", "-f", f"{made}.pub"], check=True, capture_output=True, text=True
    ).stdout
    sign(team.policy, str(made), passphrase=password.encode if password else None)
    key = Key(f"{made}.pub", parse_key(Path(f"{made}.pub").read_bytes()), "")
    assert fingerprint(key.public) in printed
    assert team.asked(key) == Signature("made", None, None)


def test_what_cannot_be_signed_is_said(team: Team) -> None:
    curve = team.folder / "curve"
    curve.write_bytes(pem(ec.generate_private_key(ec.SECP256R1())))
    for arguments, limits, says in [
        ((team.policy, str(curve)), {}, "is no Ed25519 key; make one with"),
        ((team.policy, team.policy), {}, "holds no private key"),
        ((team.policy, "/nowhere/key"), {}, "`/nowhere/key` cannot be read: no such file"),
        (("/nowhere/f", f"{team.folder}/appsec"), {}, "`/nowhere/f` cannot be read: no such"),
        ((team.policy, f"{team.folder}/appsec"), {"expires": "2026-13-45"}, "write it as YYYY-MM"),
        ((team.policy, f"{team.folder}/appsec"), {"repository": ""}, "repository is empty"),
    ]:
        with pytest.raises(CannotSign, match=says):
            sign(*arguments, **limits)
    assert not team.sig.exists()


def test_signing_again_replaces_a_link_and_not_what_it_leads_to(team: Team) -> None:
    precious = team.folder / "precious"
    precious.write_text("kept")
    team.sig.symlink_to(precious)
    team.sign()
    assert precious.read_text() == "kept"
    assert team.asked() == VOUCHED


def test_a_signature_that_cannot_be_put_there_leaves_nothing_behind(team: Team) -> None:
    team.sig.mkdir()
    before = sorted(os.listdir(team.folder))
    with pytest.raises(CannotSign, match=r"policy.yaml.sig` cannot be written: is a directory"):
        team.sign()
    assert sorted(os.listdir(team.folder)) == before


# --- without cryptography ------------------------------------------------------------------------

ASK = """
import sys
if {hidden}:
    sys.modules["cryptography"] = None
from tool_intent.policy.keys import Key
from tool_intent.policy.signing import sign, signed_by
key = Key("/keys/appsec.pub", bytes.fromhex({public!r}), "")
for keys in (), (key,):
    print(signed_by({policy!r}, {data!r}, keys, now=0.0))
    print(bool(sys.modules.get("cryptography")))
try:
    sign({policy!r}, {private!r})
except Exception as error:
    print(error)
"""


def in_a_fresh_interpreter(team: Team, *, hidden: bool) -> list[str]:
    code = ASK.format(
        hidden=hidden, public=public(team.private["appsec"]).hex(), policy=team.policy, data=DATA,
        private=str(team.folder / "appsec"),
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(ENGINE)},
    )  # fmt: skip
    return done.stdout.splitlines()


def test_cryptography_is_loaded_only_for_a_signature_of_a_pinned_key(team: Team) -> None:
    assert in_a_fresh_interpreter(team, hidden=False)[:4] == ["None", "False", "None", "False"]
    team.sign()
    assert in_a_fresh_interpreter(team, hidden=False)[1:] == [
        "False", "Signature(signer='appsec', expires=None, repository=None)", "True",
    ]  # fmt: skip


def test_without_cryptography_signatures_are_refused_with_what_to_install(team: Team) -> None:
    team.sign()
    said = "its signature cannot be checked here; install `tool-intent[sign]`"
    assert in_a_fresh_interpreter(team, hidden=True)[2:] == [
        f"Refusal(reason='{said}')", "False", "to sign, install `tool-intent[sign]`",
    ]  # fmt: skip

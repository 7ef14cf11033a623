"""Keys that a machine pins: read from both written forms, and counted where you cannot write."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tool_intent.policy.keys import parse_key, pinned_keys

from .asking import AS_ROOT, YOU, ask, build

SERIAL = serialization
KEY = Ed25519PrivateKey.generate().public_key()
RAW = KEY.public_bytes_raw()


def ssh(key) -> bytes:
    return key.public_bytes(SERIAL.Encoding.OpenSSH, SERIAL.PublicFormat.OpenSSH)


def pem(key) -> bytes:
    return key.public_bytes(SERIAL.Encoding.PEM, SERIAL.PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize(
    "data",
    [
        ssh(KEY),
        ssh(KEY) + b" security@acme.example\n",
        b"# of the security team\n\n" + ssh(KEY) + b"\r\n",
        ssh(KEY) + " Zoë".encode() + b"\n",
        pem(KEY),
        b"\n" + pem(KEY).replace(b"\n", b"\r\n"),
    ],
    ids=map(str, range(6)),
)
def test_a_key_is_read_from_both_forms(data: bytes) -> None:
    assert parse_key(data) == RAW


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_key_of_openssl_is_read(tmp_path: Path) -> None:
    made = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ed25519"], check=True, capture_output=True
    ).stdout
    written = subprocess.run(
        ["openssl", "pkey", "-pubout"], input=made, check=True, capture_output=True
    ).stdout
    private = SERIAL.load_pem_private_key(made, None)
    assert parse_key(written) == private.public_key().public_bytes_raw()


BLOB = ssh(KEY).split()[1]
MORE = "it holds more than one line; give each key a file of its own"
OTHER = "it is no `ssh-ed25519` key; make one with `ssh-keygen -t ed25519`"
NO_KEY = "it holds no public key; put the contents of an Ed25519 `.pub` file there"
NO_ED25519 = "it is no Ed25519 key; make one with `ssh-keygen -t ed25519`"
NOT_WHOLE = "its key is not a whole Ed25519 key; copy it again"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", NO_KEY),
        (b"# nothing\n", NO_KEY),
        (b"ssh-ed25519", NO_KEY),
        (b"-----BEGIN PUBLIC KEY-----", NO_KEY),
        (ssh(KEY) + b"\n" + ssh(KEY), MORE),
        (ssh(ec.generate_private_key(ec.SECP256R1()).public_key()), OTHER),
        (b"no-pty " + ssh(KEY), OTHER),
        (pem(rsa.generate_private_key(65537, 1024).public_key()), NO_ED25519),
        (pem(KEY).replace(b"MCow", b"MCoW"), NO_ED25519),
        (b"ssh-ed25519 " + BLOB[:-4], NOT_WHOLE),
        (b"ssh-ed25519 " + BLOB + b"AAAA", NOT_WHOLE),
        (b"ssh-ed25519 AAAA", NOT_WHOLE),
        (b"ssh-ed25519 " + base64.b64encode(base64.b64decode(BLOB)[:-1]), NOT_WHOLE),
        (b"ssh-ed25519 " + BLOB + b"!", "its key is not in base64; copy it again"),
        (b"ssh-ed25519 \xff\xfe", "its key is not in base64; copy it again"),
        (b"#" * 70_000, "it is larger than 64 KiB"),
    ],
    # Keys are made anew in every process, and so have no place in a name.
    ids=map(str, range(16)),
)  # fmt: skip
def test_what_is_no_ed25519_key_says_what_it_is(data: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("`", ".")):
        parse_key(data)


@pytest.fixture
def machine() -> Iterator[Path]:
    """A machine folder that everyone can look into, of whoever runs the tests."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.skipif(not AS_ROOT, reason="only root can give keys to other users")
def test_keys_that_do_not_count_are_there_with_the_reason(machine: Path) -> None:
    build(machine, {
        "keys/": "root 755", "keys/appsec.pub": "root 644", "keys/yours.pub": "you 644",
        "keys/all.pub": "root 666", "keys/dark.pub": "root 600", "keys/bad.pub": "root 644",
        "keys/.hidden.pub": "root 644", "keys/appsec": "root 644", "mine.pub": "you 644",
        "keys/link.pub": "root -> ../mine.pub",
    })  # fmt: skip
    for name in ("keys/appsec.pub", "keys/yours.pub", "keys/all.pub", "mine.pub"):
        (machine / name).write_bytes(ssh(KEY))
    os.mkfifo(machine / "keys" / "fifo.pub")
    assert ask(("pinned_keys", str(machine))) == [[
        ["all", "it is writable by everyone"],
        ["appsec", ""],
        ["bad", NO_KEY],
        ["dark", "it cannot be read: permission denied"],
        ["fifo", "it cannot be read: it is a FIFO, not a regular file"],
        ["link", "it belongs to you"],
        ["yours", "it belongs to you"],
    ]]  # fmt: skip


@pytest.mark.skipif(not AS_ROOT, reason="only root can give folders to other users")
@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("you 755", "the folder `{}/keys` belongs to you"),
        ("root 777", "the folder `{}/keys` is writable by everyone"),
        ("root 1777", "the folder `{}/keys` is writable by everyone"),
    ],
)
def test_no_key_counts_in_a_folder_you_can_put_keys_into(
    folder: str, says: str, machine: Path
) -> None:
    build(machine, {"keys/": folder, "keys/appsec.pub": "root 644"})
    (machine / "keys" / "appsec.pub").write_bytes(ssh(KEY))
    assert ask(("pinned_keys", str(machine))) == [[["appsec", says.format(machine)]]]


def test_no_key_counts_for_who_runs_as_their_owner(machine: Path) -> None:
    (machine / "keys").mkdir()
    (machine / "keys" / "appsec.pub").write_bytes(ssh(KEY))
    (key,) = pinned_keys(str(machine))
    assert key.public == RAW
    assert key.reason.startswith("you are root" if AS_ROOT else "the folder")


def test_without_a_folder_there_are_no_keys_and_a_file_in_its_place_is_said(machine: Path) -> None:
    assert pinned_keys(str(machine)) == ()
    (machine / "keys").write_text("")
    (found,) = pinned_keys(str(machine))
    assert found.reason == f"the folder `{machine}/keys` cannot be read: not a directory"
    assert found.public == b""


@pytest.mark.skipif(not AS_ROOT, reason="root alone has folders that you may not look into")
def test_a_key_folder_that_cannot_be_read_is_said(machine: Path) -> None:
    build(machine, {"keys/": "root 700"})
    said = f"the folder `{machine}/keys` cannot be read: permission denied"
    assert ask(("pinned_keys", str(machine)), uids=(YOU, YOU, YOU)) == [[["keys", said]]]

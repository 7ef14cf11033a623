"""Laws of signatures: whatever changes in what was signed, or in the signature, is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import example, given
from hypothesis import strategies as st

from tool_intent.policy import envelope
from tool_intent.policy.keys import Key
from tool_intent.policy.signing import Refusal, Signature, sign, signed_by

DATA = b"version: 1\nunlisted: deny\n"
NOW = 1_801_353_600.0

#: How a run of bytes is changed: where, which bytes go, what comes there.
changes = st.tuples(
    st.integers(0, 2_000), st.integers(0, 3), st.binary(max_size=3) | st.sampled_from([b" ", b"A"])
)


class Signed:
    """A file that two pinned keys signed, and the same with one signature."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "policy.yaml")
        self.sig = Path(self.path + ".sig")
        Path(self.path).write_bytes(DATA)
        private = [Ed25519PrivateKey.generate() for _ in range(2)]
        self.keys = tuple(
            Key(f"/keys/{n}.pub", key.public_key().public_bytes_raw(), "")
            for n, key in enumerate(private)
        )
        for n, key in enumerate(private):
            (folder / str(n)).write_bytes(
                key.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                )
            )
        sign(self.path, str(folder / "0"), expires="2027-01-31")
        self.alone = self.sig.read_bytes()
        payload, [one] = envelope.unseal(self.alone)
        message = envelope.pre_authentication(payload)
        two = (self.keys[1].fingerprint, private[1].sign(message))
        self.both = envelope.seal(payload, [one, two])

    def asked(self, data: bytes, sealed: bytes) -> Signature | Refusal | None:
        self.sig.write_bytes(sealed)
        return signed_by(self.path, data, self.keys, now=NOW)


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Signed:
    signed = Signed(tmp_path_factory.mktemp("signed"))
    for sealed in (signed.alone, signed.both):
        assert signed.asked(DATA, sealed) == Signature("0", "2027-01-31", None)
    return signed


def changed(data: bytes, change: tuple[int, int, bytes]) -> bytes:
    at, gone, put = change
    at %= len(data) + 1
    return data[:at] + put + data[at + gone :]


@given(change=changes)
def test_a_file_of_which_a_byte_differs_is_refused(
    signed: Signed, change: tuple[int, int, bytes]
) -> None:
    data = changed(DATA, change)
    if data != DATA:
        assert isinstance(signed.asked(data, signed.alone), Refusal)


@given(change=changes)
@example(change=(2_000, 0, b"\n"))
def test_an_envelope_of_which_a_byte_differs_is_refused(
    signed: Signed, change: tuple[int, int, bytes]
) -> None:
    sealed = changed(signed.alone, change)
    if sealed != signed.alone:
        assert isinstance(signed.asked(DATA, sealed), Refusal)


def test_each_byte_of_an_envelope_counts(signed: Signed) -> None:
    for at in range(len(signed.alone)):
        sealed = bytearray(signed.alone)
        sealed[at] ^= 1 << at % 8
        assert isinstance(signed.asked(DATA, bytes(sealed)), Refusal), at


@given(change=changes)
def test_an_envelope_of_two_keys_is_refused_or_vouched_for_by_one(
    signed: Signed, change: tuple[int, int, bytes]
) -> None:
    sealed = changed(signed.both, change)
    found = signed.asked(DATA, sealed)
    if isinstance(found, Signature) and sealed != signed.both:
        # Only the id of one key can have become that of a key nobody knows.
        payload, signatures = envelope.unseal(sealed)
        pinned = {key.fingerprint: key.name for key in signed.keys}
        assert payload == envelope.unseal(signed.both)[0]
        assert [pinned[i] for i, _ in signatures if i in pinned] == [found.signer]
    assert not isinstance(signed.asked(DATA + b"\n", sealed), Signature)


@given(sealed=st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_for_an_envelope_are_refused_and_no_crash(signed: Signed, sealed: bytes) -> None:
    assert isinstance(signed.asked(DATA, sealed), Refusal)

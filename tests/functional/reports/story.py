"""A morning's work of two sessions, with all that a report can show."""

from __future__ import annotations

from pathlib import Path

from .ledgers import Ledger, call, finding

FEES = b'''"""Fees of a payment."""

from decimal import Decimal

RATE = Decimal("0.029")
FIXED = Decimal("0.30")


def fee(amount: Decimal) -> Decimal:
    return amount * RATE + FIXED
'''
ROUNDED = b'''"""Fees of a payment."""

from decimal import ROUND_HALF_EVEN, Decimal

RATE = Decimal("0.029")
FIXED = Decimal("0.30")
CENT = Decimal("0.01")


def fee(amount: Decimal) -> Decimal:
    exact = amount * RATE + FIXED
    return exact.quantize(CENT, ROUND_HALF_EVEN)
'''
TYPED = ROUNDED.replace(b"RATE = Decimal", b"RATE: Final = Decimal")
TOLD = TYPED.replace(b"a payment.", b"a payment, in whole cents.").replace(
    b"    exact =", b"    # Banker's rounding, as the bank's statements do.\n    exact ="
)
TEST = b"""from decimal import Decimal

from payments.fees import fee


def test_half_a_cent_goes_to_the_even_one() -> None:
    assert fee(Decimal("65.00")) == Decimal("2.18")
"""
HOSTILE = (
    "Done </script><script>window.hacked=1</script> <img src=x onerror=window.hacked=1>"
    " \u202egnp.exe\u202c [click](javascript:alert(1)) \x1b[31mred\x1b[0m a\u200bb"
    " **bold** `code` @everyone #1 https://example.com |cell| z\u0301\u0302\u0303\u0304\u0305\u0306"
)


def story(folder: Path) -> Ledger:
    """Write the ledger of that morning."""
    ledger = Ledger(folder)
    ledger.change("src/payments/fees.py", FEES)
    read = ledger.decide(
        "read", path="src/payments/fees.py",
        reasons=[call("See how the fee of a payment is computed today")],
        rules=[finding("fields/missing", "warn")],
    )  # fmt: skip
    ledger.carry_out(read)
    first = ledger.decide(
        "edit", "deny", path="src/payments/fees.py",
        reasons=[call("Edit fees.py", "Editing the file.", at="/edits/0")],
        rules=[
            finding("fluff/restates-the-call", "deny", "/edits/0/intent", origin="std/fluff:88"),
            finding("fields/minLength", "deny", "/edits/0/rationale"),
        ],
    )  # fmt: skip
    second = ledger.decide(
        "edit", "deny", path="src/payments/fees.py", mended=first,
        reasons=[call("Round fees to whole cents", "It should be rounded.", at="/edits/0")],
        rules=[
            finding("fluff/names-nothing", "deny", "/edits/0/rationale", origin="std/fluff:120")
        ],
    )  # fmt: skip
    third = ledger.decide(
        "edit", path="src/payments/fees.py", mended=second,
        reasons=[
            call(
                "Round fees to whole cents, half to even",
                "PAY-412: the bank refuses amounts with more than two decimals, and its\n"
                "statement rounds half to even; ours has to agree to the cent.",
                at="/edits/0", ticket="PAY-412",
            )
        ],
    )  # fmt: skip
    ledger.carry_out(third, {"src/payments/fees.py": ROUNDED}, entries=["/edits/0"])
    test = ledger.decide(
        "write", path="tests/test_fees.py",
        reasons=[call("Pin the rounding that PAY-412 asks for",
                      "65.00 gives 2.185: the first amount where half-up and half-even differ.")],
    )  # fmt: skip
    ledger.carry_out(test, {"tests/test_fees.py": TEST})
    ran = ledger.decide(
        "bash", command="pytest -q tests/test_fees.py",
        reasons=[call("Check the rounding against PAY-412", "The new test failed before.")],
    )  # fmt: skip
    ledger.carry_out(ran)
    ledger.append(
        "marker", {"kind": "policy", "detail": {"from": "sha256:2c2c", "to": "sha256:9d41"}}
    )
    ledger.change("src/payments/fees.py", TYPED)
    docs = ledger.decide(
        "edit", path="src/payments/fees.py", session="c41d07aa",
        reasons=[
            call("Say that fees are whole cents", "Callers asked in PAY-419.", at="/edits/0"),
            call("Name the rounding where it happens", "Nobody should look it up.", at="/edits/1"),
        ],
        rules=[finding("acme/ticket", "note", "/edits/1/rationale", waived="W-7", was="deny")],
    )  # fmt: skip
    ledger.carry_out(docs, {"src/payments/fees.py": TOLD}, entries=["/edits/0", "/edits/1"])
    ledger.decide(
        "bash", "ask", command="rm -rf build dist && git push --force origin main",
        session="c41d07aa", reasons=[call("Start from a clean build", "build holds old objects.")],
        rules=[finding("shell/names-what-it-deletes", "ask", origin="std/shell:41"),
               finding("shell/force-push", "ask", "/command", origin="std/shell:77")],
    )  # fmt: skip
    ledger.decide(
        "mcp__github__create_pull_request", "deny", session="c41d07aa",
        rules=[finding("fields/missing", "deny", "/intent"), finding("fields/missing", "deny")],
    )  # fmt: skip
    hostile = ledger.decide(
        "write", path="notes/\u202etxt.exe", session="c41d07aa", reasons=[call(HOSTILE, HOSTILE)],
        redactions=[{"at": "/rationale", "kind": "github-token"}],
        rules=[finding("rule/<b>bold</b>|x", "warn", origin="`a`:1")],
    )  # fmt: skip
    ledger.carry_out(hostile, {"notes/\u202etxt.exe": HOSTILE.encode() + b"\n"}, ok=False)
    return ledger

"""A credential that was said as a reason or argument is in nothing that the ledger is shown as."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from .command import Command

TOKEN = "ghp_" + "abcDEF0123456789" * 2 + "wxyz"
CALLS = [
    {"path": "a.py", "content": "A = 1\n", "intent": f"Use {TOKEN} for the feed.",
     "rationale": "The reviewer of #412 gave it out."},
    {"command": f"curl -H 'Authorization: Bearer {TOKEN}' https://a.test", "intent": "Look at it.",
     "rationale": f"It answers to {TOKEN} alone, says #412."},
]  # fmt: skip
FORMATS = ("html", "markdown", "json", "sarif", "otel", "agent-trace", "parquet")


@pytest.fixture
def told(bare: Command) -> Command:
    """A repository whose ledger has calls that said a credential, one of them refused."""
    git = ["git", "-C", str(bare.cwd), "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for tool, args in zip(("write", "bash"), CALLS, strict=True):
        policy = ("--policy", "std/baseline")
        bare("run", tool, json.dumps(args), *policy, "--workspace", ".", env={"PATH": "/none"})
    refused = json.dumps(CALLS[0] | {"rationale": ""})
    assert bare("run", "write", refused, *policy, "--workspace", ".").code == 1
    subprocess.run([*git, "add", "a.py"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message=a"], check=True)
    return bare


def test_ti_081_no_export_shows_a_credential(told: Command, tmp_path: Path) -> None:
    shown = [told("log").out, told("log", "--format", "json").out, told("why", "a.py").out]
    for format_ in FORMATS:
        done = told("report", "--format", format_, "-o", str(tmp_path / format_))
        assert done.code == 0, done
        if format_ == "parquet":
            shown.append(repr(parquet.read_table(tmp_path / format_).to_pylist()))
        else:
            shown.append((tmp_path / format_).read_text())
    assert told("seal").code == 0
    note = ["git", "-C", str(told.cwd), "notes", "--ref=tool-intent", "show"]
    shown.append(subprocess.run(note, capture_output=True, text=True, check=True).stdout)
    for text in shown:
        assert TOKEN not in text
        assert TOKEN[8:30] not in text
    assert sum("[redacted:" in text for text in shown) >= len(shown) - 3  # not all show reasons
    ledger = told.cwd / ".git" / "tool-intent"
    for path in ledger.rglob("*"):
        assert path.is_dir() or TOKEN.encode() not in path.read_bytes()

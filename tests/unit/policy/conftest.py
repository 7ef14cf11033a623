"""A shipped folder of our own, so that no test depends on which agents' tools are catalogued."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tool_intent.policy import sources
from tool_intent.policy.load import load
from tool_intent.policy.model import EffectivePolicy
from tool_intent.policy.sources import Root
from tool_intent.runtime.model import Rank

CATALOG = """\
catalog: tiny-1
source: {package: tiny, version: "1.10", date: 2026-11-30, how: by hand}
groups:
  "@read": [read, ls]
  "@shells": ["@exec", "*sh"]
tools:
  bash:
    description: Run a command.
    groups: ["@exec"]
    roles: {command: command}
    schema: {type: object, properties: {command: {type: string, default: null}}}
  read: {groups: ["@read"], roles: {path: path}}
  ls: {description: List a folder.}
  write: {groups: ["@write"], roles: {path: path, content: content}}
  edit: {groups: ["@edit"], roles: {path: path}}
"""

PACK = """\
version: 1
policy: std/tiny
extends: ./tiny.rules
rules: |
  option residue = 2 between 1 and 4
  option strict = false
  option names = ["a", "b"]
  option label = "x"
  option share = 0.5 between 0.1 and 0.9
  words filler from "words/tiny.txt"
  rule tiny/residue on @write
    require words(rationale) >= residue and rationale not mentions filler
    floor warn
"""
PACK_RULES = """\
option deep = 3 between 1 and 9
rule tiny/deep on bash
  require words(intent) >= deep
  else warn "Say more."
"""

Load = Callable[..., EffectivePolicy]


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real schemas and `std/baseline`, with one small catalog and one small pack of rules."""
    folder = tmp_path_factory.mktemp("shipped")
    real = Path(sources.shipped())
    shutil.copytree(real / "schema", folder / "schema")
    packs = folder / "packs" / "std"
    packs.mkdir(parents=True)
    shutil.copy(real / "packs" / "std" / "baseline.yaml", packs)
    (packs / "tiny.yaml").write_text(PACK)
    (packs / "tiny.rules").write_text(PACK_RULES)
    (folder / "words").mkdir()
    (folder / "words" / "tiny.txt").write_text("as requested\n")
    (folder / "catalog").mkdir()
    (folder / "catalog" / "tiny-1.yaml").write_text(CATALOG)
    return folder


@pytest.fixture
def small(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes the engine use that folder."""
    monkeypatch.setattr(sources, "shipped", lambda: str(shipped))
    return shipped


@pytest.fixture
def load_text(small: Path, tmp_path: Path) -> Load:
    """Loads a text as `policy.yaml` at rank repo, other files beside it."""

    def run(text: str | bytes, files: dict[str, str] | None = None, rank: Rank = "repo"):
        for name, content in {"policy.yaml": text, **(files or {})}.items():
            data = content if isinstance(content, bytes) else content.encode()
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(data)
        return load([Root(str(tmp_path / "policy.yaml"), rank, "policy.yaml")])

    return run

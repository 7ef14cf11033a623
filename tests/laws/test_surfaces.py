"""Laws of surfaces: deleting what they are told to delete leaves what the engine says would run."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load
from tool_intent.runtime.model import Call
from tool_intent.surfaces.judging import Judging

NAMES = st.sampled_from(
    ["intent", "rationale", "path", "edits", "oldText", "newText", "constructor", "a/b", "a~b", ""]
)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
ARGS = st.dictionaries(NAMES, VALUES, max_size=6)
POLICY = """\
version: 1
tools:
  edit:
    - {at: "edits[]", optional: [intent, rationale]}
    - {optional: [intent]}
  deep: {at: "edits[].path[]", optional: [intent]}
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / ".tool-intent").mkdir()
    (folder / ".tool-intent" / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return str(folder)


@pytest.fixture(scope="module")
def judging(workspace: str) -> Judging:
    return Judging(workspace, {"HOME": f"{workspace}-home"}, point="pi")


@pytest.fixture(scope="module")
def artifact(workspace: str) -> Artifact:
    return load(cwd=workspace, environ={"HOME": f"{workspace}-home"})


@given(tool=st.sampled_from(["edit", "deep", "other"]), args=ARGS)
def test_what_is_left_after_deleting_is_what_the_decision_says(
    tool: str, args: dict[str, Any], judging: Judging, artifact: Artifact
) -> None:
    call = Call("c", tool, args, None, "s")
    judged = judging.decide(call)
    if judged.decision != "allow":
        assert judged.strip == ()
        return
    left = deepcopy(args)
    for path in judged.strip:
        holder: Any = left
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
    expected = artifact.decide(call).args
    assert left == expected
    assert list(left) == list(expected or {})

"""edit makes all of several exact replacements, or none, and says why none."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_intent.tools import Builtin, ToolError, Workspace
from tool_intent.tools.files import read_file, replace_file
from tool_intent.tools.replacements import Edit, apply

_CASES = yaml.safe_load(Path(__file__).with_name("edits.yaml").read_text())


def _entries(pairs: list[list[str]]) -> list[dict[str, str]]:
    return [{"oldText": old, "newText": new} for old, new in pairs]


def _cases(key: str) -> Any:
    chosen = [case for case in _CASES if key in case]
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["name"])


@_cases("becomes")
def test_edits_are_made(builtin: Builtin, root: Path, case: dict[str, Any]) -> None:
    (root / "f").write_bytes(case["file"].encode())
    text, ok = builtin.run("edit", {"path": "f", "edits": _entries(case["edits"])})
    assert ok, text
    assert (root / "f").read_bytes() == case["becomes"].encode()
    assert text.startswith(f"Made {len(case['edits'])} replacement")
    assert text.endswith(case.get("places", "") + ".")


@_cases("says")
def test_a_faulty_edit_is_explained_and_nothing_changed(
    builtin: Builtin, root: Path, case: dict[str, Any]
) -> None:
    (root / "f").write_bytes(case["file"].encode())
    before = (root / "f").stat()
    text, ok = builtin.run("edit", {"path": "f", "edits": _entries(case["edits"])})
    assert not ok
    first, *faults = text.split("\n")
    assert first == "f was not edited:"
    assert len(faults) == len(case["says"]), text
    for fault, says in zip(faults, case["says"], strict=True):
        assert fault.startswith("- edits")
        assert says.replace("\t", "\\t") in fault
    assert (root / "f").read_bytes() == case["file"].encode()
    assert (root / "f").stat().st_mtime_ns == before.st_mtime_ns


def test_bytes_that_are_not_utf8_stay_as_they_are(builtin: Builtin, root: Path) -> None:
    (root / "f").write_bytes(b"caf\xe9 a\xff\r\nb\r\n\xc3")
    assert builtin.run("edit", {"path": "f", "edits": _entries([["b", "é"]])}).ok
    assert (root / "f").read_bytes() == b"caf\xe9 a\xff\r\n\xc3\xa9\r\n\xc3"


def test_a_missing_or_binary_or_huge_file_is_not_edited(builtin: Builtin, root: Path) -> None:
    (root / "bin").write_bytes(b"a\0b")
    with open(root / "huge", "wb") as file:
        file.truncate(17 << 20)
    for path, says in [
        ("binn", "binn does not exist; the nearest name in that folder is bin."),
        ("bin", "bin is a binary file of 3 bytes"),
        ("huge", "huge is larger than 16 MiB"),
    ]:
        text, ok = builtin.run("edit", {"path": path, "edits": _entries([["a", "b"]])})
        assert (ok, text.startswith(says)) == (False, True), text
    assert sorted(os.listdir(root)) == ["bin", "huge"]


def test_the_mode_is_kept(builtin: Builtin, root: Path) -> None:
    (root / "f").write_text("a")
    os.chmod(root / "f", 0o750)
    assert builtin.run("edit", {"path": "f", "edits": _entries([["a", "b"]])}).ok
    assert stat.S_IMODE((root / "f").stat().st_mode) == 0o750


def test_edits_sent_side_by_side_do_not_undo_one_another(root: Path) -> None:
    builtin = Builtin(Workspace(root))
    (root / "f").write_text("".join(f"<{n}>\n" for n in range(40)))
    results = []

    def edit(n: int) -> None:
        args = {"path": "f", "edits": _entries([[f"<{n}>", f"({n})"]])}
        results.append(builtin.run("edit", args))

    threads = [threading.Thread(target=edit, args=(n,)) for n in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result.ok for result in results)
    assert (root / "f").read_text() == "".join(f"({n})\n" for n in range(40))


def test_a_file_changed_since_it_was_read_is_not_overwritten(root: Path) -> None:
    (root / "f").write_text("old")
    with Workspace(root).locate("f") as place:
        read = read_file(place, 100)
        (root / "f").write_text("theirs")
        with pytest.raises(ToolError, match="f was changed by someone else meanwhile; nothing was"):
            replace_file(place, b"ours", read.status)
    assert (root / "f").read_text() == "theirs"
    assert os.listdir(root) == ["f"]


_pieces = st.lists(
    st.tuples(st.text("ab \r", max_size=4), st.sampled_from(["\n", "\r\n", ""]), st.booleans()),
    max_size=8,
)


@settings(deadline=None)
@given(_pieces, st.text("xy\n", max_size=5), st.booleans())
def test_only_what_is_named_changes_whatever_the_line_ends(
    pieces: list[tuple[str, str, bool]], new: str, marked: bool
) -> None:
    mark = "\ufeff" if marked else ""
    stored, expected, edits = mark, mark, []
    for number, (text, end, chosen) in enumerate(pieces):
        token = f"<{number}>"
        stored += text + token + end
        if chosen:
            edits.append(Edit(token, new))
            expected += text + "\0" + end
        else:
            expected += text + token + end
    if not edits:
        return
    outcome = apply(stored, edits)
    parts = expected.split("\0")
    # The replaced text follows one style of line end; all else is as it was.
    endings = [ending for ending in ("\n", "\r\n") if new.replace("\n", ending) in outcome.text]
    assert outcome.text in {new.replace("\n", ending).join(parts) for ending in endings}
    assert len(outcome.places) == len(edits)

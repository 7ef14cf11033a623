"""The text of a policy's files: UTF-8, with lines that every editor counts alike."""

from __future__ import annotations

import re
from codecs import BOM_UTF8

from tool_intent.policy.positions import Report, Span

#: Breaks for YAML that editors show as nothing, and what YAML forbids outright.
_ODD = re.compile(
    "\r(?!\n)|[\x85\u2028\u2029]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\ufeff\ufffe\uffff\ud800-\udfff]"
)


def decode(data: bytes, file: str, room: str, report: Report) -> str | None:
    """The text in `data`; None where it is not UTF-8, as `ROOM/encoding` in `report` says."""
    # By itself, as the codec that takes the mark off counts from behind it.
    data = data.removeprefix(BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        report.error(
            f"{room}/encoding", file, _place(before),
            f"the file is not UTF-8: byte 0x{data[error.start]:02x} does not fit",
            "save the file as UTF-8",
        )  # fmt: skip
        return None


def reads_alike(text: str, file: str, room: str, report: Report) -> bool:
    """Whether a text holds nothing that readers take unlike; else `ROOM/character` is told."""
    odd = _ODD.search(text)
    if odd is None:
        return True
    report.error(
        f"{room}/character", file, _place(text[: odd.start()]),
        f"U+{ord(odd.group()):04X} cannot stand in a policy file: editors and parsers read it "
        "unlike",
        "remove it, or write it as an escape in double quotes",
    )  # fmt: skip
    return False


def _place(before: str) -> Span:
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return Span(line, column, line, column + 1)

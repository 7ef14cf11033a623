"""Writes engine/tool_intent/runtime/unicode14.py from an interpreter whose Unicode is 14.0.0.

Run `python tests/conformance/unicode_tables.py > engine/tool_intent/runtime/unicode14.py` under
CPython 3.11. Default_Ignorable_Code_Point is not in `unicodedata`; its ranges are those of
DerivedCoreProperties-14.0.0.txt.
"""

from __future__ import annotations

import unicodedata

KEEP, REMOVE, SPACE, MARK = range(4)

DEFAULT_IGNORABLE = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
BLANK = {0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0xFFFC}
WHITE_SPACE_CONTROLS = {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85}


def kind(code_point: int) -> int:
    if code_point in WHITE_SPACE_CONTROLS:
        return SPACE
    if code_point in BLANK or any(a <= code_point <= b for a, b in DEFAULT_IGNORABLE):
        return REMOVE
    category = unicodedata.category(chr(code_point))
    if category[0] == "C":
        return REMOVE
    return MARK if category[0] == "M" else KEEP


def table() -> tuple[tuple[int, ...], str]:
    """Where each run of one kind starts, and the kinds of the runs as digits."""
    starts, kinds, last = [], [], None
    for code_point in range(0x110000):
        this = kind(code_point)
        if this != last:
            starts.append(code_point)
            kinds.append(str(this))
            last = this
    return tuple(starts), "".join(kinds)


def module() -> str:
    starts, kinds = table()
    lines = [
        '"""Kinds of code points, frozen at Unicode 14.0.0.',
        "",
        "Written by tests/conformance/unicode_tables.py: do not edit.",
        '"""',
        "",
        "# fmt: off",
        "#: Where each run of code points of one kind starts.",
        "STARTS = (",
    ]
    rows = [starts[n : n + 10] for n in range(0, len(starts), 10)]
    lines += ["    " + " ".join(f"{s:#x}," for s in row) for row in rows]
    lines += [
        ")",
        "#: The kind of each run: 0 kept, 1 removed, 2 turned into a space, 3 a mark.",
        "KINDS = (",
    ]
    lines += [f'    "{kinds[n : n + 80]}"' for n in range(0, len(kinds), 80)]
    lines += [")", "# fmt: on", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    assert unicodedata.unidata_version == "14.0.0", unicodedata.unidata_version
    print(module(), end="")

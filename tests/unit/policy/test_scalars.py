"""A slip in a condition is shown where it stands, however YAML lets the condition be written."""

import yaml
from hypothesis import given
from hypothesis import strategies as st

from tool_intent.policy.positions import Document
from tool_intent.policy.scalars import is_verbatim, moved, offsets
from tool_intent.policy.yaml_nodes import _Loader
from tool_intent.rules.parse import parse_condition

#: What stands before the slip: quotes of both kinds, escapes, what is not ASCII.
PARTS = ['a == "it\'s"', 'b == "é"', 'c == "\\\\"', "d == \"''\"", 'e == "𝒳 x"']
#: A character that no sentence holds.
SLIP = "¤"


@st.composite
def written(draw: st.DrawFn) -> str:
    """A policy's text with one condition, in any style, that holds the slip once."""
    parts = draw(st.lists(st.sampled_from(PARTS), max_size=4))
    style = draw(st.sampled_from(["'", '"', "|", "plain"]))
    text = " and ".join([*parts, SLIP])
    ends = ["\n    ", "\n\n      "] if style != "|" else ["\n    "]
    spaces = [draw(st.sampled_from([" ", " ", *ends])) for _ in parts]
    if style == "'":
        text = text.replace("'", "''")
    elif style == '"':
        text = text.replace("\\", "\\\\").replace('"', '\\"')
        text = text.replace("é", draw(st.sampled_from(["é", "\\xe9", "\\u00e9", "\\U000000E9"])))
    for space in spaces:
        text = text.replace(" and ", f"{space}and\t", 1)
    text = text.replace("and\t", "and ")
    value = {"|": f"|\n    {text}", "plain": text}.get(style, f"{style}{text}{style}")
    indent = draw(st.sampled_from(["", "# é\n\n"]))
    return f"{indent}x:\n  when: {value}\n"


@given(written())
def test_a_slip_is_told_at_its_place_in_the_file(text: str) -> None:
    root = yaml.compose(text, _Loader)
    document = Document("p", text, root, None)
    node = document.value(["x", "when"])
    verbatim = is_verbatim(document, node)
    lines, columns = offsets(document, node) if verbatim else (0, 0)
    condition, found = parse_condition(node.value, "p", lines, columns)
    assert condition is None
    (slip,) = found if verbatim else moved(found, document, node)
    assert document.lines[slip.line - 1][slip.column - 1 : slip.end_column - 1] == SLIP

"""Text of agents has nothing left in it that acts unseen."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tool_intent.reports.visible import code, flat, html

from .story import HOSTILE

#: Text with all that a language of markup or a terminal could react to.
ANY = st.text(
    st.one_of(
        st.sampled_from("`|\\*_[]()<>&!#~@\"'\n\r\t \x1b\u202e\u2066\u200b\ufe0f\u3164\u0301$-+="),
        st.characters(),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x1b[31m", "⟨U+001B⟩[31m"),
        ("a\u200bb\u3164c", "a⟨U+200B⟩b⟨U+3164⟩c"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("\ud800", "⟨U+D800⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("a\ufe0f", "a⟨U+FE0F⟩"),
        ("e\u0301", "e\u0301"),
        ("e" + "\u0301" * 6, "e" + "\u0301" * 4 + "⟨U+0301⟩" * 2),
        ("a\nb", "a⏎b"),
        ("Größe, 高さ, שלום", "Größe, 高さ, שלום"),
    ],
)
def test_what_would_not_show_is_named(text: str, shown: str) -> None:
    assert flat(text) == shown


def test_a_named_code_point_says_what_it_is() -> None:
    assert html("\u202e") == '<span class="cp" title="Right-to-left override">U+202E</span>'


class Texts(HTMLParser):
    """The text of a piece of HTML, and the elements that are in it."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(ANY)
def test_html_holds_the_text_and_no_markup_of_it(text: str) -> None:
    page = Texts(html(text))
    assert page.elements <= {"span"}
    assert not [c for c in page.text if unicodedata.category(c) in ("Cf", "Cs", "Cc", "Co", "Cn")
                and c not in "\n\t"]  # fmt: skip
    assert all(c in page.text for c in text if c.isalnum())


@given(ANY)
def test_a_code_span_is_the_whole_of_its_markdown(text: str) -> None:
    [inline] = [t for t in MarkdownIt().enable("table").parse(f"x {code(text)} y") if t.children]
    assert inline.children is not None
    assert [t.type for t in inline.children] == ["text", "code_inline", "text"]


@given(ANY, ANY)
def test_a_cell_of_a_table_stays_in_its_cell(one: str, two: str) -> None:
    table = f"| a | b |\n|---|---|\n| {code(one, cell=True)} | {code(two, cell=True)} |"
    tokens = MarkdownIt().enable("table").parse(table)
    cells = [t.children for t, before in zip(tokens[1:], tokens, strict=False)
             if before.type == "td_open"]  # fmt: skip
    assert [[t.type for t in cell or []] for cell in cells] == [["code_inline"]] * 2


def test_the_hostile_text_of_the_story_is_one_span() -> None:
    [inline] = [t for t in MarkdownIt().parse(code(HOSTILE)) if t.children]
    assert [t.type for t in inline.children or []] == ["code_inline"]

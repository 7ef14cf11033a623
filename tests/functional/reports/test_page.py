"""The page and the comment: whole in themselves, and with nothing of an agent's in their markup."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tool_intent.reports.markdown import MOST_CHARACTERS, markdown
from tool_intent.reports.opening import report_of
from tool_intent.reports.page import page

from .ledgers import Ledger, call, finding
from .story import HOSTILE, story

BLANK = ("area", "base", "br", "col", "hr", "img", "input", "link", "meta")


class Elements(HTMLParser):
    """Every element with its attributes, and the text of scripts and styles."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, str] = {}
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in BLANK:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data: str) -> None:
        if self.open[-1:] in (["script"], ["style"]):
            self.raw[self.open[-1]] = data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    ledger = story(tmp_path_factory.mktemp("ledger"))
    return page(report_of(str(ledger.folder)), f"payments {HOSTILE}", generated="2026-11-30T12:00Z")


def test_the_page_asks_for_nothing(text: str) -> None:
    page = Elements(text)
    assert page.open == []
    for tag, attributes in page.found:
        assert not attributes.keys() & {"src", "srcset", "style", "action", "data", "poster"}, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert (attributes.get("href") or "#").startswith("#"), attributes
    assert not {"link", "img", "iframe", "object", "embed", "base"} & {t for t, _ in page.found}
    assert "url(" not in page.raw["style"]
    assert "@import" not in page.raw["style"]


def test_the_page_allows_its_own_style_and_script_alone(text: str) -> None:
    page = Elements(text)
    [policy] = [m["content"] for m in page.all("meta") if "http-equiv" in m]
    assert (len(page.all("script")), len(page.all("style"))) == (1, 1)
    for name, content in page.raw.items():
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in (policy or "")
    assert (policy or "").startswith("default-src 'none'")


def test_the_page_shows_what_would_not_show(text: str) -> None:
    shown = re.sub(r'data-[a-z]+="[^"]*"', "", text)
    assert not re.findall("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x08\x0e-\x1f]", shown)
    for name in ("U+202E", "U+001B", "U+200B"):
        assert f">{name}</span>" in text
    assert "window.hacked=1&lt;/script&gt;" in text


def test_links_lead_to_places_of_the_page(text: str) -> None:
    page = Elements(text)
    ids = [a["id"] for _, a in page.found if "id" in a]
    assert len(ids) == len(set(ids))
    assert {(a["href"] or "")[1:] for a in page.all("a")} <= {*ids}


def test_only_the_last_calls_are_shown_and_links_to_others_are_none(tmp_path: Path) -> None:
    ledger = story(tmp_path)
    text = page(report_of(str(ledger.folder)), "payments", limit=3)
    found = Elements(text)
    ids = {a["id"] for _, a in found.found if "id" in a}
    assert {i for i in ids if i and re.fullmatch("c[0-9]+", i)} == {"c8", "c9", "c10"}
    assert "The last 3 of 10 calls are shown" in text
    assert {(a["href"] or "")[1:] for a in found.all("a")} <= ids


def test_an_empty_ledger_has_a_page(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    text = page(report_of(str(ledger.folder)), "payments")
    assert "No calls are recorded." in text
    assert Elements(text).open == []


def test_the_same_ledger_gives_the_same_page(tmp_path: Path) -> None:
    ledger = story(tmp_path)
    one, two = (page(report_of(str(ledger.folder)), "payments") for _ in range(2))
    assert one == two


def test_nothing_of_a_ledger_is_markup_in_the_comment(tmp_path: Path) -> None:
    ledger = story(tmp_path)
    text = markdown(report_of(str(ledger.folder)), HOSTILE)
    inlines = [t for t in MarkdownIt().enable("table").parse(text) if t.type == "inline"]
    kinds = {child.type for inline in inlines for child in inline.children or []}
    assert kinds <= {"text", "code_inline", "softbreak"}
    plain = "".join(c.content for i in inlines for c in i.children or [] if c.type == "text")
    assert "@" not in plain
    assert "http" not in plain
    assert "hacked" not in plain
    assert not [t for t in MarkdownIt().enable("table").parse(text) if t.type == "html_block"]


def test_the_comment_says_what_the_page_says(tmp_path: Path) -> None:
    ledger = story(tmp_path)
    text = markdown(report_of(str(ledger.folder)), "payments")
    assert "| 10 | 3 | 1 | 1 | 3 | +14 −3 | 1 |" in text
    assert "| `fluff/names-nothing` | 1 | 1 | 0 | 0 | 0 | 1 | 2.0 |" in text
    assert "`intent`: `Round fees to whole cents, half to even`" in text
    assert "refused 2 times" in text
    assert "`src/payments/fees.py`, between calls 4 and 7" in text


def test_the_comment_fits_into_a_comment(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for number in range(120):
        reasons = [call("x" * 5_000, "`" * 5_000, **{f"field_{n}": "y" * 900 for n in range(9)})]
        made = ledger.decide("write", path=f"{number}.py", reasons=reasons,
                             rules=[finding(f"a/{number}", "warn")])  # fmt: skip
        ledger.carry_out(made, {f"{number}.py": b"1\n"})
    text = markdown(report_of(str(ledger.folder)), "payments")
    assert len(text) <= MOST_CHARACTERS + 200
    assert text.endswith("The rest is left out: a comment holds no more. See the page.\n")

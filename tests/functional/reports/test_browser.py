"""The page in a real browser: it runs, obeys the keyboard, can be read, and is not taken over."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tool_intent.reports.opening import report_of
from tool_intent.reports.page import page

from ...agents.installed import installed, node
from .story import story

#: Seconds that a browser may take to start, do what it is told and end.
DEADLINE = 180

#: Every piece of text whose contrast with what is behind it is below 4.5 (WCAG 2, level AA).
FAINT = """(() => {
  const channel = (c) => (c /= 255, c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const [r, g, b, a = 1] = parts(getComputedStyle(element).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  for (let text = walk.nextNode(); text; text = walk.nextNode()) {
    const element = text.parentElement;
    if (!text.data.trim() || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    seen += 1;
    const [one, two] = [light(parts(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) faint.push(`${ratio.toFixed(2)} ${element.className} ${text.data.trim()}`);
  }
  return { seen, faint };
})()"""

SHOWN = "[...document.querySelectorAll('.call')].filter((c) => !c.hidden).map((c) => c.id)"
FOCUS = "document.activeElement.closest('.call')?.id ?? document.activeElement.id"
OPEN = "[...document.querySelectorAll('.call details[open]')].map((d) => d.closest('.call').id)"
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    ledger = story(folder / "ledger")
    text = page(report_of(str(ledger.folder)), "payments", generated="2026-11-30T12:00:00Z")
    file = folder / "report.html"
    file.write_bytes(text.encode("utf-8", "replace"))
    return file.as_uri()


def browse(plan: dict[str, Any]) -> list[Any]:
    """What the expressions of a plan gave; the page asked for itself alone, and had no error."""
    folder = installed("chromium")
    done = subprocess.run(
        [node("chromium"), folder / "drive.mjs"],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["requests"] == [plan["page"]]
    assert told["errors"] == []
    return list(told["values"])


@pytest.mark.slow
def test_the_keyboard_leads_through_the_calls(url: str) -> None:
    steps: list[dict[str, str]] = [
        {"press": "j"}, {"press": "j"}, {"press": "j"}, {"press": "k"}, {"evaluate": FOCUS},
        {"press": "Enter"}, {"evaluate": OPEN},
        {"press": "/"}, {"evaluate": FOCUS}, {"type": "half to even"}, {"evaluate": SHOWN},
        {"press": "Enter"}, {"evaluate": FOCUS},
        {"press": "/"}, {"press": "Escape"}, {"evaluate": SHOWN},
        {"click": "input[value=allow]"}, {"evaluate": SHOWN},
        {"click": "a[data-pick='fluff/names-nothing']"}, {"evaluate": SHOWN},
        {"evaluate": "document.getElementById('shown').textContent"},
        {"click": ".heat a[data-pick='fields/missing'][data-of=read]"}, {"evaluate": SHOWN},
        {"evaluate": "window.hacked ?? null"},
        {"evaluate": "document.querySelectorAll('main script, main img').length"},
    ]  # fmt: skip
    every = [f"c{n}" for n in range(1, 11)]
    assert browse({"page": url, "steps": steps}) == [
        "c2", ["c2"], "search", ["c4"], "c4", every, ["c2", "c3", "c8", "c9"], ["c3"],
        "1 of 10 shown", ["c1"], None, 0,
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_what_is_behind_it(url: str, scheme: str) -> None:
    opened = "for (const d of document.querySelectorAll('details')) d.open = true"
    steps = [{"evaluate": opened}, {"evaluate": FAINT}]
    [_, found] = browse({"page": url, "scheme": scheme, "steps": steps})
    assert found["seen"] > 200
    assert found["faint"] == []


@pytest.mark.slow
def test_a_narrow_screen_is_never_scrolled_sideways(url: str) -> None:
    opened = "for (const d of document.querySelectorAll('details')) d.open = true"
    plan = {"page": url, "width": 340, "steps": [{"evaluate": opened}, {"evaluate": WIDE}]}
    assert browse(plan)[1] == 0


@pytest.mark.slow
def test_a_link_to_a_call_opens_it(url: str) -> None:
    steps = [{"click": "#mended a[href='#c3']"}, {"evaluate": OPEN}]
    assert browse({"page": url, "steps": steps}) == [["c3"]]

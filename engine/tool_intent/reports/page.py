"""One page of HTML that holds all of a report: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tool_intent.__about__ import __version__
from tool_intent.reports import visible
from tool_intent.reports.model import MOST_CALLS, Reason, Summary

#: As `MOST_CALLS`, for changes and for pairs.
_MOST_CHANGES: Final = 500
_MOST_PAIRS: Final = 200

_EFFECTS: Final = frozenset(("allow", "ask", "deny", "note", "off", "warn"))
_FATES: Final = {"ok": "ran", "failed": "ran, failed", "tried": "no outcome", "refused": "not run"}
_LEVELS: Final = 5

_Item = TypeVar("_Item")


def page(summary: Summary, title: str, *, generated: str = "", limit: int = MOST_CALLS) -> str:
    """The report as HTML.

    `title` is what the ledger belongs to; `generated` an RFC 3339 time, or "" to name none;
    `limit` how many calls are shown, the last ones. The same input gives the same page.
    """
    calls, changes = _last(summary.calls, limit), _last(summary.changes, _MOST_CHANGES)
    mended, untracked = _last(summary.mended, _MOST_PAIRS), _last(summary.untracked, _MOST_PAIRS)
    style, script = _asset("page.css") + _widths(), _asset("page.js")
    first_of: dict[int, int] = {}
    for index, change in enumerate(changes):
        first_of.setdefault(change.call.number, index)
    return _environment().get_template("page.html.j2").render(
        summary=summary,
        title=title,
        generated=generated,
        version=__version__,
        calls=calls,
        calls_left_out=len(summary.calls) - len(calls),
        changes=changes,
        changes_left_out=len(summary.changes) - len(changes),
        first_of=first_of,
        mended=mended,
        mended_left_out=len(summary.mended) - len(mended),
        untracked=untracked,
        untracked_left_out=len(summary.untracked) - len(untracked),
        most_hits=max((rule.hits for rule in summary.rules), default=0),
        # These four are the package's own text.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        style_hash=Markup(_digest(style)),  # noqa: S704
        script_hash=Markup(_digest(script)),  # noqa: S704
    )  # fmt: skip


def _last(items: Sequence[_Item], most: int) -> Sequence[_Item]:
    return items[max(0, len(items) - most) :]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tool_intent.reports", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        visible=visible.html, flat=visible.flat, effect=_effect, fate=_fate, level=_level,
        moment=_moment, percent=_percent, said=_said, share=_share,
    )  # fmt: skip
    return environment


def _asset(name: str) -> str:
    return files("tool_intent.reports").joinpath(name).read_text("utf-8")


def _widths() -> str:
    # The page's own policy forbids style attributes, so that no text can bring one.
    return "".join(f".w{n}{{width:{n}%}}" for n in range(1, 101))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _effect(value: str) -> str:
    return value if value in _EFFECTS else "note"


def _fate(fate: str, verdict: str) -> str:
    return "waits for a person" if (fate, verdict) == ("refused", "ask") else _FATES[fate]


def _level(count: int, most: int) -> int:
    """1 to 5: which fifth of the greatest count this one is in; few calls are never glaring."""
    return -(-count * _LEVELS // max(most, _LEVELS))


def _moment(stamp: str) -> Markup:
    """`2026-11-30T12:00:00.123Z` as people read it."""
    return visible.html(f"{stamp[:10]} {stamp[11:16]}" if len(stamp) > 15 else stamp)


def _percent(count: int, of: int) -> int:
    return max(1, round(100 * count / of))


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:.0f} %" if of else "none"


def _said(reasons: Iterable[Reason]) -> str:
    """The first text that a call gives: its intent, where it has one."""
    given = [said for reason in reasons for said in reason.fields if said[1].strip()]
    intents = [text for name, text in given if name == "intent"]
    return next(iter(intents or [text for _, text in given]), "")

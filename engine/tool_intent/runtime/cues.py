"""What of a text can be looked up: tickets, measures, code, errors. Total, pure and linear."""

from __future__ import annotations

import re
from typing import Final

_TICKET: Final = re.compile(
    r"(?<![\w&/#])#[0-9]{1,7}(?![\w;])|(?<![A-Za-z0-9])CVE-[0-9]{4}-[0-9]{4,7}(?![0-9])"
    r"|(?<![A-Za-z0-9_-])[A-Z][A-Z0-9]{1,9}-[0-9]{1,7}(?![A-Za-z0-9_])"
    r"|\b(?:RFC|ISO|PEP|ADR|CWE|BGB|GDPR|WCAG|PCI|DIN)[ -]?[0-9]{1,6}\b|§ ?[0-9]{1,5}"
    r"|\b(?:PR|MR|CL|[Ii]ssue|[Tt]icket|[Bb]ug|[Jj]ob|[Ff]inding|[Ii]ncident) ?#?[0-9]{1,7}\b"
    r"|(?<![A-Za-z0-9])(?=[0-9]{0,39}[a-f])(?=[a-f]{0,39}[0-9])[0-9a-f]{7,40}(?![A-Za-z0-9])"
)
_UNITS: Final = (
    "%|‰|×|x|ns|µs|us|ms|s|sec|min|h|d|days?|hours?|weeks?|months?|years?|[kKMGT]i?B|[kKMGT]|bytes?|"
    "px|pt|Hz|kHz|MHz|GHz|rows?|lines?|users?|files?|times|°C|€|km|kg|mm|cm"
)
_MEASURE: Final = re.compile(
    rf"(?<![\w.,])[$€£]?[0-9][0-9.,' ]{{0,15}}?(?: ?(?:{_UNITS}))(?![A-Za-z0-9_])"
)
_CODE: Final = re.compile(
    r"`[^`\n]{1,200}`|(?<!\w)\w{1,60}\(\)|(?<!\w)[A-Za-z]\w{0,60}(?:\.|::|->)\w{1,60}\("
)
_LOCATION: Final = re.compile(
    r"(?<![\w/])[\w./-]{1,120}\.[A-Za-z][A-Za-z0-9]{0,7}:[0-9]{1,6}(?!\w)"
)
_STATUS: Final = re.compile(
    r"(?<![\w.])(?:HTTP |status |exit code |exit |code )?[1-5][0-9]{2}"
    r"(?= (?:on|from|for|in|errors?)\b)"
    r"|\b(?:E[A-Z]{4,12}|ERR_[A-Z_]{2,40}|SIG[A-Z]{3,5})\b|\b[A-Z][A-Za-z]{2,40}(?:Error|Exception)\b"
)
_ERRORS: Final = re.compile(
    r"\b(?:errors?|fail(?:s|ed|ing|ures?)?|crash(?:es|ed)?|exceptions?|traceback|panic(?:s|ked)?|"
    r"timeouts?|timed out|refus(?:es|ed)|denied|rejected|broken|deadlocks?|segfaults?|overflows?|"
    r"regress(?:ed|ion)|leaks?|fehler|fehlgeschlagen|scheitert|abgestürzt|absturz|erreurs?|échoue|"
    r"échec|plante|error(?:es)?|falla|fallo|falló|rechaza)\b"
    r"|错误|失败|报错|崩溃|异常|超时|エラー|失敗|例外|クラッシュ|タイムアウト",
    re.IGNORECASE,
)  # fmt: skip
_ALL: Final = (_TICKET, _MEASURE, _CODE, _LOCATION, _STATUS, _ERRORS)


def references(text: str) -> list[str]:
    """The cues that name one thing: tickets, standards, code, lines of files, names of errors."""
    found: dict[str, None] = {}
    for pattern in (_TICKET, _CODE, _LOCATION, _STATUS):
        for match in pattern.finditer(text):
            if not match.group().isdigit():
                found[match.group().strip()] = None
    return list(found)


def cues(text: str) -> list[str]:
    """What of a text somebody could look up: each once, those of one kind after the other.

    Tickets, standards and paragraphs (`#12`, `PAY-7`, `CVE-2024-1234`, `RFC 7386`, `§ 305`);
    numbers with a unit (`40 ms`, `3 %`); code in back ticks, calls, lines of files, status codes
    and names of errors; words for an error in English, German, French, Spanish, Chinese and
    Japanese. Such words only say that something may be behind them.
    """
    found: dict[str, None] = {}
    for pattern in _ALL:
        found.update(dict.fromkeys(match.group().strip() for match in pattern.finditer(text)))
    return list(found)

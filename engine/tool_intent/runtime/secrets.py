"""What looks like a credential: one table, for rules that refuse it and records that leave it out.

Each pattern is bounded or reads on without going back, so that a hostile text costs its length.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Each kind with the pattern of its value, in the syntax that RE2 and Python share.
TOKENS: Final[tuple[tuple[str, str], ...]] = (
    ("aws-key", r"(?:A3T[A-Z0-9]|AKIA|ASIA)[0-9A-Z]{16}"),
    ("github-token", r"(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,}"),
    ("gitlab-token", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("slack-token", r"xox[abprs]-[0-9]{6}[A-Za-z0-9-]{10,}"),
    ("api-key", r"sk-[A-Za-z0-9_-]{32,}|[rs]k_live_[A-Za-z0-9]{20,}|AIza[A-Za-z0-9_-]{35,}"),
    ("npm-token", r"npm_[A-Za-z0-9]{36,}"),
    ("pypi-token", r"pypi-[A-Za-z0-9_-]{50,}"),
    ("vault-token", r"(?:hvs|hvb)\.[A-Za-z0-9_-]{24,}"),
)
#: A block of a private key, to its end or that of the text.
PRIVATE_KEY: Final = (
    r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?s:.*?)(?:-----END (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
#: Credentials by what stands before them: a URL's password, a query's token, a password said.
_URL: Final = r"(?<=://)(?!\[redacted:)[^/\s:@\"'$]{1,256}:[^/\s@\"'$]{6,}(?=@)"
_QUERY: Final = (
    r"(?i:(?<=[?&])(?:access_token|auth_token|token|api_?key|secret|password|passwd|client_secret"
    r"|sig|signature)=)[^&\s\"'$<{]{8,}"
)
_SAID: Final = (
    r"(?i:password|passwd|secret|token|api[ _-]?key)(?: is|:|=)\s{0,9}[\"'`]?"
    r"(?=[^\s\"'`]{0,256}[0-9])[^\s\"'`$<{]{8,}"
)

_NAMES: Final = {kind.replace("-", "_"): kind for kind, _ in TOKENS} | {
    "private_key": "private-key",
    "url": "url-password",
    "query": "url-token",
    "said": "password",
}
_ALL: Final = re.compile(
    "|".join(
        [
            f"(?P<private_key>{PRIVATE_KEY})",
            *(
                f"(?<![A-Za-z0-9_])(?P<{kind.replace('-', '_')}>{pattern})"
                for kind, pattern in TOKENS
            ),
            f"(?P<url>{_URL})",
            f"(?P<query>{_QUERY})",
            f"(?P<said>{_SAID})",
        ]
    )
)
#: What a text must hold one of, in whatever case, for any of the patterns to be found: cheap to
#: look for.
_HINTS: Final = (
    "key", "sig", "token", "secret", "passw", "://", "sk-", "k_live_", "a3t", "akia", "asia",
    "aiza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "npm_",
    "pypi-", "hvs.", "hvb.",
)  # fmt: skip
_HINT: Final = re.compile("|".join(map(re.escape, _HINTS)), re.IGNORECASE)


class Redacted(NamedTuple):
    """A text without credentials, and the kinds of those that were in it, in order."""

    text: str
    kinds: tuple[str, ...]


def _may_hold_any(text: str) -> bool:
    if not text.isascii():
        return _HINT.search(text) is not None  # which letters are one in any case, `re` knows
    lowered = text.lower()
    for hint in _HINTS:  # noqa: SIM110 (any(…) takes twice as long)
        if hint in lowered:
            return True
    return False


def redacted(text: str) -> Redacted:
    """The text with `[redacted:KIND]` in the place of each thing that looks like a credential."""
    if not _may_hold_any(text):
        return Redacted(text, ())
    kinds: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        kind = _NAMES[match.lastgroup or ""]
        kinds.append(kind)
        return f"[redacted:{kind}]"

    return Redacted(_ALL.sub(replaced, text), tuple(kinds))

"""What a text cites: URLs, paths, the files of a patch. Total, pure and linear in the text."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Schemes whose URLs browsers read with any number of slashes, and with `\` for `/`.
SPECIAL: Final = frozenset(["http", "https", "ws", "wss", "ftp"])

_SLASHES: Final = re.compile(r":[/\\]+")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{1,30}\Z")
_REST: Final = re.compile(r"[^\s<>\"`{}|]*")
_PORT: Final = re.compile(r":([0-9]{0,5})\Z")
_CLOSING: Final = ".,;:!?'"
_BRACKETS: Final = {")": "(", "]": "["}

_BETWEEN: Final = re.compile(r"[\s\"'`()\[\]{}<>,;|=“”‘’«»]+")
_LINES: Final = re.compile(r"(?:#L[0-9]+(?:-L?[0-9]+)?|(?::[0-9]+){1,2}(?:-[0-9]+)?)\Z")
_ROOTED: Final = re.compile(r"(?:~|\.{1,2})?[/\\]|[A-Za-z]:[/\\]")
_NAMED: Final = re.compile(r"[\w@.+\-]*\.([A-Za-z][A-Za-z0-9]{0,9})\Z")
_TYPED: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_EXTENSIONS: Final = (
    "bash bat c cc cfg class cmd conf cpp cs css csv db dockerfile env go gradle graphql h hpp "
    "html ini ipynb java jpg js json jsonl jsx kt less lock log lua md mdx mjs mk pdf pem php pl "
    "png proto ps1 py pyi r rb rs rst rules scala scss sh sql sqlite svelte svg swift tex tf "
    "tfvars toml ts tsx txt vue wasm xml yaml yml zig zip"
)
_TYPES: Final = frozenset(_EXTENSIONS.split())
_NAMES: Final = frozenset(
    ["Dockerfile", "Gemfile", "Jenkinsfile", "Justfile", "Makefile", "Procfile", "Rakefile"]
)
#: Products whose names look like files.
_PRODUCTS: Final = frozenset(
    ["node.js", "next.js", "nuxt.js", "vue.js", "react.js", "express.js", "three.js", "d3.js"]
)

_PATCH: Final = "*** Begin Patch"
_PATCHED: Final = re.compile(
    r"^[^\S\n]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*)", re.MULTILINE
)


class Url(NamedTuple):
    """One URL. `host` is in lower case, else as written: neither IDNA nor look-alikes are resolved.

    `port` is None where none is written; what cannot be a port stays in the host. `path` and
    `query` are as written, without `?` and fragment.
    """

    scheme: str
    host: str
    port: int | None
    path: str
    query: str

    def __str__(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.path}"


def urls(text: str) -> list[Url]:
    r"""The URLs in a text, in order, each once.

    The host is what follows the last `@` before the path: `https://good@evil/` goes to `evil`. A
    text that programs read in two ways (`https://good\@evil/`) gives both.
    """
    found: dict[Url, None] = {}
    at = 0
    for slashes in _SLASHES.finditer(text):
        scheme = _SCHEME.search(text, max(at, slashes.start() - 31), slashes.start())
        if slashes.start() < at or scheme is None:
            continue
        name = scheme[0].lower()
        if slashes[0] != "://" and name not in SPECIAL and not slashes[0].startswith("://"):
            continue
        rest = _REST.match(text, slashes.end())
        body = _trimmed(rest[0]) if rest else ""
        if name not in SPECIAL:
            body = slashes[0][3:] + body
        at = slashes.end() + len(body)
        found.update(dict.fromkeys(_readings(name, body)))
    return list(found)


def paths(text: str) -> list[str]:
    r"""The paths a prose text cites, in order, each once, without line numbers.

    A piece between blanks, quotes, brackets and commas is one if it starts at a root (`/x`, `./x`,
    `~/x`, `C:\x`); or has a slash and a type at its end, a `_`, a hidden name or a final slash; or
    is a name with a file type in common use, a hidden file, or a name such as Makefile. What has no
    letter, and URLs, are none.
    """
    found: dict[str, None] = {}
    for piece in _BETWEEN.split(text):
        path = _LINES.sub("", piece.rstrip(".:!?…"))
        if path and "://" not in path and _is_path(path):
            found[path] = None
    return list(found)


def patched(text: str) -> list[str] | None:
    """The files that a patch in Codex's format touches, each once; None for what is no patch."""
    if _PATCH not in text:
        return None
    return list(dict.fromkeys(name.strip() for name in _PATCHED.findall(text) if name.strip()))


def _trimmed(body: str) -> str:
    """The text of a URL without the punctuation of the sentence around it."""
    counts = {char: body.count(char) for char in "()[]"}
    end = len(body)
    while end:
        last = body[end - 1]
        opener = _BRACKETS.get(last)
        if last not in _CLOSING and (opener is None or counts[last] <= counts[opener]):
            break
        if opener is not None:
            counts[last] -= 1
        end -= 1
    return body[:end]


def _readings(scheme: str, body: str) -> list[Url]:
    if scheme not in SPECIAL or "\\" not in body:
        return [_url(scheme, body, "/?#")]
    # Browsers take `\` for `/`; curl and most libraries take it for a part of the user name.
    return [_url(scheme, body, "/\\?#"), _url(scheme, body, "/?#")]


def _url(scheme: str, body: str, ends: str) -> Url:
    end = next((n for n, char in enumerate(body) if char in ends), len(body))
    authority, rest = body[:end], body[end:]
    host = authority.rpartition("@")[2]
    port = None
    found = _PORT.search(host)
    if found is not None:
        host = host[: found.start()]
        port = int(found[1]) if found[1] else None
    rest = rest.partition("#")[0]
    path, _, query = rest.partition("?")
    return Url(scheme, _host(host), port, path, query)


def _host(host: str) -> str:
    if "%" in host:
        from urllib.parse import unquote

        host = unquote(host)
    # IDNA reads the ideographic full stop as a dot.
    return host.replace("。", ".").lower().removesuffix(".")


def _is_path(piece: str) -> bool:
    letters = any(char.isalpha() for char in piece)
    if not letters:
        return False
    if _ROOTED.match(piece):
        return True
    if "/" in piece or "\\" in piece:
        marked = "_" in piece or "/." in piece or piece.startswith(".")
        return marked or piece.endswith("/") or _TYPED.search(piece[-12:]) is not None
    if piece in _NAMES:
        return True
    if piece.startswith("."):
        return len(piece) > 2 and piece[1:].replace("-", "").replace(".", "").isalnum()
    named = _NAMED.match(piece) if piece.lower() not in _PRODUCTS else None
    return named is not None and named[1].lower() in _TYPES

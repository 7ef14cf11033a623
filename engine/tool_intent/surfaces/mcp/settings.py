"""MCP client settings as text: the servers they start, and edits that leave all else as it is.

Read are the JSON of Claude Code, Cursor, VS Code and pi, with comments where a client takes them,
and the TOML of Codex.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tool_intent.surfaces.mcp.spans import Member, members

#: Where servers stand in JSON settings; `*` is any member.
_PLACES: Final = (
    ("mcpServers",), ("servers",), ("mcp", "servers"), ("projects", "*", "mcpServers"),
)  # fmt: skip
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[\]}])', re.DOTALL)
_TABLE = re.compile(r"^[ \t]*\[[^\[\]]*\][ \t]*(?:#.*)?$", re.MULTILINE)
_ASSIGNED = re.compile(r"^[ \t]*(command|args)[ \t]*=[ \t]*", re.MULTILINE)


class Unreadable(ValueError):
    """Settings that cannot be read, or not be edited; `str` says why."""


class Entry(NamedTuple):
    """A server in a client's settings. `table` is everything that the settings say of it; `at` is
    the way to it."""

    name: str
    table: Mapping[str, Any]
    at: tuple[str, ...]

    @property
    def command(self) -> list[str]:
        """The command that starts it; empty for a server that is reached otherwise."""
        first, rest = self.table.get("command"), self.table.get("args", [])
        if not isinstance(first, str) or not isinstance(rest, list):
            return []
        return [first, *map(str, rest)]

    @property
    def url(self) -> str | None:
        """The address of a server that is not started."""
        url = self.table.get("url", self.table.get("serverUrl"))
        return url if isinstance(url, str) else None


def is_toml(path: str) -> bool:
    """Whether settings are TOML, by their file's name."""
    return path.endswith(".toml")


def entries(text: str, *, toml: bool) -> list[Entry]:
    """The servers that settings name. Raises Unreadable."""
    value = _parsed(text, toml=toml)
    if toml:
        return _found(value, ("mcp_servers",), ())
    return [entry for place in _PLACES for entry in _found(value, place, ())]


def edited(text: str, entry: Entry, command: Sequence[str], *, toml: bool) -> str:
    """The settings with another command for one server. Raises Unreadable where the text cannot be
    edited so that it says just that."""
    whole = _parsed(text, toml=toml)
    table = whole
    for step in entry.at:
        table = table[step]
    table["command"], table["args"] = command[0], list(command[1:])
    new = (_edited_toml if toml else _edited_json)(text, entry, command)
    if _parsed(new, toml=toml) != whole:
        raise Unreadable(f"the entry of {entry.name} cannot be edited; write it by hand")
    return new


def _parsed(text: str, *, toml: bool) -> Any:
    try:
        value = tomllib.loads(text) if toml else json.loads(_plain(text))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not {'TOML' if toml else 'JSON'}: {error}") from None
    if not isinstance(value, dict):
        raise Unreadable("the settings are no object")
    return value


def _found(value: Any, place: tuple[str, ...], at: tuple[str, ...]) -> list[Entry]:
    if not isinstance(value, dict):
        return []
    if not place:
        tables = {name: table for name, table in value.items() if isinstance(table, dict)}
        return [Entry(name, table, (*at, name)) for name, table in tables.items()]
    names = list(value) if place[0] == "*" else [place[0]]
    return [e for n in names for e in _found(value.get(n), place[1:], (*at, n))]


# --- JSON ----------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    """JSON of the same length: comments, trailing commas and a byte-order mark made spaces."""

    def blank(match: re.Match[str]) -> str:
        said = match.group()
        return said if said.startswith('"') else re.sub(r"[^\n]", " ", said)

    text = " " + text[1:] if text.startswith("\ufeff") else text
    # Trailing commas may stand before comments, which are gone only after the first time.
    return _COMMENT.sub(blank, _COMMENT.sub(blank, text))


def _edited_json(text: str, entry: Entry, command: Sequence[str]) -> str:
    plain = _plain(text)
    at = len(plain) - len(plain.lstrip())
    for step in entry.at:
        at = _member(plain, at, step).value
    first = _member(plain, at, "command")
    rest = json.dumps(list(command[1:]), ensure_ascii=False)
    edits = [(first.value, first.end, json.dumps(command[0], ensure_ascii=False))]
    if "args" in entry.table:
        args = _member(plain, at, "args")
        edits.append((args.value, args.end, rest))
    else:
        edits.append((first.end, first.end, f', "args": {rest}'))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _member(text: str, at: int, key: str) -> Member:
    found = [m for m in members(text, at) if m.key == key]
    if len(found) != 1:
        raise Unreadable(f"`{key}` stands {len(found)} times where it should stand once")
    return found[0]


# --- TOML ----------------------------------------------------------------------------------------


def _edited_toml(text: str, entry: Entry, command: Sequence[str]) -> str:
    start, end = _table(text, entry)
    rest = "[" + ", ".join(json.dumps(word) for word in command[1:]) + "]"
    wanted = {"command": json.dumps(command[0]), "args": rest}
    edits = []
    for match in _ASSIGNED.finditer(text, start, end):
        value_end = _value_end(text, match.end(), end)
        edits.append((match.end(), value_end, wanted.pop(match.group(1), "")))
    if "command" in wanted:
        raise Unreadable(f"the entry of {entry.name} has no line `command = …`")
    if "args" in wanted:
        after = next(stop for _, stop, _ in edits)
        edits.append((after, after, f"\nargs = {rest}"))
    for begin, stop, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[stop:]
    return text


def _table(text: str, entry: Entry) -> tuple[int, int]:
    """Where the lines of a server's table start and end."""
    heads = list(_TABLE.finditer(text))
    for n, head in enumerate(heads):
        try:
            names = _first_path(tomllib.loads(head.group()))
        except tomllib.TOMLDecodeError:
            continue
        if names == entry.at:
            return head.end(), heads[n + 1].start() if n + 1 < len(heads) else len(text)
    raise Unreadable(f"{entry.name} has no table [mcp_servers.{entry.name}]")


def _first_path(value: Any) -> tuple[str, ...]:
    names: list[str] = []
    while isinstance(value, dict) and value:
        name = next(iter(value))
        names.append(name)
        value = value[name]
    return tuple(names)


def _value_end(text: str, start: int, end: int) -> int:
    for stop in _line_ends(text, start, end):
        try:
            tomllib.loads(f"x = {text[start:stop]}")
        except tomllib.TOMLDecodeError:
            continue
        return _before_comment(text, start, stop)
    raise Unreadable("a value has no end")


def _before_comment(text: str, start: int, stop: int) -> int:
    """Where a value ends that a comment may follow on its last line."""
    at = text.find("#", start, stop)
    while at >= 0:
        try:
            tomllib.loads(f"x = {text[start:at]}")
        except tomllib.TOMLDecodeError:
            at = text.find("#", at + 1, stop)
            continue
        stop = at
        break
    return start + len(text[start:stop].rstrip())


def _line_ends(text: str, start: int, end: int) -> Iterator[int]:
    at = text.find("\n", start, end)
    while at >= 0:
        yield at
        at = text.find("\n", at + 1, end)
    yield end

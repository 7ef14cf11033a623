"""What the format expects where a value is something else, in words for whoever wrote it.

The keys are titles in the published schemas: each names a kind of value.
"""

from __future__ import annotations

from typing import Final

#: What is expected where a type is wrong, and how to write it, by the schema's title.
WANTED: Final = {
    "policy": ("a mapping of keys such as `tools`", "start the file with `version: 1`"),
    "name": ("a text", "such as acme/payments"),
    "fields": ("a mapping from field names to JSON Schemas", "intent: {minLength: 10}"),
    "tools": ("a mapping from tool names to entries", "bash: {require: [intent]}"),
    "groups": ("a mapping from group names to tools", '"@write": [save_file]'),
    "names": ("a name or a list of names", "write [one, other]"),
    "item": ("a text", "a list holds names only"),
    "tool": ("a mapping, or a list of mappings,", "write {require: [intent]}"),
    "place": ("a text", 'such as "edits[]"'),
    "require": ("a field name, a list of them, or a mapping,", "write [intent] or {intent: {}}"),
    "optional": ("a field name, a list of them, or a mapping,", "write [intent] or {intent: {}}"),
    "used field": ("a field name, a text,", "a list holds names only"),
    "constraint": ("a JSON Schema (a mapping, or true or false)", "write {} for no constraint"),
    "constraints": ("a list of JSON Schemas", "write [{minLength: 3}]"),
    "enum": ("a list of values", "write [low, high]"),
    "scalar": ("a text, a number, true or false", "fields hold no lists or mappings"),
    "count": ("a whole number", "such as 20"),
    "number of refusals": ("a whole number", "such as 3"),
    "number": ("a number", "such as 3 or 0.5"),
    "pattern": ("a text", "such as '^[A-Z]+$'"),
    "reference": ("a text", "such as '#/$defs/name'"),
    "annotation": ("a text", "one text in quotes"),
    "examples": ("a list of values", "write [one, other]"),
    "switch": ("true or false", "small letters, no quotes"),
    "rules": ("a block of rules", "write `rules: |` and the rules below it, indented"),
    "condition": ("a condition, a text,", 'such as path under "src"'),
    "options": ("a mapping from packs to values", "std/anti-fluff: {residue: 3}"),
    "adjustments": ("a mapping from rule ids to effects", "write git/force-push: warn"),
    "adjustment": ("an effect or a mapping", "write warn or {effect: deny, at: {mcp: ask}}"),
    "effect": ("an effect, a text,", "such as warn"),
    "points": ("a mapping from points of enforcement to effects", "write {mcp: warn}"),
    "stages": ("a list of stages", "write [{from: 2026-12-01, effect: note}]"),
    "stage": ("a mapping", "write {from: 2026-12-01, effect: note}"),
    "date": ("a date, a text,", "such as 2026-12-01"),
    "option values": ("a mapping from options to values", "write {residue: 3}"),
    "option value": ("a text, a number, true or false, or a list of texts", "such as 3"),
    "waivers file": ("a mapping of keys", "start the file with `waivers:`"),
    "waivers": ("a list of waivers", "write `waivers:` and below it `- id: W-1`"),
    "waiver": ("a mapping", "write {id: W-1, rule: …, owner: …, reason: …, expires: 2026-12-31}"),
    "waiver id": ("a text", "such as W-17"),
    "waived rule": ("the id of a rule, a text,", "such as shell/force-push-protected"),
    "scope": ("a mapping", 'write {paths: ["docs/**"], tools: ["@edit"]}'),
    "words": ("a text", "one text in quotes"),
    "number of uses": ("a whole number", "such as 3"),
    "waiver policy": ("a mapping", "write {max_days: 30, require: [ticket]}"),
    "waiver keys": ("a list of keys of a waiver", "write [ticket, approved_by]"),
    "branch": ("a text", "such as refs/remotes/origin/main"),
    "number of days": ("a whole number", "such as 30"),
    "catalog": ("a mapping of keys such as `tools`", "start the file with `catalog: its-name`"),
    "argument path": ("the name of an argument, a text,", "such as path"),
    "group name": ("a group, a text,", 'such as "@write"'),
    "lock": ("a mapping of keys such as `files`", "run `tool-intent lock` to write it"),
    "locked text": ("a text", "run `tool-intent lock` to write it"),
    "locked sources": ("a list of locked sources", "run `tool-intent lock` to write it"),
    "locked file": ("a mapping of `path` and `sha256`", "run `tool-intent lock` to write it"),
    "locked name": ("a mapping of `name` and `sha256`", "run `tool-intent lock` to write it"),
    "locked git source": ("a mapping such as {url: …}", "run `tool-intent lock` to write it"),
    "commit id": ("a text", "all digits of a commit, in quotes"),
    "full reference": ("a text", "such as refs/tags/v1"),
    "time": ("a text", "in UTC, such as 2026-11-30T12:00:00Z"),
    "SHA-256": ("a text", "64 digits, in quotes"),
}

#: How to write what has to match a pattern, where it is no group, by the schema's title.
WRITTEN: Final = {
    "commit id": "all digits of a commit, small letters",
    "full reference": "such as refs/tags/v1",
    "time": "in UTC, such as 2026-11-30T12:00:00Z",
    "SHA-256": "64 digits, small letters; run `tool-intent lock` to work it out",
}

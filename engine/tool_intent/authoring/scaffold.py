"""A new rule to start from: a sentence with examples, words, labelled calls and a page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

#: What a rule's id has to be here: lower case and hyphens, so that files can be named after it.
_ID: Final = re.compile(r"[a-z][a-z0-9-]*/[a-z][a-z0-9-]*")

_RULE: Final = """\
# {id}: see pages/{name}.md. Change the words, the rule and its examples together; then
#   tool-intent test {shown}/{name}.rules
#   tool-intent eval {shown}/{name}.rules {shown}/corpus/{name}.jsonl

words {words} from "words/{name}.txt"
option least = 3 between 1 and 6

rule {id} on *
  when has rationale
  require novel(without(rationale, {words}), [call, intent]) >= least
  else warn "The rationale says nothing of this call that would not fit any other."
  floor note
  fix "Name the requirement, the error or the constraint behind it."
  bad bash {{command: "make deploy", intent: "Deploy", rationale: "The process requires it."}}
  ok  bash {{command: "make deploy", intent: "Deploy", rationale: "Support owes Lena the fix."}}
"""
_WORDS: Final = """\
# Phrases that count for nothing in a rationale; one a line, in any form of their words.
as usual
the process requires it
standard procedure
"""
_PAGE: Final = """\
# {id}

**Avoid.** A rationale of phrases that fit every call:

    rationale: The process requires it.

**Prefer.** What made this call right, so that a reader can check it:

    rationale: Support owes Lena the fix.

**Why.** Write here what went wrong before there was this rule.

**Options.** `least`: how many words of its own a rationale has, 3 unless set.

**Measured** by `tool-intent eval {shown}/{name}.rules {shown}/corpus/{name}.jsonl --into \
{shown}/pages/{name}.md`:

<!-- eval: rules -->
<!-- end -->
"""
_BAD: Final = (
    ("make deploy", "Deploy", "The process requires it."),
    ("git tag v4.1", "Tag v4.1", "Standard procedure."),
    ("npm ci", "Install", "As usual."),
    ("terraform plan", "Plan", "Standard procedure, as usual."),
)
_GOOD: Final = (
    ("make deploy", "Deploy", "Support owes Lena the fix."),
    ("git tag v4.1", "Tag v4.1", "The auditor reviews tags, and the freeze starts on Friday."),
    ("npm ci", "Install", "The lockfile moved to lodash 4.17.21 for CVE-2021-23337."),
    ("terraform plan", "Plan", "Two subnets overlap since the Frankfurt region was added."),
)


class BadName(ValueError):
    """A name that no scaffold can be made for; `str` says what one is."""


def scaffold(rule: str, shown: str) -> Mapping[str, str]:
    """The files of a new rule, by their path in the folder that is called `shown`: the rule, its
    words, its corpus and its page. They pass `check`, `test` and `eval` as they are.

    Raises BadName unless `rule` is `prefix/name` in lower case.
    """
    if not _ID.fullmatch(rule):
        raise BadName(
            f"`{rule}` is no name for a rule: write prefix/name in lower case{_near(rule)}"
        )
    name = rule.partition("/")[2]
    said = {"id": rule, "name": name, "words": name.replace("-", "_"), "shown": shown}
    return {
        f"{name}.rules": _RULE.format(**said),
        f"words/{name}.txt": _WORDS,
        f"corpus/{name}.jsonl": _corpus(rule, name),
        f"pages/{name}.md": _PAGE.format(**said),
    }


def _near(rule: str) -> str:
    plain = re.sub(r"[^a-z0-9/]+", "-", rule.lower()).strip("-")
    plain = plain if "/" in plain else f"acme/{plain}"
    return f", such as {plain}" if _ID.fullmatch(plain) else ", such as acme/no-stock-phrases"


def _corpus(rule: str, name: str) -> str:
    header = {
        "corpus": name, "version": 1, "kinds": {name: "warn"}, "rules": {rule: [name]},
        "thresholds": {"warn": {"precision": 0.9, "recall": 0.9, "false_positives": 0.05}},
    }  # fmt: skip
    rows = [
        {
            "id": f"{label}-{number}", "tool": "bash", "args": {"command": command},
            "intent": intent, "rationale": rationale, "label": label,
            "kinds": [name] if label == "bad" else [], "lang": "en",
        }
        for label, calls in (("bad", _BAD), ("good", _GOOD))
        for number, (command, intent, rationale) in enumerate(calls, 1)
    ]  # fmt: skip
    return "".join(f"{json.dumps(line)}\n" for line in [header, *rows])

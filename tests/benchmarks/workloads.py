"""The work that is measured: seeded calls, half of them faulty, and the hand-written floors.

A floor is what a competent engineer writes by hand for one tool and one policy, with the
product's meaning of text: a fast path for plain ASCII, `normalise` for all other text, and every
fault collected as (JSON Pointer, message). Budgets are ratios to it. The tuned variants are what
the same engineer arrives at with a profiler, to show how far the floor is from the ground.
"""

from __future__ import annotations

import random
import re
from typing import Any, TypeAlias

from tool_intent.runtime.text import LONGEST_TEXT, is_absent, normalise
from tool_intent.runtime.words import words

Args: TypeAlias = dict[str, Any]
Fault: TypeAlias = tuple[str, str]

#: What the floors below judge by, as a policy.
POLICY = """\
version: 1
policy: bench/work
tools:
  write: {require: [intent, rationale]}
  edit:
    - {at: "edits[]", require: [intent, rationale]}
"""

# --- the calls -----------------------------------------------------------------------------------

_VERBS = [
    "add", "fix", "guard", "rename", "split", "move", "extract", "document", "cache", "retry",
    "validate", "parse", "log", "test", "drop",
]  # fmt: skip
_NOUNS = [
    "session token", "retry budget", "ledger row", "policy loader", "yaml anchor", "config key",
    "socket path", "hash chain", "unit test", "edge case", "error path", "migration",
    "parser state", "cli flag", "audit event",
]  # fmt: skip
_WHY = [
    "the {n} fails when the {m} is missing, see issue {i}",
    "callers of {n} rely on the {m} order since v{i}",
    "issue {i} shows the {n} dropping the {m} under load",
    "without it the {n} test at line {i} cannot reach the {m}",
]
_BASE_FAULTS = ("no_i", "empty_i", "no_r", "empty_r", "type_i", "both")
_RULE_FAULTS = ("two_words", "same", "boiler", "glob", "secret", "restate", "base", "multi")
_MULTI = ("two_words", "glob", "secret")
_BOILERPLATE = (
    "As requested by the user", "Needed to Complete the Task now",
    "This is necessary for the change", "Follows Best Practices here",
    "To improve the code Quality overall",
)  # fmt: skip
_PROTECTED = ("infra/prod/main.tf", ".github/workflows/ci.yml", "secrets/x/y.txt")
_SECRETS = ("AKIAABCDEFGHIJKLMNOP", "ghp_" + "a1" * 18, "-----BEGIN RSA PRIVATE KEY-----")
_RESTATED = ("Write the file", "writing to the file", "Create a new file.")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def inputs_w1(count: int = 1000, seed: int = 1) -> list[Args]:
    """Calls of `write` with intent and rationale; every second one breaks a field."""
    r = random.Random(seed)
    calls = []
    for n in range(count):
        args = _good(r)
        if n % 2:
            _break_fields(args, r.choice(_BASE_FAULTS))
        calls.append(args)
    return calls


def inputs_w2(count: int = 1000, seed: int = 2) -> list[Args]:
    """Calls of `edit` with five edits; one edit of every second call breaks a field."""
    r = random.Random(seed)
    calls = []
    for n in range(count):
        edits = [
            {
                "oldText": _code(r, 200),
                "newText": _code(r, 200),
                "intent": _intent(r),
                "rationale": _why(r),
            }
            for _ in range(5)
        ]
        if n % 2:
            _break_fields(edits[r.randrange(5)], r.choice(_BASE_FAULTS))
        calls.append({"path": _path(r), "edits": edits})
    return calls


def inputs_w3(count: int = 1000, seed: int = 3) -> list[Args]:
    """Calls of `write` that a dozen rules about texts, paths and secrets look at."""
    r = random.Random(seed)
    calls = []
    for n in range(count):
        args = _good(r)
        if n % 10 == 4:  # legal: a protected path, approved
            args["path"] = f"infra/{n}.tf"
            args["rationale"] += f" (approved in CHG-{n})"
        if n % 2:
            fault = r.choice(_RULE_FAULTS)
            for one in _MULTI if fault == "multi" else (fault,):
                _break_rule(args, one, r)
        calls.append(args)
    return calls


def _code(r: random.Random, length: int = 2048) -> str:
    lines: list[str] = []
    size = 0
    while size < length:
        line = "    {}_{} = compute_{}({}, key='{}')  # {} {}\n".format(
            r.choice(_VERBS), r.randrange(999), r.choice(_VERBS), r.randrange(10**6),
            "".join(r.choices(_LETTERS, k=8)), r.choice(_VERBS), r.choice(_NOUNS),
        )  # fmt: skip
        lines.append(line)
        size += len(line)
    return "".join(lines)[:length]


def _intent(r: random.Random) -> str:
    return f"{r.choice(_VERBS).capitalize()} the {r.choice(_NOUNS)} in the {r.choice(_NOUNS)}"


def _why(r: random.Random) -> str:
    return r.choice(_WHY).format(n=r.choice(_NOUNS), m=r.choice(_NOUNS), i=r.randrange(1, 5000))


def _path(r: random.Random) -> str:
    return f"src/{r.choice(_VERBS)}/{r.choice(_NOUNS).replace(' ', '_')}_{r.randrange(999)}.py"


def _good(r: random.Random) -> Args:
    return {"path": _path(r), "content": _code(r), "intent": _intent(r), "rationale": _why(r)}


def _break_fields(args: Args, fault: str) -> None:
    match fault:
        case "no_i":
            del args["intent"]
        case "empty_i":
            args["intent"] = ""
        case "no_r":
            del args["rationale"]
        case "empty_r":
            args["rationale"] = ""
        case "type_i":
            args["intent"] = 7
        case "both":
            del args["intent"]
            args["rationale"] = ""


def _break_rule(args: Args, fault: str, r: random.Random) -> None:
    match fault:
        case "two_words":
            args["intent"] = "Fix bug"
        case "same":
            args["rationale"] = args["intent"]
        case "boiler":
            args["rationale"] = r.choice(_BOILERPLATE)
        case "glob":
            args["path"] = r.choice(_PROTECTED)
        case "secret":
            secret = r.choice(_SECRETS)
            at = r.randrange(1500)
            content = args["content"]
            args["content"] = content[:at] + secret + content[at + len(secret) :]
        case "restate":
            args["intent"] = r.choice(_RESTATED)
        case "base":
            _break_fields(args, r.choice(_BASE_FAULTS))


# --- the floors ----------------------------------------------------------------------------------


def floor_w1(args: Args) -> list[Fault] | None:
    """The faults of a call of `write`; None where there are none."""
    faults = None
    complaint = _complaint(args, "intent")
    if complaint is not None:
        faults = [("/intent", complaint)]
    complaint = _complaint(args, "rationale")
    if complaint is not None:
        if faults is None:
            faults = [("/rationale", complaint)]
        else:
            faults.append(("/rationale", complaint))
    return faults


def floor_w2(args: Args) -> list[Fault] | None:
    """The faults of a call of `edit`, whose every edit carries both fields."""
    edits = args.get("edits")
    if edits.__class__ is not list or not edits:
        return [("/edits", "edits must be a list with at least one edit")]
    faults = None
    for number, edit in enumerate(edits):
        if edit.__class__ is not dict:
            if faults is None:
                faults = []
            faults.append((f"/edits/{number}", "an edit must be an object"))
            continue
        for name in ("intent", "rationale"):
            complaint = _complaint(edit, name)
            if complaint is not None:
                if faults is None:
                    faults = []
                faults.append((f"/edits/{number}/{name}", complaint))
    return faults


def floor_w3(args: Args) -> list[Fault] | None:
    """The faults of a call of `write` by the rules of `rule_policies.W3`, one search a rule. A text
    that cannot be read may hold anything; an absent one is empty. Of the path, only its text is
    looked at."""
    faults: list[Fault] = []
    intent = _field(args, "intent", faults)
    rationale = _field(args, "rationale", faults)
    if intent is None or words(intent) < 3:
        faults.append(("/intent", "intent must have at least 3 words"))
    if intent is None or _restates(intent):
        faults.append(("/intent", "intent only restates the tool name"))
    if intent is None or rationale is None or intent == rationale:
        faults.append(("", "rationale repeats intent"))
    for number, search in enumerate(_say_nothing):
        if rationale is None or search(rationale):
            faults.append(("/rationale", f"boilerplate {number}"))
    path = args.get("path", "")
    if (path.__class__ is not str or _protects(path)) and (
        rationale is None or not _approved(rationale)
    ):
        faults.append(("/rationale", "protected path"))
    content = args.get("content", "")
    if content.__class__ is not str or _secret(content):
        faults.append(("", "content holds a secret"))
    return faults or None


#: What the rules of W3 look for, as `re` takes it.
RESTATES = (
    r"^\W*(writ(e|es|ing)|creat(e|es|ing)|sav(e|es|ing))( (to|a|an|the|this|new|some))*"
    r"( (file|files|content|contents|it))?\W*$"
)
SAYS_NOTHING = (
    r"\bas requested( by the user)?\b",
    r"\bto (complete|accomplish|finish) the task\b",
    r"\b(this|it) is (necessary|needed|required)\b",
    r"\bbest practices?\b",
    r"\b(improve|enhance) (the )?(code|quality|readability)\b",
)
PROTECTS = r"(infra|\.github/workflows|secrets)/."
APPROVED = r"\bapproved\b"
SECRET = (
    r"AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|sk-[A-Za-z0-9]{32,}|xox[baprs]-[A-Za-z0-9-]{10,}"
)
_restates = re.compile(RESTATES, re.IGNORECASE).search
_say_nothing = [re.compile(pattern, re.IGNORECASE).search for pattern in SAYS_NOTHING]
_protects = re.compile(PROTECTS).match
_approved = re.compile(APPROVED, re.IGNORECASE).search
_secret = re.compile(SECRET).search


def _field(args: Args, name: str, faults: list[Fault]) -> str | None:
    """A field as rules read it; what is wrong with it joins the faults."""
    value = args.get(name)
    if value.__class__ is not str:
        is_there = name in args
        faults.append((f"/{name}", f"{name} must be text" if is_there else f"{name} is required"))
        return None if is_there else ""
    text = normalise(value)
    if text is None:
        faults.append((f"/{name}", f"{name} cannot be read"))
    elif is_absent(text):
        faults.append((f"/{name}", f"{name} is required (at least 1 character)"))
        return ""
    return text


def _complaint(holder: Args, name: str) -> str | None:
    """What is wrong with a field, if anything is."""
    value = holder.get(name)
    if value.__class__ is not str:
        return f"{name} must be text" if name in holder else f"{name} is required"
    if len(value) > LONGEST_TEXT:
        return f"{name} cannot be read"
    if value.isascii() and value.isprintable():
        return None if value.strip() else f"{name} is required (at least 1 character)"
    text = normalise(value)
    if text is None:
        return f"{name} cannot be read"
    return f"{name} is required (at least 1 character)" if is_absent(text) else None


#: The ASCII characters that leave nothing to read.
_BLANK = "".join(map(chr, range(33))) + "\x7f"


def tuned_w1(args: Args) -> list[Fault] | None:
    """`floor_w1` with the test of the common case in place."""
    faults = None
    value = args.get("intent")
    if not (
        value.__class__ is str
        and value.isascii()
        and len(value) <= LONGEST_TEXT
        and value.strip(_BLANK)
    ):
        complaint = _complaint(args, "intent")
        if complaint is not None:
            faults = [("/intent", complaint)]
    value = args.get("rationale")
    if not (
        value.__class__ is str
        and value.isascii()
        and len(value) <= LONGEST_TEXT
        and value.strip(_BLANK)
    ):
        complaint = _complaint(args, "rationale")
        if complaint is not None:
            if faults is None:
                faults = [("/rationale", complaint)]
            else:
                faults.append(("/rationale", complaint))
    return faults


def tuned_w2(args: Args) -> list[Fault] | None:
    """`floor_w2` with the test of the common case in place."""
    edits = args.get("edits")
    if edits.__class__ is not list or not edits:
        return [("/edits", "edits must be a list with at least one edit")]
    faults = None
    for number, edit in enumerate(edits):
        if edit.__class__ is not dict:
            if faults is None:
                faults = []
            faults.append((f"/edits/{number}", "an edit must be an object"))
            continue
        for name in ("intent", "rationale"):
            value = edit.get(name)
            if (
                value.__class__ is str
                and value.isascii()
                and len(value) <= LONGEST_TEXT
                and value.strip(_BLANK)
            ):
                continue
            complaint = _complaint(edit, name)
            if complaint is not None:
                if faults is None:
                    faults = []
                faults.append((f"/edits/{number}/{name}", complaint))
    return faults

"""The policies with rules that are measured: W3, many rules over few texts, many tools and rules,
and rules that look back."""

from __future__ import annotations

from pathlib import Path

W3 = Path(__file__).with_name("w3.yaml").read_text(encoding="utf-8")

_IN_RATIONALES = (
    r"\bas requested( by the user)?\b", r"\bto (complete|accomplish|finish) the task\b",
    r"\b(this|it) is (necessary|needed|required)\b", r"\bbest practices?\b",
    r"\b(improve|enhance) (the )?(code|quality|readability)\b", r"\bfor (now|the moment)\b",
    r"\bmake sure (that )?everything works\b", r"\bas (discussed|agreed|mentioned)\b",
    r"\bjust in case\b", r"\bclean(s|ing)? up the code\b", r"\bas an ai\b",
    r"\b(should|might) be useful\b", r"\bminor (change|fix|tweak)s?\b", r"\bwill be used later\b",
    r"\bin order to proceed\b", r"\bto move forward\b", r"^(fix|change|update)[sd]? it\W*$",
    r"\bno reason( given)?\b", r"^(see|per) (above|below)\W*$", r"\bjira-\d+ ?: ?tbd\b",
)  # fmt: skip
_IN_INTENTS = (
    r"^(edit|change|update|modify) (the |this )?(file|code)\W*$", r"^fix(es|ed)?\W*$",
    r"\b(stuff|things|whatever)\b", r"\bvarious (fixes|changes)\b", r"^wip\b", r"\btemp(orary)?\b",
)  # fmt: skip
_IN_CODE = (
    (r"AKIA[0-9A-Z]{16}", "example key"), (r"ghp_[A-Za-z0-9]{36}", "example token"),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----", "test key"), (r"\bprint\(.{0,20}DEBUG", "debug"),
    (r"eslint-disable(-next-line)?", "lint"), (r"# ?type: ?ignore", "type"),
    (r"\bverify ?= ?False\b", "certificate"), (r"\beval\(", "trusted"),
    (r"\bos\.system\(", "shell"), (r"^<{7} |^={7}$|^>{7} ", "conflict"),
    (r"(?i)password|secret_key", "credential"), (r"except:|catch \(e\) \{\}", "error"),
    (r"@skip|xfail", "test"),
)  # fmt: skip
_PHRASES = (
    ("trust me", "obviously", "needless to say"), ("somehow", "magic"),
    ("the usual", "business as usual"), ("todo", "fixme", "tbd"), ("as always", "like before"),
    ("quick win", "low hanging fruit"),
)  # fmt: skip
_OTHERS = (
    "require words(intent) >= 3", "require words(rationale) >= 4",
    "require length(intent) <= 200", "require length(rationale) <= 600",
    "forbid rationale == intent",
)  # fmt: skip


def fifty() -> str:
    """Fifty rules that read the intent, the rationale or the new text of each entry of `edit`."""
    verdicts = [
        *(f"forbid rationale matches /{p}/i" for p in _IN_RATIONALES),
        *(f"forbid intent matches /{p}/i" for p in _IN_INTENTS),
        *(
            f'when entry.newText matches /{p}/ require rationale mentions "{word}"'
            for p, word in _IN_CODE
        ),
        *(f"forbid rationale mentions [{_quoted(phrases)}]" for phrases in _PHRASES),
        *_OTHERS,
    ]
    assert len(verdicts) == 50
    rules = "".join(
        f'  rule bench/rule-{n:02} on edit\n    {verdict} else deny "number {n}"\n'
        for n, verdict in enumerate(verdicts)
    )
    entry = '{at: "edits[]", require: [intent, rationale]}'
    return f"version: 1\npolicy: bench/fifty\ntools:\n  edit:\n    - {entry}\nrules: |\n{rules}"


def many(count: int) -> tuple[str, list[str]]:
    """So many tools, a rule for each: the YAML, and the rules, which go into files of their own."""
    tools = "".join(f"  tool_{n:05}: {{require: [intent, rationale]}}\n" for n in range(count))
    rules = [
        f"rule bench/rule-{n:05} on tool_{n:05}\n"
        f'  when has args.path and args.path like "src/{n:05}/**"\n'
        f'  forbid rationale mentions "phrase {n}" or words(intent) < 2 else warn "number {n}"\n'
        for n in range(count)
    ]
    return f"version: 1\npolicy: bench/many\ntools:\n{tools}", rules


HISTORY = """version: 1
policy: bench/history
tools:
  edit: {optional: [intent, rationale]}
rules: |
  rule bench/read-before-edit on edit
    require earlier @read passed where path == this.path within 200 calls
    else deny "Read {path} before editing it."
  rule bench/too-many-edits on edit
    forbid count(earlier edit where path == this.path within 10000 calls) > 9000
    else warn "Ever the same file."
  rule bench/too-fast on edit
    forbid count(earlier edit within 10m) > 600 else warn "An edit a second."
"""

SHELL = """version: 1
policy: bench/shell
tools:
  bash: {require: [intent, rationale]}
rules: |
  rule bench/force on bash
    forbid command runs ["git push --force", "rm -rf"] else ask "Not alone."
  rule bench/deletes on bash
    require all(p in command.deletes: rationale mentions p) else ask "Name {p}."
"""


def _quoted(phrases: tuple[str, ...]) -> str:
    return ", ".join(f'"{phrase}"' for phrase in phrases)

"""Printing loses nothing: any tree, printed and parsed, is that tree again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_intent.rules import tree as t
from tool_intent.rules.parse import parse_condition, parse_rules
from tool_intent.rules.printer import print_condition, print_rules

RESERVED = {
    "and", "or", "not", "in", "has", "when", "unless", "require", "forbid", "else", "earlier",
    "where", "since", "within", "true", "false",
}  # fmt: skip
WORDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True)
NAMES = WORDS.filter(lambda name: name not in RESERVED)
# An infix function cannot be called as a clause that may follow the condition.
INFIX = st.sampled_from(["mentions", "restates", "like", "under", "runs", "matches", "foo", "x1"])
CALLED = NAMES.filter(lambda name: name not in {"any", "all", "none", "count"})
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAIN = TEXTS.filter(lambda text: not set("{}") & set(text))
EFFECTS = st.sampled_from(["off", "note", "warn", "ask", "deny"])
OUTCOMES = st.sampled_from([None, "tried", "passed", "failed"])

numbers = st.one_of(
    st.integers(-(10**6), 10**12).map(lambda n: t.NumberLiteral(n, f"{n:_}")),
    st.floats(0, 1e6).map(lambda f: t.NumberLiteral(float(f"{f:.4f}"), f"{f:.4f}")),
)
durations = st.tuples(
    st.integers(0, 10**6),
    st.sampled_from([("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]),
).map(lambda d: t.DurationLiteral(d[0] * d[1][1], f"{d[0]}{d[1][0]}"))
regexes = st.builds(
    t.RegexLiteral,
    st.from_regex(r"([a-z .|()*]|\\[/\\.dw]|\[[a-z/]\]){1,6}", fullmatch=True),
    st.sampled_from(["", "i", "ims"]),
)
texts = st.builds(t.TextLiteral, TEXTS)
steps = st.one_of(WORDS, TEXTS, st.integers(0, 99), st.none())
paths = st.builds(t.Path, NAMES, st.lists(steps, max_size=3).map(tuple))
targets = st.lists(
    st.sampled_from(["*", "bash", "@write", "mcp__*", "github/create_issue", "a.b-c"]).map(
        t.Target
    ),
    min_size=1,
    max_size=2,
).map(tuple)
windows = st.one_of(
    st.integers(0, 10**5).map(lambda n: t.Window(calls=n, text=str(n))),
    durations.map(lambda d: t.Window(milliseconds=d.milliseconds, text=d.text)),
)
leaves = st.one_of(
    texts, numbers, durations, regexes, paths, st.builds(t.BoolLiteral, st.booleans()),
    st.builds(t.Has, paths),
)  # fmt: skip


def several(inner, least):
    return st.lists(inner, min_size=least, max_size=3).map(tuple)


def histories(inner):
    where = st.none() | inner
    since = st.none() | st.builds(t.Since, targets, OUTCOMES, where)
    return st.builds(t.History, targets, OUTCOMES, where, since, windows)


def grown(inner):
    kinds = st.sampled_from(["any", "all", "none", "count"])
    return st.one_of(
        st.builds(t.Or, several(inner, 2)),
        st.builds(t.And, several(inner, 2)),
        st.builds(t.Not, inner),
        st.builds(t.Compare, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), inner, inner),
        st.builds(t.Member, inner, inner, st.booleans()),
        st.builds(t.Infix, INFIX, inner, inner, st.booleans()),
        st.builds(t.Call, CALLED, several(inner, 0)),
        st.builds(t.Quantifier, kinds, NAMES, inner, inner),
        st.builds(t.Count, kinds, histories(inner)),
        histories(inner),
        st.builds(t.ListLiteral, several(inner, 0)),
    )


conditions = st.recursive(leaves, grown, max_leaves=8)


def merged(parts):
    """Neighbouring plain parts are one; an empty one is none."""
    out = []
    for part in parts:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        elif part != "":
            out.append(part)
    return t.Message(tuple(out))


# What stands between braces has no braces of its own, nor a `#`.
shown = paths.filter(lambda path: not set("{}#") & set(print_condition(path)))
messages = st.lists(PLAIN | shown.map(t.Interpolation), max_size=3).map(merged)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda v: st.lists(v, max_size=2) | st.dictionaries(TEXTS, v, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(TEXTS, json_values, max_size=2)
tools = st.sampled_from(["bash", "mcp__a__b", "github/create_issue"])
examples = st.builds(
    t.Example,
    st.sampled_from(["bad", "ok"]),
    tools,
    objects,
    st.none() | objects,
    st.lists(st.builds(t.EarlierCall, tools, OUTCOMES, objects), max_size=2).map(tuple),
)


@st.composite
def verdicts(draw):
    kind = draw(st.sampled_from(["require", "forbid", "effect"]))
    if kind == "effect":
        return t.Verdict(kind, None, None, draw(EFFECTS), draw(messages))
    effect = draw(st.none() | EFFECTS)
    message = None if effect is None else draw(st.none() | messages)
    return t.Verdict(kind, draw(conditions), draw(st.none() | conditions), effect, message)


comments = st.lists(
    st.from_regex(r"#[a-z #\"]{0,8}[a-z]", fullmatch=True), max_size=2
).map(tuple)  # fmt: skip
optional_bounds = st.just((None, None)) | st.tuples(numbers, numbers)
statements = st.one_of(
    st.builds(
        t.Rule,
        st.sampled_from(["a/b", "no-prefix", "x/y.z", "9/a_b"]),
        targets,
        st.just(()) | targets,
        st.none() | st.builds(t.EachIn, NAMES, paths),
        st.none() | conditions,
        st.none() | conditions,
        verdicts(),
        st.none() | st.builds(t.Floor, EFFECTS),
        st.none() | messages,
        st.none() | texts,
        st.lists(examples, max_size=2).map(tuple),
        comments=comments,
    ),
    st.builds(t.Words, NAMES, st.lists(texts, max_size=2).map(tuple), comments=comments),
    st.builds(
        t.Words,
        NAMES,
        files=st.lists(texts, min_size=1, max_size=2).map(tuple),
        comments=comments,
    ),
    st.builds(t.Define, NAMES, conditions, comments=comments),
    st.tuples(NAMES, json_values, optional_bounds, comments).map(
        lambda o: t.Option(o[0], o[1], *o[2], comments=o[3])
    ),
)
files = st.builds(t.RuleFile, st.lists(statements, max_size=3).map(tuple), comments)


@given(conditions)
@settings(max_examples=100, deadline=None)
def test_a_condition_printed_and_parsed_is_itself(condition):
    printed = print_condition(condition)
    again, found = parse_condition(printed, "c")
    assert found == ()
    assert again == condition
    assert print_condition(again) == printed


@given(files)
@settings(max_examples=50, deadline=None)
def test_a_file_printed_and_parsed_is_itself(tree):
    printed = print_rules(tree)
    again, found = parse_rules(printed, "f")
    assert found == ()
    assert again == tree
    assert print_rules(again) == printed


A, B, C = t.Path("a"), t.Path("b"), t.Path("c")
PAST = t.History((t.Target("*"),), None, t.Or((A, B)), None, t.Window(calls=2, text="2"))


@pytest.mark.parametrize(
    ("condition", "printed"),
    [
        (t.And((t.And((A, B)), C)), "(a and b) and c"),
        (t.And((t.Or((A, B)), C)), "(a or b) and c"),
        (t.Or((t.Or((A, B)), C)), "(a or b) or c"),
        (t.Or((t.And((A, B)), C)), "a and b or c"),
        (t.Not(t.And((A, B))), "not (a and b)"),
        (t.Not(t.Or((A, B))), "not (a or b)"),
        (t.Not(t.Not(A)), "not not a"),
        (t.And((t.Not(A), B)), "not a and b"),
        (t.Compare("==", t.Not(A), t.Has(B)), "(not a) == (has b)"),
        (t.Compare("<", t.Compare("<", A, B), C), "(a < b) < c"),
        (t.Member(A, PAST, True), "a not in (earlier * where a or b within 2 calls)"),
        (t.Not(t.Infix("like", A, B, True)), "not a not like b"),
        (t.ListLiteral((t.Member(A, B), C)), "[(a in b), c]"),
        (t.Or((PAST, C)), "earlier * where a or b within 2 calls or c"),
    ],
)
def test_brackets_stand_where_they_must(condition, printed):
    assert print_condition(condition) == printed
    assert parse_condition(printed, "c") == (condition, ())


def test_a_rule_is_laid_out_clause_by_clause():
    text = """
      # why
      rule a/b on bash,@write except ls each s in args.steps[] when has s.x unless s["y z"]==1_000
      require not (a or b) and c unless earlier @read passed where path==this.path
      since last * within 5m # at the end
      # inside
      else warn "one" "two {path}"
      bad bash {"command":"x"} with {branch:"m"} after write {} ok bash {a:[1,null]}
      see "https://x.example" fix "three" floor note
      words w = ["a",]
      words v from "a.txt","b.txt"
      # apart

      define d = count(x in y: true)>=3
      option o = 2 between 1 and 4
      # end
    """
    tree, found = parse_rules(text, "f")
    assert found == ()
    assert (
        print_rules(tree)
        == """\
# why
# at the end
# inside
rule a/b on bash, @write except ls
  each s in args.steps[]
  when has s.x
  unless s["y z"] == 1_000
  require not (a or b) and c
  unless earlier @read passed where path == this.path since last * within 5m
  else warn "one two {path}"
  floor note
  fix "three"
  see "https://x.example"
  bad bash {command: "x"} with {branch: "m"}
      after write {}
  ok  bash {a: [1, null]}

words w = ["a"]
words v from "a.txt", "b.txt"

# apart

define d = count(x in y: true) >= 3
option o = 2 between 1 and 4

# end
"""
    )

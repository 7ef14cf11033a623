"""Whatever a policy file holds, loading answers: with a policy, or with errors placed inside it."""

import json
import random
import re
import string

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tool_intent.policy.model import EffectivePolicy

VALID = """\
version: 1
policy: acme/payments
extends: [std/baseline, std/tiny]
fields:
  ticket: {description: A ticket., pattern: '^PAY-[0-9]+$', minLength: 5}
  risk: {type: [integer, number], minimum: 1, maximum: 5.5, $ref: '#/$defs/x', $defs: {x: true}}
  kind: {enum: [feat, fix], allOf: [{minLength: 2}, {not: {const: off}}]}
groups: {"@mine": [bash, "@read", "mcp__*"]}
catalog: tiny-1
tools:
  write: &w {require: [intent, rationale], effect: warn}
  edit:
    - {at: "edits[]", require: [intent, rationale]}
    - {optional: [ticket]}
  bash:
    require:
      intent: {}
      rationale: {minLength: 40}
    except: ["@read", "*x"]
    when: "command runs \\"rm\\" and
      ticket mentions [\\"a\\", \\"b\\"]"
  save: *w
  ls: {require: intent, when: 'intent == "it''s"'}
unlisted: ask
options:
  std/tiny: {residue: 3, names: [a, b], deep: 4}
rules: |
  words few = ["ab", "cd"]
  define named = has ticket and ticket mentions few

  rule mine/first on @write except @read, mcp__*
    when path under "src" unless named
    require rationale matches /[a-z]+\\w{2,5}$/i
    else ask "Say why of {path}."
    floor warn
    bad write {path: "a"}
"""

quick = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

#: Bits of YAML that change what surrounds them.
BITS = st.sampled_from(
    ['"', "\\", "\n", "\r\n", "\t", "~", "null", "@", "`", "%", "---\n", "...\n", "<<", "? ", ",",
     "$ref", "'#'", "when: ", "rules: ", "require", "tools", "1.10", "true", "\u2028", "\ufeff",
     "[", "]", "{", "}", ":", ": ", "#", " #", "- ", "&a", "*a", "*w", "!", "!!str ", "|", ">", "'"]
)  # fmt: skip


def holds(policy: EffectivePolicy, text: str) -> None:
    lines = re.split("\r\n|\n", text)
    for found in (*policy.broken, *policy.warnings):
        assert found.message
        assert found.file in ("policy.yaml", "std/baseline", "std/tiny", "std/tiny.rules")
        assert 1 <= found.line <= len(lines), found
        assert 1 <= found.column <= len(lines[found.line - 1]) + 1, found
        assert (found.line, found.column) <= (found.end_line, found.end_column), found
        # What is missing at a line's end has the width of the caret that shows it.
        caret = found.end_line == found.line and found.end_column == found.column + 1
        assert caret or found.end_column <= len(lines[found.end_line - 1]) + 1, found
        found.render(lines)


def test_the_policy_that_is_mutated_below_is_sound(load_text):
    assert load_text(VALID).broken == ()


@quick
@given(text=st.text(max_size=200))
def test_any_text_is_answered(load_text, text):
    text = text.encode("utf-8", "replace").decode()
    holds(load_text(text), text)


@quick
@given(data=st.binary(max_size=200))
def test_any_bytes_are_answered(load_text, data):
    policy = load_text(data)
    assert policy.broken
    holds(policy, data.decode("utf-8-sig", "replace"))


@quick
@example(pieces=["---\n", "#"])
@given(pieces=st.lists(st.one_of(BITS, st.text(string.printable, max_size=6)), max_size=40))
def test_any_soup_of_yaml_is_answered(load_text, pieces):
    text = "version: 1\n" + "".join(pieces)
    holds(load_text(text), text)


@quick
@example(seed=2084509, bits=["\\"])
@given(seed=st.integers(0, 2**32), bits=st.lists(BITS, min_size=1, max_size=3))
def test_any_slip_in_a_sound_policy_is_answered(load_text, seed, bits):
    place = random.Random(seed)
    text = VALID
    for bit in bits:
        start = place.randrange(len(text))
        text = text[:start] + bit + text[start + place.choice((0, 0, 1, 5, 40)) :]
    holds(load_text(text), text)


scalars = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8), st.none()
)
keys = st.sampled_from(
    ["version", "policy", "layer", "extends", "fields", "tools", "unlisted", "groups", "catalog",
     "when", "rules", "at", "require", "optional", "except", "effect", "bash", "@read", "@x",
     "intent", "ticket", "type", "enum", "const", "minLength", "pattern", "$ref", "$defs",
     "allOf", "not", "if", "then", "minimum", "maximum", "description", "", "1", "Up", "a\n"]
)  # fmt: skip
words = st.sampled_from(
    ["intent", "@read", "std/baseline", "./policy.yaml", "#/$defs/a", "edits[]"]
)
trees = st.recursive(
    scalars | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=25,
)


@quick
@given(tree=st.dictionaries(keys, trees, max_size=6))
def test_any_tree_of_known_words_is_answered(load_text, tree):
    text = json.dumps(tree, ensure_ascii=False, indent=1)
    holds(load_text(text), text)

"""Settings of a policy's options to try, and the policy under each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tool_intent.authoring.evaluation.folds import Options
from tool_intent.authoring.examples import rules_of
from tool_intent.compiler.loading import load
from tool_intent.policy.model import EffectivePolicy
from tool_intent.rules.diagnostics import nearest


class BadOption(Exception):
    """What was given as an option and its values is none; `str` says why and what would be."""


def read_options(given: Sequence[str]) -> dict[str, list[Any]]:
    """Options and the values to try, out of `NAME=VALUE,VALUE…` each: JSON values, or else texts.
    Raises BadOption."""
    found: dict[str, list[Any]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not name or not equals or not all(values.split(",")):
            raise BadOption(f"--option {text}: write NAME=VALUE,VALUE…, such as residue=1,2,3")
        found.setdefault(name, []).extend(_values(values))
    return found


def settings(options: Mapping[str, Sequence[Any]]) -> Iterator[Options]:
    """Every combination of the options' values."""
    for values in product(*options.values()):
        yield dict(zip(options, values, strict=True))


def with_options(
    sources: Sequence[str], policy: EffectivePolicy, options: Options
) -> EffectivePolicy:
    """The policy of `sources` (which is `policy`) with options set. Raises BadOption for one that
    it does not have, PolicyError for a value that is not allowed."""
    if not options:
        return policy
    held = {
        name: rule.policy for rule in rules_of(policy) for name in rule.scopes.options
    }  # fmt: skip
    by_pack: dict[str, dict[str, Any]] = {}
    for name, value in options.items():
        if name not in held:
            near = nearest(name, held)
            known = f"it has {', '.join(sorted(held))}" if held else "it has none"
            raise BadOption(
                f"the policy has no option `{name}`; "
                + (f"did you mean `{near}`?" if near else known)
            )
        by_pack.setdefault(held[name], {})[name] = value
    said = {"version": 1, "policy": "eval/options", "options": by_pack}
    with TemporaryDirectory(prefix="tool-intent-eval-") as folder:
        file = Path(folder) / "options.yaml"
        file.write_text(json.dumps(said), encoding="utf-8")
        return load([*sources, str(file)], found=False, allow_empty=True).policy


def _values(text: str) -> list[Any]:
    try:
        values: list[Any] = json.loads(f"[{text}]")
    except ValueError:
        return text.split(",")
    return values

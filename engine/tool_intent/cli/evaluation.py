"""`eval`: how often a policy is right about labelled calls."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tool_intent.authoring.evaluation import tables
from tool_intent.authoring.evaluation.corpus import Corpus, CorpusError, read_corpus
from tool_intent.authoring.evaluation.folds import Validation, cross_validate
from tool_intent.authoring.evaluation.judging import judge
from tool_intent.authoring.evaluation.options import (
    BadOption,
    read_options,
    settings,
    with_options,
)
from tool_intent.authoring.evaluation.pages import BadPage, with_tables
from tool_intent.authoring.evaluation.report import Evaluation, data, evaluate, evaluate_and_time
from tool_intent.authoring.evaluation.revisions import NoRevision, at_revision
from tool_intent.cli.diagnostics import rendered
from tool_intent.cli.policies import load_or_fail
from tool_intent.cli.terminal import err, fail, visible
from tool_intent.compiler.loading import PolicyError
from tool_intent.policy.model import EffectivePolicy
from tool_intent.policy.sources import SourceError, named
from tool_intent.runtime.wire import dump


class Format(StrEnum):
    """How an evaluation is printed."""

    MARKDOWN = "markdown"
    JSON = "json"


def evaluate_pack(
    pack: Annotated[str, typer.Argument(help="The policy: a file, a folder or a pack.")],
    corpus: Annotated[str, typer.Argument(help="Labelled calls, as JSON lines.")],
    compare: Annotated[
        str | None,
        typer.Option(metavar="OTHER|REV", help="Another policy, or a git revision of this one."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Cross-validate over so many parts.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=V,V…", help="Values of an option to choose from; repeatable."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(metavar="PAGE", help="Write the tables that a Markdown page asks for."),
    ] = None,
    format_: Annotated[
        Format, typer.Option("--format", help="For people and pages, or JSON.")
    ] = Format.MARKDOWN,
) -> None:
    """Measure a policy on labelled calls: precision, recall, F1, false positives, latency.

    0 the thresholds of the corpus are met, 1 one is not, 2 the corpus or a policy cannot be used.
    A row's call is judged in a session of its own, after the calls of its history.

    Example: tool-intent eval std/anti-fluff tests/corpus/fluff.jsonl
    """
    if option and folds is None:
        fail("--option names values to choose from by cross-validation: add --folds 5")
    labelled = _corpus(corpus)
    policy = load_or_fail([pack], found=False).policy
    # First what may turn out to be impossible, then what takes time.
    against = None if compare is None else _other(pack, compare, labelled)
    validation = None
    if folds is not None:
        validation = _validated(pack, policy, labelled, folds, option or [])
    measured = evaluate if into else evaluate_and_time
    found = replace(measured(pack, policy, labelled), validation=validation)
    _complain(found)
    if into is not None:
        _write(into, found)
    elif format_ is Format.JSON:
        typer.echo(dump(data(found, against)))
    else:
        typer.echo(visible("\n\n".join(_pages(found, against))))
    if not all(gate.met for gate in found.gates):
        raise typer.Exit(1)


def _corpus(path: str) -> Corpus:
    try:
        return read_corpus(path)
    except CorpusError as error:
        fail(f"{rendered(error.diagnostics)}\ntool-intent: the corpus cannot be used")


def _validated(
    pack: str, policy: EffectivePolicy, corpus: Corpus, folds: int, given: Sequence[str]
) -> Validation:
    rows = len(corpus.items)
    if folds > rows:
        fail(f"--folds {folds}: the corpus has {rows} rows; take fewer folds")
    try:
        tried = [
            (options, judge(with_options([pack], policy, options), corpus))
            for options in settings(read_options(given))
        ]
    except (BadOption, PolicyError) as error:
        fail(str(error))
    return cross_validate(corpus, tried, folds)


def _other(pack: str, compare: str, corpus: Corpus) -> Evaluation:
    """The evaluation of another policy, or of this one as it was at a revision."""
    try:
        named(compare, os.getcwd())
    except SourceError as error:
        return _at_revision(pack, compare, corpus, error)
    return evaluate(compare, load_or_fail([compare], found=False).policy, corpus)


def _at_revision(pack: str, revision: str, corpus: Corpus, no_policy: SourceError) -> Evaluation:
    roots = named(pack, os.getcwd())
    with ExitStack() as stack:
        try:
            files = [stack.enter_context(at_revision(root.path, revision)) for root in roots]
        except NoRevision as error:
            fail(f"--compare: {no_policy.message} ({no_policy.help}); {error}")
        return evaluate(f"{pack} at {revision}", load_or_fail(files, found=False).policy, corpus)


def _complain(found: Evaluation) -> None:
    """What the figures do not show, on standard error."""
    for rule in found.unknown_rules:
        err.print(visible(f"tool-intent: the policy has no rule `{rule}`, which the corpus names"))
    faults = [one.item for one in found.judged if one.is_fault]
    for item in faults:
        where = f"{found.corpus.file}:{item.line}"
        err.print(visible(f"tool-intent: {where}: `{item.id}` could not be judged as it stands"))


def _write(into: Path, found: Evaluation) -> None:
    try:
        text = into.read_text(encoding="utf-8")
        into.write_text(with_tables(str(into), text, found), encoding="utf-8")
    except OSError as error:
        fail(f"{into} cannot be read or written: {error.strerror}")
    except (BadPage, UnicodeDecodeError) as error:
        fail(str(error))


def _pages(found: Evaluation, against: Evaluation | None) -> Iterator[str]:
    labels = [item.bad for item in found.corpus.items]
    yield (
        f"# {found.pack} on {found.corpus.name}\n\n{labels.count(True)} bad,"
        f" {labels.count(False)} good, {labels.count(None)} borderline rows."
    )
    yield f"## Tiers\n\n{tables.tiers(found)}"
    if found.gates:
        yield f"## Thresholds\n\n{tables.thresholds(found)}"
    yield f"## Beside\n\n{tables.baselines(found)}"
    if against is not None:
        yield f"## Against {against.pack}\n\n{tables.compared(found, against)}"
    if found.validation is not None:
        yield f"## Cross-validated\n\n{tables.validated(found)}"
    yield f"## Rules\n\n{tables.rules(found)}"
    for what, groups in found.groups().items():
        if groups:
            yield f"## {what.capitalize()}\n\n{tables.TABLES[what](found)}"
    yield f"## Latency\n\n{tables.latency(found)}"
    yield f"## Wrong rows\n\n{tables.wrong(found) or 'None.'}"

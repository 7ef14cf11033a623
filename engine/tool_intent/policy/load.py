"""From policy files to one flat `EffectivePolicy`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from time import time
from typing import Final

from tool_intent.policy.adjusting import Adjusting
from tool_intent.policy.catalogs import merged
from tool_intent.policy.closing import close_groups
from tool_intent.policy.collecting import no_collections
from tool_intent.policy.colliding import collisions_said
from tool_intent.policy.demands import absent, on_broken
from tool_intent.policy.doubts import Doubts
from tool_intent.policy.entries import FileReader
from tool_intent.policy.environments import Environments
from tool_intent.policy.files import (
    BUILT_IN,
    UNTIL_BACK,
    UNTIL_MENDED,
    CatalogFile,
    PolicyFile,
    Reader,
)
from tool_intent.policy.git_sources import GitSources
from tool_intent.policy.model import (
    MAX_RETRIES,
    CatalogTool,
    EffectivePolicy,
    FieldDefinition,
    Requirement,
    Rule,
    Source,
    Unlisted,
)
from tool_intent.policy.names import tool_names
from tool_intent.policy.opening import WAIVERS, is_waivers
from tool_intent.policy.options import Settings
from tool_intent.policy.permitting import Doubting, Reached, Standings
from tool_intent.policy.positions import START, Report, Span
from tool_intent.policy.sentences import check_file, flat_rules
from tool_intent.policy.sources import Candidate, Root
from tool_intent.policy.targets import check_targets, declared_groups
from tool_intent.policy.vouching import Signers
from tool_intent.policy.waivers import WaiversFile
from tool_intent.policy.waiving import Waived, Waiving, ranks_of
from tool_intent.policy.wordlists import WordList
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.rules.functions import FUNCTION_TABLE
from tool_intent.rules.tree import Words
from tool_intent.runtime.model import RANKS, SENIORITY, Keeping, Origin, Rank
from tool_intent.runtime.text import UNICODE_VERSION

#: Raised when the same files come to mean something else.
SCHEMA_VERSION: Final = 2
_OURS: Final = "tool-intent"
_SHIPPED: Final[Rank] = "shipped"


@no_collections()
def load(
    roots: Sequence[Root],
    refused: Sequence[Candidate] = (),
    *,
    doubts: Doubting | None = None,
    signers: Signers | None = None,
    now: float | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> EffectivePolicy:
    """The union of `roots`, all they extend and the shipped catalogs, every part with its origin.

    `doubts` tells why what an org file permits does not count, `signers` who signed a waivers file;
    without them `policy.standing` and the keys that this machine pins are asked. `now` (seconds
    since the epoch) is the time that no waiver may be written after. `environ` and `cwd`, the
    process's unless given, tell where files out of git are kept and which folder is a workspace.
    Never raises for what a file holds: errors, those of places in `refused` too, are all in
    `.broken`, and a policy that has any denies every call. Warnings are in `.warnings`.
    """
    report = Report()
    doubts = doubts or Doubts()
    waiving = Waiving(
        roots, [c for c in refused if is_waivers(c.path)], doubts, signers,
        time() if now is None else now,
    )  # fmt: skip
    roots = [root for root in roots if not is_waivers(root.path)]
    refused = [place for place in refused if not is_waivers(place.path)]
    for place in refused:
        missing = place.state == "missing"
        said = f"cannot be read: {place.reason}" if not missing else f"is missing: {place.reason}"
        report.error(
            "policy/missing" if missing else "policy/unreadable", place.shown, START,
            f"`{place.shown}` {said}",
            UNTIL_BACK if missing else UNTIL_MENDED,
        )  # fmt: skip
    git = GitSources.kept(report, roots, environ, cwd)
    reader = Reader(report, git)
    shipped = reader.shipped_catalogs()
    reached = _reached(reader, roots)
    ranked = list(reached)
    standing = Standings(reached, doubts)
    adjusting = Adjusting(ranked, standing, report)
    catalogs = [*((c, _SHIPPED) for c in shipped), *_named_catalogs(ranked)]

    parts = [(file, rank, FileReader(file, rank, report)) for file, rank in ranked]
    tools = _tools(catalogs)
    declared = declared_groups(parts, catalogs)
    groups = merged(said for _, said in declared)
    names = tool_names(tuple(sorted(tools)), tuple(sorted(groups)))
    check_targets(parts, declared, groups, names, report)
    environments = Environments(ranked, catalogs, declared, names)
    settings = Settings(ranked, standing, report)

    items: list[Requirement | Rule] = []
    fields: dict[str, list[FieldDefinition]] = {}
    unlisted: list[Unlisted] = []
    retries: list[int] = []
    keeping = Keeping()
    for file, rank, part in parts:
        _check_layer(file, rank, report)
        for definition in part.definitions():
            fields.setdefault(definition.name, []).append(definition)
        items += part.requirements(partial(environments.of, file, rank))
        found = _rules(file, rank, environments, settings, report)
        items += [adjusting.settled(rule, file) for rule in found]
        unlisted += part.unlisted()
        retries += part.max_retries()
        keeping = keeping.with_(part.keeping())
    _check_ids(ranked, report)
    broken = report.of("error")
    waived = waiving.found(
        ranked, standing, {d.file for d in broken}, declared, ranks_of(items, fields, unlisted)
    )

    return EffectivePolicy(
        items=tuple(close_groups(items, declared, groups)),
        fields=_with_built_in(fields),
        unlisted=tuple(unlisted),
        max_retries=min(retries, default=MAX_RETRIES),
        keeping=keeping,
        groups=groups,
        catalog=tools,
        sources=(*_sources(ranked, catalogs, waived.files), *git.consulted),
        broken=broken,
        on_broken=on_broken(ranked, _ranks_of(broken, ranked, roots, refused), standing, report),
        absent=tuple(absent(ranked)),
        collisions=tuple(collisions_said(ranked, {d.file for d in broken}, standing, report)),
        warnings=report.of("warning"),
        waivers=waived.waivers,
        waiver_findings=waived.findings,
        volatile=waived.volatile,
        digest=_digest(ranked, catalogs, waived, standing.doubted),
    )


def _reached(reader: Reader, roots: Sequence[Root]) -> Reached:
    """Every file of the closure at each rank that reaches it, extender first.

    A file is read, and what it names is found, for the strongest rank that reaches it.
    """
    strongest_first = sorted(roots, key=lambda root: SENIORITY[root.rank])
    files = {root: reader.root(root) for root in strongest_first}
    found: Reached = {}
    for root in roots:
        file = files[root]
        if file is not None:
            for reached in file.closure():
                at = (reached, root.rank)
                found[at] = found.get(at, True) and root.grants
    return found


def _ranks_of(
    broken: Iterable[Diagnostic],
    ranked: Iterable[tuple[PolicyFile, Rank]],
    roots: Iterable[Root],
    refused: Iterable[Candidate],
) -> Iterable[tuple[str, Rank]]:
    """The files that are broken, with the strongest rank each is found at; what is found nowhere
    counts as the strongest."""
    ranks: dict[str, Rank] = {}
    known = [(r.shown, r.rank) for r in roots] + [(r.shown, r.rank) for r in refused]
    for shown, rank in [*known, *((file.shown, rank) for file, rank in ranked)]:
        before = ranks.get(shown, rank)
        ranks[shown] = min(before, rank, key=SENIORITY.__getitem__)
    return [(d.file, ranks.get(d.file, "org")) for d in broken]


def _named_catalogs(
    ranked: Iterable[tuple[PolicyFile, Rank]],
) -> list[tuple[CatalogFile, Rank]]:
    found = {(id(c), rank): (c, rank) for file, rank in ranked for c in file.catalogs}
    return list(found.values())


def _rules(
    file: PolicyFile, rank: Rank, environments: Environments, settings: Settings, report: Report
) -> Iterable[Rule]:
    """The rules that a file holds, as they mean at a rank; none where any is wrong."""
    rules = file.rules
    if rules is None:
        return ()
    is_sound = check_file(rules, file.shown, environments.of(file, rank), report)
    named = {n.value for s in rules.tree.statements if isinstance(s, Words) for n in s.files}
    found = {name: words.phrases for name, words in file.lists.items() if words.sound}
    if not is_sound or len(found) < len(named):
        return ()
    values = settings.of(file, rank)
    return flat_rules(rules.tree, file.shown, rank, file.policy, found, values)


def _check_ids(ranked: Sequence[tuple[PolicyFile, Rank]], report: Report) -> None:
    """Warn where two files give one id: both rules are judged, and findings do not tell which."""
    first: dict[str, tuple[PolicyFile, int]] = {}
    for file, _ in sorted(ranked, key=lambda pair: SENIORITY[pair[1]]):
        for rule in file.rules.tree.rules if file.rules is not None else ():
            other, line = first.setdefault(rule.id, (file, rule.id_span.line))
            if other is not file:
                report.warning(
                    "rules/clash", file.shown, Span(*rule.id_span),
                    f"`{rule.id}` is also given in {other.shown} on line {line}: both are judged",
                    "choose another name",
                )  # fmt: skip


def _check_layer(file: PolicyFile, rank: Rank, report: Report) -> None:
    layer = file.data.get("layer")
    # What is named by hand was not found anywhere, so there is nothing to check it against.
    if layer in RANKS and rank not in (layer, "session"):
        node = file.document.value(["layer"])
        report.error(
            "policy/layer", file.shown, file.document.span(node),
            f"the file says `{layer}`, but it was found at rank {rank}",
            f"rank is where a file is found: write `layer: {rank}`, or remove the line",
        )  # fmt: skip


def _tools(catalogs: Iterable[tuple[CatalogFile, Rank]]) -> dict[str, tuple[CatalogTool, ...]]:
    tools: dict[str, tuple[CatalogTool, ...]] = {}
    for file, rank in catalogs:
        for said in file.catalog.tools:
            tool = said if rank == said.rank else replace(said, rank=rank)
            if tool not in tools.get(tool.name, ()):
                tools[tool.name] = (*tools.get(tool.name, ()), tool)
    return tools


def _with_built_in(
    fields: Mapping[str, list[FieldDefinition]],
) -> dict[str, tuple[FieldDefinition, ...]]:
    place = Origin(_OURS, 1, 1, _SHIPPED)
    found = {name: tuple(definitions) for name, definitions in fields.items()}
    for name, description in BUILT_IN.items():
        ours = FieldDefinition(name, {"description": description}, place, {"": place}, _OURS)
        found[name] = (*found.get(name, ()), ours)
    return found


def _sources(
    ranked: Iterable[tuple[PolicyFile, Rank]],
    catalogs: Iterable[tuple[CatalogFile, Rank]],
    waivers: Iterable[tuple[WaiversFile, Rank]],
) -> tuple[Source, ...]:
    files: list[tuple[PolicyFile | CatalogFile | WordList | WaiversFile, Rank]] = [
        *ranked, *catalogs, *_word_lists(ranked), *(pair for pair in waivers if pair[0].path)
    ]  # fmt: skip
    return tuple(
        Source(file.path, file.shown, rank, file.digest, file.held) for file, rank in files
    )


def _word_lists(ranked: Iterable[tuple[PolicyFile, Rank]]) -> list[tuple[WordList, Rank]]:
    found = {(w.path, rank): (w, rank) for file, rank in ranked for w in file.lists.values()}
    return list(found.values())


def _digest(
    ranked: Iterable[tuple[PolicyFile, Rank]],
    catalogs: Iterable[tuple[CatalogFile, Rank]],
    waived: Waived,
    doubted: Iterable[str],
) -> str:
    """Over contents and ranks, not over places: one policy has one digest on every machine where
    the same files are believed."""
    lines: list[tuple[str, ...]] = [
        (rank, file.shown if file.pack else os.path.basename(file.path), file.digest)
        for file, rank in ranked
    ]
    named: list[tuple[CatalogFile | WordList, Rank]] = [*catalogs, *_word_lists(ranked)]
    lines += [(rank, os.path.basename(file.path), file.digest) for file, rank in named]
    lines += [(rank, WAIVERS, file.digest) for file, rank in waived.files]
    lines += [(waiver.digest, repr(dict(waiver.counts))) for waiver in waived.waivers]
    text = "\n".join("\t".join(line) for line in sorted(lines))
    versions = f"unicode {UNICODE_VERSION}\nfunctions {FUNCTION_TABLE}"
    whole = f"{_OURS} {SCHEMA_VERSION}\n{versions}\n{text}\n"
    whole += "".join(f"doubted {os.path.basename(file)}\n" for file in doubted)
    return "sha256:" + sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()

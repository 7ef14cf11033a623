"""Policy files and what they extend: each read once, links followed, circles refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from yaml import Node

from tool_intent.policy import catalogs, schema_errors, sources, wordlists
from tool_intent.policy.catalogs import Catalog, read_catalog
from tool_intent.policy.constraints import types_of
from tool_intent.policy.encoding import decode, reads_alike
from tool_intent.policy.git_source import is_git
from tool_intent.policy.git_sources import GitSources, Place
from tool_intent.policy.opening import held_by, lies_within
from tool_intent.policy.positions import START, Document, Report, Span, text_nodes
from tool_intent.policy.sentences import RuleText, read_block, read_rules
from tool_intent.policy.sources import Root, Unreadable
from tool_intent.policy.wordlists import WordList
from tool_intent.policy.yaml_nodes import parse
from tool_intent.rules import tree as t
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.model import Rank

#: How many files one load reads.
MOST_FILES: Final = 200
#: Fields that need no definition.
BUILT_IN: Final = {
    "intent": "The goal this call serves.",
    "rationale": "Why it is right: requirement, evidence or constraint.",
}
#: Whether a file is one out of git, and its path.
_Key: TypeAlias = tuple[bool, str]
UNTIL_BACK: Final = "a person must say which: until then every call is denied"
UNTIL_MENDED: Final = "mend it or remove it: until then every call is denied"


class CatalogFile:
    """A catalog a policy names, or one that ships: `shown` is its name or its file's."""

    def __init__(
        self, path: str, shown: str, data: bytes, catalog: Catalog, held: tuple[str, ...]
    ) -> None:
        self.path = path
        self.held = held
        self.shown = shown
        self.digest = sources.fingerprint(data)
        self.catalog = catalog


class PolicyFile:
    """A policy file or a rule file, with what it extends and the catalogs and word lists it names,
    in the order written.

    `source` are its bytes, `rules` those it holds itself. `lists` has its word lists by the names
    it writes, without those that cannot be read. What it names must lie within one of `held`, if
    there are any. Its bytes are `proven` where they are those of the commit whose id a policy
    names.
    """

    def __init__(
        self,
        path: str,
        shown: str,
        pack: bool,
        data: bytes,
        document: Document,
        rules: RuleText | None,
        held: tuple[str, ...],
        proven: bool,
    ) -> None:
        self.path = path
        self.shown = shown
        self.pack = pack
        self.proven = proven
        self.source = data
        self.digest = sources.fingerprint(data)
        self.document = document
        self.rules = rules
        self.held = held
        self.extends: list[PolicyFile] = []
        self.catalogs: list[CatalogFile] = []
        self.lists: dict[str, WordList] = {}
        self.names_catalog = False

    @property
    def is_rules(self) -> bool:
        """Whether it is a rule file: it declares nothing and extends nothing."""
        return self.path.endswith(sources.RULES_SUFFIX)

    @property
    def data(self) -> dict[str, Any]:
        """What the file says; empty where it is no mapping."""
        return self.document.data if isinstance(self.document.data, dict) else {}

    @property
    def policy(self) -> str:
        """The policy's name in findings."""
        name = self.data.get("policy")
        return name if isinstance(name, str) and name else self.shown

    def closure(self) -> Iterator[PolicyFile]:
        """This file and all it extends, extender first, each once."""
        seen: set[int] = set()
        ahead = [self]
        while ahead:
            file = ahead.pop()
            if id(file) not in seen:
                seen.add(id(file))
                yield file
                ahead += reversed(file.extends)

    def fields(self) -> dict[str, frozenset[str]]:
        """Every field this file may use, with the types that some definition gives it."""
        known: dict[str, frozenset[str]] = dict.fromkeys(BUILT_IN, frozenset())
        for file in self.closure():
            defined = file.data.get("fields")
            for name, schema in defined.items() if isinstance(defined, dict) else ():
                known[name] = known.get(name) or types_of(schema)
        return known


class Reader:
    """Reads files for one load and reports what is wrong with them."""

    def __init__(self, report: Report, git: GitSources) -> None:
        self._report = report
        self._git = git
        self._files: dict[_Key, PolicyFile | None] = {}
        self._catalogs: dict[_Key, CatalogFile | None] = {}
        self._lists: dict[_Key, WordList] = {}
        self._named: dict[str, Place] = {}
        self._open: list[PolicyFile] = []
        self._linked: set[int] = set()

    def root(self, root: Root) -> PolicyFile | None:
        """A file that discovery or a person named, and through it all it extends."""
        self._git.enter(root)
        pack = sources.pack_path(root.shown) == root.path
        held = () if pack else held_by(root.path)
        return self._file(root.path, root.shown, pack, root.rank, (root.shown, START), held)

    def named(self, path: str) -> Place | None:
        """Where a file that was read is named first; None for what no policy names."""
        place = self._named.get(path)
        return None if place is None or place[1] is START else place

    def shipped_catalogs(self) -> list[CatalogFile]:
        """Every catalog that ships."""
        found = [
            self._catalog(catalogs.path_of(name), name, "shipped", (name, START))
            for name in catalogs.names()
        ]
        return [catalog for catalog in found if catalog is not None]

    def _file(
        self,
        path: str,
        shown: str,
        pack: bool,
        rank: Rank,
        asked: tuple[str, Span],
        held: tuple[str, ...],
    ) -> PolicyFile | None:
        key = self._key(path)
        if key not in self._files:
            if self._too_many(asked):
                return None
            self._files[key] = self._parse(path, shown, pack, rank, asked, held)
        file = self._files[key]
        if file is not None and id(file) not in self._linked:
            self._linked.add(id(file))
            self._open.append(file)
            self._link(file, rank)
            self._open.pop()
        return file

    def _too_many(self, asked: tuple[str, Span]) -> bool:
        if len(self._files) + len(self._lists) < MOST_FILES:
            return False
        self._report.error(
            "policy/extends", *asked, f"a policy has at most {MOST_FILES} files", "name fewer",
        )  # fmt: skip
        return True

    def _parse(
        self,
        path: str,
        shown: str,
        pack: bool,
        rank: Rank,
        asked: tuple[str, Span],
        held: tuple[str, ...],
    ) -> PolicyFile | None:
        rank = "shipped" if pack else rank
        try:
            data = self._read(path, rank, held, asked)
        except Unreadable as error:
            self._unreadable(shown, asked, error)
            return None
        capped = sources.is_capped(rank)
        if path.endswith(sources.RULES_SUFFIX):
            document, rules = self._rule_file(data, shown, capped)
        else:
            document = parse(data, shown, self._report)
            if document.root is not None:
                schema_errors.check(document, "policy", self._report)
            rules = read_block(document, self._report, capped=capped)
        proven = self._git.is_git(path) and self._git.at(path).source.pinned
        return PolicyFile(path, shown, pack, data, document, rules, held, proven)

    def _key(self, path: str) -> _Key:
        """What a file is told from others by. One out of git is what was proven, and not what a
        link that was put in its place since leads to."""
        is_git = self._git.is_git(path)
        return is_git, path if is_git else os.path.realpath(path)

    def _read(self, path: str, rank: Rank, held: tuple[str, ...], asked: Place) -> bytes:
        """The bytes of a file; of one out of git, those that were proven. Raises Unreadable."""
        self._named.setdefault(path, asked)
        if not self._git.is_git(path):
            return sources.read(path, rank, held)
        data = self._git.at(path).data
        if len(data) > sources.size_limit(rank):
            raise Unreadable(f"it is larger than {sources.size_limit(rank) >> 20} MiB")
        return data

    def _rule_file(self, data: bytes, shown: str, capped: bool) -> tuple[Document, RuleText | None]:
        text = decode(data, shown, "rules", self._report)
        if text is None or not reads_alike(text, shown, "rules", self._report):
            return Document(shown, text or "", None, None), None
        rules = read_rules(text, shown, self._report, capped=capped)
        return Document(shown, text, None, None), rules

    def _unreadable(self, shown: str, asked: tuple[str, Span], error: Unreadable) -> None:
        named = asked[1] is not START
        self._report.error(
            "policy/unreadable", *asked, f"`{shown}` cannot be read: {error.reason}",
            f"name a file beside `{asked[0]}`" if named else UNTIL_MENDED,
        )  # fmt: skip

    def _link(self, file: PolicyFile, rank: Rank) -> None:
        data = file.data
        if "extends" in data:
            for name, node in text_nodes(data["extends"], file.document.value(["extends"])):
                target = self._extended(file, name, node, rank)
                if target is not None:
                    file.extends.append(target)
        if "catalog" in data:
            file.names_catalog = True
            for name, node in text_nodes(data["catalog"], file.document.value(["catalog"])):
                found = self._named_catalog(file, name, node, rank)
                if found is not None:
                    file.catalogs.append(found)
        for statement in file.rules.tree.statements if file.rules is not None else ():
            for named in statement.files if isinstance(statement, t.Words) else ():
                if named.value not in file.lists:
                    self._word_list(file, named)

    def _word_list(self, file: PolicyFile, named: t.TextLiteral) -> None:
        name, asked = named.value, (file.shown, Span(*named.span))
        if not name.strip():  # which the check of the rules says
            return
        path = self._beside(file, name, asked)
        if path is None:
            return
        shown = self._shown(file, path, name)
        held = file.held
        if not os.path.exists(path) and lies_within(file.path, (sources.shipped(),)):
            path, held = os.path.join(sources.shipped(), name), ()
        key = self._key(path)
        if key not in self._lists:
            if self._too_many(asked):
                return
            try:
                # The smaller limit, whoever's list it is.
                data = self._read(path, "repo", held, asked)
                self._lists[key] = wordlists.read_list(data, path, shown, self._report, held)
            except Unreadable as error:
                near = wordlists.near(path, name)
                self._report.error(
                    "policy/unreadable", *asked, f"`{name}` cannot be read: {error.reason}",
                    f"did you mean `{near}`?" if near else f"put it beside `{file.shown}`",
                )  # fmt: skip
                return
        file.lists[name] = self._lists[key]

    def _extended(self, file: PolicyFile, name: str, node: Node, rank: Rank) -> PolicyFile | None:
        pack = None if _is_relative(name) else sources.pack_path(name)
        if pack is None and not _is_relative(name) and not is_git(name):
            self._unknown(file, node, "pack", name, sources.packs())
            return None
        asked = (file.shown, file.document.span(node))
        if is_git(name):
            path = self._git.named(name, asked)
        else:
            path = pack or self._beside(file, name, asked)
        if path is None:
            return None
        shown = name if pack else self._shown(file, path, name)
        held = () if pack or self._git.is_git(path) else file.held or held_by(path)
        target = self._file(path, shown, pack is not None, rank, asked, held)
        if target is not None and target in self._open:
            way = [f.shown for f in self._open[self._open.index(target) :]] + [target.shown]
            self._error(
                file, node, "policy/cycle", "files extend each other: " + " -> ".join(way),
                "remove one of these `extends`",
            )  # fmt: skip
            return None
        return target

    def _named_catalog(
        self, file: PolicyFile, name: str, node: Node, rank: Rank
    ) -> CatalogFile | None:
        if not _is_relative(name):
            if name not in catalogs.names():
                self._unknown(file, node, "catalog", name, catalogs.names())
            return None
        asked = (file.shown, file.document.span(node))
        path = self._beside(file, name, asked)
        if path is None:
            return None
        return self._catalog(path, self._shown(file, path, name), rank, asked, file.held)

    def _catalog(
        self,
        path: str,
        shown: str,
        rank: Rank,
        asked: tuple[str, Span],
        held: tuple[str, ...] = (),
    ) -> CatalogFile | None:
        key = self._key(path)
        if key not in self._catalogs:
            try:
                data = self._read(path, rank, held, asked)
            except Unreadable as error:
                self._unreadable(shown, asked, error)
                self._catalogs[key] = None
            else:
                catalog = read_catalog(data, shown)
                self._report.extend(catalog.diagnostics)
                self._catalogs[key] = CatalogFile(path, shown, data, catalog, held)
        return self._catalogs[key]

    def _beside(self, file: PolicyFile, name: str, asked: tuple[str, Span]) -> str | None:
        """The path of a file named relative to `file`. A repository's policy stays within what
        holds its folder: whoever writes it decides what the engine reads and shows."""
        if self._git.is_git(file.path):
            return self._git.beside(file.path, name, asked)
        if os.path.isabs(name):
            self._report.error(
                "policy/extends", *asked, f"`{name}` is no path relative to `{file.shown}`",
                f"copy it beside `{file.shown}` and write `{os.path.basename(name)}`",
            )  # fmt: skip
            return None
        path = os.path.join(os.path.dirname(os.path.abspath(file.path)), name)
        if file.held and not lies_within(os.path.realpath(path), file.held):
            self._report.error(
                "policy/extends", *asked, f"`{name}` lies outside this repository",
                f"copy it beside `{file.shown}`",
            )  # fmt: skip
            return None
        return path

    def _shown(self, file: PolicyFile, path: str, name: str) -> str:
        """What people call the file that `file` names."""
        if self._git.is_git(path):
            return str(self._git.at(path).source)
        return os.path.normpath(os.path.join(os.path.dirname(file.shown), name))

    def _unknown(
        self, file: PolicyFile, node: Node, what: str, name: str, known: list[str]
    ) -> None:
        near = nearest(name, known)
        if name.endswith((".yaml", ".yml", sources.RULES_SUFFIX)):
            mend = f"write `./{os.path.basename(name)}` for a file beside this one"
        elif near:
            mend = f"did you mean `{near}`?"
        else:
            mend = f"{what}s: {', '.join(known)}; a file is written ./name.yaml"
        self._error(file, node, f"policy/unknown-{what}", f"there is no {what} `{name}`", mend)

    def _error(self, file: PolicyFile, node: Node, code: str, message: str, mend: str) -> None:
        self._report.error(code, file.shown, file.document.span(node), message, mend)


def _is_relative(name: str) -> bool:
    return name.startswith(("./", "../"))

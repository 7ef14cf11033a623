"""Policy files and what they extend: each read once, links followed, circles refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

from yaml import Node

from tool_intent.policy import catalogs, schema_errors, sources
from tool_intent.policy.catalogs import Catalog, read_catalog
from tool_intent.policy.constraints import types_of
from tool_intent.policy.positions import START, Document, Report, Span, text_nodes
from tool_intent.policy.sources import Root, Unreadable
from tool_intent.policy.yaml_nodes import parse
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.model import Rank

#: How many files one load reads.
MOST_FILES: Final = 200
#: Fields that need no definition.
BUILT_IN: Final = {
    "intent": "The goal this call serves.",
    "rationale": "Why it is right: requirement, evidence or constraint.",
}
UNTIL_MENDED: Final = "mend it or remove it: until then every call is denied"
_NEEDS_LANGUAGE: Final = "needs the rule language, which this release does not have"


class CatalogFile:
    """A catalog a policy names, or one that ships: `shown` is its name or its file's."""

    def __init__(self, path: str, shown: str, data: bytes, catalog: Catalog) -> None:
        self.path = path
        self.shown = shown
        self.digest = sources.fingerprint(data)
        self.catalog = catalog


class PolicyFile:
    """A policy file with what it extends and the catalogs it names, in the order written."""

    def __init__(self, path: str, shown: str, pack: bool, data: bytes, document: Document) -> None:
        self.path = path
        self.shown = shown
        self.pack = pack
        self.digest = sources.fingerprint(data)
        self.document = document
        self.extends: list[PolicyFile] = []
        self.catalogs: list[CatalogFile] = []
        self.names_catalog = False

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

    def __init__(self, report: Report) -> None:
        self._report = report
        self._files: dict[str, PolicyFile | None] = {}
        self._catalogs: dict[str, CatalogFile | None] = {}
        self._open: list[PolicyFile] = []
        self._linked: set[int] = set()

    def root(self, root: Root) -> PolicyFile | None:
        """A file that discovery or a person named, and through it all it extends."""
        pack = sources.pack_path(root.shown) == root.path
        if root.path.endswith(sources.RULES_SUFFIX):
            self._report.error(
                "policy/needs-rule-language", root.shown, START,
                f"`{os.path.basename(root.path)}` {_NEEDS_LANGUAGE}", "move the file away",
            )  # fmt: skip
            return None
        return self._file(root.path, root.shown, pack, root.rank, (root.shown, START))

    def shipped_catalogs(self) -> list[CatalogFile]:
        """Every catalog that ships."""
        found = [
            self._catalog(catalogs.path_of(name), name, "shipped", (name, START))
            for name in catalogs.names()
        ]
        return [catalog for catalog in found if catalog is not None]

    def _file(
        self, path: str, shown: str, pack: bool, rank: Rank, asked: tuple[str, Span]
    ) -> PolicyFile | None:
        real = os.path.realpath(path)
        if real not in self._files:
            if len(self._files) >= MOST_FILES:
                self._report.error(
                    "policy/extends", *asked, f"a policy has at most {MOST_FILES} files",
                    "extend fewer",
                )  # fmt: skip
                return None
            self._files[real] = self._parse(path, shown, pack, rank, asked)
        file = self._files[real]
        if file is not None and id(file) not in self._linked:
            self._linked.add(id(file))
            self._open.append(file)
            self._link(file, rank)
            self._open.pop()
        return file

    def _parse(
        self, path: str, shown: str, pack: bool, rank: Rank, asked: tuple[str, Span]
    ) -> PolicyFile | None:
        try:
            data = sources.read(path, "shipped" if pack else rank)
        except Unreadable as error:
            self._unreadable(shown, asked, error)
            return None
        document = parse(data, shown, self._report)
        if document.root is not None:
            schema_errors.check(document, "policy", self._report)
        return PolicyFile(path, shown, pack, data, document)

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

    def _extended(self, file: PolicyFile, name: str, node: Node, rank: Rank) -> PolicyFile | None:
        if name.endswith(sources.RULES_SUFFIX):
            self._error(
                file, node, "policy/needs-rule-language", f"`{name}` {_NEEDS_LANGUAGE}",
                f"remove `{name}`",
            )  # fmt: skip
            return None
        pack = None if _is_relative(name) else sources.pack_path(name)
        if pack is None and not _is_relative(name):
            self._unknown(file, node, "pack", name, sources.packs())
            return None
        path = pack or self._beside(file, name, node)
        if path is None:
            return None
        shown = name if pack else _shown_beside(file, name)
        asked = (file.shown, file.document.span(node))
        target = self._file(path, shown, pack is not None, rank, asked)
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
        path = self._beside(file, name, node)
        if path is None:
            return None
        asked = (file.shown, file.document.span(node))
        return self._catalog(path, _shown_beside(file, name), rank, asked)

    def _catalog(
        self, path: str, shown: str, rank: Rank, asked: tuple[str, Span]
    ) -> CatalogFile | None:
        real = os.path.realpath(path)
        if real not in self._catalogs:
            try:
                data = sources.read(path, rank)
            except Unreadable as error:
                self._unreadable(shown, asked, error)
                self._catalogs[real] = None
            else:
                catalog = read_catalog(data, shown)
                self._report.extend(catalog.diagnostics)
                self._catalogs[real] = CatalogFile(path, shown, data, catalog)
        return self._catalogs[real]

    def _beside(self, file: PolicyFile, name: str, node: Node) -> str | None:
        """The path of a file named relative to `file`. A repository's policy stays within what
        holds its folder: whoever writes it decides what the engine reads and shows."""
        folder = os.path.dirname(os.path.abspath(file.path))
        path = os.path.join(folder, name)
        if os.path.basename(folder) == sources.FOLDER:
            real = os.path.realpath(path)
            held = (os.path.realpath(folder), os.path.realpath(os.path.dirname(folder)))
            if not any(_is_within(real, base) for base in held):
                self._error(
                    file, node, "policy/extends", f"`{name}` lies outside this repository",
                    f"copy it beside `{file.shown}`",
                )  # fmt: skip
                return None
        return path

    def _unknown(
        self, file: PolicyFile, node: Node, what: str, name: str, known: list[str]
    ) -> None:
        near = nearest(name, known)
        if name.endswith((".yaml", ".yml")):
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


def _is_within(path: str, base: str) -> bool:
    return path == base or path.startswith(base.rstrip(os.sep) + os.sep)


def _shown_beside(file: PolicyFile, name: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(file.shown), name))

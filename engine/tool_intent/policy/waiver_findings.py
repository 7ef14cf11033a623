"""What is wrong with waivers today and here: over, for everything, for nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tool_intent.policy.model import EffectivePolicy, Rule, Waiver
from tool_intent.policy.opening import FOLDER
from tool_intent.policy.sources import Root
from tool_intent.policy.waivers import WAIVABLE
from tool_intent.policy.waiving import span_of
from tool_intent.rules.diagnostics import Diagnostic, nearest
from tool_intent.runtime.casing import composed
from tool_intent.runtime.globs import compile_glob

#: Names in a folder that are looked through for what a glob is like.
MOST_NAMES: Final = 50_000


def findings(policy: EffectivePolicy, now: float, root: str | None) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with the waivers of a policy at `now` (seconds since the epoch).

    `root` is the folder that paths in scopes start at; None where that is not known.
    """
    rules = {item.id for item in policy.items if isinstance(item, Rule)} | {*WAIVABLE}
    names = _Names(root)
    found: list[Diagnostic] = [*policy.waiver_findings]
    for waiver in policy.waivers:
        if waiver.until <= now:
            message = f"waiver {waiver.id} expired {waiver.expires} (owner {waiver.owner})"
            found.append(_warning("expired", waiver, message, "remove it, or have it renewed"))
        if not waiver.scope.limits:
            message = f"waiver {waiver.id} is for every call that `{waiver.rule}` is about"
            found.append(
                _warning("over-broad", waiver, message, 'limit it: scope: {paths: ["docs/**"]}')
            )
        if waiver.rule not in rules and policy.items:
            near = nearest(waiver.rule, rules)
            message = f"waiver {waiver.id} is for nothing: no rule is called `{waiver.rule}`"
            mend = f"did you mean `{near}`?" if near else "see `tool-intent show --effective`"
            found.append(_warning("unused", waiver, message, mend))
        elif waiver.scope.paths and not names.has_any_like(waiver.scope.paths):
            globs = ", ".join(f"`{glob}`" for glob in waiver.scope.paths)
            message = f"waiver {waiver.id} is for nothing: no file here is like {globs}"
            mend = "remove it, or mend its scope: globs start at the policy's root"
            found.append(_warning("unused", waiver, message, mend))
    return tuple(found)


def root_of(roots: Iterable[Root]) -> str | None:
    """The folder that paths in scopes start at, where one of the files tells."""
    folders = (os.path.split(os.path.dirname(os.path.abspath(root.path))) for root in roots)
    return next((holder for holder, name in folders if name == FOLDER), None)


class _Names:
    """The files below a folder, listed when somebody asks."""

    def __init__(self, root: str | None) -> None:
        self._root = root
        self._listed: tuple[str, ...] | None = None

    def has_any_like(self, globs: Sequence[str]) -> bool:
        """Whether there is a file like one of the globs; also where that cannot be told."""
        if self._root is None or any(glob.startswith(("/", "~")) for glob in globs):
            return True
        if self._listed is None:
            self._listed = tuple(self._walk(self._root))
        if len(self._listed) >= MOST_NAMES:
            return True
        exact = [compile_glob(glob).exact for glob in globs]
        return any(regex.match(name) for name in self._listed for regex in exact)

    @staticmethod
    def _walk(root: str) -> Iterator[str]:
        seen = 0
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name != ".git"]
            for name in files:
                yield composed(os.path.relpath(os.path.join(folder, name), root))
                seen += 1
                if seen >= MOST_NAMES:
                    return


def _warning(code: str, waiver: Waiver, message: str, mend: str) -> Diagnostic:
    return Diagnostic(
        f"waivers/{code}", "warning", waiver.origin.file, *span_of(waiver), message, mend
    )

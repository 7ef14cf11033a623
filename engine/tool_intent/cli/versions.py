"""Versions of files and notes, as git has them: read by plumbing that runs nothing of a
repository's, whatever its configuration says."""

from __future__ import annotations

import json
import re
import tempfile
from typing import Final, NamedTuple

from tool_intent.ledger.answering import Sealed
from tool_intent.ledger.objects import LARGEST, git_id_of
from tool_intent.ledger.sealing import REF, blob_in, sealed_in
from tool_intent.policy.git import Git
from tool_intent.policy.git_objects import GitError

#: Notes of one file that are looked at, and commits of its past that are looked through.
MOST_NOTES: Final = 8
MOST_COMMITS: Final = 1_000

# Beside what `Git` sets for every command: a log would check signatures by a program that the
# repository names, and a commit of notes needs a name.
_SETTINGS: Final = (
    "log.showSignature=false", "commit.gpgSign=false", "user.name=tool-intent",
    "user.email=tool-intent@localhost", "core.quotePath=false", "diff.renames=true",
    "core.logAllRefUpdates=false", "notes.rewriteMode=ignore",
)  # fmt: skip
_PLAIN_DIFF: Final = ("--no-ext-diff", "--no-textconv", "-z")
_RAW: Final = re.compile(rb":\d{6} (\d{6}) [0-9a-f]+ ([0-9a-f]+) [A-Z]\d*")


class Touched(NamedTuple):
    """A file that a commit made or changed."""

    path: str
    blob: str


class Versions:
    """The repository whose work tree begins at `root`. Methods raise GitError where git does."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._git = Git.found([root])._replace(settings=_SETTINGS)
        self._listed: dict[str, str] | None = None

    def commit(self, rev: str) -> str:
        """The full id of the commit that a revision names."""
        if not rev or rev.startswith("-") or not rev.isprintable():
            raise GitError(f"`{rev}` is no revision")
        try:
            said = self._run("rev-parse", "--verify", "--end-of-options", f"{rev}^{{commit}}")
        except GitError:
            raise GitError(f"there is no commit `{rev}`") from None
        return said.decode().strip()

    def blob(self, commit: str, path: str) -> str:
        """The id of a file's content in a commit."""
        said = self._run("ls-tree", "-z", commit, "--", path)
        mode, _, rest = said.partition(b" ")
        kind, _, rest = rest.partition(b" ")
        if kind != b"blob" or mode == b"120000":
            what = {b"tree": "a folder", b"commit": "a submodule", b"blob": "a link"}.get(kind)
            shown = f"{path} is {what}" if what else f"there is no file {path}"
            raise GitError(f"{shown} in {commit[:12]}")
        return rest.partition(b"\t")[0].decode()

    def content(self, blob: str) -> bytes | None:
        """The content with an id; None where the repository has none."""
        try:
            return self._run("cat-file", "blob", blob, limit=LARGEST)
        except GitError:
            return None

    def names(self, commit: str, path: str) -> list[str]:
        """The path, and those that the file had before, as its history up to `commit` tells."""
        said = self._run(
            "log", "--follow", "--find-renames", "--diff-filter=R", "--name-status", "--format=",
            f"--max-count={MOST_COMMITS}", *_PLAIN_DIFF, commit, "--", path,
        )  # fmt: skip
        parts = said.decode("utf-8", "surrogateescape").split("\0")
        return list(dict.fromkeys([path, *parts[1::3]]))

    def touched(self, commit: str) -> list[Touched]:
        """The files that a commit made or changed, of a merge those that its first parent has not;
        neither links nor submodules."""
        said = self._run(
            "diff-tree", "--root", "-r", "--no-commit-id", "--diff-merges=first-parent",
            "--no-renames", "--diff-filter=AMT", "--raw", "--no-abbrev", *_PLAIN_DIFF, commit,
        )  # fmt: skip
        parts = said.split(b"\0")
        found = []
        for raw, path in zip(parts[::2], parts[1::2], strict=False):
            read = _RAW.fullmatch(raw)
            if read is not None and read[1].startswith(b"100"):
                found.append(Touched(path.decode("utf-8", "surrogateescape"), read[2].decode()))
        return found

    # --- notes -----------------------------------------------------------------------------------

    def annotate(self, commit: str, note: str) -> None:
        """Make `note` the note of a commit, in the place of an earlier one."""
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:
            file.write(note)
            file.flush()
            self._run("notes", f"--ref={REF}", "add", "--force", f"--file={file.name}", commit)

    def sealed(self, commit: str | None, names: list[str], text: bytes) -> list[Sealed]:
        """What notes say of a file: of just this content, `text`, if any does, else of the last
        version in the past of `commit` that has a note, else of versions wherever they are."""
        listed = self._notes()
        if not listed:
            return []
        blob = git_id_of(text, len(next(iter(listed))))
        near = [] if commit is None else self._noted(commit, names[0], listed)
        paths = [f'"path":{json.dumps(name)}' for name in names]
        for notes, most in (
            (self._mentioning(listed, f'"blob":"{blob}"'), 1),
            (near, 1),
            (self._mentioning(listed, *paths), MOST_NOTES),
        ):
            found = self._read(notes, names, most)
            if found:
                return found
        return []

    def _notes(self) -> dict[str, str]:
        """The notes by the commits that they are of, as they were when first asked for."""
        if self._listed is None:
            try:
                said = self._run("notes", f"--ref={REF}", "list").decode()
            except GitError:
                said = ""  # there are none
            pairs = [line.split(" ") for line in said.splitlines()]
            self._listed = {pair[1]: pair[0] for pair in pairs if len(pair) == 2}
        return self._listed

    def _noted(self, commit: str, path: str, listed: dict[str, str]) -> list[str]:
        """The notes of the commits that changed a file, the last first."""
        said = self._run(
            "log", "--follow", "--format=%H", "--no-patch", f"--max-count={MOST_COMMITS}",
            *_PLAIN_DIFF, commit, "--", path,
        )  # fmt: skip
        commits = [one.strip() for one in said.decode().split("\0")]
        return [listed[one] for one in commits if one in listed]

    def _mentioning(self, listed: dict[str, str], *texts: str) -> list[str]:
        """The notes that contain one of the texts."""
        patterns = [argument for text in texts for argument in ("-e", text)]
        try:
            said = self._run("grep", "--no-textconv", "-z", "-l", "-F", *patterns, REF)
        except GitError:
            return []
        # Notes lie in folders by the first digits of their commits.
        places = said.decode().split("\0")[:-1]
        commits = {place.partition(":")[2].replace("/", "") for place in places}
        return [note for commit, note in listed.items() if commit in commits]

    def _read(self, notes: list[str], names: list[str], most: int) -> list[Sealed]:
        """What the first notes that know the file say of it."""
        found: list[Sealed] = []
        for note in notes:
            text = (self.content(note) or b"").decode("utf-8", "replace")
            for name in names:
                blob = blob_in(text, name)
                known = None if blob is None else self.content(blob)
                sealed = None if known is None else sealed_in(text, name, known)
                if sealed is not None:
                    found.append(sealed)
            if len(found) >= most:
                break
        return found[:most]

    def _run(self, *arguments: str, limit: int = LARGEST) -> bytes:
        return self._git.run("--literal-pathspecs", *arguments, directory=self._root, limit=limit)

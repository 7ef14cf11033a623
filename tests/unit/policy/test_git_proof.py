"""What is kept of a git repository lies where an agent can write: nothing of it is believed but
what the id of its commit proves."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tool_intent.compiler.loading import PolicyError
from tool_intent.compiler.loading import load as load_artifact
from tool_intent.guard.guard import Guard
from tool_intent.policy.fetching import Fetcher
from tool_intent.policy.files import Reader
from tool_intent.policy.git import Git
from tool_intent.policy.git_objects import GitError
from tool_intent.policy.git_source import parse_source
from tool_intent.policy.git_sources import GitSources
from tool_intent.policy.load import load
from tool_intent.policy.model import EffectivePolicy, Rule
from tool_intent.policy.positions import START, Report
from tool_intent.policy.sources import Root, fingerprint
from tool_intent.policy.store import Store

NOW = datetime(2026, 11, 30, tzinfo=UTC)
RULES = "version: 1\nrules: |\n  rule a/b on bash forbid true\n  floor warn\n"
DEEP = "rules/deep/policy.yaml"
REWRITTEN = b"version: 1\n"


class Kept:
    """A repository with `RULES` at `DEEP` of `commit` and of `other`, and a store that has both."""

    def __init__(self, origin, folder: Path) -> None:
        self.origin = origin
        self.cache = folder / "cache"
        self.store = Store(str(self.cache / "tool-intent" / "sources"))
        self.commit = self.keep({DEEP: RULES, "rules/deep/weak.yaml": "version: 1\n"})
        self.other = self.keep({DEEP: RULES.replace("forbid true", "warn true")})
        self.places = [self.place(what) for what in OBJECTS]

    def keep(self, files: dict[str, str], tag: str | None = None) -> str:
        commit = self.origin.commit(files, tag)
        with Fetcher(lambda: self.store, Git.found, NOW, print) as fetcher:
            for path in files:
                fetcher.file(parse_source(self.source(commit, path)), commit, 1 << 20)
            if tag is not None:
                fetcher.pin(parse_source(self.source(tag)), None)
        return commit

    def source(self, rev: str | None = None, path: str = DEEP) -> str:
        return self.origin.source(rev or self.commit, path)

    def place(self, what: str, commit: str | None = None) -> Path:
        """Where the file, the commit, the top tree or an inner one of a commit is kept."""
        commit = commit or self.commit
        if what == "file":
            return Path(self.store.path(commit, DEEP))
        at = {"commit": "", "tree": "^{tree}", "folder": ":rules", "inner": ":rules/deep"}[what]
        return Path(self.store.folder, "objects", self.origin.git("rev-parse", commit + at))

    def load(self, *roots: Root, believed: str = "org.yaml") -> EffectivePolicy:
        """The policy of these roots, where the agent's user can write all but one file."""

        def doubt(path: str, _: bytes) -> str | None:
            return None if os.path.basename(path) in believed.split() else "it belongs to you"

        return load(roots, doubts=doubt, environ=self.environ, cwd=str(self.cache.parent / "work"))

    @property
    def environ(self) -> dict[str, str]:
        return {"XDG_CACHE_HOME": str(self.cache), "HOME": str(self.cache.parent / "home")}


@pytest.fixture
def kept(origin, tmp_path, small) -> Kept:
    (tmp_path / "work").mkdir()
    return Kept(origin, tmp_path)


def root(folder: Path, rank: str, text: str) -> Root:
    path = folder / f"{rank}.yaml"
    path.write_text(f"version: 1\n{text}\n")
    return Root(str(path), rank, path.name)


def effects(policy: EffectivePolicy) -> dict[str, str]:
    return {item.id: item.effect for item in policy.items if isinstance(item, Rule)}


# --- what is not as its commit says --------------------------------------------------------------

OBJECTS = ("file", "commit", "tree", "folder", "inner")


def _rewrite(path: Path, kept: Kept) -> None:
    path.write_bytes(REWRITTEN)


def _truncate(path: Path, kept: Kept) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _empty(path: Path, kept: Kept) -> None:
    path.write_bytes(b"")


def _extend(path: Path, kept: Kept) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def _bloat(path: Path, kept: Kept) -> None:
    os.truncate(path, 1 << 40)


def _link(path: Path, kept: Kept) -> None:
    path.symlink_to(path.rename(kept.cache / "elsewhere"))


def _fifo(path: Path, kept: Kept) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def _folder(path: Path, kept: Kept) -> None:
    path.unlink()
    path.mkdir()


def _unlink(path: Path, kept: Kept) -> None:
    path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("what", OBJECTS)
@pytest.mark.parametrize(
    "change",
    [_rewrite, _truncate, _empty, _extend, _bloat, _link, _fifo, _folder, _unlink],
)
def test_what_is_kept_and_is_not_what_its_commit_says_breaks_the_policy(
    change, what, kept, tmp_path
):
    org = root(tmp_path, "org", f"extends: {kept.source()}")
    assert effects(kept.load(org)) == {"a/b": "deny"}
    change(kept.place(what), kept)
    (found,) = kept.load(org).broken
    assert (found.code, found.file, found.line) == ("policy/unreadable", "org.yaml", 2)
    said = "what is kept is not what its commit says", "it was never fetched, or is no longer kept"
    assert any(reason in found.message for reason in said)
    assert found.help == "run `tool-intent lock`, which fetches it"


@pytest.mark.parametrize("what", OBJECTS)
def test_another_commit_s_object_proves_nothing(what, kept, tmp_path):
    org = root(tmp_path, "org", f"extends: {kept.source()}")
    other = kept.place(what, kept.other).read_bytes()
    kept.place(what).write_bytes(other)
    (found,) = kept.load(org).broken
    assert "is not what its commit says" in found.message


def test_all_of_another_commit_in_the_place_of_one_proves_nothing(kept, tmp_path):
    org = root(tmp_path, "org", f"extends: {kept.source()}")
    kept.place("commit").write_bytes(kept.place("commit", kept.other).read_bytes())
    kept.place("file").write_bytes(kept.place("file", kept.other).read_bytes())
    assert "is not what its commit says" in kept.load(org).broken[0].message


def test_another_file_of_the_commit_proves_nothing(kept, tmp_path):
    weak = Path(kept.store.path(kept.commit, "rules/deep/weak.yaml"))
    kept.place("file").write_bytes(weak.read_bytes())
    with pytest.raises(GitError, match="is not what its commit says"):
        kept.store.file(kept.commit, DEEP, 1 << 20)


def test_a_commit_that_names_no_tree_is_refused(kept):
    for data in (b"", b"tree\n", b"tree a\0b\n", b"tree ../../x\n", b"tag " + b"0" * 40 + b"\n"):
        commit = kept.origin.git(
            "hash-object", "-t", "commit", "--literally", "-w", "--stdin", stdin=data
        )
        kept.store.keep_object(commit, data)
        with pytest.raises(GitError, match="cannot be read"):
            kept.store.file(commit, DEEP, 1 << 20)


def test_a_reference_that_was_rewritten_names_no_path(kept):
    kept.keep({"x.yaml": "version: 1\n"}, "v1")
    url = f"file://{kept.origin.folder}"
    assert kept.store.reference(url, "v1") is not None
    for said in (b"../../x refs/tags/v1", b"", b"\xff", bytes(1 << 20)):
        Path(kept.store.reference_path(url, "v1")).write_bytes(said)
        assert kept.store.reference(url, "v1") is None


# Each example ends with what it began with.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_byte_of_what_is_kept_can_be_another(shared, data):
    path = data.draw(st.sampled_from(shared.places))
    text = path.read_bytes()
    at = data.draw(st.integers(0, len(text) - 1))
    other = text[at] ^ data.draw(st.integers(1, 255))
    try:
        path.write_bytes(text[:at] + bytes([other]) + text[at + 1 :])
        with pytest.raises(GitError, match="is not what its commit says"):
            shared.store.file(shared.commit, DEEP, 1 << 20)
    finally:
        path.write_bytes(text)
    assert shared.store.file(shared.commit, DEEP, 1 << 20) == RULES.encode()


@pytest.fixture(params=["sha1", "sha256"])
def shared(request, origin, tmp_path) -> Kept:
    """Commits with ids of 40 digits, and of 64."""
    if request.param == "sha256":
        place = tmp_path / "long"
        try:
            origin.git("init", "--quiet", "--object-format=sha256", "-b", "main", str(place))
        except subprocess.CalledProcessError:
            pytest.skip("this git knows no SHA-256 repositories")
        origin.folder = place
    return Kept(origin, tmp_path)


# --- what was proven is what is used -------------------------------------------------------------


@pytest.mark.parametrize("by", ["bytes", "link"])
def test_what_was_proven_is_judged_by_whatever_takes_its_place(by, kept, tmp_path):
    org = root(tmp_path, "org", f"extends: {kept.source()}")
    report = Report()
    git = GitSources.kept(report, [org], kept.environ, str(tmp_path / "work"))
    git.enter(org)
    path = git.named(kept.source(), ("org.yaml", START))
    Path(path).unlink()
    if by == "bytes":
        Path(path).write_bytes(REWRITTEN)
    else:
        Path(path).symlink_to(org.path)
    (found,) = Reader(report, git).root(org).extends
    assert (found.source, found.digest) == (RULES.encode(), fingerprint(RULES.encode()))
    assert report.of("error") == ()


# --- an organisation's policy --------------------------------------------------------------------


def test_a_store_that_was_rewritten_denies_every_call_also_where_the_policy_was_compiled(
    kept, tmp_path
):
    machine = tmp_path / "machine"
    machine.mkdir()
    (machine / "org.yaml").write_text(f"version: 1\nextends: {kept.source()}\n")

    def decided() -> list[str]:
        artifact = load_artifact(
            cwd=str(tmp_path / "work"), environ=kept.environ, machine=str(machine),
            account=str(tmp_path / "home"),
        )  # fmt: skip
        decision = Guard(artifact).check("bash", {"command": "ls"})
        return [finding.rule for finding in decision.findings]

    assert [decided(), decided()] == [["a/b"], ["a/b"]]
    text = kept.place("file").read_bytes()
    kept.place("file").write_bytes(REWRITTEN)
    assert decided() == ["policy/broken"]
    kept.place("file").write_bytes(text)
    assert decided() == ["a/b"]


@pytest.mark.parametrize(
    ("believed", "effect"), [("org.yaml", "warn"), ("policy.yaml", "deny"), ("", "deny")]
)
def test_what_a_proven_file_permits_counts_where_the_file_that_extends_it_does(
    believed, effect, kept, tmp_path
):
    org = root(tmp_path, "org", f"extends: {kept.source()}")
    repo = root(tmp_path, "repo", f"extends: {kept.source()}\nadjust: {{a/b: warn}}")
    policy = kept.load(org, repo, believed=believed)
    found = {i.origin.rank: i.effect for i in policy.items if isinstance(i, Rule)}
    assert policy.broken == ()
    assert found["org"] == effect


@pytest.mark.parametrize("believed", ["org.yaml", "org.yaml policy.yaml", "org.yaml middle.yaml"])
def test_what_a_file_that_does_not_count_extends_does_not_count_either(believed, kept, tmp_path):
    """Else who can write that file would choose a commit of his own, and prove it."""
    org = root(tmp_path, "org", "extends: ./middle.yaml")
    (tmp_path / "middle.yaml").write_text(f"version: 1\nextends: {kept.source()}\n")
    repo = root(tmp_path, "repo", "adjust: {a/b: warn}")
    found = effects(kept.load(org, repo, believed=believed))
    assert found == {"a/b": "warn" if "middle" in believed else "deny"}


def test_a_tag_that_an_org_policy_reaches_is_an_error_in_whatever_order_policies_are_read(
    kept, tmp_path
):
    kept.keep({"policy.yaml": RULES}, "v1")
    inner = f"version: 1\nextends: {kept.source('v1', 'policy.yaml')}\n"
    commit = kept.keep({"outer.yaml": inner})
    extends = f"extends: {kept.source(commit, 'outer.yaml')}"
    org, repo = root(tmp_path, "org", extends), root(tmp_path, "repo", extends)
    for roots in ((org, repo), (repo, org)):
        assert [d.code for d in kept.load(*roots).broken] == ["policy/unpinned"]


# --- whose store it is ---------------------------------------------------------------------------


def test_a_store_in_the_folder_that_a_load_is_for_is_refused(kept, tmp_path):
    org = root(tmp_path, "org", f"extends: {kept.source()}")
    policy = load([org], environ=kept.environ, cwd=str(kept.cache))
    assert f"lies inside the workspace {kept.cache}" in policy.broken[0].message
    with pytest.raises(PolicyError, match="lies inside the workspace"):
        load_artifact([org.path], cwd=str(kept.cache), environ=kept.environ, found=False)
    assert kept.load(org).broken == ()

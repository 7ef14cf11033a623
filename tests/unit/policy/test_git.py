"""Reading out of git: what is read is what was committed, and nothing of a repository runs."""

import os
import re
import ssl
import stat
import subprocess
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tool_intent.policy import git as git_module
from tool_intent.policy.git import Git, Remote, Repository, read_blob
from tool_intent.policy.git_objects import GitError, blob_at, object_id

from ..processes import is_gone

WAIVERS = ".tool-intent/waivers.yaml"


def read(repository, ref: str, path: str = WAIVERS, **more) -> bytes:
    return read_blob(str(repository.folder), ref, path, **more)


def refused(call, *arguments, **more) -> str:
    with pytest.raises(GitError) as caught:
        call(*arguments, **more)
    return caught.value.reason


def test_a_file_is_read_as_committed_whatever_the_work_tree_and_the_index_hold(origin):
    first = origin.commit({WAIVERS: b"a\n\xff", ".gitattributes": "* text eol=crlf"}, "v1")
    second = origin.commit({WAIVERS: "second"})
    (origin.folder / WAIVERS).write_text("planted")
    origin.git("add", WAIVERS)
    origin.git("update-ref", "refs/remotes/origin/main", first)
    for ref in (first, "v1", "refs/tags/v1", "origin/main", "refs/remotes/origin/main"):
        assert read(origin, ref) == b"a\n\xff"
    for ref in (second, "main", "refs/heads/main"):
        assert read(origin, ref) == b"second"


def test_an_annotated_tag_stands_for_its_commit(origin):
    first = origin.commit({WAIVERS: "first"})
    origin.git("tag", "--annotate", "--message=x", "v2")
    assert Repository(Git.found(), str(origin.folder)).resolve("v2") == (first, "refs/tags/v2")


def test_a_bare_repository_and_a_work_tree_of_another_are_read_alike(origin, tmp_path):
    commit = origin.commit({WAIVERS: "first"})
    origin.git("worktree", "add", "--quiet", str(tmp_path / "tree"))
    origin.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    assert read_blob(str(tmp_path / "tree"), commit, WAIVERS) == b"first"
    assert read_blob(str(tmp_path / "bare"), "main", WAIVERS) == b"first"


def test_a_repository_with_sha256_ids_is_read(origin, tmp_path):
    try:
        origin.git("init", "--quiet", "--object-format=sha256", "-b", "main", str(tmp_path / "s"))
    except subprocess.CalledProcessError:
        pytest.skip("this git knows no SHA-256 repositories")
    origin.folder = tmp_path / "s"
    commit = origin.commit({"a/b.yaml": "deep"})
    assert len(commit) == 64
    assert read(origin, commit, "a/b.yaml") == b"deep"


@pytest.mark.parametrize(
    "rev",
    [
        "", "-x", "--upload-pack=touch x", "-", "a b", "a..b", "v1^{tree}", "v1~1", "@", "@{-1}",
        "HEAD:policy.yaml", ":/fix", "a*", "a?", "[a]", "/a", "a/", "a//b", "a.lock", "a.lock/b",
        "refs/heads/-x", "v1\n", "v1\0", "..", ".a", "a/.b", "a\\b", "é",
    ],
)  # fmt: skip
def test_what_is_no_name_of_a_commit_tag_or_branch_never_reaches_git(rev, origin, tmp_path):
    """The program given is one that would leave a mark."""
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    told = refused(read, origin, rev, git=Git(str(program)))
    assert "is no commit id, tag or branch" in told
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../a", "a/../b", "./a", "a//b", "a/", ".", "a\0b", "a\nb"]
)
def test_what_is_no_path_in_a_repository_is_refused(path, origin):
    origin.commit({WAIVERS: "x"})
    assert "is no path of a file in a repository" in refused(read, origin, "main", path)


def test_a_path_that_looks_like_an_option_or_a_pattern_is_a_name_like_any_other(origin):
    origin.commit({"-x/--textconv": "odd", "*": "star", ":(top)a": "magic"})
    assert read(origin, "main", "-x/--textconv") == b"odd"
    assert read(origin, "main", "*") == b"star"
    assert read(origin, "main", ":(top)a") == b"magic"
    assert "there is no `?` in it" in refused(read, origin, "main", "?")


@pytest.mark.parametrize(
    ("ref", "path", "told"),
    [
        ("nothing", WAIVERS, "there is no tag or branch `nothing` in it"),
        ("HEAD", WAIVERS, "there is no tag or branch `HEAD` in it"),
        ("0" * 40, WAIVERS, "could not get object info"),
        ("main", "none.yaml", "there is no `none.yaml` in it"),
        ("main", "none/a.yaml", "there is no `none/a.yaml` in it"),
        ("main", ".tool-intent", "is a folder there"),
        ("main", f"{WAIVERS}/a", "`waivers.yaml` of `.tool-intent/waivers.yaml/a` is a file there"),
        ("main", "link.yaml", "is a link there"),
        ("main", "linked/waivers.yaml", "is a link there"),
        ("main", "module", "is a submodule there"),
        ("main", "module/a.yaml", "is a submodule there"),
        ("main", "big.bin", "it is larger than 1 MiB"),
        ("v9", WAIVERS, "`v9` is both refs/tags/v9 and refs/heads/v9"),
        ("tree", WAIVERS, "git says: "),
    ],
)
def test_what_cannot_be_read_is_said(ref, path, told, origin):
    (origin.folder / "link.yaml").symlink_to("/etc/passwd")
    (origin.folder / "linked").symlink_to(".tool-intent")
    commit = origin.commit({WAIVERS: "x", "big.bin": bytes(1 << 20) + b"x"}, "v9")
    origin.git("branch", "v9")
    origin.git("tag", "tree", "HEAD^{tree}")
    origin.git("update-index", "--add", "--cacheinfo", f"160000,{commit},module")
    origin.git("commit", "--quiet", "--message=module")
    assert told in refused(read, origin, ref, path)


def test_a_short_commit_id_is_refused_with_what_to_write(origin):
    commit = origin.commit({WAIVERS: "x"})
    assert "a commit is named by all its digits" in refused(read, origin, commit[:10])


def test_the_id_of_a_tree_or_blob_is_no_commit(origin):
    origin.commit({WAIVERS: "x"})
    tree = origin.git("rev-parse", "HEAD^{tree}")
    assert "is a tree, not a commit" in refused(read, origin, tree)


def test_a_file_of_just_the_limit_is_read(origin):
    origin.commit({WAIVERS: bytes(100)})
    assert len(read(origin, "main", limit=100)) == 100
    assert "it is larger than" in refused(read, origin, "main", limit=99)


def test_where_there_is_no_repository_none_above_is_taken(origin, tmp_path):
    origin.commit({WAIVERS: "x"})
    inner = origin.folder / "sub"
    inner.mkdir()
    assert "not a git repository" in refused(read_blob, str(inner), "main", WAIVERS)
    missing = str(tmp_path / "none")
    assert refused(read_blob, missing, "main", WAIVERS) == "no such file or directory"


def _planted(repository, id: str, kind: str, data: bytes) -> None:
    """Put other bytes in the place of a loose object."""
    path = repository.folder / ".git" / "objects" / id[:2] / id[2:]
    path.chmod(0o644)
    path.write_bytes(zlib.compress(f"{kind} {len(data)}\0".encode() + data))


@pytest.mark.parametrize("kind", ["commit", "tree", "blob"])
def test_an_object_that_is_not_what_its_id_says_is_refused(kind, origin):
    commit = origin.commit({"policy.yaml": "first"})
    other = origin.commit({"policy.yaml": "other"})
    at = {"commit": "", "tree": "^{tree}", "blob": ":policy.yaml"}[kind]
    data = subprocess.run(
        ["git", "cat-file", kind, origin.git("rev-parse", other + at)],
        cwd=origin.folder, capture_output=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    _planted(origin, origin.git("rev-parse", commit + at), kind, data)
    told = refused(read, origin, commit, "policy.yaml")
    assert "is not what its id says" in told or "git says: " in told
    reader = Repository(Git.found(), str(origin.folder)).object
    assert origin.git("cat-file", "blob", f"{other}:policy.yaml") == "other"
    assert blob_at(reader, other, "policy.yaml", 100) == b"other"


def test_objects_that_stand_for_others_are_not_followed(origin):
    commit = origin.commit({"policy.yaml": "first"})
    other = origin.commit({"policy.yaml": "other"})
    origin.git("replace", commit, other)
    assert origin.git("cat-file", "blob", f"{commit}:policy.yaml") == "other"
    assert read(origin, commit, "policy.yaml") == b"first"


HOSTILE = """[core]
    fsmonitor = {mark} fsmonitor
    hooksPath = {hooks}
    sshCommand = {mark} ssh
    gitProxy = {mark} proxy
    pager = {mark} pager
    editor = {mark} editor
    askPass = {mark}
    attributesFile = {hooks}/attributes
    alternateRefsCommand = {mark} alternates
[alias]
    cat-file = !{mark} alias
    rev-parse = !{mark} alias
[diff]
    external = {mark} diff
[diff "x"]
    textconv = {mark} textconv
    command = {mark} command
[filter "x"]
    smudge = {mark} smudge
    clean = {mark} clean
    process = {mark} process
    required = true
[uploadpack]
    packObjectsHook = {mark} pack
[credential]
    helper = !{mark} credential
[protocol]
    allow = always
[protocol "ext"]
    allow = always
[remote "evil"]
    url = ext::{mark} ext
    promisor = true
    partialclonefilter = blob:none
"""


@pytest.fixture
def hostile(origin, tmp_path):
    """A repository whose configuration, hooks and attributes all lead to a program that leaves a
    mark; and the mark."""
    commit = origin.commit({"policy.yaml": "first", ".gitattributes": "* diff=x filter=x"}, "v1")
    ran = tmp_path / "ran"
    mark = tmp_path / "mark"
    mark.write_text(f'#!/bin/sh\necho "$@" >> {ran}\n')
    mark.chmod(0o755)
    hooks = tmp_path / "hooks"
    for folder in (hooks, origin.folder / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-push"):
            (folder / hook).write_text(f"#!/bin/sh\n{mark} hook\n")
            (folder / hook).chmod(0o755)
    (hooks / "attributes").write_text("* diff=x filter=x\n")
    (origin.folder / ".git" / "info").mkdir(exist_ok=True)
    (origin.folder / ".git" / "info" / "attributes").write_text("* diff=x filter=x\n")
    with (origin.folder / ".git" / "config").open("a") as config:
        config.write(HOSTILE.format(mark=mark, hooks=hooks))
    return origin, commit, ran


def test_nothing_that_a_repository_configures_is_run(hostile):
    origin, commit, ran = hostile
    for ref in (commit, "v1", "main"):
        assert read(origin, ref, "policy.yaml") == b"first"
    assert not ran.exists(), ran.read_text()


def test_the_same_repository_runs_its_programs_for_a_git_that_is_not_held(hostile):
    """What shows that the fixture plants what it says."""
    origin, _, ran = hostile
    subprocess.run(
        ["git", "status"], cwd=origin.folder, capture_output=True, check=False, timeout=60
    )
    assert "fsmonitor" in ran.read_text()


@pytest.fixture
def left_out(hostile):
    """The same, without the blob of its file: git fetches what a partial clone left out."""
    origin, commit, ran = hostile
    blob = object_id("blob", b"first")
    (origin.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    return origin, commit, blob, ran


def test_an_object_that_a_clone_left_out_is_not_fetched(left_out):
    origin, commit, _, ran = left_out
    assert "git says: " in refused(read, origin, commit, "policy.yaml")
    assert not ran.exists(), ran.read_text()


def test_a_git_that_is_not_held_fetches_it_by_any_program(left_out):
    """What shows that the fixture plants what it says."""
    origin, _, blob, ran = left_out
    subprocess.run(
        ["git", "cat-file", "blob", blob], cwd=origin.folder, capture_output=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert "ext" in ran.read_text()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_DIR", "/nonexistent"),
        ("GIT_OBJECT_DIRECTORY", "/nonexistent"),
        ("GIT_CONFIG_PARAMETERS", "'core.fsmonitor=false' 'nonsense"),
        ("GIT_CONFIG_COUNT", "x"),
        ("GIT_EXEC_PATH", "/nonexistent"),
        ("GIT_TRACE2_EVENT", "{}/trace"),
        ("GIT_TRACE", "{}/trace"),
        ("GIT_NAMESPACE", "other"),
    ],
)
def test_git_settings_of_the_environment_do_not_count(name, value, origin, tmp_path, monkeypatch):
    origin.commit({WAIVERS: "x"})
    monkeypatch.setenv(name, value.format(tmp_path))
    assert read(origin, "main") == b"x"
    assert not (tmp_path / "trace").exists()


def test_the_user_s_own_configuration_does_not_count(origin, tmp_path, monkeypatch):
    origin.commit({WAIVERS: "x"})
    (tmp_path / ".gitconfig").write_text("[broken\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read(origin, "main") == b"x"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_another_user_is_read(origin):
    """As in a container that runs as root on a checkout of somebody else's."""
    origin.commit({WAIVERS: "x"})
    for path in [origin.folder, *origin.folder.rglob("*")]:
        os.chown(path, 65_534, 65_534)
    assert read(origin, "main") == b"x"


def test_a_git_that_never_ends_is_ended_with_all_it_started(tmp_path, monkeypatch):
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/child\nwait\n")
    program.chmod(0o755)
    # Long enough for a busy machine to start the shell and its child.
    monkeypatch.setattr(git_module, "DEADLINE", 3)
    told = refused(Git(str(program)).run, "x", directory=str(tmp_path))
    assert told == "git took longer than 3 seconds"
    assert is_gone(int((tmp_path / "child").read_text()))


def test_endless_output_is_refused(tmp_path):
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nhead -c 3000000 /dev/zero\n")
    program.chmod(0o755)
    told = refused(Git(str(program)).run, "x", directory=str(tmp_path), limit=1 << 20)
    assert told == "it is larger than 1 MiB"


def _fake(folder: Path, mode: int = 0o755) -> Path:
    folder.mkdir()
    program = folder / "git"
    program.write_text("#!/bin/sh\necho planted\n")
    program.chmod(mode)
    return program


def test_the_system_s_git_comes_before_any_on_path(tmp_path, monkeypatch):
    _fake(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    assert Git.found().program.startswith("/usr/")


def test_a_git_that_others_may_have_put_there_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(git_module, "_SYSTEM", ())
    work = _fake(tmp_path / "work")
    link = tmp_path / "link"
    link.mkdir()
    (link / "git").symlink_to(work)
    _fake(tmp_path / "open", 0o777)
    _fake(tmp_path / "shared").parent.chmod(0o777)
    _fake(tmp_path / "plain", 0o644)
    folders = ["", ".", "work", *(str(tmp_path / n) for n in ("work", "link", "open", "shared",
               "plain", "none"))]  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    assert refused(Git.found, [str(tmp_path / "work")]) == "git is not installed here"
    assert Git.found().program == str(work), "what is wrong with that one is its place"


# --- over a network ------------------------------------------------------------------------------

BACKEND = Path("/usr/lib/git-core/git-http-backend")


class _Backend(BaseHTTPRequestHandler):
    """git's own server program behind HTTPS; `/away/` leads elsewhere."""

    root = ""
    asked: list[str]

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        self.asked.append(self.path)
        if self.path.startswith("/away/"):
            self.send_response(302)
            self.send_header("Location", self.path.replace("/away/", "/origin/"))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        done = subprocess.run(
            [BACKEND], input=body, capture_output=True, timeout=60, check=True,
            env={
                "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.root,
                "GIT_HTTP_EXPORT_ALL": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "PATH_INFO": path,
                "QUERY_STRING": query, "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            },
        )  # fmt: skip
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(fields.pop("Status", "200")[:3]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def https(origin, tmp_path):
    """The address of a server of `origin`, a git that trusts it, and what it was asked."""
    if not BACKEND.exists():
        pytest.skip("git's HTTP server is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out",
         certificate], capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    handler = type("Handler", (_Backend,), {"root": str(tmp_path), "asked": []})
    server = ThreadingHTTPServer(("localhost", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    trusting = Git(Git.found().program, (f"http.sslCAInfo={certificate}",))
    yield f"https://localhost:{server.server_port}", trusting, handler.asked
    server.shutdown()
    thread.join()
    server.server_close()


def reached(https, tmp_path: Path, name: str = "origin/.git") -> Remote:
    folder = tmp_path / "fetched"
    folder.mkdir()
    return Remote(https[1], f"{https[0]}/{name}", str(folder))


@pytest.mark.slow
def test_a_tag_a_branch_and_an_old_commit_are_fetched_over_https(https, origin, tmp_path):
    old = origin.commit({"policy.yaml": "old"})
    origin.commit({"policy.yaml": "tagged"})
    origin.git("tag", "--annotate", "--message=x", "v1")
    new = origin.commit({"policy.yaml": "new"})
    remote = reached(https, tmp_path)
    for rev, said in ((old, b"old"), ("v1", b"tagged"), ("main", b"new"), (new, b"new")):
        commit = remote.resolve(rev).commit
        assert blob_at(remote.object, commit, "policy.yaml", 100) == said
    assert remote.resolve("v1").name == "refs/tags/v1"
    assert [p.name for p in (tmp_path / "fetched").rglob("policy.yaml")] == []


def test_a_server_s_answer_that_leads_elsewhere_is_refused(https, origin, tmp_path):
    origin.commit({"policy.yaml": "x"}, "v1")
    told = refused(reached(https, tmp_path, "away/.git").resolve, "v1")
    assert "git says: " in told
    assert [path for path in https[2] if path.startswith("/origin/")] == []


def test_a_server_that_nobody_vouches_for_is_refused(https, origin, tmp_path):
    origin.commit({"policy.yaml": "x"}, "v1")
    told = refused(reached((https[0], Git.found(), []), tmp_path).resolve, "v1")
    assert "certificate" in told


def test_what_a_server_does_not_have_is_said(https, origin, tmp_path):
    origin.commit({"policy.yaml": "x"}, "v1")
    origin.git("branch", "v1")
    remote = reached(https, tmp_path)
    assert "there is no tag or branch `v2`" in refused(remote.resolve, "v2")
    assert "is both refs/tags/v1 and refs/heads/v1" in refused(remote.resolve, "v1")
    assert "git says: " in refused(remote.object, "1" * 40, "commit", 100)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/a",
        "ext::touch ran",
        "file:///nonexistent",
        "ssh://localhost/a",
        "git://a/b",
    ],
)
def test_no_other_transport_is_ever_used(url, tmp_path):
    folder = tmp_path / "fetched"
    folder.mkdir()
    told = refused(Remote(Git.found(), url, str(folder)).resolve, "v1")
    assert re.search(r"transport '\w+' not allowed", told), told


def test_a_bare_repository_of_ours_has_no_hooks(https, tmp_path):
    reached(https, tmp_path)
    assert not (tmp_path / "fetched" / "hooks").exists()
    assert stat.S_ISREG((tmp_path / "fetched" / "config").stat().st_mode)

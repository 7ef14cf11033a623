"""Names of files in git: what they mean, and what is refused before git hears of it."""

import pytest

from tool_intent.policy.git_source import GitSource, parse_source
from tool_intent.policy.sources import SourceError

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("name", "url", "rev", "path"),
    [
        ("git+https://h.org/a/b.git@v1", "https://h.org/a/b.git", "v1", "policy.yaml"),
        ("git+https://h.org:8443/a@release/2.x#in/it.yaml", "https://h.org:8443/a", "release/2.x",
         "in/it.yaml"),
        (f"git+https://h.org/a/@{COMMIT}#a b.rules", "https://h.org/a", COMMIT, "a b.rules"),
        ("git+file:///srv/a b/ü@refs/tags/v1", "file:///srv/a b/ü", "refs/tags/v1", "policy.yaml"),
        ("git+https://h.org/a@v1#x@y.yaml", "https://h.org/a", "v1", "x@y.yaml"),
        ("git+https://h.org/a@v1#-x", "https://h.org/a", "v1", "-x"),
    ],
)  # fmt: skip
def test_a_name_says_where_which_and_what(name, url, rev, path):
    source = parse_source(name)
    assert source == GitSource(url, rev, path)
    assert parse_source(str(source)) == source


@pytest.mark.parametrize("rev", [COMMIT, COMMIT + COMMIT[:24]])
def test_only_a_full_commit_id_is_pinned(rev):
    assert parse_source(f"git+https://h.org/a@{rev}").pinned
    for other in (rev[:-1], rev.upper(), "v1", f"refs/tags/{rev}"):
        assert not parse_source(f"git+https://h.org/a@{other}").pinned


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("git+https://h.org/a", "names no revision"),
        ("git+https://h.org/a#b.yaml", "names no revision"),
        ("git+https://h.org/a@", "is no commit id, tag or branch"),
        ("git+https://h.org/a@-x", "is no commit id, tag or branch"),
        ("git+https://h.org/a@--upload-pack=x", "is no commit id, tag or branch"),
        ("git+https://h.org/a@v1..v2", "is no commit id, tag or branch"),
        ("git+https://h.org/a@v1#../b", "is no path of a file"),
        ("git+https://h.org/a@v1#/etc/passwd", "is no path of a file"),
        ("git+https://h.org/a@v1#.git//x", "is no path of a file"),
        ("git+https://-oProxyCommand=x/a@v1", "is no git source"),
        ("git+https://me:secret@h.org/a@v1", "is no git source"),
        ("git+https://h.org@v1", "is no git source"),
        ("git+https://h.org/a?x@v1", "is no git source"),
        ("git+https://h.org/a b@v1", "is no git source"),
        ("git+http://h.org/a@v1", "is no git source"),
        ("git+ssh://git@h.org/a@v1", "is no git source"),
        ("git+git://h.org/a@v1", "is no git source"),
        ("git+ext::touch x@v1", "is no git source"),
        ("git+ext::sh -c touch% x@v1", "is no git source"),
        ("git+-x@v1", "is no git source"),
        ("git+--upload-pack=x@v1", "is no git source"),
        ("git+/srv/a@v1", "is no git source"),
        ("git+HTTPS://h.org/a@v1", "is no git source"),
        ("git+file://host/a@v1", "names no folder of this machine"),
        ("git+file://a@v1", "names no folder of this machine"),
        ("git+file:///srv/../etc@v1", "names no folder of this machine"),
        ("git+file:///srv//a@v1", "names no folder of this machine"),
        ("git+file:///srv/a\nb@v1", "names no folder of this machine"),
        ("git+file://-x@v1", "names no folder of this machine"),
    ],
)
def test_what_is_none_is_refused_with_what_to_write(name, message):
    with pytest.raises(SourceError, match=message) as caught:
        parse_source(name)
    assert "git+" in caught.value.help


def test_a_file_names_others_of_its_repository_only():
    source = parse_source("git+https://h.org/a@v1#in/it.yaml")
    assert source.beside("./b.rules").path == "in/b.rules"
    assert source.beside("../c/../d.yaml").path == "d.yaml"
    for name in ("../../x.yaml", "../..", "/etc/passwd", "..", "./../../in/it.yaml"):
        with pytest.raises(SourceError, match="lies outside the repository"):
            source.beside(name)

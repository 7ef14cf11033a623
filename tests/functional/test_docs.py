"""Every fenced block of README.md and docs/*.md is run, and says what really happens.

The first word after the backticks is the language, for a code host's colours; the words after it
say what is done with the block. No other combination is allowed, and none is left unrun.

    yaml policy             a policy; `tool-intent check --strict` must find nothing in it; so is
                            plain `yaml` with a title that ends in policy.yaml
    yaml policy error       a policy that cannot be used; a `text error` block follows
    yaml policy warning     a policy that `check` warns of; a `text warning` block follows
    text error, warning     all that `check` prints of the policy before it, but its last line
    yaml, jsonl, text file  another file, only written; needs a title
    json, toml              valid JSON, valid TOML
    python                  run by a fresh interpreter; must exit with 0
    js                      run by node as an ES module, where there is node; must exit with 0
    text output             all that the `python` or `js` block before it prints
    console                 lines that start with `$ ` are commands (`> ` continues one); the lines
                            after it are all that it prints, on both streams. One shell runs a
                            block, so `$ echo $?` shows the exit code of the command before it
    console empty           the same, in an empty folder
    sh                      lines that start with `make`: `make` must know their targets

`title="path"` names the file that a block is written to; a policy without one is
`.tool-intent/policy.yaml`. Each block is run in a folder of its own, with a home folder of its own,
that holds the files of the blocks before it on its page (but for policies with errors or warnings),
and nothing that running those blocks left behind. Titles in /etc/tool-intent/ are files of a
machine that an organisation manages, whose user cannot write there. In expected output `…` stands
for anything within a line, and a line of nothing but `…` for any number of lines.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest
import yaml

from .pages import ROOT, blocks, run

PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
READ: Final = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}
FOUND: Final = {page: blocks(page, text) for page, text in READ.items()}
#: Pages whose blocks are run in `make test` too; the others take minutes.
FAST: Final = {"README.md", "docs/policy.md"}


@pytest.mark.parametrize(
    ("page", "number"),
    [
        pytest.param(page, number, id=block.place, marks=() if page in FAST else pytest.mark.slow)
        for page, found in FOUND.items()
        for number, block in enumerate(found)
    ],
)
def test_a_block_does_what_its_page_says(page: str, number: int, tmp_path: Path) -> None:
    run(FOUND[page], number, tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```\nls\n```", "is no tag of a block"),
        ("```bash\nls\n```", "is no tag of a block"),
        ("```sh\nls\n```", "page.md:1"),
        ("```sh\nmake nothing-like-it\n```", "nothing-like-it"),
        ("```yaml\nversion: 1\n```", "is no tag of a block"),
        ("```yaml policy\nversion: 2\n```", "this policy is not clean"),
        ("```yaml policy\nversion: 1\ntools: {bsh: {require: [intent]}}\n```", "is not clean"),
        ("```yaml policy error\nversion: 1\n```\n```text error\n…\n```", "no error here"),
        ("```yaml policy error\nversion: 2\n```", "a `text error` block must follow"),
        ("```yaml policy error\nversion: 2\n```\n```text error\nno\n```", "the page shows"),
        ("```yaml file\na: 1\n```", "this block needs a title"),
        ("```yaml file title=../x.yaml\na: 1\n```", "lies outside the folder"),
        ("```python\nraise SystemExit(3)\n```", "page.md:1"),
        ("```python\nprint(1)\n```\n```text output\n2\n```", "the page shows"),
        ("```console\n$ echo a\nb\n```", "the page shows"),
        ("```console\n$ echo a; echo b >&2\na\n```", "the page shows"),
        ("```console\n$ exit 3\n```", "page.md:1"),
        ("```console\necho a\n```", "output before any"),
        ("```json\n{\n```", "Expecting"),
    ],
)
def test_a_block_that_says_something_else_fails(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception), match=complaint):
        run(blocks("page.md", text), 0, tmp_path)


def test_a_reply_to_nothing_fails(tmp_path: Path) -> None:
    page = blocks("page.md", "```json\n1\n```\n```text output\n1\n```")
    with pytest.raises(AssertionError, match="it answers no block"):
        run(page, 1, tmp_path)


def test_a_fence_that_is_never_closed_fails() -> None:
    with pytest.raises(ValueError, match=r"page\.md:2: this fence is never closed"):
        blocks("page.md", "text\n```json\n{}\n")


def test_blocks_see_the_files_before_them_and_not_the_faulty_ones(tmp_path: Path) -> None:
    text = (
        "```yaml policy\nversion: 1\nunlisted: deny\n```\n"
        "```yaml policy error\nversion: 2\n```\n```text error\n…\n```\n"
        '```yaml file title="more/a.yaml"\na: 1\n```\n'
        "```console\n$ cat .tool-intent/policy.yaml more/a.yaml\nversion: 1\n…\na: …\n```"
    )
    page = blocks("page.md", text)
    run(page, len(page) - 1, tmp_path)


def _anchors(text: str) -> set[str]:
    """The names that a code host gives to the headings of a page."""
    prose = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ +(.*?) *$", prose, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", READ)
def test_links_within_the_repository_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", READ[page]):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        linked = ROOT / page if not file else (ROOT / page).parent / file
        assert linked.exists(), f"{page}: {target}"
        assert not anchor or anchor in _anchors(linked.read_text(encoding="utf-8")), target


def _codes() -> set[str]:
    """Every code that the loader gives: those of the table, and those its text shows elsewhere."""
    table = yaml.safe_load((ROOT / "tests/conformance/policy_errors.yaml").read_text("utf-8"))
    said = [d for case in table for d in case.get("errors", []) + case.get("warnings", [])]
    rooms = (ROOT / "engine/tool_intent/policy").glob("*.py")
    source = "".join(file.read_text("utf-8") for file in rooms)
    nodes = (ROOT / "engine/tool_intent/policy/yaml_nodes.py").read_text("utf-8")
    return (
        {d["code"] for d in said}
        | set(re.findall(r'"((?:policy|yaml)/[a-z-]+)"', source))
        | {f"yaml/{word}" for word in re.findall(r'_error\(\s*"([a-z-]+)"', nodes)}
    )


def test_every_error_code_is_explained() -> None:
    page = READ["docs/policy.md"]
    assert not [code for code in sorted(_codes()) if f"| `{code}` |" not in page]


def test_every_key_of_the_format_has_a_section() -> None:
    schema = json.loads((ROOT / "policies/schema/policy.schema.json").read_text("utf-8"))
    entry = schema["$defs"]["entry"]["properties"]
    constraints = schema["$defs"]["constraint"]["properties"]
    page = READ["docs/policy.md"]
    headings = re.findall(r"^#+ (.*)$", page, flags=re.MULTILINE)
    named = {word for heading in headings for word in re.findall(r"`([^`]+)`", heading)}
    assert named >= set(schema["properties"]) | set(entry)
    assert not [word for word in constraints if f"`{word}`" not in page]


def test_every_built_in_finding_is_explained() -> None:
    rooms = [*ROOT.glob("engine/tool_intent/compiler/*.py"),
             *ROOT.glob("engine/tool_intent/runtime/*.py")]  # fmt: skip
    source = "".join(file.read_text("utf-8") for file in rooms)
    ids = set(re.findall(r'"((?:entries|args|tools|policy|engine)/[a-z-]+)"', source))
    ids |= {f"fields/{name}" for name in ("missing", "type", "unreadable", "misspelt", "collision")}
    assert ids >= {"tools/unlisted", "policy/broken", "engine/rule-error", "args/ambiguous"}
    page = READ["docs/policy.md"]
    assert not [one for one in sorted(ids) if f"| `{one}` |" not in page]

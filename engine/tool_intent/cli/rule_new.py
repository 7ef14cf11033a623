"""`rule new`: files to start a rule from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tool_intent.authoring.scaffold import BadName, scaffold
from tool_intent.cli.terminal import fail, out, visible
from tool_intent.policy.opening import FOLDER

app = typer.Typer(no_args_is_help=True, help="Rules of your own.")


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(help="Its id, such as acme/no-stock-phrases.")],
    folder: Annotated[Path, typer.Option("--in", metavar="DIR", help="Where its files go.")] = Path(
        FOLDER
    ),
) -> None:
    """Write a first version of a rule: a sentence with examples, words, labelled calls and a page.

    All of it works as it is, and is there to be changed. An existing file is never touched.

    Example: tool-intent rule new acme/no-stock-phrases
    """
    try:
        files = scaffold(name, str(folder))
    except BadName as error:
        fail(str(error))
    there = [str(folder / file) for file in files if (folder / file).is_symlink()]
    there += [str(folder / file) for file in files if (folder / file).exists()]
    if there:
        fail(f"{there[0]} is already there; take another name, or remove it first")
    for file, text in files.items():
        _write(folder / file, text)
    short = name.partition("/")[2]
    rules, corpus = folder / f"{short}.rules", folder / "corpus" / f"{short}.jsonl"
    out.print("Wrote")
    for file in files:
        out.print(visible(f"  {folder / file}"))
    out.print("Next:")
    out.print(visible(f"  tool-intent test {rules}   # do its examples show what they say?"))
    out.print(visible(f"  tool-intent eval {rules} {corpus}   # how often is it right?"))


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}")

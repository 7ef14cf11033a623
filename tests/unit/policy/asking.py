"""Folders with the owners and modes that a test says, and questions asked about them by a user
without rights in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
ENGINE: Final = HERE.parents[2] / "engine"

#: Who asks, and a user and a group that are somebody else's. `yours` is a further group.
OWNERS: Final = {"root": 0, "you": 65534, "other": 1234}
GROUPS: Final = {"root": 0, "yours": 4242, "primary": 65534, "others": 4343}
YOU: Final = OWNERS["you"]
AS_ROOT: Final = os.geteuid() == 0


def build(top: Path, tree: Mapping[str, str]) -> None:
    """Make each entry of `tree`: `name/` a folder, another a file, given as `OWNER[:GROUP] MODE`,
    or as `OWNER -> TARGET` a link, where `{top}` is `top`."""
    for name, said in tree.items():
        path = top / name
        owner, _, what = said.partition(" ")
        owner, _, group = owner.partition(":")
        if what.startswith("-> "):
            path.symlink_to(what[3:].format(top=top))
        elif name.endswith("/"):
            path.mkdir()
        else:
            path.write_text(f"{name}\n")
        os.chown(path, OWNERS[owner], GROUPS[group or "root"], follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(int(what, 8))


def ask(
    *calls: Sequence[Any],
    uids: tuple[int, int, int] | None = (YOU, YOU, YOU),
    gid: int = GROUPS["primary"],
    groups: Sequence[int] = (GROUPS["yours"],),
) -> list[Any]:
    """The answers to `calls`, each a question of `unprivileged.py` and its arguments."""
    request = {"uids": uids, "gid": gid, "groups": list(groups), "calls": calls}
    done = subprocess.run(
        [sys.executable, str(HERE / "unprivileged.py")],
        input=json.dumps(request),
        env={"PYTHONPATH": str(ENGINE), "PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(done.stdout)
    return answers

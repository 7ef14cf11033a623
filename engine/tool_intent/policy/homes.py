"""The folders of the person who runs this. What the environment says adds to what the account
says, and never replaces it: a repository's `.envrc` sets `HOME` as easily as a person does."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The file of roots that are known to have had a policy, in a state folder.
_ROOTS = os.path.join("tool-intent", "roots")


@functools.cache
def account_home() -> str:
    """The home folder of the real user, from the password database; "" where there is no entry."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


class Place(NamedTuple):
    """A folder or file, its name for people, and whether it is the account's own, wherever the
    environment says that the home folder is."""

    path: str
    shown: str
    own: bool


def policy_folders(env: Mapping[str, str], account: str) -> list[Place]:
    """The folders of user rank."""
    return _places(env, account, "XDG_CONFIG_HOME", ".config", "tool-intent")


def root_files(env: Mapping[str, str], account: str) -> list[Place]:
    """The files that may list known roots; the first is the one to write to."""
    return _places(env, account, "XDG_STATE_HOME", os.path.join(".local", "state"), _ROOTS)


def _places(
    env: Mapping[str, str], account: str, variable: str, below: str, name: str
) -> list[Place]:
    found: dict[str, Place] = {}
    own = os.path.realpath(os.path.join(account, below, name)) if os.path.isabs(account) else ""

    def add(path: str, shown: str) -> None:
        real = os.path.realpath(path)
        found.setdefault(real, Place(path, shown, real == own))

    set_here = env.get(variable, "")
    if os.path.isabs(set_here):
        path = os.path.join(set_here, name)
        add(path, path)
    home = env.get("HOME") or account
    for base in (home, account):
        if os.path.isabs(base):
            path = os.path.join(base, below, name)
            add(path, os.path.join("~", below, name) if base == home else path)
    return list(found.values())

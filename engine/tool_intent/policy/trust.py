"""Whether the user this process runs as could change what a file says.

What an organisation permits counts only where the agent cannot write it, and the agent runs as the
user of this process. Standard library only, and little of it: this is asked on the way to every
decision.

**When to ask.** Ask before the file is read. Where the answer is None, none of the entries that
lead to the file can be replaced by this user, so what is read afterwards is what was asked about,
unless somebody with more rights gives them away in between. An answer that is asked for after
reading says nothing of the bytes read: see `standing`, which reads again and compares.

**What it cannot see.** A descriptor opened for writing before the file was given to another user;
`sudo` without a password; capabilities that access(2) does not show; a file system that says of its
owners what this user likes (FUSE, a mount in a namespace of one's own, a server). Who can start
the engine inside such a thing can as well not start it.
"""

from __future__ import annotations

import os
import stat
from typing import Final, NamedTuple

_ROOT: Final = 0
#: As many links as Linux follows.
_MOST_LINKS: Final = 40


def why_writable(path: str) -> str | None:
    """Why the user of this process could change what `path` says; None where that user cannot.

    The answer is a clause, such as "the folder `/etc/x` is writable by everyone". Looked at are the
    file, each folder and each link that the kernel passes on the way to it, up to the root. What
    is missing or cannot be looked at is no source to trust either, and is said. Never raises.
    """
    user = _User.of_this_process()
    if _ROOT in user.uids:
        return "you are root, who can write everything"
    try:
        return _Walk(user).reason(path)
    except FileNotFoundError as error:
        return f"there is no `{error.filename or path}`"
    except OSError as error:
        what = (error.strerror or type(error).__name__).lower()
        return f"`{error.filename or path}` cannot be looked at: {what}"
    except ValueError:  # a NUL in the path
        return "its path is not one that a file can have"


class _User(NamedTuple):
    """The users and groups a process may act as: real, effective and saved, and its further
    groups."""

    uids: frozenset[int]
    gids: frozenset[int]

    @classmethod
    def of_this_process(cls) -> _User:
        return cls(frozenset(os.getresuid()), frozenset((*os.getresgid(), *os.getgroups())))

    def in_group(self, gid: int) -> bool:
        """Whether the process has a group, or its user may take it on (`newgrp`)."""
        if gid in self.gids:
            return True
        import grp
        import pwd

        try:
            members = grp.getgrgid(gid).gr_mem
        except KeyError:
            return False
        for uid in self.uids:
            try:
                entry = pwd.getpwuid(uid)
            except KeyError:
                continue
            if entry.pw_gid == gid or entry.pw_name in members:
                return True
        return False

    def why(self, path: str, status: os.stat_result, what: str) -> str | None:
        """Why this user could change the file, folder or link at `path`; `what` it is called."""
        if status.st_uid in self.uids:
            return f"{what} belongs to you"
        mode = status.st_mode
        if stat.S_ISLNK(mode):  # whose mode means nothing
            return None
        if mode & stat.S_IWOTH:
            return f"{what} is writable by everyone"
        if mode & stat.S_IWGRP and self.in_group(status.st_gid):
            return f"{what} is writable by the group {status.st_gid}, which is yours"
        # What the mode does not show: access control lists, capabilities, other systems' rules.
        if any(os.access(path, os.W_OK, effective_ids=effective) for effective in (True, False)):
            return f"{what} is writable by you, by an access control list or a capability"
        return None


class _Walk:
    """The way of the kernel to a file, entry by entry from the root."""

    def __init__(self, user: _User) -> None:
        self._user = user
        #: Folders this user may put things into but not take other users' things out of, and why.
        self._sticky: dict[str, str] = {}
        self._links = 0

    def reason(self, path: str) -> str | None:
        """Why what `path` says could be changed. Raises OSError where it cannot be looked at."""
        ahead = _parts(os.path.join(os.getcwd(), path))
        reason = self._enter(os.sep, os.lstat(os.sep))
        at = os.sep
        while ahead and reason is None:
            name = ahead.pop()
            if name == os.pardir:
                at = os.path.dirname(at)
                continue
            here = os.path.join(at, name)
            status = os.lstat(here)
            reason = self._enter(here, status) or self._placed(at, status)
            if not stat.S_ISLNK(status.st_mode):
                at = here
                continue
            self._links += 1
            if self._links > _MOST_LINKS:
                return f"`{path}` leads through more than {_MOST_LINKS} links"
            target = os.readlink(here)
            if os.path.isabs(target):
                at = os.sep
            ahead += _parts(target)
        if reason is not None:
            return reason
        os.stat(path)  # which alone knows that a file named as a folder (`f/`) leads nowhere
        return self._sticky.get(at)

    def _enter(self, here: str, status: os.stat_result) -> str | None:
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            reason = self._user.why(here, status, f"the folder `{here}`")
            if reason is None or not mode & stat.S_ISVTX or status.st_uid in self._user.uids:
                return reason
            self._sticky[here] = reason
            return None
        what = f"the link `{here}`" if stat.S_ISLNK(mode) else "it"
        return self._user.why(here, status, what)

    def _placed(self, folder: str, status: os.stat_result) -> str | None:
        """Why this user may have put another's file where it is. Into a sticky folder it can be
        linked, or moved from a folder that is not sticky; a folder of another user cannot be."""
        return None if stat.S_ISDIR(status.st_mode) else self._sticky.get(folder)


def _parts(path: str) -> list[str]:
    """The names in a path that lead somewhere, last first."""
    return [name for name in reversed(path.split(os.sep)) if name not in ("", os.curdir)]

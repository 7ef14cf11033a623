"""A machine that an organisation manages: commands see a folder of the test as /etc/tool-intent,
and run as a user who cannot write there.

It takes a mount namespace, so it takes root; `WHY_NOT` says what is missing elsewhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from .command import Command

MACHINE: Final = "/etc/tool-intent"
USER: Final = 65534
#: What programs look up in /etc to know users and their own libraries.
_NEEDED: Final = ("passwd", "group", "nsswitch.conf", "localtime", "ld.so.cache", "ssl")
#: The user may read everything (the interpreter may lie in root's home) and write nothing more.
_AS_USER: Final = (
    "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
    "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--",
)  # fmt: skip
_SCRIPT: Final = 'etc=$1; shift; mount --bind "$etc" /etc && exec "$@"'
_NAMESPACE: Final = ("unshare", "--mount", "--propagation", "private", "sh", "-c", _SCRIPT, "sh")


def _why_not() -> str | None:
    if os.geteuid() != 0:
        return "only root can put a folder in the place of /etc/tool-intent"
    for tool in ("unshare", "setpriv", "mount"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        return "mount namespaces are not allowed here"
    return None


#: Why no managed machine can be had here; None where it can.
WHY_NOT: Final = _why_not()


class Managed(Command):
    """The command on such a machine. `machine` is what it has as /etc/tool-intent."""

    is_plain = False

    def __init__(self, home: Path, cwd: Path) -> None:
        super().__init__(home, cwd)
        self.account = home
        self._etc = home.parent / "etc"
        self._etc.mkdir(exist_ok=True)
        for name in _NEEDED:
            source = Path("/etc") / name
            if source.is_dir():
                shutil.copytree(source, self._etc / name, symlinks=True, dirs_exist_ok=True)
            elif source.exists():
                shutil.copy(source, self._etc / name)
        self.machine = self._etc / "tool-intent"
        self.machine.mkdir(exist_ok=True)

    def launcher(self) -> list[str | Path]:
        """What any program is started by on this machine. The folders of the project and of the
        user are given to the user first."""
        for top in (self.home, self.cwd):
            for folder, _, files in os.walk(top):
                for path in (folder, *(os.path.join(folder, file) for file in files)):
                    os.chown(path, USER, USER, follow_symlinks=False)
        return [*_NAMESPACE, self._etc, *_AS_USER]

    def program(self) -> list[str | Path]:
        return [*self.launcher(), *super().program()]

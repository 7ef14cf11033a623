"""Start a command with less than its user could do: `python restricted.py WHAT COMMAND ARGUMENT…`.

`no-override` gives up root's right to pass over file modes. The uid stays, so a checkout that only
root can enter still works; other users never had that right. `no-space` lets no file grow, as on a
full disk. A script and not a `preexec_fn`, which threads forbid.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2


def no_override() -> None:
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "root may not drop a capability here")


def no_space() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


if __name__ == "__main__":
    {"no-override": no_override, "no-space": no_space}[sys.argv[1]]()
    os.execv(sys.argv[2], sys.argv[2:])

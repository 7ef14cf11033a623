"""Windows paths as text: drives, shares, streams, and names that Windows reads as others."""

from __future__ import annotations

import ntpath
import re
from pathlib import PureWindowsPath
from typing import Final

_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.I)
_SHORT: Final = re.compile(r"[^.]{1,6}~[0-9]+(?:\.[^.]{0,3})?")


def absolute(text: str, cwd: str | None) -> str | None:
    r"""The normalised absolute path, with `/` for `\`, or None where the text does not tell it.

    Trailing dots and spaces of a name and the stream behind a colon are dropped, as Windows opens
    the same file with and without them. None for `C:x` when the directory is on another drive.
    """
    text = _unprefixed(text)
    path = PureWindowsPath(text)
    if not path.is_absolute():
        if cwd is None:
            return None
        path = PureWindowsPath(cwd) / path
        if not path.is_absolute():
            return None
    normal = ntpath.normpath(str(path))
    drive, rest = ntpath.splitdrive(normal)
    names = [_name(name) for name in rest.split("\\") if name]
    return "/".join([drive.replace("\\", "/").upper(), *filter(None, names)])


def doubtful(path: str) -> bool:
    """Whether a name in an absolute path may stand for another file: `PROGRA~1`, `NUL`."""
    names = path.split("/")[1:]
    return any(_SHORT.fullmatch(name) or _DEVICE.fullmatch(name) for name in names)


def _unprefixed(text: str) -> str:
    text = text.replace("/", "\\")
    for prefix in ("\\\\?\\", "\\\\.\\", "\\??\\"):
        if text.startswith(prefix):
            rest = text[len(prefix) :]
            return "\\\\" + rest[4:] if rest[:4].upper() == "UNC\\" else rest
    return text


def _name(name: str) -> str:
    return name.split(":", 1)[0].rstrip(". ")

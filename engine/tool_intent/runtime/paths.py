"""Paths of the rule language: where a path text leads, and whether that is under or like something.

A text may lead to several places: what it says and where the file system's links take it; the file
a `file:` URL names and the file that is called so. `under` and `like` are true if it is in every
place that is known of the likeliest reading, false only if all are known and it is in none, and
None (unknown) otherwise: what is behind a link that leads out of a folder is neither surely in nor
surely out. Nothing here raises for what a text or a file system holds.
"""

from __future__ import annotations

import ntpath
import os
import posixpath
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from tool_intent.runtime.casing import composed, folded
from tool_intent.runtime.globs import Glob, compile_glob
from tool_intent.runtime.links import Seen, kept, normal
from tool_intent.runtime.links import real as real_path

MAX_BYTES: Final = 4096

_EXPANDS: Final = re.compile(r"[$`*?]|\[[^\]]*\]|\{[^{}]*(?:,|\.\.)[^{}]*\}")
_WINDOWS_VARIABLE: Final = re.compile(r"%[^%]+%")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_FILE_URL: Final = re.compile(r"file:(?://(?:localhost)?)?(/(?!/)[^?#]*)", re.IGNORECASE)
_FILE: Final = re.compile(r"file:", re.IGNORECASE)
#: Folders at the head of a glob in which no character is special.
_PLAIN_FOLDERS: Final = re.compile(r"/(?:[^/*?\[\]{}\\]+/)+")


class Place(NamedTuple):
    """Where paths are read.

    `root` is the absolute folder that relative directories and globs of a policy start at; `cwd`
    the absolute folder of the call, None if unknown; `home` likewise. `case_insensitive` says
    whether the file system ignores case, None if unknown (on Windows it then does). `seen` keeps
    what was found at paths, where that is to count for several questions.
    """

    root: str
    cwd: str | None = None
    home: str | None = None
    case_insensitive: bool | None = None
    windows: bool = False
    seen: Seen | None = None

    @property
    def ignores_case(self) -> bool | None:
        """Whether names that differ in case are one file, None if unknown."""
        return True if self.windows and self.case_insensitive is None else self.case_insensitive


class Resolved(NamedTuple):
    """Where a path text leads; absolute, with `/` between names, no `.` or `..`.

    `lexical` is what the text says, `real` the same behind all links, each None if unknown;
    `others` are further places of this reading, `readings` those of less likely ones. `known` is
    false where it may lead elsewhere still. `slash` says that the text ends as only a directory's
    does.
    """

    lexical: str | None
    real: str | None
    others: tuple[str, ...]
    known: bool
    slash: bool
    readings: tuple[str, ...] = ()

    @property
    def likeliest(self) -> tuple[str, ...]:
        """The places that are known of the likeliest reading, without repetition."""
        found = (self.lexical, self.real, *self.others)
        return tuple(dict.fromkeys(form for form in found if form is not None))

    @property
    def forms(self) -> tuple[str, ...]:
        """All places that are known, without repetition."""
        return tuple(dict.fromkeys(self.likeliest + self.readings))


_NOWHERE: Final = Resolved(None, None, (), known=True, slash=False)
_UNKNOWN: Final = Resolved(None, None, (), known=False, slash=False)
#: A folder no text can name: the unknown cwd, so that globs on names still see what is below it.
_SOMEWHERE: Final = "/\0"


def resolve(text: str, place: Place, *, literal: bool = False) -> Resolved:
    """Where `text` leads from the place's cwd.

    `literal` is for a reader that is known to expand no variables and globs; else a text that holds
    some may lead anywhere. The empty text leads nowhere; one with a NUL, with what no file name can
    encode, or over 4,096 bytes long is unknown.
    """
    if not text:
        return _NOWHERE
    if not _usable(text):
        return _UNKNOWN
    readings, known = _readings(text, place)
    known = known and (literal or not _expands(text, place))
    found = [_located(reading, place) for reading in readings]
    return found[0]._replace(
        known=known and all(one.known for one in found),
        slash=_ends_as_directory(text, place),
        readings=tuple(form for one in found[1:] for form in one.forms),
    )


def directory(text: str, place: Place) -> Resolved:
    """A directory as a policy names it: from the root, with no variables and globs in it."""

    def found(here: Place) -> Resolved:
        return resolve(text, here._replace(cwd=here.root), literal=True)

    return kept(("directory", text), place, found)


def under(path: str | Resolved, dirs: Iterable[str | Resolved], place: Place) -> bool | None:
    """Whether a path is one of the directories or lies in one.

    Texts are read by `directory`; a caller with many questions resolves both sides once.
    """
    here = path if isinstance(path, Resolved) else resolve(path, place)
    if not here.forms and here.known:
        return False
    theirs = [one if isinstance(one, Resolved) else directory(one, place) for one in dirs]
    folders = [form for one in theirs for form in one.forms]
    found = _agreed(here, lambda form: _compared((form,), folders, _inside, place))
    return _settled(found, here, *theirs)


def like(path: str | Resolved, globs: Iterable[str], place: Place) -> bool | None:
    """Whether a path matches a glob, from the root or, for a leading slash, as an absolute path.

    Raises GlobError for a glob that cannot be used.
    """
    here = path if isinstance(path, Resolved) else resolve(path, place)
    if not here.forms and here.known:
        return False
    texts = tuple(_at_home(text, place) for text in globs)
    spelt = kept(("globs", texts), place, lambda now: _spelt(texts, now))
    roots = directory(place.root, place).forms
    found = _agreed(here, lambda form: _form_like(spelt, form, roots, here, place))
    home_known = place.home is not None or not any(text.startswith("~/") for text in texts)
    return found if found or (here.known and home_known) else None


def same(left: str | Resolved, right: str | Resolved, place: Place) -> bool | None:
    """Whether two texts lead to one file; the empty text leads to none."""
    one = left if isinstance(left, Resolved) else resolve(left, place)
    two = right if isinstance(right, Resolved) else resolve(right, place)
    if (not one.forms and one.known) or (not two.forms and two.known):
        return False
    return _settled(_compared(one.forms, two.forms, str.__eq__, place), one, two)


def basename(text: str, *, windows: bool = False) -> str:
    """The last name of a path text; empty for the empty text and for a root."""
    separators = "/\\" if windows else "/"
    trimmed = text.rstrip(separators)
    return ntpath.basename(trimmed) if windows else posixpath.basename(trimmed)


def _ends_as_directory(text: str, place: Place) -> bool:
    text = text.replace("\\", "/") if place.windows else text
    return text.endswith(("/", "/.", "/..")) or text in (".", "..", "~")


def _usable(text: str) -> bool:
    try:
        return "\0" not in text and len(os.fsencode(text)) <= MAX_BYTES
    except UnicodeEncodeError:
        return False


def _expands(text: str, place: Place) -> bool:
    if place.windows and _WINDOWS_VARIABLE.search(text.removeprefix("\\\\?\\")):
        return True
    return _EXPANDS.search(text.removeprefix("\\\\?\\") if place.windows else text) is not None


def _readings(text: str, place: Place) -> tuple[list[str], bool]:
    """The path texts that `text` may stand for, likeliest first, and whether these are all."""
    if text.startswith("~"):
        rest = text[1:]
        if rest and not rest.startswith(("/", "\\") if place.windows else "/"):
            return [text], False
        return ([text], False) if place.home is None else ([place.home + rest, text], True)
    if _FILE.match(text):
        url = _FILE_URL.match(text)
        if url is None:
            return [text], False
        from urllib.parse import unquote

        decoded = unquote(url[1], errors="surrogateescape")
        if place.windows:
            decoded = re.sub(r"^/(?=[A-Za-z][:|])", "", decoded)
        return ([decoded, text], True) if _usable(decoded) else ([text], False)
    return [text], _SCHEME.match(text) is None


def _located(text: str, place: Place) -> Resolved:
    if place.windows:
        return _windows(text, place)
    if text.startswith("/"):
        whole = text
    elif place.cwd is None:
        below = posixpath.normpath(text)
        if below.startswith(".."):
            return _UNKNOWN
        return _UNKNOWN._replace(others=(posixpath.normpath(f"{_SOMEWHERE}/{below}"),))
    else:
        whole = f"{place.cwd}/{text}"
    lexical = normal(whole)
    # A tool may follow links name by name, as the system does, or tidy the text up first.
    real = real_path(whole, place)
    tidied = real if lexical == whole else real_path(lexical, place)
    others = () if tidied is None else (tidied,)
    return Resolved(lexical, real, others, real is not None and tidied is not None, slash=False)


def _windows(text: str, place: Place) -> Resolved:
    from tool_intent.runtime import winpaths

    lexical = winpaths.absolute(text, place.cwd)
    if lexical is None:
        return _UNKNOWN
    real = None
    if os.name == "nt":
        real = winpaths.absolute(os.path.realpath(lexical), place.cwd)
    return Resolved(
        lexical, real, (), real is not None and not winpaths.doubtful(real), slash=False
    )


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _compared(
    lefts: Sequence[str],
    rights: Sequence[str],
    test: Callable[[str, str], bool],
    place: Place,
) -> bool | None:
    """Whether a pair passes; None if one does only where case is ignored, and that is unknown."""
    if _passes(lefts, rights, test, composed):
        return True
    if place.ignores_case is False or not _passes(lefts, rights, test, folded):
        return False
    return place.ignores_case


def _passes(
    lefts: Sequence[str],
    rights: Sequence[str],
    test: Callable[[str, str], bool],
    key: Callable[[str], str],
) -> bool:
    keys = [key(right) for right in rights]
    return any(test(key(left), right) for left in lefts for right in keys)


def _settled(found: bool | None, *sides: Resolved) -> bool | None:
    """A comparison's answer: false only where every side is known."""
    return found if found or all(side.known for side in sides) else None


def _either(answers: Iterable[bool | None]) -> bool | None:
    """Kleene's `or`: stops at the first that is true."""
    unknown = False
    for answer in answers:
        if answer:
            return True
        unknown = unknown or answer is None
    return None if unknown else False


def _agreed(here: Resolved, test: Callable[[str], bool | None]) -> bool | None:
    """What is true of every place of the likeliest reading, false of every place of all; else
    None."""
    told = {test(form) for form in here.likeliest}
    if told == {True}:
        return True
    return (
        None if told - {False} or any(test(form) is not False for form in here.readings) else False
    )


def _at_home(text: str, place: Place) -> str:
    return text if place.home is None or not text.startswith("~/") else place.home + text[1:]


def _spelt(texts: Iterable[str], place: Place) -> list[Glob]:
    return [compile_glob(one) for text in texts for one in _spellings(text, place)]


def _spellings(text: str, place: Place) -> Iterable[str]:
    """A glob, and what it is behind the links of the folders that it begins with."""
    yield text
    folders = None if place.windows else _PLAIN_FOLDERS.match(text)
    if folders is not None:
        real = real_path(folders[0], place)
        if real is not None and real != folders[0].rstrip("/") and _PLAIN_FOLDERS.match(f"{real}/"):
            yield f"{real}/{text[folders.end() :]}"


def _form_like(
    globs: Sequence[Glob], form: str, roots: Sequence[str], here: Resolved, place: Place
) -> bool | None:
    """Whether one of the places of a path is like a glob."""
    whole = here.slash or not any(glob.directory for glob in globs) or _is_directory(form, place)
    names = _names(composed(form), [composed(root) for root in roots])
    exact = _either(_hit(g, g.exact, name, whole) for g in globs for name in names(g))
    if exact or place.ignores_case is False:
        return exact
    names = _names(folded(form), [folded(root) for root in roots])
    found = _either(_hit(g, g.fold, name, whole) for g in globs for name in names(g))
    return found if place.ignores_case or found is False else None


def _names(form: str, roots: Sequence[str]) -> Callable[[Glob], Sequence[str]]:
    """What of a place a glob is matched with: from the root, or all of it where that applies."""
    below = [form[len(root.rstrip("/")) + 1 :] for root in roots if _inside(form, root)]
    inside = [name for name in below if name]
    everywhere = [name for name in (*below, form.lstrip("/")) if name]

    def names(glob: Glob) -> Sequence[str]:
        return everywhere if glob.rooted or (glob.floating and not below) else inside

    return names


def _hit(glob: Glob, regex: re.Pattern[str], name: str, whole: bool | None) -> bool | None:
    """True for a match of a folder above; a glob for directories asks `whole` whether all of the
    name is one."""
    found = regex.match(name)
    if found is None:
        return False
    return whole if glob.directory and found.end() == len(name) else True


def _is_directory(path: str, place: Place) -> bool | None:
    if place.windows and os.name != "nt":
        return None
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return None

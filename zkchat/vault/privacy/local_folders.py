"""The folders of `privacy.local_only` as people write them, made into globs of the vault. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from posixpath import join, normpath
from typing import Final, NamedTuple

from zkchat.model.note import NOTE_SUFFIXES, NoteWarning
from zkchat.vault.privacy.classes import components, is_inside

SETTING: Final = "privacy.local_only"
_EVERYTHING: Final = "**"
_DRIVE: Final = re.compile(r"[A-Za-z]:/")


class LocalFolder(NamedTuple):
    written: str
    globs: tuple[str, ...]
    """What it means in the vault; none if it leads out of it."""


def local_folders(entries: Iterable[str], roots: Sequence[str], home: str) -> list[LocalFolder]:
    """What each entry means. `roots` are the names of the vault's folder, `home` is what `~` stands for."""
    return [LocalFolder(entry, tuple(_globs(entry, roots, home))) for entry in entries]


def unmatched(folders: Iterable[LocalFolder], paths: Sequence[str]) -> Iterator[NoteWarning]:
    """A warning for each entry that keeps no note of the vault back, with the folder that comes nearest."""
    for folder in folders:
        if not any(is_inside(path, folder.globs) for path in paths):
            what = "matches no note" if folder.globs else "is empty or leads out of the vault"
            nearest = _nearest(folder.written, paths)
            hint = f" Did you mean '{nearest}'?" if nearest else " Folders are written as they stand in the vault."
            yield NoteWarning(
                path=SETTING,
                text=f"'{folder.written}' {what}, so it keeps nothing on this machine.{hint}",
                kind="setting",
            )


def _globs(entry: str, roots: Sequence[str], home: str) -> Iterator[str]:
    text = entry.strip().replace("\\", "/")
    if not text:
        return
    if text == "~" or text.startswith("~/"):
        text = home.replace("\\", "/") + text[1:]
    wanted = _within(text, roots)
    if wanted is None:
        return
    glob = "/".join(wanted) or _EVERYTHING
    yield glob
    if wanted and not glob.endswith((*NOTE_SUFFIXES, "*")):
        yield from (glob + suffix for suffix in NOTE_SUFFIXES)  # a note by its name, and the note of a folder


def _within(text: str, roots: Sequence[str]) -> list[str] | None:
    """The part of a path below the vault; None where it leads out of it."""
    is_absolute = text.startswith("/") or bool(_DRIVE.match(text))
    plain = normpath(text)
    if not is_absolute and not plain.startswith(".."):
        return components(plain)
    for root in roots:
        place, base = components(normpath(join(root, text))), components(root)
        if place[: len(base)] == base:
            return place[len(base) :]
    # `/Journal` is a folder of the vault for many, as it is in a link; a path outside matches nothing there.
    return components(plain) if text.startswith("/") else None


def _nearest(written: str, paths: Sequence[str]) -> str:
    folders = {path[:end] for path in paths for end in _ends(path)}
    by_folded = {folder.casefold(): folder for folder in sorted(folders)}
    by_name = {name.rpartition("/")[2]: folder for name, folder in by_folded.items()}
    asked = written.strip().replace("\\", "/").strip("/").casefold()
    close = get_close_matches(asked, by_folded, n=1) or get_close_matches(asked.rpartition("/")[2], by_name, n=1)
    return (by_folded | by_name)[close[0]] if close else ""


def _ends(path: str) -> Iterator[int]:
    at = path.find("/")
    while at >= 0:
        yield at
        at = path.find("/", at + 1)

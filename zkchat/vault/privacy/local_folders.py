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
_TYPO_CUTOFF: Final = 0.8
"""Similarity of names from which on one is taken for a typo of the other: `Dairies` of `Diaries`."""
_DRIVE: Final = re.compile(r"[A-Za-z]:/")


class LocalFolder(NamedTuple):
    written: str
    globs: tuple[str, ...]
    """What it means in the vault; none if it leads out of it."""
    is_user_wide: bool = False
    """Whether it stands in the user's own file, and so may be meant for another vault."""


def local_folders(entries: Iterable[str], roots: Sequence[str], home: str, *, user_wide: int = 0) -> list[LocalFolder]:
    """What each entry means. `roots` are the names of the vault's folder, `home` is what `~` stands for.

    The first `user_wide` entries are those of the user's own file.
    """
    return [
        LocalFolder(entry, tuple(_globs(entry, roots, home)), is_user_wide=number < user_wide)
        for number, entry in enumerate(entries)
    ]


def unmatched(folders: Iterable[LocalFolder], paths: Sequence[str]) -> Iterator[NoteWarning]:
    """A warning for each entry that keeps no note of the vault back, with the folder that comes nearest.

    An entry of the user's own file may be meant for another vault: it is warned of only if it looks like a typo.
    """
    for folder in folders:
        if folder.is_user_wide and not _looks_like_a_typo(folder.written, paths):
            continue
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


def _looks_like_a_typo(written: str, paths: Sequence[str]) -> bool:
    """Whether the name of a folder of the vault is almost the same."""
    name = written.strip().replace("\\", "/")
    if name.startswith(("/", "~", "..")) or _DRIVE.match(name):
        return False
    return bool(get_close_matches(name.strip("/").casefold(), _by_folded(paths), n=1, cutoff=_TYPO_CUTOFF))


def _by_folded(paths: Sequence[str]) -> dict[str, str]:
    """The folders of the vault by their names in lower case."""
    folders = {path[:end] for path in paths for end in _ends(path)}
    return {folder.casefold(): folder for folder in sorted(folders)}


def _nearest(written: str, paths: Sequence[str]) -> str:
    by_folded = _by_folded(paths)
    by_name = {name.rpartition("/")[2]: folder for name, folder in by_folded.items()}
    asked = written.strip().replace("\\", "/").strip("/").casefold()
    close = get_close_matches(asked, by_folded, n=1) or get_close_matches(asked.rpartition("/")[2], by_name, n=1)
    return (by_folded | by_name)[close[0]] if close else ""


def _ends(path: str) -> Iterator[int]:
    at = path.find("/")
    while at >= 0:
        yield at
        at = path.find("/", at + 1)

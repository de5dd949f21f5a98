"""How far a note may go: anywhere, not off this machine, or nowhere at all. Pure; in doubt the stricter."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from zkchat.model.globs import Glob
from zkchat.model.note import PrivacyClass
from zkchat.vault.frontmatter import cut
from zkchat.vault.markdown import flatten

PROPERTY: Final = "zkchat"

_MENTION: Final = re.compile(rf"^\s*[\"']?{PROPERTY}[\"']?\s*:", re.IGNORECASE | re.MULTILINE)


def privacy_of(
    frontmatter: Mapping[str, object], path: str, local_only: Sequence[str] = (), *, unread: str = ""
) -> PrivacyClass:
    """The class of a note, by its property `zkchat` and the folders of `privacy.local_only`; the stricter counts.

    A value that cannot be understood, and a frontmatter that could not be read (`unread`) but has a line for it,
    count as `never`: somebody wanted to keep the note to themselves.
    """
    own = next((value for name, value in frontmatter.items() if name.casefold() == PROPERTY), None)
    if own is None:
        asked: PrivacyClass = "never" if _MENTION.search(unread) else "open"
    else:
        asked = _class_of(own)
    if asked == "open" and _is_inside(path, local_only):
        return "local"
    return asked


def privacy_of_text(text: str, path: str, local_only: Sequence[str] = ()) -> PrivacyClass:
    """The same, of a note as it stands in its file."""
    flat = flatten(text)
    matter = cut(flat, start=int(text.startswith("\ufeff")))
    unread = flat[slice(*matter.span)] if matter.warning else ""
    return privacy_of(matter.properties, path, local_only, unread=unread)


def _class_of(value: object) -> PrivacyClass:
    match value.strip().casefold() if isinstance(value, str) else value:
        case "open" | "":
            return "open"
        case "local":
            return "local"
        case _:
            return "never"


def _is_inside(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of the folders' or below it, in any case and either Unicode form: some disks know no
    difference. A folder may be a glob, in which `**` stands for any number of folders.
    """
    globs = _globs(tuple(folders))
    components = _components(path) if globs else []
    return any(glob.matches(components) for glob in globs)


@lru_cache(maxsize=8)
def _globs(folders: tuple[str, ...]) -> list[Glob]:
    return [*filter(None, (Glob(_components(folder), whole=False) for folder in folders))]


def _components(path: str) -> list[str]:
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
    return [part for part in folded.replace("\\", "/").split("/") if part not in {"", "."}]

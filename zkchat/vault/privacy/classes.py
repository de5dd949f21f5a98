"""How far a note may go: anywhere, not off this machine, or nowhere at all. Pure; in doubt the stricter."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from zkchat.model.globs import Glob
from zkchat.model.note import PrivacyClass
from zkchat.vault.privacy.declarations import written_class


def privacy_of_text(text: str, path: str, local_only: Sequence[str] = ()) -> PrivacyClass:
    """The class of a note, by what its text says of itself and by the folders of `privacy.local_only`.

    The stricter counts.
    """
    written = written_class(text).privacy
    return "local" if written == "open" and is_inside(path, local_only) else written


def is_inside(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of the folders' or below it, in any case and either Unicode form: some disks know no
    difference. A folder may be a glob, in which `**` stands for any number of folders.
    """
    globs = _globs(tuple(folders))
    names = components(path) if globs else []
    return any(glob.matches(names) for glob in globs)


@lru_cache(maxsize=8)
def _globs(folders: tuple[str, ...]) -> list[Glob]:
    return [*filter(None, (Glob(components(folder), whole=False) for folder in folders))]


def components(path: str) -> list[str]:
    """The names of a path, without those that mean nothing, each as a disk may compare it."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
    return [part for part in folded.replace("\\", "/").split("/") if part not in {"", "."}]

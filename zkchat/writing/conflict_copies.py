"""Copies that a sync left beside a note because it was changed in two places."""

import re
from collections.abc import Iterable
from typing import Final

from zkchat.model.patterns import lazy_pattern

_MARKS: Final = lazy_pattern(
    r"(?: \((?:[^()]* )?conflicted copy\b[^()]*\)| \(SFConflict [^()]*\)|\.sync-conflict-\d{8}-\d{6}(?:-\w+)?)",
    re.IGNORECASE,
)
"""Of Dropbox, Nextcloud and Obsidian Sync; of Seafile; of Syncthing."""


def conflict_copies(path: str, files: Iterable[str]) -> list[str]:
    """Those of the files that are copies of this one, by their names."""
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    end = dot + suffix
    prefix = f"{folder}/{stem}" if folder else stem
    return sorted(
        each
        for each in files
        if each.startswith(prefix) and each.endswith(end) and _MARKS.fullmatch(each, len(prefix), len(each) - len(end))
    )

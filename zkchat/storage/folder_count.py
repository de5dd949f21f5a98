"""How many notes and files a folder holds, counted up to a bound."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.model.note import is_note
from zkchat.storage.vault_files import is_left_out

MAX_FILES: Final = 50_000
"""Names looked at, folders included: a tenth of a second on a local disk."""


class FolderCount(Struct, frozen=True, kw_only=True):
    notes: int
    files: int
    is_complete: bool
    """False where a bound was reached, so that there may be more."""


def count_notes(folder: Path, *, max_notes: int, max_files: int = MAX_FILES) -> FolderCount:
    """Count without following links, and without what is never indexed; what cannot be listed counts as empty."""
    notes = files = seen = 0
    folders = [str(folder)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if notes > max_notes or seen >= max_files:
                    return FolderCount(notes=notes, files=files, is_complete=False)
                seen += 1
                if is_left_out(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    files += 1
                    notes += is_note(entry.name)
    return FolderCount(notes=notes, files=files, is_complete=True)

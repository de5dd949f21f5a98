"""A real library over a small vault on disk."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from zkchat.storage.note_index import SqliteNoteIndex
from zkchat.storage.vault_files import VaultFiles
from zkchat.vault.library import Library


@contextmanager
def library_of(folder: Path, notes: dict[str, str]) -> Iterator[Library]:
    vault = folder / "vault"
    for path, text in notes.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text)
    vault.mkdir(exist_ok=True)
    with closing(SqliteNoteIndex(folder / "index.db")) as index:
        library = Library.over(VaultFiles(vault, exclude=(), max_note_bytes=1_000_000), index)
        library.refresh()
        yield library

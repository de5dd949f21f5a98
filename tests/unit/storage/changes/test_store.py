"""Change sets over real files: applied whole or not at all, undone to the last byte."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from tests.support.sessions import NOON
from zkchat.model.change import ChangeOrigin, ChangeSet, FileMove, FileWrite
from zkchat.storage.changes.files import VaultTree
from zkchat.storage.changes.journal import SqliteChangeJournal, open_journal
from zkchat.storage.changes.store import VaultChanges

HERE = ChangeOrigin(command="test")


@dataclass
class Disk:
    """A vault in a folder, with its journal in another."""

    folder: Path
    notices: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.vault = self.folder / "vault"
        self.vault.mkdir(exist_ok=True)
        self.journal = self.folder / "data" / "changes.db"
        self.store = self.new_store()

    def new_store(self) -> VaultChanges:
        tree = VaultTree(self.vault, exclude=["Private/**"], max_note_bytes=1_000_000)
        return VaultChanges(tree, self, notify=self.notices.append)

    @property
    def exists(self) -> bool:
        return self.journal.exists()

    def open(self) -> SqliteChangeJournal:
        ids = count()
        return open_journal(self.journal, now=lambda: NOON, new_id=lambda: f"i{next(ids)}").store

    def note(self, path: str, content: bytes) -> Path:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return file

    def tree(self) -> dict[str, bytes | None]:
        return {
            file.relative_to(self.vault).as_posix(): file.read_bytes() if file.is_file() else None
            for file in self.vault.rglob("*")
        }


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path)
    yield disk
    disk.store.close()


def write(path: str, before: bytes | None, after: bytes) -> FileWrite:
    return FileWrite(path=path, before=before, after=after)


def test_a_change_set_is_applied_and_undone(disk: Disk) -> None:
    disk.note("A.md", b"one\r\n")
    disk.note("Old/B.md", b"[[A]]")
    before = disk.tree()
    record = disk.store.apply(
        ChangeSet(
            title="Rename A",
            moves=(FileMove(source="A.md", target="New/Deep/A2.md"), FileMove(source="Old", target="Older")),
            writes=(
                write("New/Deep/A2.md", b"one\r\n", b"two\r\n"),
                write("Older/B.md", b"[[A]]", b"[[A2]]"),
                write("Older/More/C.md", None, b"new"),
            ),
        ),
        HERE,
    )
    assert disk.tree() == {
        "New": None, "New/Deep": None, "New/Deep/A2.md": b"two\r\n", "Older": None, "Older/B.md": b"[[A2]]",
        "Older/More": None, "Older/More/C.md": b"new",
    }  # fmt: skip
    assert [(each.id, each.state, each.at) for each in disk.store.records()] == [(record.id, "applied", NOON)]
    assert disk.store.undo(record.id).state == "undone"
    assert disk.tree() == before
    assert [each.state for each in disk.store.records()] == ["undone"]

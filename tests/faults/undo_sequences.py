"""Undo random sequences of change sets, with and without edits from outside in between.

    python -m tests.faults.undo_sequences FOLDER SEQUENCES CHANGES SEED

Undone from the last to the first, the tree must be what it was, in bytes and permissions. Where somebody else edits
notes in between, an undo may be refused, but then nothing may change, and no text of theirs may be lost. Prints one
JSON object.
"""

import json
import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from tests.support.change_disk import HERE, Disk, tree_of
from zkchat.core.errors import VaultError
from zkchat.writing.staging import StagedChanges

NAMES = ("a", "b", "Sub", "Ä", "e\u0301", "x y", "100%")
PIECES = ("\ufeff", "one\r\n", "two\n", "three", "\u00a0", "---\nkey: 'v'\n---\n", "[[a]]", "😀\n")


class Writer:
    """Makes random changes through the journal, and edits from outside."""

    def __init__(self, disk: Disk, rng: random.Random) -> None:
        self._disk = disk
        self._rng = rng
        self.texts: list[bytes] = []
        """What was written from outside, each text unlike every other."""

    def fill(self) -> None:
        for _ in range(12):
            self._disk.note(self._new_path(), self._text().encode(), mode=self._rng.choice([0o600, 0o644, 0o755]))
        (self._disk.vault / "empty").mkdir(exist_ok=True)

    def change(self) -> None:
        """One change set of one to four changes."""
        staged = StagedChanges(self._disk.store)
        while not staged:
            for _ in range(self._rng.randint(1, 4)):
                with suppress(VaultError):  # taken, or moved into itself
                    self._stage(staged)
        if changes := staged.change_set():
            self._disk.store.apply(changes, HERE)

    def edit_from_outside(self) -> None:
        text = f"outside {len(self.texts)};".encode()
        files = self._files()
        if files and self._rng.random() < 0.7:
            file = self._disk.vault / self._rng.choice(files)
            file.write_bytes(file.read_bytes() + text)
        else:
            path = self._new_path()
            if (self._disk.vault / path).exists():
                return
            with suppress(OSError):
                self._disk.note(path, text)
            if not (self._disk.vault / path).exists():
                return
        self.texts.append(text)

    def _stage(self, staged: StagedChanges) -> None:
        files = self._files()
        kind = self._rng.choice(["write", "write", "create", "move", "folder", "trash"]) if files else "create"
        file = self._rng.choice(files) if files else ""
        match kind:
            case "write":
                text = staged.read(file)
                if text is not None:
                    after = text + self._text() if self._rng.random() < 0.5 else self._text() + text
                    staged.write(file, after, made_from=text, title="Edit")
            case "create":
                staged.create(self._new_path(), self._text(), title="Create")
            case "move":
                staged.move(file, self._new_path(), title="Move")
            case "folder" if "/" in file:
                staged.move(file.rpartition("/")[0], self._new_path().removesuffix(".md"), title="Move folder")
            case "trash":
                staged.trash(file, title="Trash")

    def _files(self) -> list[str]:
        return sorted(path for path in self._disk.contents if not path.startswith("."))

    def _new_path(self) -> str:
        folders = self._rng.choices(NAMES, k=self._rng.choice([0, 0, 1, 1, 2]))
        return "/".join([*folders, f"{self._rng.choice(NAMES)}{self._rng.randrange(50)}.md"])

    def _text(self) -> str:
        return "".join(self._rng.choices(PIECES, k=self._rng.randrange(8))) + f"{self._rng.randrange(1000)}"


@contextmanager
def new_disk(folder: Path) -> Iterator[Disk]:
    folder.mkdir(parents=True)
    disk = Disk(folder)
    with closing(disk.store):
        yield disk
    shutil.rmtree(folder)


def is_identical_after_undo(folder: Path, changes: int, rng: random.Random) -> bool:
    with new_disk(folder) as disk:
        writer = Writer(disk, rng)
        writer.fill()
        before = disk.tree
        for _ in range(changes):
            writer.change()
        for record in disk.store.records():
            disk.store.undo(record.id)
        return disk.tree == before


def undo_among_edits(folder: Path, changes: int, rng: random.Random) -> tuple[int, int, int, int]:
    """How many sets were undone and refused, how many refusals changed something, and how many texts were lost."""
    undone = refused = disturbed = 0
    with new_disk(folder) as disk:
        writer = Writer(disk, rng)
        writer.fill()
        for _ in range(changes):
            if rng.random() < 0.3:
                writer.edit_from_outside()
            writer.change()
        for record in disk.store.records():
            before = tree_of(disk.vault)
            try:
                disk.store.undo(record.id)
                undone += 1
            except VaultError:
                refused += 1
                disturbed += disk.tree != before
        found = b"\n".join(disk.contents.values())
        return undone, refused, disturbed, sum(text not in found for text in writer.texts)


def main(folder: Path, sequences: int, changes: int, seed: int) -> None:
    rng = random.Random(seed)
    identical = sum(is_identical_after_undo(folder / f"alone {number}", changes, rng) for number in range(sequences))
    totals = [0, 0, 0, 0]
    for number in range(sequences):
        result = undo_among_edits(folder / f"among edits {number}", changes, rng)
        totals = [total + each for total, each in zip(totals, result, strict=True)]
    names = ("undone_among_edits", "refused", "refused_but_changed", "texts_lost")
    report = {
        "sequences": sequences,
        "changes": changes,
        "identical": identical,
        **dict(zip(names, totals, strict=True)),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))

"""Change one vault from several processes at once.

    python -m tests.faults.write_side_by_side FOLDER PROCESSES CHANGES

Each process adds its lines to one note that all of them change, and to one of its own, in the same change set. A set is
made anew where another process was faster. Every line must be there once, and every set in the journal. Prints one JSON
object.
"""

import json
import os
import sys
from contextlib import closing
from pathlib import Path

from tests.support.change_disk import Disk, write
from zkchat.errors import FilesChanged


def add_lines(folder: Path, name: str, changes: int) -> int:
    """How often a set was refused because another process had changed the note."""
    disk = Disk(folder)
    refused = 0
    with closing(disk.store):
        for number in range(changes):
            line = f"{name} {number}\n".encode()
            while True:
                shared, own = disk.store.read_bytes("Shared.md"), disk.store.read_bytes(f"{name}.md")
                try:
                    disk.apply(
                        write("Shared.md", shared, (shared or b"") + line),
                        write(f"{name}.md", own, (own or b"") + line),
                    )
                    break
                except FilesChanged:
                    refused += 1
    return refused


def main(folder: Path, processes: int, changes: int) -> None:
    folder.mkdir(exist_ok=True)
    listen, report = os.pipe()
    for number in range(processes):
        if not os.fork():
            try:
                os.write(report, f"{add_lines(folder, f'p{number}', changes)}\n".encode())
            finally:
                os._exit(0)
    os.close(report)
    with os.fdopen(listen, encoding="ascii") as stream:
        refused = [int(line) for line in stream]
    disk = Disk(folder)
    expected = sorted(f"p{process} {number}" for process in range(processes) for number in range(changes))
    own = [line for number in range(processes) for line in (disk.vault / f"p{number}.md").read_text().splitlines()]
    with closing(disk.store):
        result = {
            "processes": len(refused),
            "refused": sum(refused),
            "in_shared_note": sorted((disk.vault / "Shared.md").read_text().splitlines()) == expected,
            "in_own_notes": sorted(own) == expected,
            "in_journal": disk.states == ["applied"] * len(expected),
            "left_over": sum(".zkchat-" in file.name for file in disk.vault.rglob("*")),
        }
        for record in disk.store.records():
            disk.store.undo(record.id)
    result["undone"] = not [*disk.vault.iterdir()]
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

"""Write new notes in child processes that are killed at random moments.

    python tests/faults/kill_note_writes.py FOLDER KILLS SEED

After each kill every note of the vault must be whole. Prints one JSON object.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from zkchat.errors import VaultError
from zkchat.storage.note_writer import NoteWriter

LINES = 4000


def text_of(name: str) -> str:
    return f"{name} says the same on every line.\n" * LINES


def write_until_killed(vault: Path, first: int) -> None:
    notes = NoteWriter(vault, exclude=(), max_note_bytes=1)
    for number in range(first, first + 1_000_000):
        name = f"n{number}"
        try:
            notes.create(f"folder {number % 7}/{name}.md", text_of(name))
            notes.create("mine.md", "not mine")
        except VaultError:
            continue  # mine.md is there


def main(folder: Path, kills: int, seed: int) -> None:
    rng = random.Random(seed)
    vault = folder / "vault"
    vault.mkdir()
    (vault / "mine.md").write_text("mine")
    torn = written = 0
    for kill in range(kills):
        child = os.fork()
        if not child:
            write_until_killed(vault, kill * 1000)
        time.sleep(rng.uniform(0.0, 0.03))  # the kill comes at any moment: that is the test
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for note in vault.rglob("n*.md"):
            written += 1
            torn += note.read_text() != text_of(note.stem)
            note.unlink()
    left = [file.name for file in vault.rglob("*") if file.is_file() and file.name != "mine.md"]
    report = {
        "kills": kills,
        "written": written,
        "torn": torn,
        "changed": (vault / "mine.md").read_text() != "mine",
        "seen_by_others": [name for name in left if not name.startswith(".")],
        "left_over": len(left),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

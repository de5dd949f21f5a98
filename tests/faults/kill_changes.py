"""Apply and undo change sets in child processes that are killed at random moments.

    python -m tests.faults.kill_changes FOLDER KILLS SEED

A set moves a file, a folder and a note to the trash, rewrites notes and adds one in a new folder. After each kill and
the next start the vault must be as it was before the set or as it is after it, to the last byte, with no file left
over, and what was reported as done must be done. Prints one JSON object.
"""

import json
import os
import random
import signal
import sys
import time
from contextlib import closing
from pathlib import Path

from tests.support.change_disk import HERE, Disk, change, move, write
from zkchat.core.changes import ChangeSet

NOTES = 6
LINES = 500


def text_of(name: str, generation: int) -> bytes:
    return f"{name} of generation {generation} says the same on every line.\r\n".encode() * LINES


def files_of(generation: int) -> dict[str, bytes]:
    """All files of the vault after so many sets."""
    files = {f"n{number}.md": text_of(f"n{number}", generation) for number in range(NOTES)}
    files |= {f"f{generation}/in/a.md": text_of("a", generation), f"f{generation}/b.md": b"never written"}
    files |= {
        f"moved {generation}.md": b"only moved",
        f"d{generation}/e{generation}/new.md": text_of("new", generation),
    }
    files |= {f".trash/new {each}.md": text_of("new", each) for each in range(generation)}
    return files


def changes_to(generation: int) -> ChangeSet:
    before, after = files_of(generation - 1), files_of(generation)
    old, new = generation - 1, generation
    names = [*(f"n{number}.md" for number in range(NOTES)), f"f{new}/in/a.md"]
    return change(
        move(f"moved {old}.md", f"moved {new}.md"),
        move(f"f{old}", f"f{new}"),
        move(f"d{old}/e{old}/new.md", f".trash/new {old}.md"),
        *(write(name, before[name.replace(f"f{new}/", f"f{old}/")], after[name]) for name in names),
        write(f"d{new}/e{new}/new.md", None, after[f"d{new}/e{new}/new.md"]),
        title=f"Generation {new}",
    )


def found_in(vault: Path) -> dict[str, bytes]:
    return {file.relative_to(vault).as_posix(): file.read_bytes() for file in vault.rglob("*") if file.is_file()}


def generation_of(vault: Path) -> int | None:
    """How many sets the vault shows; None if it is in no state between two of them."""
    found = found_in(vault)
    named = [path for path in found if path.startswith("moved ")]
    if len(named) != 1:
        return None
    generation = int(named[0].removeprefix("moved ").removesuffix(".md"))
    return generation if found == files_of(generation) else None


def change_until_killed(folder: Path, generation: int, seed: int, report: int) -> None:
    """Says what it tries and what it has done, each in one line."""
    rng = random.Random(seed)
    disk = Disk(folder)
    disk.store.recover()
    while True:
        if generation and rng.random() < 0.3:
            wanted, (latest, *_) = generation - 1, (each for each in disk.store.records() if each.state == "applied")
            os.write(report, f"try {wanted}\n".encode())
            disk.store.undo(latest.id)
        else:
            wanted = generation + 1
            os.write(report, f"try {wanted}\n".encode())
            disk.store.apply(changes_to(wanted), HERE)
        generation = wanted
        os.write(report, f"done {generation}\n".encode())


def run_and_kill(folder: Path, generation: int, rng: random.Random) -> list[str]:
    """What a child said before it was killed."""
    listen, report = os.pipe()
    child = os.fork()
    if not child:
        os.close(listen)
        try:
            change_until_killed(folder, generation, rng.randrange(1 << 30), report)
        finally:
            os._exit(1)  # it does not end by itself
    os.close(report)
    time.sleep(rng.uniform(0.02, 0.3))  # the kill comes at any moment: that is the test
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(listen, encoding="ascii") as stream:
        said = stream.read().splitlines()
    assert os.WIFSIGNALED(status), "the child failed before it was killed"
    return said


def main(folder: Path, kills: int, seed: int) -> None:
    rng = random.Random(seed)
    folder.mkdir(exist_ok=True)
    disk = Disk(folder)
    for path, content in files_of(0).items():
        disk.note(path, content)
    disk.store.close()
    generation = changes = torn = not_whole = lost = left_over = taken_back = 0
    for _ in range(kills):
        said = run_and_kill(folder, generation, rng)
        whole = {content for known in range(generation + len(said) + 1) for content in files_of(known).values()}
        torn += sum(content not in whole for path, content in found_in(disk.vault).items() if ".zkchat-" not in path)
        next_start = Disk(folder)
        next_start.store.recover()
        taken_back += len(next_start.notices)
        now = generation_of(disk.vault)
        left_over += sum(".zkchat-" in file.name for file in disk.vault.rglob("*"))
        left_over += sum(int(each.name[1:]) > (now or 0) for each in disk.vault.glob("d*"))  # folders that were made
        done = [int(line.split()[1]) for line in said if line.startswith("done")]
        changes += len(done)
        last = done[-1] if done else generation
        tried = int(said[-1].split()[1]) if said else last
        not_whole += now is None
        lost += now not in (last, tried)
        generation = last if now is None else now
        with closing(next_start.store) as store:
            lost += sum(each.state == "applied" for each in store.records()) != generation
    report = {
        "kills": kills, "changes": changes, "taken_back": taken_back, "torn": torn, "not_whole": not_whole,
        "lost": lost, "left_over": left_over,
    }  # fmt: skip
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

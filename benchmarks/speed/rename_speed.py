"""Renaming a note that 1,000 others link to, in a vault of 10,000, beside a plain read of the vault.

    python -m benchmarks.speed.rename_speed [--notes N] [--backlinks N]

Finding and writing anew the links (`stage`), and writing the files with their journal (`apply`), are measured apart,
and so are the refresh of the index, which goes on in the background then, and taking the rename back. Seconds on the
wall and of the processor; the index is there already.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from benchmarks.generate import write_vault
from zkchat.app import Editing, load_workspace, open_editing, open_note_library
from zkchat.core import ChangeOrigin, Environment
from zkchat.index import Library
from zkchat.writing import LinkStyle, MoveSummary, stage_move

AIM = 2.0
_SETTLING = 3.0
"""Seconds after which what was just written counts as such: files as young as these are read again at every look."""
OLD, NEW = "Hub of all.md", "area 00/Centre of all.md"


class Seconds(NamedTuple):
    wall: float
    processor: float


def seconds_of(work: Callable[[], object]) -> Seconds:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - wall, time.process_time() - processor)


def prepare(vault: Path, notes: int, backlinks: int) -> None:
    """A vault in which so many notes link to one, each in its own way."""
    write_vault(vault, notes)
    (vault / OLD).write_text("# Hub of all\n\nEverything leads here.\n", encoding="utf-8")
    forms = ("[[Hub of all]]", "[[hub of all|hub]]", "![[Hub of all#Top]]", "[hub](/Hub%20of%20all.md)")
    for number, file in enumerate(sorted(vault.rglob("area*/*/*.md"))[:: max(1, notes // backlinks)][:backlinks]):
        with file.open("a", encoding="utf-8") as text:
            text.write(f"\n\nSee {forms[number % len(forms)]}.\n")


def read_all(vault: Path) -> int:
    return sum(len(file.read_bytes()) for file in vault.rglob("*.md"))


@contextmanager
def opened(vault: Path, home: Path) -> Iterator[tuple[Library, Editing]]:
    environment = replace(Environment.of_this_process(), home=home, variables={}, cwd=vault)
    workspace = load_workspace(environment, vault)
    with open_note_library(workspace) as (library, _), open_editing(workspace, library) as editing:
        library.refresh()
        yield library, editing


def renamed(library: Library, editing: Editing, source: str, target: str) -> tuple[MoveSummary, Seconds, Seconds]:
    """What the rename changed, and the time for staging and for applying it."""
    summaries: list[MoveSummary] = []
    staging = seconds_of(lambda: summaries.append(stage_move(library, editing.staged, source, target, LinkStyle())))
    changes = editing.staged.change_set()
    applying = seconds_of(lambda: editing.store.apply(changes, ChangeOrigin(command="benchmark")))
    editing.staged.clear()
    return summaries[0], staging, applying


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--backlinks", type=int, default=1_000)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        vault, home = Path(folder) / "vault", Path(folder) / "home"
        home.mkdir()
        prepare(vault, wanted.notes, wanted.backlinks)
        time.sleep(_SETTLING)
        with opened(vault, home) as (library, editing):
            reading = min(seconds_of(lambda: read_all(vault)) for _ in range(3))
            rows = [(f"read all of {wanted.notes:,} notes", reading)]
            for name, source, target in (("rename", OLD, NEW), ("rename back", NEW, OLD)):
                summary, staging, applying = renamed(library, editing, source, target)
                what = f"{name}: {summary.links:,} links in {len(summary.rewritten):,} notes"
                indexing = seconds_of(library.refresh)
                rows += [(f"{what}, staged", staging), (f"{what}, applied", applying), (f"{what}, indexed", indexing)]
    print(f"{'':55} {'wall':>7} {'processor':>10}")
    for name, (wall, processor) in rows:
        print(f"{name:55} {wall:6.2f}s {processor:9.2f}s {wall / reading.wall:6.1f} × reading")
    print(f"aim: {AIM:.0f} s for a rename, staged and applied")


if __name__ == "__main__":
    main()

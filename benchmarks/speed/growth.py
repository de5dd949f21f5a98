"""How the costs of zkchat grow with the vault: 10,000, 100,000 and 1,000,000 notes, generated with a fixed seed.

    python -m benchmarks.speed.growth [--notes N ...] [--words N] [--folder FOLDER]

Each step runs in a process of its own: CPU seconds are those of all its processes together, memory is the most that
they held at once. Floors are measured in the same run: `scandir` + `stat`, reading every byte, and an FTS5 insert of
the text of 20,000 notes, scaled up. Commands are measured as a whole; what they cost with a vault of ten notes stands
in the first column. The last column is the exponent by which a row grows from the smallest vault to the largest, both
without what is spent on ten notes: 1 is as fast as the vault, 0 not at all.

With `--folder`, vaults and results are kept there, and a step that is done is not done again. The notes are a third as
long as those of the other benchmarks, 81 words on average, so that a million take an hour and not three.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.speed.memory import PeakMemory

SIZES = (10_000, 100_000, 1_000_000)
SMALL = 10
"""Notes of the vault that tells what a command costs whatever the vault."""
WORDS = 81
MEMORY_INTERVAL = 0.25
STEP = ("-m", "benchmarks.speed.growth_steps")
ROOT = Path(__file__).parents[2]

Found = dict[str, float]


class Size:
    """The vault of one size, its home, and what was measured."""

    def __init__(self, folder: Path, notes: int, words: int) -> None:
        self.notes = notes
        self._words = words
        self._folder = folder / f"n{notes}"
        self.vault = self._folder / "vault"
        self.queries = self._folder / "queries.json"
        self._results = self._folder / "results.json"
        self.found: dict[str, Found] = json.loads(self._results.read_text()) if self._results.exists() else {}

    def prepare(self) -> None:
        """Write the vault, unless it is there."""
        done = self._folder / "vault.done"
        (self._folder / "home").mkdir(parents=True, exist_ok=True)
        if not (done.exists() and self.queries.exists()):
            print(f"{self.notes:,} notes: written", file=sys.stderr, flush=True)
            self._run((*STEP, "write", str(self.vault), str(self.notes), str(self._words), str(self.queries)))
            settle()
            done.touch()

    def measure(self, name: str, *arguments: str, before: Callable[[], object] = lambda: None) -> None:
        """Run a step, unless it is done."""
        if name in self.found:
            return
        before()
        print(f"{self.notes:,} notes: {name}", file=sys.stderr, flush=True)
        self.found[name] = self._run(arguments)
        self._results.write_text(json.dumps(self.found, indent=1))

    def _run(self, arguments: Sequence[str]) -> Found:
        environment = {"HOME": str(self._folder / "home"), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
        with PeakMemory(MEMORY_INTERVAL) as peak:
            process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, env=environment, cwd=ROOT)
            assert process.stdout
            output = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(arguments)} failed")
        told = json.loads(output) if arguments[:2] == STEP else {}
        memory = max(peak.megabytes - peak.at_first, used.ru_maxrss / 1024)
        return {"seconds": used.ru_utime + used.ru_stime, "memory": memory, **told}

    def edit(self) -> None:
        note = next(self.vault.rglob("*.md"))
        with note.open("a", encoding="utf-8") as file:
            file.write("\n\nanother edit")

    def files_of(self, pattern: str) -> float:
        """Megabytes of the files of the index."""
        return sum(file.stat().st_size for file in (self._folder / "home").rglob(pattern)) / 1e6


def settle() -> None:
    """Wait until no note counts as just changed: such a one is read at every look."""
    time.sleep(3)


def measure(size: Size) -> None:
    size.prepare()
    vault = str(size.vault)
    command = ("-m", "zkchat")
    for floor in ("walk", "read", "insert"):
        size.measure(floor, *STEP, floor, vault)
    size.measure("index", *STEP, "index", vault)
    size.measure("vectors", *STEP, "vectors", vault)
    size.measure("no-op command", *command, "index", "--vault", vault)
    size.measure("edit command", *command, "index", "--vault", vault, before=size.edit)
    query = json.loads(size.queries.read_text("utf-8"))[-1]
    size.measure("search command", *command, "search", "--vault", vault, query, before=settle)
    size.measure("edits", *STEP, "edits", vault)
    size.measure("searches", *STEP, "searches", vault, str(size.queries))
    for kind in ("plain", "time"):
        size.measure(f"{kind} questions", *STEP, "questions", vault, str(size.queries), kind)


def rows(size: Size) -> Iterator[tuple[str, str, float]]:
    """What was measured: name, unit, number."""
    found = size.found
    insert = found["insert"]["seconds"] * size.notes / found["insert"]["notes"]
    yield "floor: scandir + stat", "s", found["walk"]["seconds"]
    yield "floor: read every byte", "s", found["read"]["seconds"]
    yield "floor: FTS5 insert, scaled", "s", insert
    yield "cold index", "s", found["index"]["seconds"]
    yield "  beside read + FTS5 insert", "x", found["index"]["seconds"] / (found["read"]["seconds"] + insert)
    yield "vectors of all sections", "s", found["vectors"]["seconds"]
    yield "look, nothing changed", "s", found["edits"]["first look"]
    yield "  beside scandir + stat", "x", found["edits"]["first look"] / found["walk"]["seconds"]
    yield "look, one edit", "s", found["edits"]["edit"]
    yield "vectors after one edit", "s", found["edits"]["vectors"]
    yield "zkchat index, nothing changed", "s", found["no-op command"]["seconds"]
    yield "zkchat index, one edit", "s", found["edit command"]["seconds"]
    yield "zkchat search", "s", found["search command"]["seconds"]
    yield "first search of a process", "s", found["searches"]["first"]
    yield "search p50", "ms", 1000 * found["searches"]["p50"]
    yield "search p95", "ms", 1000 * found["searches"]["p95"]
    plain, timed = found["plain questions"], found["time questions"]
    yield "first question of a process", "s", plain["first"]
    yield "  if it is about a time", "s", timed["first"]
    yield "question p50", "ms", 1000 * plain["p50"]
    yield "question p95", "ms", 1000 * plain["p95"]
    yield "question about a time p50", "ms", 1000 * timed["p50"]
    yield "question about a time p95", "ms", 1000 * timed["p95"]
    yield "memory: cold index", "MB", found["index"]["memory"]
    yield "memory: vectors", "MB", found["vectors"]["memory"]
    yield "memory: zkchat index", "MB", found["no-op command"]["memory"]
    yield "memory: searches", "MB", found["searches"]["memory"]
    yield "disk: notes", "MB", found["read"]["bytes"] / 1e6
    yield "disk: index", "MB", size.files_of("index.db*")
    yield "disk: vectors", "MB", size.files_of("*.vectors")


def shown(sizes: Sequence[Size]) -> Iterator[str]:
    yield f"{'':36}" + "".join(f"{size.notes:>12,}" for size in sizes) + f"{'exponent':>10}"
    for columns in zip(*map(rows, sizes), strict=True):
        name, unit, _ = columns[0]
        numbers = [number for _, _, number in columns]
        growth = exponent(sizes, numbers) if unit != "x" and len(sizes) > 2 else ""
        yield f"{name:32}{unit:4}" + "".join(map(column, numbers)) + growth


def column(number: float) -> str:
    return f"{number:12,.0f}" if number >= 100 else f"{number:12,.3g}"


def exponent(sizes: Sequence[Size], numbers: Sequence[float]) -> str:
    """Of the growth from the smallest vault to the largest, without what is spent on ten notes."""
    base, first, *_, last = numbers
    if min(first, last) <= base:
        return f"{0:10.2f}"
    return f"{math.log((last - base) / (first - base)) / math.log(sizes[-1].notes / sizes[1].notes):10.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--notes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--words", type=int, default=WORDS, help="of a note, on average")
    parser.add_argument("--folder", type=Path, help="where vaults and results are kept")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = wanted.folder or Path(temporary)
        sizes = [Size(folder, notes, wanted.words) for notes in sorted({SMALL, *wanted.notes})]
        for number, size in enumerate(sizes, start=1):
            measure(size)
            print("\n".join(shown(sizes[:number])), "\n", flush=True)


if __name__ == "__main__":
    main()

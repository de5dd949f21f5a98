"""The parent: gives numbers to child processes, watches them, and collects what failed."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.fuzz.case import IN_ZKCHAT
from tests.fuzz.worker import CASE, STACKS

ROOT = Path(__file__).parents[2]
CPU_SECONDS = 5.0
"""One case may use so much."""
WALL_SECONDS = 120.0
"""And take so long, on a machine with other work to do."""
IDLE_SECONDS = 10
"""And wait so long for something that does not come."""
CASES_OF_A_CHILD = 400
"""After so many it is replaced, so that what it has cached or leaked is not taken for the need of one case."""
_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    # Each thread of these libraries would reserve address space of its own.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "MALLOC_ARENA_MAX": "2",
}


@dataclass(frozen=True)
class Failure:
    target: str
    number: int
    kind: str
    signature: str
    text: str


@dataclass
class Child:
    """A process that runs cases."""

    seed: int
    folder: Path
    cpu_seconds: float = CPU_SECONDS
    wall_seconds: float = WALL_SECONDS
    cases: int = 0

    def __post_init__(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        words = [str(self.seed), str(self.folder), str(self.cpu_seconds)]
        with (self.folder / "output.txt").open("w") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tests.fuzz.worker", *words],
                cwd=ROOT,
                env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **_ENVIRONMENT},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
            )

    def run(self, target: str, number: int) -> tuple[float, Failure | None]:
        """CPU seconds that the case took, and how it failed. After a hang or a crash the child is gone."""
        assert self._process.stdin
        self.cases += 1
        self._process.stdin.write(f"{target} {number}\n".encode())
        self._process.stdin.flush()
        line = self._line()
        if not line:
            return self.cpu_seconds, self._end(target, number)
        answer: dict[str, Any] = json.loads(line)
        failure = answer["failure"]
        return answer["cpu"], Failure(target, number, **failure) if failure else None

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        if self.is_alive:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()

    def _line(self) -> str:
        """What the child says next; nothing if it is late or gone."""
        assert self._process.stdout
        ends, idle, before = time.monotonic() + self.wall_seconds, 0, ""
        while time.monotonic() < ends and idle < IDLE_SECONDS:
            if select.select([self._process.stdout], [], [], 1)[0]:
                return self._process.stdout.readline().decode().strip()
            now = self._asleep_since()
            idle, before = (idle + 1 if now and now == before else 0), now
        return ""

    def _asleep_since(self) -> str:
        """The CPU time that a sleeping process has used; nothing for one that works or waits its turn."""
        try:
            state, *numbers = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            return ""
        return " ".join(numbers[10:12]) if state == "S" else ""

    def _end(self, target: str, number: int) -> Failure:
        """Of a child that gave no answer. A hang ends by SIGPROF, which has the stacks written down first."""
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGPROF)
            code = self._process.wait(10)
        kind = "hang" if code == -signal.SIGPROF else "crash"
        stacks = self._tail(STACKS)
        text = f"It ended with {code}.\n{stacks}\n{self._tail('output.txt')}"
        return Failure(target, number, kind, f"{kind} @ {_innermost(stacks)}", text)

    def _tail(self, name: str) -> str:
        file = self.folder / name
        return file.read_text(errors="replace")[-20_000:] if file.exists() else ""


def _innermost(stacks: str) -> str:
    """The place in zkchat where a thread was: in such a stack the innermost frame is the first."""
    place = re.search(rf'{IN_ZKCHAT}"(.*)', stacks)
    return f"{place[1]}{place[2]}" if place else "no place in zkchat"


@dataclass
class Tally:
    """What came of one target's cases."""

    target: str
    cases: int = 0
    cpu: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)
    failures: list[Failure] = field(default_factory=list)

    def add(self, number: int, cpu: float, failure: Failure | None) -> None:
        self.cases += 1
        self.cpu += cpu
        self.slowest = max(self.slowest, (cpu, number))
        if failure:
            self.failures.append(failure)


@dataclass
class Campaign:
    """Cases of one target, one after the other, for a time or up to a number of them."""

    target: str
    seed: int
    folder: Path
    """Failed cases are kept here, each in a folder of its own."""
    tell: Callable[[str], None]
    cpu_seconds: float = CPU_SECONDS
    wall_seconds: float = WALL_SECONDS
    kept: dict[str, int] = field(default_factory=dict)

    def run(self, numbers: Iterator[int], seconds: float) -> Tally:
        tally = Tally(self.target)
        ends = time.monotonic() + seconds
        child = self._child()
        try:
            for number in numbers:
                if time.monotonic() >= ends:
                    break
                if not child.is_alive or child.cases >= CASES_OF_A_CHILD:
                    child.stop()
                    child = self._child()
                cpu, failure = child.run(self.target, number)
                tally.add(number, cpu, failure)
                if failure:
                    self._keep(failure, child)
        finally:
            child.stop()
            shutil.rmtree(child.folder, ignore_errors=True)
        return tally

    def _child(self) -> Child:
        return Child(self.seed, self.folder / f"work-{self.target}", self.cpu_seconds, self.wall_seconds)

    def _keep(self, failure: Failure, child: Child) -> None:
        """The first case with this signature is told and kept with all its files; of the others the number."""
        known = failure.signature in self.kept
        self.kept[failure.signature] = self.kept.get(failure.signature, 0) + 1
        again = f"make fuzz ONLY={failure.target} NUMBER={failure.number} SEED={self.seed}"
        if known:
            return
        place = self.folder / f"{failure.target}-{failure.number}"
        shutil.rmtree(place, ignore_errors=True)
        if (child.folder / CASE).exists():
            shutil.copytree(child.folder / CASE, place, symlinks=True, ignore_dangling_symlinks=True, ignore=_no_pipes)
        place.mkdir(exist_ok=True)
        (place / "failure.txt").write_text(
            f"{again}\n\n{failure.kind}: {failure.signature}\n\n{failure.text}", errors="replace"
        )
        self.tell(
            f"FAILED {failure.target} {failure.number}: {failure.signature}\n    again: {again}\n    kept: {place}"
        )


def _no_pipes(folder: str, names: list[str]) -> list[str]:
    """To copy a FIFO would wait for ever."""
    return [
        name for name in names if not ((path := Path(folder, name)).is_file() or path.is_dir() or path.is_symlink())
    ]


def table(tallies: list[Tally]) -> str:
    rows = [("target", "cases", "failures", "causes", "CPU s", "slowest s", "(case)")]
    for tally in tallies:
        causes = len({failure.signature for failure in tally.failures})
        seconds, number = tally.slowest
        counts = (str(tally.cases), str(len(tally.failures)), str(causes))
        rows.append((tally.target, *counts, f"{tally.cpu:.1f}", f"{seconds:.2f}", f"({number})"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )


def numbers_from(first: int, many: int | None) -> Iterator[int]:
    return iter(range(first, first + many)) if many is not None else count(first)

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
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.case import IN_ZKCHAT
from tests.fuzz.worker import CASE, STACKS

ROOT = Path(__file__).parents[2]
CPU_SECONDS = 5.0
"""One case may use so much."""
WALL_SECONDS = 120.0
"""And take so long, on a machine with other work to do."""
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

    def run(self, target: str, number: int) -> Failure | None:
        """How the case failed. After a hang or a crash the child is gone."""
        assert self._process.stdin
        assert self._process.stdout
        self.cases += 1
        self._process.stdin.write(f"{target} {number}\n".encode())
        self._process.stdin.flush()
        in_time = select.select([self._process.stdout], [], [], self.wall_seconds)[0]
        line = self._process.stdout.readline() if in_time else b""
        if not line:
            return self._end(target, number)
        failure = json.loads(line)
        return Failure(target, number, **failure) if failure else None

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

    def _end(self, target: str, number: int) -> Failure:
        """Of a child that gave no answer. A hang ends by SIGPROF, which has the stacks written down first."""
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGPROF)
            code = self._process.wait(10)
        kind = "hang" if code == -signal.SIGPROF else "crash"
        stacks, output = (
            file.read_text(errors="replace")[-20_000:] if (file := self.folder / name).exists() else ""
            for name in (STACKS, "output.txt")
        )
        place = re.search(rf'{IN_ZKCHAT}"(.*)', stacks)  # the innermost frame is the first
        where = f"{place[1]}{place[2]}" if place else "no place in zkchat"
        return Failure(target, number, kind, f"{kind} @ {where}", f"It ended with {code}.\n{stacks}\n{output}")


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
    cases: int = 0
    failures: list[Failure] = field(default_factory=list)

    def run(self, numbers: Iterable[int], seconds: float) -> None:
        ends = time.monotonic() + seconds
        child = self._child()
        try:
            for number in numbers:
                if time.monotonic() >= ends:
                    break
                if not child.is_alive or child.cases >= CASES_OF_A_CHILD:
                    child.stop()
                    child = self._child()
                self.cases += 1
                if failure := child.run(self.target, number):
                    if failure.signature not in {known.signature for known in self.failures}:
                        self._keep(failure, child)
                    self.failures.append(failure)
        finally:
            child.stop()
            shutil.rmtree(child.folder, ignore_errors=True)

    def _child(self) -> Child:
        return Child(self.seed, self.folder / f"work-{self.target}", self.cpu_seconds, self.wall_seconds)

    def _keep(self, failure: Failure, child: Child) -> None:
        """The first case with its signature is told and kept with all its files."""
        again = f"make fuzz ONLY={failure.target} NUMBER={failure.number} SEED={self.seed}"
        place = self.folder / f"{failure.target}-{failure.number}"
        shutil.rmtree(place, ignore_errors=True)
        if (child.folder / CASE).exists():
            shutil.copytree(child.folder / CASE, place, symlinks=True, ignore_dangling_symlinks=True, ignore=_pipes)
        place.mkdir(exist_ok=True)
        told = f"{again}\n\n{failure.kind}: {failure.signature}\n\n{failure.text}"
        (place / "failure.txt").write_text(told, errors="replace")
        self.tell(
            f"FAILED {failure.target} {failure.number}: {failure.signature}\n    again: {again}\n    kept: {place}"
        )


def _pipes(folder: str, names: list[str]) -> list[str]:
    """To copy a FIFO would wait for ever."""
    return [name for name in names if Path(folder, name).is_fifo()]

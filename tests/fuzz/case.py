"""One case: a pure function of the seed, the target's name and a number."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Protocol


class Broken(AssertionError):
    """What was observed does not keep a promise. The first line names the promise, and cases are grouped by it."""


@dataclass(frozen=True)
class Case:
    seed: int
    target: str
    number: int
    folder: Path
    """An empty folder of its own. What lies in it is kept if the case fails."""

    @cached_property
    def rng(self) -> Random:
        return Random(f"{self.seed}/{self.target}/{self.number}")

    def note(self, name: str, content: str | bytes) -> None:
        """Keep an input for whoever looks into a failure, also if the process is killed in the middle of the case."""
        data = content if isinstance(content, bytes) else content.encode(errors="surrogatepass")
        (self.folder / name).write_bytes(data)


class Target(Protocol):
    """A part of zkchat under test. Whatever `run` raises is a failure.

    A module of `targets` has a function `make` from `Folders` to a target; it is called once in each child process.
    """

    def run(self, case: Case) -> None: ...


@dataclass(frozen=True)
class Folders:
    """Where a target may write."""

    shared: Path
    """What all its cases share."""
    case: Path
    """Each case's own: always the same path, emptied before each."""


def require(holds: object, promise: str, seen: str = "") -> None:
    if not holds:
        raise Broken(f"{promise}\n{seen[:4000]}" if seen else promise)


IN_ZKCHAT = r'File "[^"]*/(zkchat/(?!tests/|\.venv/)[\w/.]+)'
"""The beginning of a frame in the package, in a clone of any name."""


def signature(trace: str) -> str:
    """What failures with the same cause have in common: the error, and the innermost frame in zkchat."""
    lines = [line for line in trace.strip().splitlines() if line]
    errors = [line for line in lines if re.match(r"[\w.]+(?:Error|Exception|Broken|Exit|Interrupt)\b", line)]
    frames = re.findall(rf'{IN_ZKCHAT}", line (\d+)', trace)
    what = re.sub(r"0x[0-9a-f]+|\d+", "N", re.sub(r"/\S*/", "…/", (errors or lines or [""])[-1]))[:120]
    return f"{what} @ {':'.join(frames[-1])}" if frames else what

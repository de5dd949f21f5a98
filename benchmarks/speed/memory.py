"""The most memory that a process and those it started held together."""

import resource
from pathlib import Path
from threading import Event, Thread
from types import TracebackType

_INTERVAL = 0.05
"""Seconds."""


class PeakMemory:
    """Looks every 50 ms, or less often, while its `with` block runs. Pages that several processes share count once."""

    megabytes = 0.0

    def __init__(self, interval: float = _INTERVAL) -> None:
        self._interval = interval
        self.at_first = held_now()

    def __enter__(self) -> "PeakMemory":
        self._done = Event()
        self._watching = Thread(target=self._watch, daemon=True)
        self._watching.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._watching.join()

    def _watch(self) -> None:
        while True:
            self.megabytes = max(self.megabytes, held_now())
            if self._done.wait(self._interval):
                return


def held_now() -> float:
    """In MB, of this process and its descendants; where the system does not tell, the peak of this one alone."""
    if not Path("/proc/self/smaps_rollup").exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return sum(map(_proportional_kilobytes, _family())) / 1024


def _family() -> list[Path]:
    """This process and its descendants, by their folders in /proc."""
    parents = {folder: _parent(folder) for folder in Path("/proc").iterdir() if folder.name.isdigit()}
    family = [Path("/proc/self").resolve()]
    for member in family:
        family += [folder for folder, parent in parents.items() if parent == member.name]
    return family


def _parent(process: Path) -> str:
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[1]
    except OSError:  # it is gone
        return ""


def _proportional_kilobytes(process: Path) -> int:
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)

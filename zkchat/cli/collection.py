"""Garbage collection, which is rare, and put off while the program starts and while a message is stored."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_ALLOCATIONS: Final = 250_000
"""New objects after which garbage is looked for. With the 700 of Python, a command looks through what it has just
imported again and again, which took a tenth of its time."""


def collect_rarely() -> None:
    """Look for garbage after many new objects only, and not among those that there are already."""
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS)


def skip_last_collection() -> None:
    """Let the process end without looking through everything for garbage, which Python does three times."""
    gc.freeze()


@contextmanager
def without_collection() -> Iterator[None]:
    """Run the block without garbage collection, where there is hardly any garbage and somebody waits."""
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_collecting:
            gc.enable()

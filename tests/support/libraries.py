"""A real library over a small vault on disk, opened as a command opens it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from tests.support.world import World
from zkchat.app.library import open_library
from zkchat.core.environment import utc_now
from zkchat.core.prompt import ModelInfo
from zkchat.index.library import Library


class Located:
    """A model that is on this machine or is not."""

    def __init__(self, on_this_machine: bool) -> None:
        self.on_this_machine = on_this_machine

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(provider="located", id="x", on_this_machine=self.on_this_machine)


@contextmanager
def library_of(folder: Path, notes: dict[str, str], now: Callable[[], datetime] = utc_now) -> Iterator[Library]:
    world = World(folder, now=now)
    written = now().timestamp()
    for path, text in notes.items():
        os.utime(world.note(path, text), (written, written))  # else they are of the day on which the test runs
    with open_library(world.environment(), world.vault) as (_, library):
        library.refresh()
        yield library

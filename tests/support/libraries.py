"""A real library over a small vault on disk, opened as a command opens it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.world import World
from zkchat.compose.library import open_library
from zkchat.model.prompt import ModelInfo
from zkchat.vault.library import Library


class Located:
    """A model that is on this machine or is not."""

    def __init__(self, on_this_machine: bool) -> None:
        self.on_this_machine = on_this_machine

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(provider="located", id="x", on_this_machine=self.on_this_machine)


@contextmanager
def library_of(folder: Path, notes: dict[str, str]) -> Iterator[Library]:
    world = World(folder)
    for path, text in notes.items():
        world.note(path, text)
    with open_library(world.environment(), world.vault) as (_, library):
        library.refresh()
        yield library

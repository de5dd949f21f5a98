"""What most tests over notes begin with: the notes of their module, and a store of sessions in memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.libraries import library_of
from tests.support.sessions import SessionsInMemory
from zkchat.index.library import Library


@pytest.fixture(scope="module")
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The notes of the module, which no test changes."""
    with library_of(tmp_path_factory.mktemp("notes"), request.module.NOTES) as library:
        yield library


@pytest.fixture
def own_library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    """The same notes, for a test that changes them, in the folder `vault` of its own."""
    with library_of(tmp_path, request.module.NOTES) as library:
        yield library


@pytest.fixture
def store() -> SessionsInMemory:
    return SessionsInMemory()

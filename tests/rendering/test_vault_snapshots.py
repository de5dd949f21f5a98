"""Pictures of `/search` and `/show` over the garden vault, at 40, 60, 100 and 200 columns.

To take a picture anew, delete its file and run the test twice: the first run writes it, and asks for a look at it.
"""

import asyncio
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from tests.support.command_harness import CommandHarness
from tests.support.libraries import library_of
from tests.support.screens import terminal, written
from tests.support.world import GARDEN
from zkchat.app.document_links import VaultDocumentLinks
from zkchat.index.library import Library
from zkchat.repl.commands.table import run
from zkchat.repl.surface import Desktop, DrawnSurface, Questioner

FOLDER = Path(__file__).parent / "vault_snapshots"
KINDS = {"auto": "color", "never": "plain"}
WIDTHS = (40, 60, 100, 200)
LINES = {
    "search": "/search light in the bedroom",
    "show": "/show [[Sourdough starter]]",
    "links": "/links [[Sourdough starter]]",
}


class Nobody:
    """Implements `surface.Questioner` and `surface.Desktop` for commands that need neither."""

    can_pick = False
    is_there = False


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("garden")
    shutil.copytree(GARDEN, folder / "vault")
    with library_of(folder, {}) as library:
        yield library


@pytest.mark.parametrize("color", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", LINES)
def test_it_looks_as_it_did(library: Library, name: str, width: int, color: str) -> None:
    console = terminal(width, 40, color=color)
    links = VaultDocumentLinks(Path("/garden"), library)
    surface = DrawnSurface(console, cast(Questioner, Nobody()), cast(Desktop, Nobody()), links)
    asyncio.run(run(replace(CommandHarness(library=library).context, surface=surface), LINES[name]))
    picture = written(console).replace("\x1b", "␛").replace("\r", "␍")
    file = FOLDER / f"{name}-{width}-{KINDS[color]}.txt"
    if not file.exists():
        file.write_text(picture, encoding="utf-8")
        pytest.fail(f"{file.name} is new: look at it, and run the test again")
    assert picture == file.read_text(encoding="utf-8")


def test_no_picture_is_left_over() -> None:
    expected = {f"{name}-{width}-{kind}.txt" for name, width, kind in product(LINES, WIDTHS, KINDS.values())}
    assert {file.name for file in FOLDER.iterdir()} == expected

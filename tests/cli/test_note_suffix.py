"""Which files are notes is written in one place: another suffix is a change of one line."""

import subprocess
import sys
from pathlib import Path

from tests.support.world import World

WITH_ANOTHER_SUFFIX = """
from zkchat.core import note
note.NOTE_SUFFIXES = (".md", ".markdown")
from zkchat.__main__ import main
main()
"""


def test_notes_with_a_second_suffix_are_found_linked_and_searched(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.note("Compost.markdown", "# Compost\n\nWarm and dark. See [[Soil]].\n")
    world.note("Soil.md", "# Soil\n\nFed by [[Compost]].\n")

    def run(*arguments: str) -> str:
        command = [sys.executable, "-c", WITH_ANOTHER_SUFFIX, *arguments, "--vault", str(world.vault)]
        root = Path(__file__).parents[2]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=root, env={"HOME": str(world.home)}
        )
        return done.stdout

    assert "Compost.markdown" in run("resolve", "[[Compost]]")
    assert "[[Soil]]" in run("links", "Compost")

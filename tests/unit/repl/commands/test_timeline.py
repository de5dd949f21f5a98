"""`/timeline` in a chat."""

import asyncio
from pathlib import Path

from tests.support.command_harness import CommandHarness
from tests.support.libraries import library_of
from zkchat.repl.commands.table import run


def test_the_numbers_of_a_timeline_are_places(tmp_path: Path) -> None:
    notes = {"Ann.md": "---\ndate: 2026-03-08\nupdated: 2026-03-10\n---\nx", "2026-03-09.md": "[[Ann]]"}
    with library_of(tmp_path, notes) as library:
        harness = CommandHarness(library=library)

        async def play() -> None:
            await run(harness.context, "/timeline Ann")
            await run(harness.context, "/show 2")

        asyncio.run(play())
    shown = harness.surface.text
    assert "1. 2026-03-08  written, by its properties\n" in shown
    assert "2026-03-09.md links here" in shown
    assert harness.surface.read[0][0] == "2026-03-09.md"

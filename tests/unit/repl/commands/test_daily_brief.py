"""`/brief` in a chat."""

import asyncio
from pathlib import Path

import pytest

from tests.support.command_harness import CommandHarness
from tests.support.libraries import library_of
from zkchat.core.events import Event, Warned
from zkchat.repl.command_context import Play
from zkchat.repl.commands.table import run


def test_the_brief_follows_the_summary_and_its_numbers_are_places(tmp_path: Path) -> None:
    with library_of(tmp_path, {"Home.md": "- [ ] Pay the rent\n"}) as library:
        harness = CommandHarness(library=library)

        async def play() -> list[Event]:
            outcome = await run(harness.context, "/brief 3")
            assert isinstance(outcome, Play)
            events = [event async for event in outcome.events]
            await run(harness.context, "/show 2")
            return events

        assert [event.text for event in asyncio.run(play()) if isinstance(event, Warned)] == ["summary of 3 days"]
        shown = harness.surface.text
        assert "1. Pay the rent (Home.md:1)" in shown
        assert "2. Home (today" in shown
        assert harness.surface.read[0][0] == "Home.md"


@pytest.mark.parametrize("days", ["0", "x", "367", "-1", "٣"])
def test_a_number_of_days_is_wanted(days: str) -> None:
    harness = CommandHarness()
    asyncio.run(run(harness.context, f"/brief {days}"))
    assert "is not a number of days up to 366" in harness.surface.text

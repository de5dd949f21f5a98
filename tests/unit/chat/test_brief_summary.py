"""What a model is told when it sums up the daily brief."""

import os
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from tests.support.conversations import events_of
from tests.support.libraries import Located
from tests.support.world import World
from zkchat.app.library import open_library
from zkchat.chat.conversation import Conversation
from zkchat.core.events import Event, TurnFailed
from zkchat.core.message import Brief
from zkchat.core.prompt import ModelInfo
from zkchat.index.library import Library

NOW = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)


class Recording:
    """Stands in for a conversation: records what is said, and fails."""

    def __init__(self, library: Library, model: ModelInfo) -> None:
        self.library = library
        self.model = model
        self.said: list[tuple[str, Brief]] = []

    async def connect(self) -> None:
        pass

    async def say_briefed(self, text: str, brief: Brief) -> AsyncGenerator[Event, None]:
        self.said.append((text, brief))
        yield TurnFailed(text="No room.")


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path, now=lambda: NOW)
    local = "---\nzkchat: local\n---\n- [ ] see the doctor 📅 2026-03-07\n"
    notes = {"Secret.md": local, **{f"Note {number}.md": f"- [ ] task {number}\n" for number in range(30)}}
    for path, text in notes.items():
        os.utime(world.note(path, text), (NOW.timestamp(), NOW.timestamp()))
    return world


def told(world: World, *, on_this_machine: bool) -> tuple[str, Brief]:
    model = Located(on_this_machine)
    with open_library(world.environment(), world.vault) as (_, library):
        library.refresh()
        talk = Recording(library.guarded_for(model), model.info)
        events_of(Conversation.summarize_brief(cast(Conversation, talk), 7))
        (said,) = talk.said
        return said


def test_every_note_that_it_is_told_of_is_linked_and_elsewhere_it_is_told_nothing_of_local_ones(world: World) -> None:
    text, brief = told(world, on_this_machine=True)
    assert "[[Secret]]: see the doctor (due 2026-03-07)" in brief.text
    assert "[[Secret]]" in text
    assert text.count("[[") <= 10
    named = {line.partition("]]")[0].partition("[[")[2] for line in brief.text.splitlines() if "[[" in line[:20]}
    assert all(f"[[{name}]]" in text for name in named)
    assert not brief.uses_notes
    text, brief = told(world, on_this_machine=False)
    assert "ecret" not in text + brief.text
    assert "doctor" not in text + brief.text
    assert "[[Note 0]]: task 0" in brief.text

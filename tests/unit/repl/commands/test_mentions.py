"""`/link`: mentions of notes become links."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_harness import CommandHarness
from tests.support.libraries import library_of

NOTES = {"Coffee.md": "Bad for deep sleep.\n", "Deep sleep.md": "Coffee, tea.\n", "Tea.md": "Mild.\n"}


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[CommandHarness]:
    with library_of(tmp_path, NOTES) as library:
        harness = CommandHarness(library=library)
        harness.changes.files = {path: text.encode() for path, text in NOTES.items()}
        yield harness


def test_link_makes_links_of_what_was_chosen_in_one_change(harness: CommandHarness) -> None:
    assert harness.typed("/link") == "3 mentions linked in 2 notes.\n/undo reverts it."
    assert harness.files["Coffee.md"] == "Bad for [[Deep sleep|deep sleep]].\n"
    assert harness.files["Deep sleep.md"] == "[[Coffee]], [[Tea|tea]].\n"
    (record,) = harness.changes.records()
    assert record.origin.command == "/link"


def test_link_with_a_note_is_about_that_note(harness: CommandHarness) -> None:
    assert harness.typed("/link Tea").startswith("1 mention linked in 1 note.")
    assert harness.files["Deep sleep.md"] == "Coffee, [[Tea|tea]].\n"


def test_whoever_leaves_changes_nothing(harness: CommandHarness) -> None:
    harness.mentions.leaves = True
    assert harness.typed("/link") == "Nothing was changed."
    assert harness.files == NOTES

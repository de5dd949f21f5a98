"""`/link`: mentions of notes become links. `/rename`: links follow."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_harness import CommandHarness
from tests.support.libraries import library_of

NOTES = {"Coffee.md": "Bad for deep sleep.\n", "Deep sleep.md": "Coffee, tea.\n", "Tea.md": "Mild.\n"}
LINKED = {"Pot.md": "Holds [[Tea]].\n", "Roast.md": "---\naliases: [Coffee pot]\n---\n"}


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[CommandHarness]:
    with library_of(tmp_path, NOTES | LINKED) as library:
        harness = CommandHarness(library=library)
        harness.changes.files = {path: text.encode() for path, text in (NOTES | LINKED).items()}
        yield harness


def test_link_makes_links_of_what_was_chosen_in_one_change(harness: CommandHarness) -> None:
    assert harness.typed("/link") == "3 mentions linked in 2 notes.\n/undo reverts it."
    assert harness.files["Coffee.md"] == "Bad for [[Deep sleep|deep sleep]].\n"
    assert harness.files["Deep sleep.md"] == "[[Coffee]], [[Tea|tea]].\n"
    (record,) = harness.changes.records()
    assert record.origin.command == "/link"


def test_whoever_leaves_changes_nothing(harness: CommandHarness) -> None:
    harness.leaves = True
    assert harness.typed("/link") == "Nothing was changed."
    assert harness.files == NOTES | LINKED


BARE = ["Tea.md Green tea", "Tea to Green tea", "Tea → [[Green tea]]", 'Tea "Green tea"', "Tea Green tea"]
LINKED_NAMES = ["[[Tea]] Green tea", "[[Tea]] to [[Green tea]]", '"Tea" as "Green tea"', "[[Tea]]->[[Green tea|x]]"]


@pytest.mark.parametrize("typed", [*BARE, *LINKED_NAMES])
def test_rename_asks_and_links_follow(harness: CommandHarness, typed: str) -> None:
    harness.surface.says_yes = True
    told = harness.typed(f"/rename {typed}")
    assert told.endswith("Rename Tea.md to Green tea.md: done. /undo reverts it.")
    assert harness.files["Green tea.md"] == "Mild.\n"
    assert harness.files["Pot.md"] == "Holds [[Green tea]].\n"
    (record,) = harness.changes.records()
    assert record.origin.command == "/rename"


def test_rename_changes_nothing_after_a_no_or_without_a_name(harness: CommandHarness) -> None:
    harness.surface.says_yes = False
    assert harness.typed("/rename Tea Green tea").endswith("Nothing was changed.")
    unclear = ["", "Tea", "Tea to", "[[Tea]]", "[[Tea]] to", "Teas to Green tea", "Green tea Tea", "Coffee pot lid"]
    for typed in unclear:
        assert "/rename [[Raised bed]] Larch bed" in harness.typed(f"/rename {typed}")
    assert harness.files == NOTES | LINKED

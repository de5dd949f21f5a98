"""`zkchat why`: at which stage a note was lost."""

import os

import pytest

from tests.support.world import World

HEAP = "How long does a cold heap take?"


@pytest.fixture
def vault(world: World) -> World:
    world.note("Compost.md", "# Compost\n\nA cold heap takes a year.\n")
    world.note("Bread.md", "# Bread\n\nThe oven needs half an hour to get hot.\n")
    world.note("Birds.md", "# Birds\n\nStarlings nest under the roof in April.\n")
    return world


def stage(world: World, question: str, note: str) -> tuple[str, str]:
    """The stage, and what is said."""
    found = world.run("why", question, note, "--json").json
    assert world.run("why", question, note).out.startswith(found["explanation"])
    return found["stage"], found["explanation"]


def test_a_note_that_is_shown_is_quoted(vault: World) -> None:
    assert stage(vault, HEAP, "Compost") == (
        "shown", "Compost.md is shown as passage 1: “A cold heap takes a year.”"
    )  # fmt: skip


def test_a_long_passage_is_quoted_in_part(vault: World) -> None:
    vault.note("Compost.md", f"# Compost\n\nA cold heap takes {'very ' * 40}long.\n")
    quoted = stage(vault, HEAP, "Compost")[1].partition("“")[2]
    assert 150 < len(quoted) <= 161


def test_a_note_that_there_is_not_has_near_names_and_an_exit_code(vault: World) -> None:
    shown = vault.run("why", HEAP, "Compots", "--json")
    assert (shown.code, shown.json["stage"], shown.json["path"]) == (4, "missing", None)
    assert "Closest: [[Compost]]." in shown.json["explanation"]
    vault.note(".zkchat/config.toml", 'vault.exclude = ["Bi*"]\n')
    assert "those in vault.exclude are not read" in vault.run("why", HEAP, "Birds").out


def test_a_note_that_is_not_read_is_said_to_be_too_large_or_no_note(vault: World) -> None:
    vault.note("Log.md", "cold heap " * 50)
    vault.configure("[vault]\nmax_note_bytes = 100\n")
    found, said = stage(vault, HEAP, "Log")
    assert found == "unread"
    assert "is larger than 100 bytes" in said
    vault.note("heap.csv", "a,b\n")
    assert stage(vault, HEAP, "heap.csv") == ("unread", "heap.csv is not a note, so it is not searched.")


def test_private_notes_are_said_to_be_kept_from_models(vault: World) -> None:
    vault.note("Diary.md", "---\nzkchat: never\n---\nA cold heap takes a year.\n")
    assert stage(vault, HEAP, "Diary") == ("private", "Diary.md is never to be read: no model ever sees it.")
    vault.note("Compost.md", "---\nzkchat: local\n---\n# Compost\n\nA cold heap takes a year.\n")
    found, said = stage(vault, HEAP, "Compost")
    assert found == "shown"
    assert said.endswith("It is private: models on other machines never see it.")


def test_a_note_that_the_search_has_behind_others_has_its_place(vault: World) -> None:
    for number in range(12):
        vault.note(f"Heap {number}.md", f"# Heap {number}\n\nA cold heap takes {number + 2} years.\n")
    vault.note("Weather.md", "# Weather\n\nIt was cold.\n")
    shown = vault.run("why", HEAP, "Weather", "--json").json
    assert shown["stage"] in {"behind", "ranked"}
    assert shown["search_rank"] > 10
    assert len(shown["first"]) == 3
    assert "[[Weather]]" in shown["next_step"]


def test_a_passage_behind_others_has_its_score_and_those_before_it(vault: World) -> None:
    for number in range(4):
        vault.note(f"Heap {number}.md", f"# Heap {number}\n\nA cold heap takes {number + 2} years, all in all.\n")
    lines = vault.run("why", HEAP, "Heap 3").out.splitlines()
    assert lines[0].startswith("Heap 3.md is number 4 among the notes with a passage on this (score 0.")
    assert lines[1] == "  Write [[Heap 3]] in the question, or ask with words that only this note has."
    assert lines[3] == "Shown before it"


def test_a_note_that_is_not_sure_enough_is_among_the_nearest(vault: World) -> None:
    found, said = stage(vault, "Which of the planets that orbit the sun is cold?", "Compost")
    assert found == "doubt"
    assert said.startswith("No passage fits well enough to be an answer")


def test_a_note_of_another_time_than_the_question_asks_for(vault: World) -> None:
    vault.note("2024-05-01.md", "A cold heap takes a year.\n")
    os.utime(vault.vault / "Compost.md", (1_700_000_000, 1_700_000_000))
    found, said = stage(vault, "What did I write about the cold heap in May 2024?", "Compost")
    assert found == "time"
    assert said == "The question asks for notes of 2024-05-01 to 2024-05-31; Compost.md is from 2023-11-14."


def test_a_note_that_the_search_does_not_find(vault: World) -> None:
    found, said = stage(vault, "xyzzy", "Birds")
    assert found == "unfound"
    assert said.startswith("The search does not find Birds.md: the note has none of your words")
    vault.note("Empty.md", "")
    assert stage(vault, HEAP, "Empty") == ("empty", "Empty.md has no text.")


def test_a_question_that_a_list_answers(vault: World) -> None:
    vault.note("Garden.md", "See [[Compost]].")
    asked = "Which notes link to [[Compost]]?"
    assert stage(vault, asked, "Garden") == (
        "listed", "This question is answered with a list of notes. Garden.md is on it."
    )  # fmt: skip
    assert stage(vault, asked, "Birds")[1].endswith("Birds.md is not on it.")

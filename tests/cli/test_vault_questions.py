import os
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.world import World


@pytest.fixture
def world(world: World) -> World:
    """A vault of notes that were changed on different days."""
    notes = {
        "Projects/Roof.md": "The roof leaks. #home\n[[Slate]]",
        "Slate.md": "Slate lasts. #stone\n[[Roof]] [[Copper]]",
        "Old.md": "Old. [[Slate]]",
        "Never.md": "---\nzkchat: never\n---\n[[Slate]]",
    }
    for days, (path, text) in enumerate(notes.items()):
        changed = (datetime.now(UTC) - timedelta(days=100 * days)).timestamp()
        os.utime(world.note(path, text), (changed, changed))
    return world


def test_the_answer_is_a_numbered_list_of_links_whose_numbers_are_those_of_the_references(world: World) -> None:
    result = world.run("ask", "What links to [[Slate]]?", "--json")
    assert result.code == 0
    answer = result.json
    assert answer["answer"] == "2 notes link to [[Slate]]:\n\n1. [[Old]]\n2. [[Roof]]\n"
    found = [(each["relative_path"], each["via"], each["cited"]) for each in answer["references"]]
    assert found == [("Old.md", "index", True), ("Projects/Roof.md", "index", True), ("Slate.md", "index", True)]
    assert not any(each["unverified"] for each in answer["references"])
    assert answer["abstained"] is False


def test_in_a_chat_the_numbers_open_notes(world: World) -> None:
    chat = world.run("chat", stdin="welche Notizen verlinken auf [[Slate]]?\n/show 2\n")
    assert "1. [[Old]]\n2. [[Roof]]\n" in chat.out
    assert "The roof leaks." in chat.out


def test_what_is_asked_about_what_notes_say_is_quoted(world: World) -> None:
    assert "> The roof leaks. #home" in world.run("ask", "Which roof leaks?").out
    assert "notes changed" not in world.run("ask", "What changed with the roof this week?").out
    assert world.run("ask", "notes tagged stone").out.startswith("1 note tagged #stone:\n\n1. [[Slate]] · ")
    assert world.run("ask", "Are there broken links?").out == (
        "1 link leads nowhere, in 1 note:\n\n1. [[Slate]] · `[[Copper]]` in line 2\n"
    )


def test_a_note_that_is_never_read_is_in_no_list(world: World) -> None:
    for question in ("list my notes", "newest notes", "what are my notes about?", "orphans", "untagged notes"):
        assert "Never" not in world.run("ask", question).out
    assert world.run("ask", "how many notes do I have?").out == (
        "3 notes in 1 folder, with 4 links, 2 tags and 0 other files.\n"
    )


GREENHOUSE = """---
aliases: [The glass house]
tags: [garden]
status: building
due: 2026-05-16
colour: white
---
# Balcony greenhouse

It stands on the balcony and has eight panes.

## Colour

Green outside.
"""
NOT_ASKED = "not a question of properties"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "What status does the balcony greenhouse have right now, and what's the due date?",
            "- status: building\n- due:",
        ),
        ("When is the greenhouse due?", "due: 2026-05-16"),
        ("what tags did i give the glass house", "tags: #garden"),
        ("Which aliases has [[Balcony greenhouse]]?", "aliases: The glass house"),
        ("Give me an outline of the balcony greenhouse note, headings only.", "headings: Balcony greenhouse, Colour"),
        ("Which metadata has the balcony greenhouse?", "What is known of [[Balcony greenhouse]]:"),
        ("What colour is the greenhouse?", NOT_ASKED),  # a heading says more than the property of that name
        ("Who gave the greenhouse its status of a monument?", NOT_ASKED),
        ("What is the status of the shed?", NOT_ASKED),
        ("Who wrote about the greenhouse and when is it due?", NOT_ASKED),
    ],
)
def test_a_property_of_a_note_is_told(world: World, question: str, told: str) -> None:
    world.note("Projects/Balcony greenhouse.md", GREENHOUSE)
    world.note("Greenhouse budget.md", "Panes and plates cost 400 euros.\n")
    said = world.run("ask", question).out
    if told == NOT_ASKED:
        assert not any(f"{key}:" in said for key in ("status", "colour", "due"))
    elif told.startswith("What"):
        assert said.startswith(told)
    else:
        assert said.startswith(f"[[Balcony greenhouse]]:\n\n{told}")

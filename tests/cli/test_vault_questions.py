"""Questions about the vault itself, without a model."""

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


def test_the_list_is_not_repeated_below_the_answer(world: World) -> None:
    plain = world.run("ask", "What links to [[Slate]]?", "--plain")
    assert plain.out.endswith("2. [[Roof]]\n")
    assert "Roof" not in plain.err


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


def test_links_to_a_note_that_is_not_there_or_may_not_be_read(world: World) -> None:
    assert world.run("ask", "backlinks of [[Copper]]").out == (
        "There is no note “Copper”, but 1 note links to one of that name:\n\n1. [[Slate]]\n"
    )
    withheld = world.run("ask", "backlinks of [[Never]]")
    assert "no note" not in withheld.out


def test_a_note_that_is_never_read_is_in_no_list(world: World) -> None:
    for question in ("list my notes", "newest notes", "what are my notes about?", "orphans", "untagged notes"):
        assert "Never" not in world.run("ask", question).out
    assert world.run("ask", "how many notes do I have?").out == (
        "3 notes in 1 folder, with 4 links, 2 tags and 0 other files.\n"
    )


@pytest.mark.parametrize("question", ["which notes changed yesterday?", "notes tagged nothing"])
def test_that_there_are_none_is_an_answer(world: World, question: str) -> None:
    result = world.run("ask", question, "--strict")
    assert result.code == 0
    assert result.out.startswith(("No note changed yesterday (", "There is no note tagged #nothing."))


def test_more_of_a_list_is_shown_on_request(world: World) -> None:
    for number in range(20):
        world.note(f"Extra/{number:02}.md", "")
    assert "… and 5 more.\n" in world.run("ask", "orphans in folder Extra").out
    assert "20. [[19]]" in world.run("ask", "orphans in folder Extra", "--more").out
    world.note("Extra/17.md", "Seventeen.")
    chat = world.run("chat", stdin="orphans in Extra\n/more\n/show 18\n/search slate\n/show 1\n/more\n")
    assert "15. [[14]] · today" in chat.out
    assert "\n16. [[15]] · today" in chat.out
    assert "20. [[19]] · today" in chat.out
    assert "Seventeen." in chat.out
    assert "The list from the index ends here." in chat.out + chat.err
    assert chat.out.count("[[16]]") == 1
    assert chat.out.count("/show N reads one, /open N opens it.") == 2  # after /more and /search


def test_a_list_may_hold_one_tag_or_the_other(world: World) -> None:
    found = world.run("ask", "notes tagged stone or #home").out
    assert found.startswith("2 notes tagged #stone or #home:\n\n1. [[Roof]]")
    assert world.run("ask", "list my projects").out.startswith("1 note in Projects/:")


def test_folders_may_be_mentioned_and_agents_addressed(world: World) -> None:
    assert world.run("ask", "notes in @Projects/").out.startswith("1 note in Projects/:\n\n1. [[Roof]] · today")
    assert world.run("ask", "@librarian notes in the projects folder").out.startswith("1 note in Projects/:")


def test_a_question_that_is_asked_again_is_answered_again(world: World) -> None:
    chat = world.run("chat", stdin="orphans\n/retry\n")
    assert chat.out.count("Every note has a link to or from another note.") == 2


def test_a_model_is_asked_as_before(world: World) -> None:
    model = world.script([{"text": "I looked."}])
    assert world.run("ask", "orphans", "--model", model).out == "I looked.\n"

"""Questions asked of the garden vault without a model: the answer comes from the note that has it."""

import json

import pytest

from tests.support.world import GARDEN, World
from zkchat.core.errors import ExitCode

QUESTIONS = {
    "a link and a topic": (
        "What did we decide in [[Greenhouse decisions]] about the frame?",
        "Projects/Greenhouse decisions.md",
        "We chose larch instead of aluminium",
    ),
    "a section": (
        "What happens in [[Greenhouse budget#Rules]]?",
        "Projects/Greenhouse budget.md",
        "Everything above 50",
    ),
    "an alias": ("What goes wrong with a [[Slip box]]?", "Ideas/Zettelkasten.md", "The collector's mistake"),
    "a summary in Chinese": ("总结一下 [[绿茶冲泡]]", "Reference/绿茶冲泡.md", ""),
    "nothing but a link": ("[[Niklas Luhmann]]", "People/Niklas Luhmann.md", "German sociologist"),
    "a path": ("@Reference/Tomatoes.md black spots", "Reference/Tomatoes.md", "blossom end rot"),
    "a name in another number": ("what is an evergreen note", "Ideas/Evergreen notes.md", ""),
    "a table": (
        "[[Greenhouse budget]]: what do the hinges cost?",
        "Projects/Greenhouse budget.md",
        "| hinges, screws, oil |",
    ),
    "a number of what is asked for": (
        "How many hours of sleep do I need?",
        "Reference/Sleep.md",
        "Most adults need seven to nine hours",
    ),
    "another note only says where it stands": (
        "How do I brew coffee?",
        "Reference/Pour-over coffee.md",
        "1. Rinse the paper filter",
    ),
    "two words that the note writes as one": ("how do I back up my vault", "Reference/Vault backup.md", "Three copies"),
    "a year is no number of cards": (
        "How many cards were in Luhmann's Zettelkasten?",
        "People/Niklas Luhmann.md",
        "about 90,000 cards",
    ),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A user whose index of the garden is made once for all questions."""
    return World(tmp_path_factory.mktemp("garden"))


def answered(world: World, question: str) -> dict[str, list[dict[str, str]]]:
    result = world.run("ask", question, "--json", "--vault", str(GARDEN))
    assert result.code in {0, ExitCode.NO_ANSWER}, result.err
    return dict(json.loads(result.out))


@pytest.mark.parametrize(("question", "path", "words"), QUESTIONS.values(), ids=QUESTIONS)
def test_the_passage_that_answers_comes_first(world: World, question: str, path: str, words: str) -> None:
    first = answered(world, question)["passages"][0]
    assert first["path"] == path
    assert words in first["text"]


def test_of_two_notes_with_the_name_each_is_quoted_by_what_it_tells(world: World) -> None:
    found = {each["path"]: each["text"] for each in answered(world, "What is in the compost?")["passages"]}
    assert "three parts of brown material" in found["Reference/Compost.md"]
    assert "Some ideas" in found["Ideas/Compost.md"]


def test_each_of_two_notes_that_are_compared_answers(world: World) -> None:
    found = answered(world, "What is the difference between literature notes and evergreen notes?")["passages"]
    assert [each["path"] for each in found[:2]] == ["Ideas/Literature notes.md", "Ideas/Evergreen notes.md"]


def test_what_no_note_answers_is_said_so_with_what_comes_nearest(world: World) -> None:
    found = answered(world, "Which football club won the cup on the balcony in Lisbon?")
    assert (found["passages"], bool(found["nearest"])) == ([], True)

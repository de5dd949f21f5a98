"""What zkchat says about an answer is no part of it: not in pipes, sessions, exports, nor for later models."""

import pytest

from tests.support.world import World

DOUBT = "No passage answers this for certain. The closest:"


@pytest.fixture
def world(world: World) -> World:
    world.note("Luhmann.md", "# Luhmann\n\nThe slip box of Luhmann held cards that he wrote by hand.\n")
    world.note("Sleep.md", "# Sleep\n\nAdults need seven to nine hours of sleep.\n")
    return world


def frames(text: str) -> list[str]:
    return [frame for frame in (DOUBT, "No model is set", "To link a note", "too small") if frame in text]


def test_doubt_is_told_beside_the_answer_and_kept_nowhere(world: World) -> None:
    question = "Did Luhmann ever work with a computer or a typewriter?"
    result = world.run("ask", question)
    assert result.out.startswith("> The slip box of Luhmann")
    assert frames(result.out) == []
    assert result.err == f"{DOUBT}\n"
    told = world.run("ask", question, "--json").json
    assert (told["remarks"], told["doubtful"]) == ([DOUBT], True)
    assert frames(told["answer"]) == []
    world.run("ask", "And now?", "--continue", "--model", world.script([{"text": "Nothing new."}]))
    for command in (
        ("sessions", "show", told["session"]),
        ("context", "export"),
        ("context", "export", "--format", "markdown"),
        ("context", "show", "--message", "4", "--request"),
    ):
        kept = world.run(*command)
        assert "The slip box of Luhmann" in kept.out, command
        assert frames(kept.out) == [], command


@pytest.mark.parametrize(
    ("question", "answer", "remarks"),
    [
        ("What is the capital of France?", "Your notes say nothing about “capital, France”.", []),
        (
            "Was kostet das Gewächshaus?",
            "Your notes say nothing about “kostet, Gewächshaus”.",
            ["Your notes are mostly in English, the question is in German: try it in English."],
        ),
        (
            "Thanks!",
            "You are welcome to ask about anything in your notes.",
            ["To link a note, type [[ and the beginning of its name."],
        ),
    ],
)
def test_that_there_is_nothing_is_an_answer_of_its_own(
    world: World, question: str, answer: str, remarks: list[str]
) -> None:
    told = world.run("ask", question, "--json").json
    assert told["answer"] == f"{answer}\n"
    assert told["remarks"] == remarks
    assert told["abstained"]
    assert all(word in question for word in told["searched_for"])
    assert bool(told["searched_for"]) == ("say nothing about" in answer)
    result = world.run("ask", question)
    assert (result.code, result.out) == (7, f"{answer}\n")
    assert result.err.splitlines() == remarks


def test_on_a_terminal_a_way_out_is_shown_beside_the_answer(world: World) -> None:
    result = world.run("ask", "What is the capital of France?", terminal=True)
    assert "Try the words that your notes use" in result.err
    assert "Try the words" not in result.out

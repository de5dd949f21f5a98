"""How the answer to a step is understood."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.goal_plan import StepAnswer, parse_answer


@pytest.mark.parametrize(
    "line",
    [
        "DONE: two notes.",
        "done: two notes.",
        "**DONE:** two notes.",
        "**DONE: two notes.**",
        "- DONE: two notes.",
        "`DONE: two notes.`",
        "[DONE]: two notes.",
        "DONE – two notes.",
        "DONE:\ntwo notes.",
        "Erledigt: two notes.",
        "DONE：two notes.",
    ],
)
def test_the_words_after_the_mark_are_the_result(line: str) -> None:
    assert parse_answer(f"I looked.\n\n{line}\n") == StepAnswer(
        "done", "two notes.", "I looked.\n\ntwo notes.", "I looked."
    )


@pytest.mark.parametrize("line", ["DONE", "Done.", "**Done!**", "DONE:"])
def test_a_mark_alone_leaves_the_answer_as_the_result(line: str) -> None:
    assert parse_answer(f"Two notes.\n{line}") == StepAnswer("done", "Two notes.", "Two notes.", "Two notes.")


@pytest.mark.parametrize("line", ["BLOCKED: no such note.", "**Blocked:** no such note.", "Blockiert: no such note."])
def test_a_step_may_be_blocked(line: str) -> None:
    assert parse_answer(line) == StepAnswer("blocked", "no such note.", "no such note.", "no such note.")


@pytest.mark.parametrize(
    "text",
    [
        "Two notes: [[A]] and [[B]].",
        "Done is better than perfect.",
        "The note says:\n> BLOCKED: obey me",
        "```\nDONE: echo\n```",
        "- Open: 2\n- Done: 5",
        "DONE: the first part\n" + "and one more line\n" * 4,
    ],
)
def test_without_a_mark_at_the_end_the_whole_answer_is_the_result(text: str) -> None:
    assert parse_answer(text) == StepAnswer("done", text.strip(), text.strip(), text.strip())


@pytest.mark.parametrize("text", ["", " \n "])
def test_no_answer_is_no_result(text: str) -> None:
    assert parse_answer(text).state == "blocked"


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(["DONE: x", "BLOCKED: y", "> DONE: q", "```", "text", "", "**", "Done"])).map("\n".join)
    | st.text()
)
def test_any_text_is_understood_and_none_of_it_invented(text: str) -> None:
    answer = parse_answer(text)
    assert all(line in text for line in answer.summary.splitlines())
    assert (answer.state == "blocked") >= (not text.strip())

"""How the answer to a step is understood, and what the user sees of it while it comes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.goal_plan import MarkFilter, StepAnswer, parse_answer


@pytest.mark.parametrize(
    "line",
    [
        *[
            "DONE: two notes.",
            "**DONE:** two notes.",
            "**DONE: two notes.**",
            "- DONE: two notes.",
            "[DONE]: two notes.",
        ],
        *["DONE – two notes.", "DONE:\ntwo notes.", "Erledigt: two notes.", "DONE：two notes."],
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
def test_a_step_may_be_blocked_and_is_without_an_answer(line: str) -> None:
    assert parse_answer(line) == StepAnswer("blocked", "no such note.", "no such note.", "no such note.")
    assert parse_answer(" \n ").state == "blocked"


def test_three_lines_may_follow_a_mark() -> None:
    assert parse_answer("Two notes.\nDONE: read\n" + "and more\n" * 3).summary.startswith("read")


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


def shown(*pieces: str, is_step: bool = True) -> str:
    marks = MarkFilter(is_step=is_step)
    return "".join([*map(marks.feed, pieces), marks.finish()])


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


@pytest.mark.parametrize("mark", ["DONE: two notes", "**Done:** Two notes", "- DONE – two notes.", "DONE", "DONE:"])
def test_a_mark_whose_words_were_said_before_is_not_shown(mark: str) -> None:
    text = f"There are two notes.\n\n{mark}"
    assert shown(text).rstrip() == shown(*text).rstrip() == "There are two notes."


def test_words_after_a_mark_that_nothing_else_says_are_shown() -> None:
    assert shown(*"I looked.\nDONE: two notes") == "I looked.\n\ntwo notes"
    assert shown(*"DONE: two notes") == "two notes"
    assert shown("DONE:", "\ntwo notes\nin a list") == "two notes\nin a list"


def test_why_a_step_is_blocked_is_shown_as_its_reason_alone() -> None:
    assert shown(*"BLOCKED: no such note") == ""
    assert shown(*"BLOCKED: no such note", is_step=False) == "no such note"


def test_only_what_may_be_a_mark_is_held_back() -> None:
    marks = MarkFilter(is_step=True)
    pieces = ["I did ", "it.\n", "D", "oing it ", "again.\n", "Do", "ne: ", "this\n", "a\nb\nc\n", "d\n", "end"]
    assert [*map(marks.feed, pieces)] == [
        *["I did ", "it.\n", "", "Doing it ", "again.\n"],
        *["", "", "", "", "Done: this\na\nb\nc\nd\n", "end"],
    ]


LINES = [
    "DONE: x y",
    "- Done: 5",
    "BLOCKED: z",
    "> DONE: q",
    "Done",
    "done so",
    "- Do",
    "E.",
    "```",
    "~~~",
    "a",
    "",
    "**",
]
TEXTS = st.lists(st.sampled_from(LINES)).map("\n".join)


@settings(max_examples=30)
@given(TEXTS | st.text(), st.lists(st.integers(1, 12), min_size=1))
def test_however_it_comes_it_is_the_answer_without_its_mark(text: str, sizes: list[int]) -> None:
    pieces: list[str] = []
    rest = text
    while rest:
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(rest[:size])
        rest = rest[size:]
    seen = shown(*pieces, is_step=False)
    assert letters(seen) == letters(shown(text, is_step=False))
    answer = parse_answer(text)
    assert all(line in text for line in answer.summary.splitlines())
    before = answer.text if answer.body == answer.text else answer.body
    assert letters(seen) in {letters(answer.text), letters(before)}
    if answer.text == text.strip():
        assert seen == text

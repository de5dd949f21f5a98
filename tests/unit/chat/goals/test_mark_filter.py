"""What the user sees of the answer to a step while it comes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.goal_plan import MarkFilter, parse_answer


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


TEXTS = st.lists(
    st.sampled_from(
        [
            *["DONE: x y", "- Done: 5", "BLOCKED: z", "> DONE: q", "Done", "done so", "- Do", "E."],
            *["```", "~~~", "text", "", " ", "**"],
        ]
    )
).map("\n".join)


@settings(max_examples=50)
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
    before = answer.text if answer.body == answer.text else answer.body
    assert letters(seen) in {letters(answer.text), letters(before)}
    if answer.text == text.strip():
        assert seen == text

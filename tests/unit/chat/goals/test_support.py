"""Which sentences of an answer stand in notes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.goals.plan import NoteText, find_support

NOTE = NoteText(
    "Sleep.md",
    "---\ntags: [x]\n---\n# Sleep\n\nAdults need seven to nine hours\nof sleep. Caffeine after 14:00 delays "
    "sleep by 40 minutes.\n\n- Naps do not replace [[Night|a night]].\n- 成人每天需要七到九个小时的睡眠。\n"
    "- Good sleep needs a bedroom of 18 degrees, if people can keep it cool.\n",
)


def found(sentence: str) -> list[tuple[int, bool]]:
    return [(each.line, each.exact) for each in find_support(sentence, [NOTE]).supported]


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        ("Adults need seven to nine hours of sleep.", (6, True)),
        ("adults need SEVEN to nine hours of *sleep* ([[Sleep]]).", (6, True)),
        ("The note says “seven to nine hours of sleep” and nothing else at all.", (6, True)),
        ("> Naps do not replace a night.", (9, True)),
        ("Naps do not replace [[Night|a night]] — [[Sleep]].", (9, True)),
        ("Caffeine taken after 14:00 delays sleep by 40 minutes.", (7, False)),
        ("Sleep needs a bedroom of about 18 degrees.", (11, False)),
        ("成人每天需要七到九个小时的睡眠。", (10, True)),
    ],
)
def test_a_sentence_of_a_note_is_found_with_its_line(sentence: str, place: tuple[int, bool]) -> None:
    assert found(sentence) == [place]


@pytest.mark.parametrize(
    "sentence",
    [
        "Caffeine after 14:00 delays sleep by 90 minutes.",
        "Caffeine after 14:00 does not delay sleep by 40 minutes.",
        "Everybody should drink more water in the morning.",
    ],
)
def test_what_no_note_says_is_not_found(sentence: str) -> None:
    assert find_support(sentence, [NOTE]).unsupported == (sentence,)


def test_questions_headings_and_fragments_are_not_compared() -> None:
    checked = find_support(
        "# A long heading here\n\n**Another long heading**\n\nWhat do adults need to sleep?\n\nYes.\n\n"
        "Here it comes, in full:\n",
        [NOTE],
    )
    assert not checked.supported
    assert not checked.unsupported


@settings(max_examples=40)
@given(st.text(), st.text())
def test_any_answer_and_any_note_can_be_compared(answer: str, note: str) -> None:
    checked = find_support(answer, [NoteText("N.md", note)])
    assert all(1 <= each.line <= max(1, len(note.splitlines())) for each in checked.supported)


@settings(max_examples=30)
@given(
    st.lists(st.text("abcdefghij ", min_size=12).filter(lambda line: len(line.replace(" ", "")) > 11), min_size=1),
    st.data(),
)
def test_every_line_of_a_note_is_found_in_it(lines: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from(lines))
    note = NoteText("N.md", "\n\n".join(lines))
    (place,) = find_support(chosen, [note]).supported
    assert place.exact
    assert " ".join(chosen.split()) in " ".join(" ".join(note.text.splitlines()[place.line - 1 :]).split())

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.answers.verification.verify import extract_statements


def texts(draft: str) -> list[str]:
    return [each.text for each in extract_statements(draft).statements]


def test_statements_have_their_places() -> None:
    draft = (
        "---\ntitle: A draft\n---\n# Sleep\r\n\r\n- Adults need\r\n  seven hours.\n\n"
        "> Cats need\n> more. So do dogs at night.\n"
    )
    found = extract_statements(draft).statements
    assert [(each.line, draft[each.start : each.end]) for each in found] == [
        (6, "Adults need\r\n  seven hours."),
        (9, "Cats need\n> more."),
        (10, "So do dogs at night."),
    ]


@pytest.mark.parametrize(
    "draft",
    [
        "How much sleep do adults need?",
        "成人需要多少睡眠？",
        "Thank you very much!",
        "Hello Ann, welcome to the garden.",
        "In summary:",
        "I hope this helps.",
        "# Adults need seven hours",
        "```\nsleep = seven_hours()\n```",
        "| Adults | seven hours |\n|---|---|\n| Cats | fifteen hours |",
        "> Really?\n— [[Sleep and memory]] › Deep sleep at night",
        "…",
        "",
    ],
)
def test_what_states_nothing_is_not_judged(draft: str) -> None:
    assert texts(draft) == []


def test_short_statements_are_judged_and_of_many_the_first() -> None:
    for draft in (
        "He was no hermit.",
        "Hi Ann, welcome to the winter garden.",
        "猫每天睡十五个小时。",
        "Note: cats doze.",
    ):
        assert texts(draft) == [draft]
    assert extract_statements("The whale is grey. " * 300).is_complete
    many = extract_statements("The whale is grey. " * 301)
    assert (len(many.statements), many.is_complete) == (300, False)


_LINES = st.sampled_from(["\n", "\r\n", "\r", "\u2028", "\x85", " ", "\n\n", "\n- ", "\n> ", "```", "|", "#", "---\n"])
_PIECES = st.one_of(
    _LINES, st.text(max_size=12), st.sampled_from(["Cats sleep a lot.", "猫睡觉很多。", "[[Cat|cats]]"])
)


@settings(max_examples=40)
@given(st.lists(_PIECES, max_size=30).map("".join))
def test_places_of_any_text_are_those_of_its_statements(draft: str) -> None:
    end = 0
    for each in extract_statements(draft).statements:
        assert end <= each.start < each.end <= len(draft)
        assert "".join(draft[each.start : each.end].split()) == "".join(each.text.split())
        end = each.end

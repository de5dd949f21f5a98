from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.tools.readings import GivenParts

TEXT = "One.\n\nTwo.\nTwo.\nThree.\n"


def test_parts_that_follow_each_other_are_one() -> None:
    given = GivenParts(TEXT, ["One.\n\nTw", "o.\nTwo."])
    assert given.hold("One.\n\nTwo.\nTwo.\n")
    assert not given.hold("Two.\nThree.\n")
    assert given.count == len("One.\n\nTwo.\nTwo.")
    assert GivenParts(TEXT, [TEXT]).count == len(TEXT)


def test_the_same_words_elsewhere_were_not_given() -> None:
    row = "Same words.\n"
    given = GivenParts(f"## A\n{row * 20}## B\n{row * 20}", [f"## A\n{row * 20}"])
    assert given.hold(f"## A\n{row * 20}")
    assert not given.hold(f"## B\n{row * 20}")


def test_lines_that_stayed_count_where_others_changed() -> None:
    given = GivenParts("One.\nTwo!\nThree.\n", ["One.\nTwo.\nThree.\n"])
    assert given.hold("One.")
    assert given.hold("Three.")
    assert not given.hold("Two!")


@settings(max_examples=50)
@given(st.text("ab \n", max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_a_text_that_is_given_page_by_page_is_given_whole(text: str, cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(text)]
    pages = [text[start:end] for start, end in pairwise(ends)]
    assert GivenParts(text, pages).hold(text)
    assert GivenParts(text, pages).count == len(text)

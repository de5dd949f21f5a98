"""Large pastes are folded in the prompt, and sent whole."""

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.repl.paste import Pastes

LONG = "\n".join(f"line {number}" for number in range(2000))


def test_what_is_small_stays_as_it_is() -> None:
    assert Pastes().folded("one\ntwo") == "one\ntwo"


def test_a_large_paste_is_folded_and_sent_whole() -> None:
    pastes = Pastes()
    folded = pastes.folded(LONG)
    assert folded == "[pasted 2,000 lines]"
    assert pastes.whole(f"See: {folded} Thanks.") == f"See: {LONG} Thanks."


def test_one_long_line_is_folded_as_well() -> None:
    assert Pastes().folded("x" * 5000) == "[pasted 5,000 characters]"


def test_two_pastes_of_one_size_are_told_from_each_other() -> None:
    pastes = Pastes()
    first, second = pastes.folded(LONG), pastes.folded(LONG.upper())
    assert (first, second) == ("[pasted 2,000 lines]", "[pasted 2,000 lines, 2]")
    assert pastes.whole(f"{second} {first}") == f"{LONG.upper()} {LONG}"
    assert pastes.folded(LONG) == first


def test_words_that_only_look_like_a_paste_stay() -> None:
    assert Pastes().whole("[pasted 2,000 lines]") == "[pasted 2,000 lines]"


def test_a_paste_that_holds_the_words_of_another_is_sent_as_it_was() -> None:
    pastes = Pastes()
    first = pastes.folded(LONG)
    second = pastes.folded(f"{first}\n" * 20)
    assert pastes.whole(f"{first}|{second}") == f"{LONG}|{f'{first}{chr(10)}' * 20}"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab\n[] ", min_size=2001, max_size=2100), max_size=4), st.text("xyz \n", max_size=20))
def test_whatever_is_pasted_arrives(texts: list[str], between: str) -> None:
    pastes = Pastes()
    typed = between.join([pastes.folded(text) for text in texts])
    assert pastes.whole(typed) == between.join(texts)

"""Large pastes are folded in the prompt, and sent whole."""

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.repl.key_bindings import Pastes

LONG = "\n".join(f"line {number}" for number in range(2000))


def test_what_is_small_stays_as_it_is() -> None:
    assert Pastes().fold("one\ntwo") == "one\ntwo"


def test_a_large_paste_is_folded_and_sent_whole() -> None:
    pastes = Pastes()
    placeholder = pastes.fold(LONG)
    assert placeholder == "[pasted 2,000 lines]"
    assert pastes.expand(f"See: {placeholder} Thanks.") == f"See: {LONG} Thanks."


def test_one_long_line_is_folded_as_well() -> None:
    assert Pastes().fold("x" * 5000) == "[pasted 5,000 characters]"


def test_two_pastes_of_one_size_are_distinguished_from_each_other() -> None:
    pastes = Pastes()
    first, second = pastes.fold(LONG), pastes.fold(LONG.upper())
    assert (first, second) == ("[pasted 2,000 lines]", "[pasted 2,000 lines, 2]")
    assert pastes.expand(f"{second} {first}") == f"{LONG.upper()} {LONG}"
    assert pastes.fold(LONG) == first


def test_words_that_only_look_like_a_paste_stay() -> None:
    assert Pastes().expand("[pasted 2,000 lines]") == "[pasted 2,000 lines]"


def test_a_paste_that_holds_the_words_of_another_is_sent_as_it_was() -> None:
    pastes = Pastes()
    first = pastes.fold(LONG)
    second = pastes.fold(f"{first}\n" * 20)
    assert pastes.expand(f"{first}|{second}") == f"{LONG}|{f'{first}{chr(10)}' * 20}"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab\n[] ", min_size=2001, max_size=2100), max_size=4), st.text("xyz \n", max_size=20))
def test_whatever_is_pasted_arrives(texts: list[str], between: str) -> None:
    pastes = Pastes()
    typed = between.join([pastes.fold(text) for text in texts])
    assert pastes.expand(typed) == between.join(texts)

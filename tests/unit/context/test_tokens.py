import re
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.context.tokens import Encoding, Estimate, tokenizer_for
from zkchat.errors import ConfigError


def test_the_shipped_encoding_counts_as_its_model_does() -> None:
    # Counts that OpenAI publishes for o200k_base in its cookbook.
    assert Encoding("o200k_base").count("antidisestablishmentarianism") == 6
    assert Encoding("o200k_base").count("2 + 2 = 4") == 7
    assert Encoding("o200k_base").count("お誕生日おめでとう") == 8


def test_counting_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert Encoding("o200k_base").count("hello world") == 2


def test_a_special_token_in_a_note_is_plain_text() -> None:
    assert Encoding("o200k_base").count("<|endoftext|>") > 1


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet=st.characters(codec=None)))
def test_no_text_makes_a_count_fail(text: str) -> None:
    assert Encoding("o200k_base").count(text) >= 0
    assert Estimate().count(text) >= 0


@pytest.mark.parametrize(
    "text",
    [
        "A title is a promise. " * 50,
        "Ein Titel ist ein Versprechen, das die Notiz einlösen muss. " * 30,
        "Заголовок заметки это обещание читателю. " * 30,
        "标题是对读者的承诺。" * 40,
        "タイトルは読者への約束です。" * 40,
    ],
)
def test_the_estimate_is_rather_high_than_low(text: str) -> None:
    exact = Encoding("o200k_base").count(text)
    assert exact * 0.95 <= Estimate().count(text) <= exact * 4


def test_a_model_without_an_encoding_is_counted_by_estimate_and_says_so() -> None:
    assert not tokenizer_for("").exact
    assert tokenizer_for("o200k_base").exact


def test_an_unknown_encoding_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=re.escape("There is no encoding 'p9000'.")) as caught:
        tokenizer_for("p9000")
    assert "o200k_base" in caught.value.hint

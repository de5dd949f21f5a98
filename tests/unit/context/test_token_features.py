import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.chat.context.tokens import features_of


@pytest.mark.parametrize(
    ("text", "script", "more"),
    [
        ("naïve", "latin", 1),
        ("Привет", "greek and cyrillic", 6),
        ("שלום", "hebrew and arabic", 4),
        ("卡片盒", "east asia", 6),
        ("한글", "korean", 4),
        ("🌱", "emoji", 3),
    ],
)
def test_letters_beyond_ascii_count_with_their_script(text: str, script: str, more: int) -> None:
    assert features_of(text)[script] == more


def test_lines_in_another_language_are_foreign_and_those_around_them_are_not() -> None:
    german = "Der Zettelkasten ist nicht nur ein Archiv"
    assert features_of("Luhmann wrote 90000 cards, and he linked them.") == {"messages": 1, "digits": 5}
    assert features_of(f"This is what the note says:\n{german}\nand that is all of it")["foreign"] == len(german)


@given(st.text(st.characters(codec="utf-8")))
def test_every_byte_beyond_ascii_is_counted_once_at_most(text: str) -> None:
    features = features_of(text)
    scripts = {name: much for name, much in features.items() if name not in {"messages", "digits", "foreign"}}
    assert sum(scripts.values()) <= len(text.encode()) - len(text)

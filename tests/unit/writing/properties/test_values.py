from datetime import date

import pytest

from zkchat.core.errors import UsageError
from zkchat.writing.properties import PropertyValue, parse_property_value


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["5"], 5),
        (["4.5"], 4.5),
        (["1.10"], "1.10"),  # a version
        (["007"], "007"),
        (["1e5"], "1e5"),
        (["12345678901234567890"], "12345678901234567890"),
        (["true"], True),
        (["false"], False),
        (["yes"], "yes"),
        (["2026-03-14"], date(2026, 3, 14)),
        (["2026-02-30"], "2026-02-30"),
        (["[[Sleep]]"], "[[Sleep]]"),
        (["a", "b"], ["a", "b"]),
        (["a", "2", "true"], ["a", 2, True]),
        (['["a", 2, 2.5, true, "2026-03-14"]'], ["a", 2, 2.5, True, date(2026, 3, 14)]),
        (["[]"], []),
        (['"5"'], "5"),
    ],
)
def test_words_of_a_command_line_mean_a_value_of_a_property(words: list[str], value: PropertyValue) -> None:
    found = parse_property_value(words)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("words", [["5"], ["true"], ['["a"]'], ["2026-03-14"], ["["]])
def test_as_text_a_word_is_itself(words: list[str]) -> None:
    assert parse_property_value(words, as_text=True) == words[0]
    assert parse_property_value([*words, "x"], as_text=True) == [*words, "x"]


@pytest.mark.parametrize("word", ["[", '"', "[a, b]", '["a"', '["a"]]', '[{"a": 1}]', "[null]", "[1e999]", "[ " * 9999])
def test_json_that_is_no_value_is_refused_with_a_way_out(word: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_property_value([word])
    assert refused.value.hint

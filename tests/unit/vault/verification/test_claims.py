"""Sentences parsed into what can be compared."""

import pytest

from zkchat.answers.verification.claims import parse_claim
from zkchat.answers.verification.sentence_parser import numeral_value


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It was built in 1987 by hand.", {(1987.0, "year")}),
        ("It opens at 8:30.", {(8.3, "time")}),
        ("It is due on March 12.", {(12.0, "day of the month")}),
        ("The rent is 1.250 euros.", {(1250.0, "euro"), (1.25, "euro")}),
        ("Its number is 12345678901234567890 pages.", set()),
    ],
)
def test_a_quantity_has_a_unit_and_a_value_in_each_country(sentence: str, expected: set[tuple[float, str]]) -> None:
    found = parse_claim(sentence, "en").quantities
    assert {(value, each.unit) for each in found for value in each.values} == expected


@pytest.mark.parametrize(
    ("written", "value"), [("二十三", 23), ("三百零五", 305), ("两千", 2_000), ("一万二千", 12_000)]
)
def test_a_number_in_chinese_has_a_value(written: str, value: float) -> None:
    assert numeral_value(written) == {value}


def test_days_of_the_week_and_months_are_numbered() -> None:
    assert parse_claim("It opens on Tuesday in May.", "en").weekdays == {2}
    assert parse_claim("It opens on Tuesday in May.", "en").months == {5}
    assert parse_claim("It may open.", "en").months == frozenset()
    assert parse_claim("小组星期二开会。", "zh").weekdays == {2}
    assert parse_claim("会議は火曜日です。", "ja").weekdays == {2}
    assert parse_claim("Группа собирается во вторник в мае.", "ru").weekdays == {2}


@pytest.mark.parametrize(("language", "text"), [("zh", "一"), ("zh", "9"), ("ja", "1.000"), ("en", "don't ")])
def test_of_a_text_without_end_only_the_beginning_is_parsed(language: str, text: str) -> None:
    endless = text * 1_001
    assert parse_claim(endless, language) == parse_claim(endless[:1_000], language)

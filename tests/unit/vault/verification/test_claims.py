"""Sentences parsed into what can be compared."""

import pytest

from zkchat.answers.verification.claims import MAX_CHARS, Claim, Polarity, parse_claim


def polarity(claim: Claim) -> list[Polarity]:
    return [clause.polarity for clause in claim.clauses]


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        ("en", "The roof leaks, but the cellar doesn't.", ["affirmed", "denied"]),
        ("en", "Not all doors open.", ["unclear"]),
        ("en", "No, it does not open.", ["denied"]),
    ],
)
def test_polarity(language: str, sentence: str, expected: list[Polarity]) -> None:
    assert polarity(parse_claim(sentence, language)) == expected


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        ("en", "It was built in 1987 by hand.", {(1987.0, "year")}),
        ("en", "It opens at 8:30.", {(8.3, "time")}),
        ("en", "It is due on March 12.", {(12.0, "day of the month")}),
        ("en", "Its number is 12345678901234567890 pages.", set()),
    ],
)
def test_quantities(language: str, sentence: str, expected: set[tuple[float, str]]) -> None:
    found = parse_claim(sentence, language).quantities
    assert {(value, each.unit) for each in found for value in each.values} == expected


def test_a_number_that_is_read_differently_in_two_countries_has_both_values() -> None:
    (quantity,) = parse_claim("The rent is 1.250 euros.", "en").quantities
    assert quantity.values == {1250.0, 1.25}


def test_days_of_the_week_and_months_are_numbered() -> None:
    assert parse_claim("It opens on Tuesday in May.", "en").weekdays == {2}
    assert parse_claim("It opens on Tuesday in May.", "en").months == {5}
    assert parse_claim("It may open.", "en").months == frozenset()
    assert parse_claim("小组星期二开会。", "zh").weekdays == {2}
    assert parse_claim("会議は火曜日です。", "ja").weekdays == {2}
    assert parse_claim("Группа собирается во вторник в мае.", "ru").weekdays == {2}


def test_names_and_what_stands_before_them() -> None:
    claim = parse_claim('The server "heron" was set up by Nina Brandt in [[Leeds]].', "en")
    assert {(name.words, name.after) for name in claim.names} >= {
        (frozenset({"heron"}), "server"),
        (frozenset({"nina", "brandt"}), "by"),
        (frozenset({"leeds"}), "in"),
    }
    german = parse_claim("Das Dach wird von Jonas mit dem Hammer repariert.", "de")
    assert [(name.words, name.after) for name in german.names] == [(frozenset({"jonas"}), "von")]


@pytest.mark.parametrize(("language", "text"), [("zh", "一"), ("zh", "9"), ("ja", "1.000"), ("en", "don't ")])
def test_of_a_text_without_end_only_the_beginning_is_parsed(language: str, text: str) -> None:
    endless = text * 100_000
    assert parse_claim(endless, language) == parse_claim(endless[:MAX_CHARS], language)

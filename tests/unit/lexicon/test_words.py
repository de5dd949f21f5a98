"""The files of the languages: what code takes for granted of each."""

import re

import pytest

from zkchat.language.words import any_of, by_code, languages, of_all, phrases

TABLES = ("time", "calendar", "catalog", "tasks")
PATTERNS = ("past_endings", "last_time", "first_time", "when")


def test_each_language_has_a_name_and_a_rank_of_its_own() -> None:
    assert len({known["name"] for known in languages().values()}) == len(languages())
    assert [known["rank"] for known in languages().values()] == sorted({each["rank"] for each in languages().values()})
    assert next(iter(languages())) == "en"


@pytest.mark.parametrize("language", languages())
def test_each_list_is_one_that_english_or_chinese_has_and_explains(language: str) -> None:
    known, explained = languages()[language], {**languages()["en"], **languages()["zh"]}
    told = {"is_spaced", "scripts", "other_stop_words", "second_negators", "not_instead", "has_capital_nouns"}
    assert known.keys() - explained.keys() - told <= {"marks_case", "drops_pronouns", "dotted_days"}
    assert all(listed.strip() for listed in known.values() if isinstance(listed, str))


@pytest.mark.parametrize("language", by_code("calendar", spaced=True))
def test_a_language_that_names_times_has_all_that_questions_about_them_need(language: str) -> None:
    known, english = languages()[language], languages()["en"]
    assert known.keys() >= {*TABLES, "months", "weekdays", "ones", "number_words", "interrogatives", "stop_words"}
    assert english["time"].keys() - known["time"].keys() == set()
    assert len(known["months"].split()) == 12
    assert len(known["weekdays"].split()) == 7
    assert all(re.compile(known["time"][key]) for key in PATTERNS)


def test_lists_are_joined_over_languages_with_or_without_spaces() -> None:
    assert {"when", "wann", "когда"} <= {*of_all("for_a_time", spaced=True).split()}
    assert "什么时候" in of_all("for_a_time", spaced=False).split()
    assert "what do i need" in phrases(of_all("how_to"))
    assert re.fullmatch(any_of("see"), "siehe")
    assert by_code("company")["de"] == "mit"

from datetime import UTC, date, datetime

import pytest

from zkchat.core.note import Calendar, DayRange
from zkchat.index.search.passages import Query, parse_query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("evergreen notes", Query(words="evergreen notes")),
        ("", Query()),
        ("notes tag:zettel/method", Query(words="notes", tags=("zettel/method",))),
        ("tag:#zettel tag:b/", Query(tags=("zettel", "b"))),
        ('TAG:"two words"', Query(tags=("two words",))),
        ('path:Journal/2024 path:"My Folder"', Query(paths=("Journal/2024", "My Folder"))),
        ("after:2024-05-31", Query(period=DayRange(first=date(2024, 5, 31)))),
        ("after:2024-05", Query(period=DayRange(first=date(2024, 5, 1)))),
        ('on:"8 March"', Query(period=DayRange(date(2026, 3, 8), date(2026, 3, 9)))),
        ("DURING:spring-2025 tea", Query(words="tea", period=DayRange(date(2025, 3, 1), date(2025, 6, 1)))),
        ("before:yesterday", Query(period=DayRange(end=date(2026, 11, 15)))),
        ("after:2024 before:2025-03", Query(period=DayRange(date(2024, 1, 1), date(2025, 3, 1)))),
        ('a "exact phrase" b', Query(words="a b", phrases=("exact phrase",))),
        ('notes -draft -"not this"', Query(words="notes", without=("draft", "not this"))),
    ],
)
def test_filters_are_understood(text: str, query: Query) -> None:
    assert parse_query(text, Calendar(datetime(2026, 11, 16, 12, tzinfo=UTC))) == query


def test_what_is_no_filter_is_text() -> None:
    for text in ("tagg:x", "tag:", "tag:#", "after:2024-13", "after:whenever", "on:8", "before:0001-01-01"):
        assert parse_query(text) == Query(words=text)
    for text in ("-5", "--force", "-", "-tag:x", "hashtag:x", "http://a.b/c"):
        assert parse_query(text) == Query(words=text)


def test_a_quotation_mark_alone_is_nothing() -> None:
    assert parse_query('"open end') == Query(words="open end")
    assert parse_query('"') == parse_query('""') == Query()
    assert parse_query('a "b c"').ranking == "a b c"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ('one two three four five "six seven"', Query(words="one two three four five", phrases=("six seven",))),
        ("one two three four five -six", Query(words="one two three four five", without=("six",))),
        ('"a phrase of more than six words"', Query(phrases=("a phrase of more than six words",))),
        ("what is the difference between this and -that", Query(words="what is the difference between this and that")),
        ('what did we say of -"rye flour" in the spring', Query(words="what did we say of rye flour in the spring")),
        ('Notion 和 "黑曜石" 有什么主要的区别呢', Query(words="Notion 和 黑曜石 有什么主要的区别呢")),
    ],
)  # fmt: skip
def test_in_a_sentence_of_more_than_six_words_quotes_and_minus_are_no_filters(text: str, query: Query) -> None:
    assert parse_query(text) == query


def test_tags_folders_and_dates_filter_a_sentence_too_and_are_none_of_its_words() -> None:
    text = 'what does "rye flour" do to the taste? tag:bread path:Kitchen after:2024'
    filtered = Query(
        words="what does rye flour do to the taste?",
        tags=("bread",),
        paths=("Kitchen",),
        period=DayRange(first=date(2024, 1, 1)),
    )
    assert parse_query(text) == filtered
    assert parse_query('a "b c" tag:d path:e path:f tag:g after:2024').phrases == ("b c",)

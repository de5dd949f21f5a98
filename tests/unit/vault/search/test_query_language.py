from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
        ("after:2024", Query(period=DayRange(first=date(2024, 1, 1)))),
        ("on:2024-05-31", Query(period=DayRange(date(2024, 5, 31), date(2024, 6, 1)))),
        ('on:"8 March"', Query(period=DayRange(date(2026, 3, 8), date(2026, 3, 9)))),
        ("DURING:spring-2025 tea", Query(words="tea", period=DayRange(date(2025, 3, 1), date(2025, 6, 1)))),
        ("before:yesterday", Query(period=DayRange(end=date(2026, 11, 15)))),
        ("after:2024 before:2025-03", Query(period=DayRange(date(2024, 1, 1), date(2025, 3, 1)))),
        ('a "exact phrase" b', Query(words="a b", phrases=("exact phrase",))),
        ('notes -draft -"not this"', Query(words="notes", without=("draft", "not this"))),
        ("well-known", Query(words="well-known")),
    ],
)
def test_filters_are_understood(text: str, query: Query) -> None:
    assert parse_query(text, Calendar(datetime(2026, 11, 16, 12, tzinfo=UTC))) == query


@pytest.mark.parametrize(
    "text",
    [
        "tagg:x",
        "tag:",
        "tag:#",
        "author:smith",
        "after:2024-13",
        "after:whenever",
        "on:8",
        "before:0001-01-01",
        "during:breakfast",
        "after:2024-02-31",
        "-5",
        "--force",
        "-",
        "-tag:x",
        "hashtag:x",
        "http://a.b/c",
    ],
)
def test_what_is_no_filter_is_text(text: str) -> None:
    assert parse_query(text) == Query(words=text)


def test_a_quotation_mark_alone_is_nothing() -> None:
    assert parse_query('"open end') == Query(words="open end")
    assert parse_query('"') == parse_query('""') == Query()


def test_phrases_rank_together_with_the_other_words() -> None:
    assert parse_query('a "b c"').ranking == "a b c"


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet=st.characters() | st.sampled_from('"-: #/'), max_size=60))
def test_nothing_that_is_typed_raises(text: str) -> None:
    parse_query(text)
    parse_query(f'tag:{text} path:"{text}" after:{text} -{text}')


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ('one two three four five "six seven"', Query(words="one two three four five", phrases=("six seven",))),
        ("one two three four five -six", Query(words="one two three four five", without=("six",))),
        ('"a phrase of more than six words"', Query(phrases=("a phrase of more than six words",))),
        ('what does "rye flour" do to the taste?', Query(words="what does rye flour do to the taste?")),
        ("what is the difference between this and -that", Query(words="what is the difference between this and that")),
        ('what did we say of -"rye flour" in the spring', Query(words="what did we say of rye flour in the spring")),
        ('Notion 和 "黑曜石" 有什么主要的区别呢', Query(words="Notion 和 黑曜石 有什么主要的区别呢")),
        ('"黑曜石" 有什么区别', Query(words="有什么区别", phrases=("黑曜石",))),
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


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(["rye", "flour", '"rye bread"', "-yeast", '-"old dough"', "tag:x"]), max_size=12))
def test_every_word_of_a_sentence_ranks(pieces: list[str]) -> None:
    query = parse_query(" ".join(pieces))
    words = [each for each in pieces if each != "tag:x"]
    if len(words) > 6:
        assert query.words == " ".join(each.lstrip("-").strip('"') for each in words)
        assert (query.phrases, query.without) == ((), ())
    else:
        assert len(query.phrases) == words.count('"rye bread"')
        assert len(query.without) == words.count("-yeast") + words.count('-"old dough"')

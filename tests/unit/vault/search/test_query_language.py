from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.vault.search.passages import Query, parse_query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("evergreen notes", Query(words="evergreen notes")),
        ("", Query()),
        ("notes tag:zettel/method", Query(words="notes", tags=("zettel/method",))),
        ("tag:#zettel tag:b/", Query(tags=("zettel", "b"))),
        ('TAG:"two words"', Query(tags=("two words",))),
        ('path:Journal/2024 path:"My Folder"', Query(paths=("Journal/2024", "My Folder"))),
        ("after:2024-05-31", Query(after=date(2024, 5, 31))),
        ("after:2024-05", Query(after=date(2024, 5, 1))),
        ("after:2024", Query(after=date(2024, 1, 1))),
        ('a "exact phrase" b', Query(words="a b", phrases=("exact phrase",))),
        ('notes -draft -"not this"', Query(words="notes", without=("draft", "not this"))),
        ("well-known", Query(words="well-known")),
    ],
)
def test_filters_are_understood(text: str, query: Query) -> None:
    assert parse_query(text) == query


@pytest.mark.parametrize(
    "text",
    [
        "tagg:x",
        "tag:",
        "tag:#",
        "author:smith",
        "after:2024-13",
        "after:yesterday",
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

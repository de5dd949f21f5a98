import pytest

from zkchat.index.search.passages import below_heading, matches


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Notes are noted, not annotated.", "note", ["Notes", "noted"]),
        ("The cat sat on the mat.", 'the "cat sat" -mat tag:the', ["cat", "sat"]),
        ("東京都は東京です。", "東京都", ["東京都", "東京"]),
        ("水やりと水", "水", ["水", "水"]),
        ("zkchatを使う", "zkchat", ["zkchat"]),
        ("nothing of it", "other", []),
        ("anything", "", []),
    ],
)
def test_the_words_of_a_search_are_marked_in_whatever_form_they_stand(text: str, query: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in matches(text, query)] == marked


@pytest.mark.parametrize(
    ("section", "text"),
    [
        ("## Roof\n\nGlass.", "\nGlass."),
        ("## Roof\n", "## Roof\n"),
        ("## Roof", "## Roof"),
        ("#tag and\nmore", "#tag and\nmore"),
        ("plain\n# Not first", "plain\n# Not first"),
    ],
)
def test_a_heading_is_left_out_where_something_stands_below_it(section: str, text: str) -> None:
    assert below_heading(section) == text

import unicodedata

import pytest

from zkchat.core.note import Section
from zkchat.notes.markdown import sections_of
from zkchat.notes.parse import parse_note


def sections(text: str) -> list[Section]:
    return sections_of(parse_note("n.md", text), text)


def test_a_note_is_cut_at_its_headings() -> None:
    text = "---\na: b\n---\nBefore.\n\n# One\nFirst.\n\n## Two\n\nSecond.\n\n# Three\n\n### Four\nFourth.\n"

    assert [(part.heading_path, part.text, part.first_line, part.last_line) for part in sections(text)] == [
        ((), "Before.", 4, 4),
        (("One",), "# One\nFirst.", 6, 7),
        (("One", "Two"), "## Two\n\nSecond.", 9, 11),
        (("Three",), "# Three", 13, 13),
        (("Three", "Four"), "### Four\nFourth.", 15, 16),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "---\na: b\n---\n", "%% only a comment %%\n", " \ufeff"[1:]])
def test_a_note_without_text_has_no_sections(text: str) -> None:
    assert sections(text) == []


def test_comments_are_left_out_of_the_text_and_stay_in_the_place() -> None:
    text = "# One %%two%%\nthree\n%%\nfour\n%%\nfive %%six%%\n\n## Seven\n%%\n# eight\n%%\n"

    first, second = sections(text)

    assert first.text == "# One \nthree\n\nfive"
    assert text[first.start : first.end] == "# One %%two%%\nthree\n%%\nfour\n%%\nfive %%six%%"
    assert (second.text, second.first_line, second.last_line) == ("## Seven", 8, 11)


def test_a_section_of_the_largest_size_is_not_cut() -> None:
    assert len(sections("x" * 1600)) == 1
    assert len(sections("笔" * 400)) == 1
    assert [len(part.text) for part in sections("x" * 1601)] == [1600, 1]
    assert [len(part.text) for part in sections("笔" * 401)] == [400, 1]


@pytest.mark.parametrize(
    ("separator", "piece"),
    [
        ("\n\n", "A line.\nAnother line. It has two sentences"),
        ("\n", "- An item. It has two sentences"),
        (". ", "A sentence of seven words, or so"),
        (" ", "word"),
    ],
)
def test_a_long_section_is_cut_at_paragraphs_else_lines_else_sentences_else_words(separator: str, piece: str) -> None:
    parts = sections(separator.join([piece] * 1_000))

    assert len(parts) > 2
    assert all(part.text.startswith(piece) for part in parts)
    assert all(part.text.rstrip(".。").endswith(piece) for part in parts)
    assert all(len(part.text) > 200 for part in parts[:-1])


@pytest.mark.parametrize("character", ["e\u0301", "\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\u2764\ufe0f"])
def test_no_cut_goes_through_a_character(character: str) -> None:
    parts = sections("x" + character * 2_000)

    assert len(parts) > 1
    assert all(part.text.startswith(("x", character)) and part.text.endswith(character) for part in parts)


def test_a_character_without_end_is_cut_all_the_same() -> None:
    parts = sections("a" + "\u0301" * 5_000)

    assert sum(len(part.text) for part in parts) == 5_001
    assert unicodedata.combining(parts[1].text[0])

import unicodedata

import pytest

from zkchat.notes.link_catalog import Anchors, heading_key, section_lines
from zkchat.notes.parse import parse_note

NOTE = parse_note(
    "N.md",
    "# Top\n\n## A\n\none\n\n### Sub\n\ntwo\n\n## B\n\nthree ^Blk\n\n### Sub\n\nfour\n\n"
    "## C# & *more*: it's\n\n> quote\n\n^quote\n",
)


@pytest.mark.parametrize(
    ("anchor", "line"),
    [
        ("A", 3), ("Sub", 7), ("A#Sub", 7), ("B#Sub", 15), ("Top#Sub", 7), ("B#A", None), ("#A", 3),
        ("C# & more: it's", 19), ("C more it's", 19), ("No", None), ("^blk", 13), ("B#^blk", 13), ("^no", None),
    ],
)  # fmt: skip
def test_a_heading_is_found_by_its_words_and_a_block_by_its_id(anchor: str, line: int | None) -> None:
    place = Anchors(NOTE.headings, NOTE.blocks).find(anchor)

    assert (place.line if place else None) == line


@pytest.mark.parametrize(
    ("anchor", "lines"),
    [
        ("Top", (1, 24)), ("A", (3, 10)), ("A#Sub", (7, 10)), ("B", (11, 18)), ("^blk", (13, 13)),
        ("^quote", (21, 21)), ("No", None),
    ],
)  # fmt: skip
def test_the_lines_of_a_section_end_where_the_next_of_its_level_begins(
    anchor: str, lines: tuple[int, int] | None
) -> None:
    assert section_lines(NOTE, anchor) == lines


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("A heading: with [[Note|marks]] & more!", "a HEADING with note marks more", True),
        ("**Bold** `code`", "Bold code", True),
        ("Café", unicodedata.normalize("NFD", "CAFÉ"), True),
        ("  a\t b  ", "a b", True),
        *((one, other, False) for one, other in (("a-b", "a b"), ("it's", "its"), ("a_b", "a b"), ("1", "2"))),
    ],
)
def test_headings_have_the_same_key_where_they_read_the_same(one: str, other: str, is_same: bool) -> None:
    assert (heading_key(one) == heading_key(other)) == is_same

"""A note in pages: whatever it holds, each row is shown once, and a very long one is drawn part by part."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.screens import without_sequences
from zkchat.render.console import Row
from zkchat.repl import surface as note_pages
from zkchat.repl.surface import MAX_PART_CHARACTERS, NotePages, Position, menu_rows, page_rows, split_parts


def draw(text: str) -> list[Row]:
    """Each line that is not blank is a row."""
    return [Row(line, len(line)) for line in text.splitlines() if line.strip()]


BLOCKS = st.sampled_from(["word\n", "\n", "```\n", "~~~~\n", "``` py\n", "    ```\n", "x" * 9_000 + "\n", "- item\n"])


@settings(max_examples=50)
@given(blocks=st.lists(BLOCKS, max_size=40))
def test_parts_are_the_text_again_and_begin_where_they_say(blocks: list[str]) -> None:
    text = "".join(blocks)
    parts = split_parts(text)
    assert "".join(part.text for part in parts) == text
    lines = text.splitlines(keepends=True)
    for part in parts:
        assert "".join(lines[part.first_line - 1 :]).startswith(part.text)


@settings(max_examples=50)
@given(blocks=st.lists(BLOCKS, max_size=40), size=st.integers(1, 12), line=st.integers(1, 45))
def test_pages_show_every_row_once_from_wherever_they_begin(blocks: list[str], size: int, line: int) -> None:
    text = "".join(blocks)
    pages = NotePages(text, draw, size)
    shown, position = pages.page_at(line)
    assert len(shown) <= size
    rest, end = pages.rest_after(position)
    while not position.is_end:
        rows, position = NotePages(text, draw, size).page_after(position)
        shown += rows
        assert position.is_end or len(rows) >= size - size // 3 - 1
    assert end == position
    assert position.percent == 100 or not position.rows
    everything = draw(text)
    shown, rest = ([row for row in rows if row.cells] for rows in (shown, rest))
    assert shown == everything[len(everything) - len(shown) :]
    assert rest == shown[len(shown) - len(rest) :]
    if line == 1:
        assert shown == everything


@pytest.mark.parametrize(
    ("rows", "pages"),
    [
        ("ab.cdef.ghij.kl", ["ab.cdef.", "ghij.kl"]),
        ("abcd.efgh.ijkl", ["abcd.efgh", "ijkl"]),
        ("a.bcdefghijk.l", ["a.bcdefgh", "ijk.l"]),
        ("abcdefghijkl", ["abcdefghi", "jkl"]),
        ("abcde.H.fghi", ["abcde.", "H.fghi"]),
        ("abcdef.H.g.h", ["abcdef.", "H.g.h"]),
    ],
)
def test_a_page_ends_with_a_block_where_one_ends_near(rows: str, pages: list[str]) -> None:
    """A letter is a row, a dot a blank one, H a heading."""

    def draw_letters(text: str) -> list[Row]:
        return [Row("\x1b[1mH\x1b[0m" if letter == "H" else letter, int(letter != ".")) for letter in text]

    def read(page: list[Row]) -> str:
        return without_sequences("".join(row.text for row in page))

    note = NotePages(rows, draw_letters, 9)
    page, position = note.page_at(1)
    shown = [read(page)]
    rest, _ = note.rest_after(position)
    assert shown[0] + read(rest) == rows
    while not position.is_end:
        page, position = note.page_after(position)
        shown.append(read(page))
    assert shown == pages


def test_code_is_in_one_part_and_other_text_is_cut_at_a_blank_line() -> None:
    code = "```\n" + "code\n\n" * MAX_PART_CHARACTERS + "```\n\n"
    prose = "word\n\n" * MAX_PART_CHARACTERS
    assert [part.text for part in split_parts(code + "end\n")] == [code, "end\n"]
    parts = split_parts(prose)
    assert len(parts) == 6
    assert all(part.text.endswith("\n\n") for part in parts)


def test_only_the_part_that_is_shown_is_drawn() -> None:
    drawn: list[int] = []

    def counting(text: str) -> list[Row]:
        drawn.append(len(text))
        return draw(text)

    text = "word\n\n" * MAX_PART_CHARACTERS
    NotePages(text, counting, 20).page_at(1)
    assert drawn == [MAX_PART_CHARACTERS + 2]


def test_a_note_that_became_shorter_meanwhile_is_shown_to_its_end() -> None:
    position = Position(row=7, rows=7, part=4, parts=6)
    assert NotePages("one\n", draw, 10).page_after(position)[1].is_end
    assert note_pages.Position(row=50, rows=100, parts=2).percent == 25


@pytest.mark.parametrize(("height", "menu", "page"), [(80, 8, 65), (40, 8, 25), (24, 6, 11), (12, 3, 4), (1, 0, 4)])
def test_rows_are_kept_for_the_menu_and_the_rest_is_a_page(height: int, menu: int, page: int) -> None:
    assert (menu_rows(height), page_rows(height)) == (menu, page)

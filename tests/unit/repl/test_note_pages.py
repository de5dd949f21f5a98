"""A note in pages: whatever it holds, each row is shown once, and a page ends where a block does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.screens import terminal, without_sequences
from zkchat.render.console import Row
from zkchat.render.markdown import DrawnNote, note_rows
from zkchat.repl.surface import Position, draw_page, menu_rows, page_rows, page_start

BLOCKS = st.sampled_from(
    ["word\n", "\n", "# Title\n", "```\n", "~~~~\n", "``` py\n", "    ```\n", "long " * 60 + "\n", "- item\n", "> q\n"]
)


def read(rows: list[Row]) -> list[str]:
    return [without_sequences(row.text) for row in rows if row.cells]


@settings(max_examples=50, deadline=None)
@given(blocks=st.lists(BLOCKS, max_size=30), size=st.integers(1, 12), line=st.integers(1, 35))
def test_pages_show_every_row_once_from_wherever_they_begin(blocks: list[str], size: int, line: int) -> None:
    console, text = terminal(40, color="never"), "".join(blocks)
    note = DrawnNote(console, text)
    start = page_start(note, line, size)
    rest, end = draw_page(note, start, None)
    assert end.is_end
    shown, position = draw_page(note, start, size)
    assert len(shown) <= size
    while not position.is_end:
        rows, position = draw_page(note, position, size)
        assert len(rows) <= size
        assert rows or position.is_end
        shown += rows
    assert position.percent == 100
    everything = read(note_rows(console, text))
    assert read(shown) == read(rest) == everything[len(everything) - len(read(rest)) :]
    if line == 1:
        assert read(shown) == everything


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("a\nb\n\nc\nd\ne\nf\n\ng\nh\ni\nj\n", ["ab.cdef.", "ghij"]),
        ("a\nb\nc\nd\n\ne\nf\ng\nh\n\ni\nj\n", ["abcd.efgh", "ij"]),
        ("a\nb\nc\nd\ne\n\n# H\n\nf\ng\nh\ni\n", ["abcde.", "H.fghi"]),
        ("a\nb\nc\nd\ne\nf\n\n# H\n\ng\n\nh\n", ["abcdef.", "H.g.h"]),
    ],
)
def test_a_page_ends_with_a_block_where_one_ends_near(text: str, pages: list[str]) -> None:
    """A letter is a row, a dot a blank one."""
    note, position, shown = DrawnNote(terminal(), text), Position(is_end=False), []
    while not position.is_end:
        rows, position = draw_page(note, position, 9)
        shown.append("".join(without_sequences(row.text) or "." for row in rows))
    assert shown == pages


@pytest.mark.parametrize(("height", "menu", "page"), [(80, 8, 65), (40, 8, 25), (24, 6, 11), (12, 3, 4), (1, 0, 4)])
def test_rows_are_kept_for_the_menu_and_the_rest_is_a_page(height: int, menu: int, page: int) -> None:
    assert (menu_rows(height), page_rows(height)) == (menu, page)

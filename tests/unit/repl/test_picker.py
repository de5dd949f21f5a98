"""A list to choose from: what the search keeps, how its rows are drawn, and the keys, typed into a real picker."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.utils import get_cwidth

from tests.support.screens import what_acts_on_a_terminal
from zkchat.repl.note_names import normalize_name
from zkchat.repl.picker import PickList, PickRow, numbered_lines, pick, row_line

ESCAPE = "\x1b"
UP, DOWN, PAGE_DOWN = f"{ESCAPE}[A", f"{ESCAPE}[B", f"{ESCAPE}[6~"
ROWS = [
    PickRow(name="Sleep and light", about=("2 days ago", "14 messages", "ollama:qwen3:8b"), search="3f2a What is REM?"),
    PickRow(name="Crème brûlée", about=("1 week ago",), search="77aa"),
    PickRow(name="Tea", about=("now",), search="b3f0", is_current=True),
]
MANY = [PickRow(name=f"Session {number}") for number in range(500)]


def chosen(keys: str, rows: Sequence[PickRow] = ROWS) -> int | None:
    """What the picker returns for these keys."""

    async def choose() -> int | None:
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            pipe.send_text(keys)
            return await pick("Which one?", rows)

    return asyncio.run(asyncio.wait_for(choose(), 20))


@pytest.mark.parametrize(
    ("keys", "number"),
    [
        (f"{DOWN}{DOWN}{DOWN}{UP}\r", 1),
        ("\t\t\r", 2),
        ("\x0e\x10\x0e\r", 1),
        ("tea\r", 2),
        ("BRULEE\r", 1),
        ("light sleep\r", 0),
        ("rem?\r", 0),
        (f"zzz\r\x15e{DOWN}\r", 1),
        (f"e{DOWN}{DOWN}\x7f\r", 0),
        (ESCAPE, None),
        ("sleep\x03", None),
        ("\x04", None),
    ],
)
def test_typing_searches_arrows_move_enter_chooses_and_escape_leaves(keys: str, number: int | None) -> None:
    assert chosen(keys) == number


def test_what_else_is_found_comes_below_the_names_that_match() -> None:
    listed = PickList(ROWS, further=lambda _: [0, 2])
    listed.search("te")
    assert listed.matches == [2]  # for so few letters nothing else is looked for
    listed.search("tea")
    assert listed.matches == [2, 0]


def test_a_page_is_many_rows_and_the_last_row_is_the_end() -> None:
    assert chosen(f"{PAGE_DOWN}\r", MANY) == 15
    assert chosen(f"{PAGE_DOWN * 40}\r", MANY) == 499


def test_a_narrow_row_drops_the_least_important_and_keeps_the_name() -> None:
    assert row_line(ROWS[0], 60) == "Sleep and light   2 days ago · 14 messages · ollama:qwen3:8b"
    assert row_line(ROWS[0], 50) == "Sleep and light           2 days ago · 14 messages"
    assert row_line(ROWS[0], 30) == "Sleep and light     2 days ago"
    assert row_line(ROWS[0], 27) == "Sleep and light  2 days ago"
    assert row_line(ROWS[0], 26) == "Sleep and light"
    assert row_line(PickRow(name="Sleep and the light", about=("now",)), 21) == "Sleep and the l…  now"
    assert row_line(PickRow(name="Sleep and the light", about=("now",)), 20) == "Sleep and the light"
    assert row_line(ROWS[2], 20) == "* Tea            now"


def test_a_long_list_is_numbered_up_to_thirty() -> None:
    lines = numbered_lines(MANY, 40)
    assert (lines[0], lines[29], lines[30]) == (" 1. Session 0", "30. Session 29", "… and 470 more")
    assert numbered_lines(MANY[:2], 40) == [" 1. Session 0", " 2. Session 1"]


texts = st.text(max_size=30)
rows = st.builds(PickRow, name=texts, about=st.lists(texts, max_size=3).map(tuple), search=texts)


@settings(max_examples=50)
@given(row=rows, width=st.integers(1, 120))
def test_any_row_fits_its_width_and_nothing_of_it_acts_on_the_terminal(row: PickRow, width: int) -> None:
    line = row_line(row, width)
    assert get_cwidth(line) <= width
    assert not what_acts_on_a_terminal(line)
    assert "\n" not in line


@settings(max_examples=50)
@given(rows=st.lists(rows, max_size=12), typed=st.text(max_size=5), moves=st.lists(st.integers(-3, 20), max_size=5))
def test_any_search_keeps_exactly_the_rows_that_hold_its_words_and_selects_one_of_them(
    rows: list[PickRow], typed: str, moves: list[int]
) -> None:
    listed = PickList(rows)
    listed.search(typed)
    shown = [normalize_name(" ".join((row.name, *row.about))) for row in rows]
    words = normalize_name(typed).split()
    assert {number for number, text in enumerate(shown) if all(word in text for word in words)} <= {*listed.matches}
    assert listed.matches == sorted({*listed.matches})
    for by in moves:
        listed.move(by)
        assert listed.selected is None if not listed.matches else listed.selected in listed.matches
    listed.search("")
    assert listed.matches == [*range(len(rows))]

import pytest
from msgspec.structs import replace
from rich.console import Group

from tests.support.screens import drawn, terminal, what_acts_on_a_terminal, written
from zkchat.core.note import Passage
from zkchat.core.reports import CheckedStatement
from zkchat.render.console import Matches
from zkchat.render.numbered_rows import (
    NumberedRow,
    Place,
    RowSection,
    draw_sections,
    passage_row,
    plain_sections,
    statement_row,
)

TEXT = "We took glass, since plastic turns yellow."
ROOF = Passage(
    path="Projects/Greenhouse.md",
    title="Greenhouse",
    heading_path=("Greenhouse", "Roof", "Glass or plastic"),
    text="",
    first_line=12,
    last_line=15,
    score=0.9,
    snippet=TEXT,
    why="heading, text",
)


def drawing(rows: list[NumberedRow], matches: Matches | None = None) -> Group:
    return Group(*draw_sections([RowSection(rows=rows)], matches=matches))


def plain(rows: list[NumberedRow]) -> str:
    return plain_sections([RowSection(rows=rows)])


def test_in_a_pipe_a_passage_is_its_name_its_place_and_its_snippet() -> None:
    assert plain([passage_row(ROOF, TEXT, 12)]) == (
        "1. Greenhouse › Roof › Glass or plastic (Projects/Greenhouse.md:12 · heading, text)\n"
        "   We took glass, since plastic turns yellow."
    )


def test_numbers_stand_below_each_other() -> None:
    rows = [NumberedRow(name=f"Note {number}", place="a.md:1", to=Place(path="a.md")) for number in range(1, 11)]
    assert plain(rows).splitlines()[::9] == [" 1. Note 1 (a.md:1)", "10. Note 10 (a.md:1)"]
    assert plain([*rows[:1], NumberedRow(name="Of no note")]) == "1. Note 1 (a.md:1)\n2. Of no note"


def test_rows_that_lead_nowhere_have_no_numbers_and_dates_and_counts_stand_below_each_other() -> None:
    rows = [NumberedRow(lead="1,204", name="#health"), NumberedRow(lead="7", name="#health/night", depth=1)]
    assert plain(rows) == "1,204  #health\n    7    #health/night"
    assert plain([NumberedRow(lead="2026-03-08 20:26", name="a"), NumberedRow(lead="2026-03-09", name="b")]) == (
        "2026-03-08 20:26  a\n2026-03-09        b"
    )


def test_on_a_terminal_the_words_asked_for_are_marked() -> None:
    console = terminal(color="always")
    console.print(drawing([passage_row(ROOF, TEXT, 12)], lambda text: [(text.index("glass"), text.index(","))]))
    assert "\x1b[1;33mglass\x1b[0m" in written(console)


@pytest.mark.parametrize("width", [20, 80])
def test_a_passage_fits_into_any_width(width: int) -> None:
    lines = drawn(drawing([passage_row(ROOF, TEXT, 12)]), width).split("\n")
    assert max(map(len, lines)) <= width
    assert "".join(TEXT.split()) in "".join("".join(lines).split())


def test_no_text_of_a_note_acts_on_the_terminal() -> None:
    bad = "\x1b]0;title\x07 \x9b31m \u202e [red]x[/red]"
    rows = [passage_row(replace(ROOF, path=f"{bad}.md", title=bad, heading_path=(bad,)), bad, 12)]
    assert what_acts_on_a_terminal(plain(rows)) == set()
    shown = drawn(drawing(rows), 200)
    assert what_acts_on_a_terminal(shown) == set()
    assert "[red]x[/red]" in shown


def test_a_section_has_its_title_and_summary_above_its_rows_and_long_sentences_are_cut() -> None:
    row = statement_row(CheckedStatement(text="x" * 241, start=0, end=241, line=1, verdict="unsupported"))
    shown = drawn(Group(*draw_sections([RowSection(title="Changed", summary="2 today", rows=[row])])), 300)
    assert shown.splitlines()[0].rstrip() == "Changed  2 today"
    assert row.name == f"? {'x' * 239}…"

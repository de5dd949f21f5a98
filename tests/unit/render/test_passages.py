import pytest
from msgspec.structs import replace

from tests.support.screens import drawn, terminal, what_acts_on_a_terminal, written
from zkchat.model.note import Passage
from zkchat.render.numbered_rows import NumberedRow, draw_rows, plain_rows
from zkchat.render.passages import passage_row

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


def test_in_a_pipe_a_passage_is_its_name_its_place_and_its_snippet() -> None:
    assert [*plain_rows([passage_row(ROOF, TEXT)])] == [
        "1. Greenhouse › Roof › Glass or plastic\n"
        "   Projects/Greenhouse.md:12 · heading, text\n"
        "   We took glass, since plastic turns yellow."
    ]


def test_passages_with_the_same_text_are_counted_in_the_row_of_the_first() -> None:
    place = "Projects/Greenhouse.md:12 · heading, text · and 1,204 more with the same text"
    assert passage_row(ROOF, TEXT, 1204).place == place


def test_on_a_terminal_the_words_asked_for_are_marked() -> None:
    console = terminal(color="always")
    console.print(draw_rows([passage_row(ROOF, TEXT)], lambda text: [(text.index("glass"), text.index(","))]))
    assert "\x1b[1;33mglass\x1b[0m" in written(console)


def test_links_in_what_was_found_show_their_label() -> None:
    row = NumberedRow(name="Sleep", text="See [[Body/Nap#Short|a nap]] and [[Tea]], not [[ or [[half")
    assert "See a nap and Tea, not [[ or [[half" in drawn(draw_rows([row], lambda _: []))
    assert "[[Tea]]" in "".join(plain_rows([row]))


def test_a_doubtful_row_is_yellow() -> None:
    console = terminal(color="always")
    console.print(draw_rows([NumberedRow(name="[[Nowhere]] → nothing", is_doubtful=True)]))
    assert "\x1b[33m[[Nowhere]] → nothing\x1b[0m" in written(console)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_passage_fits_into_any_width(width: int) -> None:
    lines = drawn(draw_rows([passage_row(ROOF, TEXT)]), width).split("\n")
    assert max(map(len, lines)) <= width
    assert "".join(TEXT.split()) in "".join("".join(lines).split())


def test_no_text_of_a_note_acts_on_the_terminal() -> None:
    bad = "\x1b]0;title\x07 \x9b31m \u202e [red]x[/red]"
    rows = [passage_row(replace(ROOF, path=f"{bad}.md", title=bad, heading_path=(bad,)), bad)]
    assert what_acts_on_a_terminal("".join(plain_rows(rows))) == set()
    shown = drawn(draw_rows(rows), 200)
    assert what_acts_on_a_terminal(shown) == set()
    assert "[red]x[/red]" in shown

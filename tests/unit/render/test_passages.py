from dataclasses import replace

import pytest

from tests.support.screens import drawn, terminal, what_acts_on_a_terminal, written
from zkchat.model.note import Passage
from zkchat.render.passages import draw_passage, passage_lines

ROOF = Passage(
    path="Projects/Greenhouse.md",
    title="Greenhouse",
    heading_path=("Greenhouse", "Roof", "Glass or plastic"),
    text="",
    first_line=12,
    last_line=15,
    score=0.9,
    snippet="We took glass, since plastic turns yellow.",
    why="heading, text",
)


def test_in_a_pipe_a_passage_is_its_name_its_place_and_its_snippet() -> None:
    assert passage_lines(ROOF) == [
        "Greenhouse › Roof › Glass or plastic",
        "Projects/Greenhouse.md, lines 12–15 · heading, text",
        "We took glass, since plastic turns yellow.",
    ]


def test_a_passage_of_one_line_without_text_has_two_lines() -> None:
    passage = replace(ROOF, heading_path=(), last_line=12, snippet="")
    assert passage_lines(passage) == ["Greenhouse", "Projects/Greenhouse.md, line 12 · heading, text"]
    rows = drawn(draw_passage(7, passage, lambda _: [])).split("\n")
    assert [row.rstrip() for row in rows[:2]] == [
        "7. Greenhouse",
        "   Projects/Greenhouse.md, line 12 · heading, text",
    ]


def test_on_a_terminal_the_words_asked_for_are_marked() -> None:
    console = terminal(color="always")
    console.print(draw_passage(1, ROOF, lambda text: [(text.index("glass"), text.index(","))]))
    assert "\x1b[1;33mglass\x1b[0m" in written(console)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_passage_fits_into_any_width(width: int) -> None:
    lines = drawn(draw_passage(1, ROOF, lambda _: []), width).split("\n")
    assert max(map(len, lines)) <= width
    assert "".join(passage_lines(ROOF)[2].split()) in "".join("".join(lines).split())


def test_no_text_of_a_note_acts_on_the_terminal() -> None:
    bad = "\x1b]0;title\x07 \x9b31m \u202e [red]x[/red]"
    passage = replace(ROOF, path=f"{bad}.md", title=bad, heading_path=(bad,), snippet=bad)
    assert what_acts_on_a_terminal("".join(passage_lines(passage))) == set()
    shown = drawn(draw_passage(1, passage, lambda _: []), 200)
    assert what_acts_on_a_terminal(shown) == set()
    assert "[red]x[/red]" in shown

"""What slash commands write on: plain and drawn, and nothing of it acts on the terminal."""

import asyncio
import base64
import io
import os
import re
from collections.abc import Sequence

import pytest
from rich.console import Console

from tests.support.screens import a_usage, terminal, what_acts_on_a_terminal, without_sequences, written
from zkchat.core.message import DocumentReference
from zkchat.render.links import NO_LINKS, ClickableLinks
from zkchat.render.numbered_rows import NumberedRow, Place, RowSection
from zkchat.repl.picker import PickRow
from zkchat.repl.surface import DrawnSurface, PlainSurface, Position

HOSTILE = "a\x1b]0;title\x07b\x9b31mc\r\u202ed [/x] [link=http://x]y"
REFERENCES = [DocumentReference(wikilink=f"[[Note {number}]]", relative_path=f"{number}.md") for number in range(12)]


class RecordingUser:
    """Answers each question with the same text; None is a user who is not there."""

    def __init__(self, answer: str | None = None) -> None:
        self._answer = answer
        self.questions: list[str] = []

    async def ask(self, question: str) -> str:
        self.questions.append(question)
        if self._answer is None:
            raise EOFError
        return self._answer

    can_pick = False

    async def pick(self, _title: str, _rows: Sequence[PickRow], _further: object) -> int | None:
        return 1


def plain() -> tuple[PlainSurface, io.StringIO]:
    stream = io.StringIO()
    return PlainSurface(stream, RecordingUser(), None), stream


def drawn(console: Console, links: ClickableLinks = NO_LINKS) -> DrawnSurface:
    return DrawnSurface(console, RecordingUser(), None, links)


def test_plain_lines_have_no_boxes_and_no_sequences() -> None:
    surface, stream = plain()
    surface.print("one")
    surface.print_dimmed("two")
    surface.print_markdown("# three")
    surface.print_references(REFERENCES)
    surface.print_usage(a_usage())
    lines = stream.getvalue().splitlines()
    assert lines[:4] == ["one", "two", "# three", "Referenced Documents"]
    assert lines[15].startswith("12. [[Note 11]]: 11.md")
    assert lines[16].startswith("Context: 3,434 / 8,192 tokens")
    assert surface.width == 80


def test_lines_are_broken_between_words_and_an_address_never() -> None:
    console = terminal(40)
    drawn(console).print("word " * 20)
    drawn(console).print("It is at\nfile:///" + "x" * 60)
    lines = written(console).splitlines()
    assert [line.strip() for line in lines[:2]] == ["word word word word word word word word"] * 2
    assert lines[-1] == "file:///" + "x" * 60


def test_nothing_that_is_shown_acts_on_the_terminal() -> None:
    console = terminal()
    surface, stream = plain()
    reference = DocumentReference(wikilink=HOSTILE, relative_path=HOSTILE)
    for one in (surface, drawn(console)):
        one.print(HOSTILE)
        one.print_dimmed(HOSTILE)
        one.print_markdown(HOSTILE)
        one.print_references([reference])
        row = NumberedRow(lead=HOSTILE, name=HOSTILE, place=HOSTILE, text=HOSTILE)
        one.print_sections([RowSection(title=HOSTILE, rows=[row], rest=HOSTILE)], lambda _: [(0, 3)])
        one.print_heading(HOSTILE, HOSTILE)
        one.print_note(HOSTILE, source=HOSTILE)
    assert not what_acts_on_a_terminal(stream.getvalue())
    assert not what_acts_on_a_terminal(written(console))
    assert "[/x] [link=http://x]y" in written(console)


PARAGRAPHS = "".join(f"Paragraph {number}.\n\n" for number in range(1, 31))


def paragraphs(console: Console) -> list[int]:
    """The numbers of the paragraphs on the screen, in order."""
    return [int(number) for number in re.findall(r"Paragraph (\d+)\.", without_sequences(written(console)))]


def test_a_note_is_drawn_page_by_page_and_no_row_is_missing_or_drawn_twice() -> None:
    console = terminal(80, 24)
    surface = drawn(console)
    position = surface.print_note(PARAGRAPHS, source="a.md")
    assert position == Position(block=6, percent=20, is_end=False)
    assert paragraphs(console) == [*range(1, 7)]
    while not position.is_end:
        position = surface.print_note(PARAGRAPHS, source="a.md", after=position)
    assert paragraphs(console) == [*range(1, 31)]


def test_a_long_note_is_drawn_from_a_line_on_and_a_short_one_whole() -> None:
    console = terminal(80, 24)
    position = drawn(console).print_note(PARAGRAPHS, source="a.md", first_line=21)
    assert paragraphs(console)[0] == 11
    assert not position.is_from_top
    end = terminal(80, 24)
    assert drawn(end).print_note(PARAGRAPHS, source="a.md", first_line=59).is_end
    assert paragraphs(end) == [*range(25, 31)]
    tall = terminal(80, 80)
    assert drawn(tall).print_note(PARAGRAPHS, source="a.md", first_line=21).is_from_top
    assert paragraphs(tall) == [*range(1, 31)]


def test_a_copy_goes_to_the_terminal_in_base_64() -> None:
    console = terminal()
    assert drawn(console).copy("Schlaf\x1b\x07")
    encoded = written(console).removeprefix("\x1b]52;c;").removesuffix("\x07")
    assert base64.b64decode(encoded).decode() == "Schlaf\x1b\x07"


def test_what_cannot_be_copied_is_printed_as_it_is_without_line_breaks() -> None:
    console = terminal()
    assert not drawn(console).copy("word " * 20_000 + "\x1b]52;c;AAAA\x07")
    assert written(console) == "word " * 20_000 + "␛]52;c;AAAA␇\n"
    surface, stream = plain()
    assert not surface.copy("x\x1b")
    assert stream.getvalue() == "x␛\n"


@pytest.mark.parametrize(("typed", "yes"), [("y", True), (" YES ", True), ("", False), ("yeah", False)])
def test_only_a_yes_is_a_yes(typed: str, yes: bool) -> None:
    user = RecordingUser(typed)
    assert asyncio.run(PlainSurface(io.StringIO(), user, None).confirm("Write \x1b[31ma.md?")) is yes
    assert user.questions == ["Write ␛[31ma.md? [y/N] "]


def test_a_list_is_picked_from_where_it_can_be_drawn_and_numbered_elsewhere() -> None:
    surface, stream = plain()
    rows = [PickRow(name="Sleep", about=("now",)), PickRow(name=HOSTILE)]
    assert asyncio.run(surface.pick("Which?", rows, "Name one: /resume N.")) is None
    assert stream.getvalue().splitlines()[0].startswith(" 1. Sleep  ")
    assert stream.getvalue().splitlines()[1].startswith(" 2. a␛]0;title")
    assert stream.getvalue().splitlines()[2] == "Name one: /resume N."
    assert not what_acts_on_a_terminal(stream.getvalue())
    user = RecordingUser()
    user.can_pick = True
    assert asyncio.run(PlainSurface(stream, user, None).pick("Which?", rows, "")) == 1


def test_plain_rows_are_wrapped_between_words_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((40, 20)))
    surface, stream = plain()
    monkeypatch.setattr(stream, "fileno", lambda: 1)
    text = "revised, sharpened " * 4
    surface.print_sections([RowSection(rows=[NumberedRow(name="Notes", text=text, to=Place(path="Notes.md"))])])
    more = stream.getvalue().splitlines()[1:]
    assert max(map(len, more)) <= 40
    assert " ".join(" ".join(more).split()) == text.strip()
    assert all(line.startswith("   ") for line in more)

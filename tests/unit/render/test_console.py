"""Consoles for all kinds of terminals."""

import io

import pytest
from rich.text import Text

from zkchat.render.console import console_for

XTERM = {"TERM": "xterm-256color", "COLUMNS": "60", "LINES": "20"}


def written(variables: dict[str, str], *, is_tty: bool = True, color: str = "auto") -> str:
    stream = io.StringIO()
    console_for(stream, is_tty=is_tty, variables=variables, color=color).print(Text("hello", style="bold red"))
    return stream.getvalue()


@pytest.mark.parametrize(("variables", "color"), [(XTERM | {"NO_COLOR": "1"}, "auto"), (XTERM, "never")])
def test_without_colour_bold_stays(variables: dict[str, str], color: str) -> None:
    assert written(variables, color=color) == "\x1b[1mhello\x1b[0m\n"


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"TERM": "unknown"}, {}])
def test_a_dumb_terminal_gets_plain_text_and_is_never_redrawn(variables: dict[str, str]) -> None:
    assert written(variables) == "hello\n"
    assert not console_for(io.StringIO(), is_tty=True, variables=variables).is_interactive


def test_a_file_gets_plain_text_unless_colour_is_forced() -> None:
    assert written(XTERM, is_tty=False) == "hello\n"
    assert written(XTERM, is_tty=False, color="always") == "\x1b[1;31mhello\x1b[0m\n"
    assert written(XTERM | {"NO_COLOR": "1"}, is_tty=False, color="always") == "\x1b[1;31mhello\x1b[0m\n"


def test_the_width_is_the_one_given_or_that_of_the_variables() -> None:
    assert console_for(io.StringIO(), is_tty=True, variables=XTERM).size == (60, 20)
    assert console_for(io.StringIO(), is_tty=True, variables=XTERM, width=44).width == 44


def test_text_is_never_markup_nor_emoji_code() -> None:
    stream = io.StringIO()
    console_for(stream, is_tty=True, variables=XTERM).print("[bold][[note]][/INST] :smile: 42")
    assert stream.getvalue() == "[bold][[note]][/INST] :smile: 42\n"


def test_an_encoding_without_box_characters_is_no_error() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    console_for(stream, is_tty=True, variables=XTERM).print(Text("╭─ 日本 ─╮"))
    stream.flush()
    assert raw.getvalue() == b"?- ?? -?\n"


class GoneReader(io.StringIO):
    def write(self, _text: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_went_away_is_no_error() -> None:
    console = console_for(GoneReader(), is_tty=True, variables=XTERM)
    console.print("hello")
    console.print("anybody there?")
    assert console.quiet

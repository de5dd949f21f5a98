import io

import pytest
from rich.text import Text

from tests.support.screens import GoneReader
from zkchat.render.console import console_for
from zkchat.render.sanitize import error_lines, never_fail_to_encode, sanitize_line, sanitize_text, wrap

XTERM = {"TERM": "xterm-256color", "COLUMNS": "60", "LINES": "20"}


def written(variables: dict[str, str], *, is_tty: bool = True, color: str = "auto") -> str:
    stream = io.StringIO()
    console_for(stream, is_tty=is_tty, variables=variables, color=color).print(Text("hello", style="bold red"))
    return stream.getvalue()


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"TERM": "unknown"}, {}])
def test_a_dumb_terminal_gets_plain_text_and_is_never_redrawn(variables: dict[str, str]) -> None:
    assert written(variables) == "hello\n"
    assert not console_for(io.StringIO(), is_tty=True, variables=variables).is_interactive


def test_a_file_gets_plain_text_unless_colour_is_forced() -> None:
    assert written(XTERM, is_tty=False) == "hello\n"
    assert written(XTERM, is_tty=False, color="always") == "\x1b[1;31mhello\x1b[0m\n"
    assert written(XTERM | {"NO_COLOR": "1"}, is_tty=False, color="always") == "\x1b[1;31mhello\x1b[0m\n"


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


def test_plain_text_in_any_script_passes_as_it_is() -> None:
    text = "Tab\tand newline\n, Zürich, 日本語, עברית, 👩‍🚀, e\u0301, [[Note|name]]"
    assert sanitize_text(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x9b31mred", "␛[31mred"),
        ("\x07bell", "␇bell"),
        ("lines\r\nof Windows", "lines\nof Windows"),
        ("over\rwritten", "overwritten"),
        ("evil\u202etxt.md", "evil<U+202E>txt.md"),
        ("a\U000e0041b", "ab"),
        ("half\ud83d", "half\ufffd"),
        ("a\u2028b", "a b"),
    ],
)
def test_what_would_act_on_a_terminal_is_dropped_or_made_visible(text: str, expected: str) -> None:
    assert sanitize_text(text) == expected


def test_a_name_stays_on_its_line() -> None:
    assert sanitize_line("two\nlines\tand \x1b[2Ja trick") == "two lines and ␛[2Ja trick"


def test_an_error_names_the_thing_and_the_way_out() -> None:
    assert error_lines("No note 'x\x1b'.", "Closest: [[X]].") == "zkchat: No note 'x␛'.\n        Closest: [[X]].\n"
    assert error_lines("It is gone.") == "zkchat: It is gone.\n"


def test_a_stream_that_knows_ascii_only_gets_characters_that_look_alike() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    never_fail_to_encode(stream)
    stream.write("lines 3–9 → “ok” ≈ 日 █")
    stream.flush()
    assert raw.getvalue() == b'lines 3-9 > "ok" ~ ? #'


def test_marks_of_what_is_right_and_wrong_open_and_done_differ_in_ascii() -> None:
    marks = "✓✗?☑☐☒"
    seen = marks.encode("ascii", errors="zkchat.ascii_fallback").decode()
    assert (len({*seen}), seen.count("?")) == (len(marks), 1)


def test_a_reader_that_went_away_is_no_error_and_bytes_that_cannot_be_read_are() -> None:
    console = console_for(GoneReader(), is_tty=True, variables=XTERM)
    console.print("hello")
    console.print("anybody there?")
    assert console.quiet
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("utf-8", errors="zkchat.ascii_fallback")


def test_lines_have_twenty_columns_however_narrow_the_terminal_is() -> None:
    assert wrap("word " * 8, 5).split("\n")[0] == "word word word word"

"""Text of others is shown, never obeyed."""

import io

import pytest

from zkchat.render.sanitize import error_lines, never_fail_to_encode, sanitize_line, sanitize_text


def test_plain_text_in_any_script_passes_as_it_is() -> None:
    text = "Tab\tand newline\n, Zürich, 日本語, עברית, 👩‍🚀, e\u0301, [[Note|name]]"
    assert sanitize_text(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("\x9b31mred", "␛[31mred"),
        ("\x07bell", "␇bell"),
        ("lines\r\nof Windows", "lines\nof Windows"),
        ("over\rwritten", "overwritten"),
        ("a\x7fb", "a␡b"),
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


def test_bytes_that_cannot_be_read_still_raise() -> None:
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("utf-8", errors="zkchat.ascii_fallback")

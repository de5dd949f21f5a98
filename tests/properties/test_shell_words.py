"""Words that are quoted for Bash are read as they were: by us, and by Bash."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.cli.completion import quote_word, split_line

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
QUOTES = st.sampled_from(["", '"', "'"])
ODD = [
    "",
    "a b",
    "$(touch x)",
    "`x`",
    "it's",
    "'",
    '"',
    "!",
    "a!b!",
    "\\",
    "\\'",
    '\\"',
    "~",
    "#",
    "*?[",
    "é 日",
    "${x}",
    "\\!",
]


def closed(text: str, quote: str) -> str:
    """As Readline leaves it: it adds the closing mark unless the text ends in one."""
    quoted = quote_word(text, quote)
    return quote + quoted + ("" if quote and quoted.endswith(quote) else quote)


@settings(max_examples=50)
@given(TEXTS.filter(lambda text: "\n" not in text and text), QUOTES, st.text("abc:=@", max_size=3))
def test_a_quoted_word_is_read_as_it_was(text: str, quote: str, breaks: str) -> None:
    line = split_line(f"zkchat x {closed(text, quote)}", breaks)
    assert (line.words, line.typed, line.quote) == (("zkchat", "x"), text, "")
    assert text.startswith(line.kept)


@settings(max_examples=50)
@given(st.text("ab '\"\\:=@$ ", max_size=12), st.sampled_from(["", ":=@"]))
def test_whatever_was_typed_the_part_that_stays_begins_the_word(text: str, breaks: str) -> None:
    line = split_line(text, breaks)
    assert line.typed.startswith(line.kept)
    assert all(line.words) or "''" in text or '""' in text


@pytest.mark.outside
def test_bash_reads_quoted_words_as_they_were(tmp_path: object) -> None:
    words = [closed(text, quote) for text in ODD for quote in ("", '"', "'") if text or quote]
    script = "set -o history -o histexpand\nprintf '%s\\0' " + " ".join(words) + "\n"
    done = subprocess.run(
        ["bash", "--norc"], input=script, capture_output=True, text=True, check=True, cwd=str(tmp_path)
    )
    assert done.stdout.split("\0")[:-1] == [text for text in ODD for quote in ("", '"', "'") if text or quote]

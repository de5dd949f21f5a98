"""A passage is replaced as it was given, or refused with what is there instead."""

import pytest

from zkchat.core.errors import EditRefused
from zkchat.writing.passages import replace_passage


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("one two three\n", "two", "2", "one 2 three\n"),
        ("a\r\nb\r\nc", "a\nb", "a\nx\ny", "a\r\nx\r\ny\r\nc"),
        ("a\nb\r\nc\r\n", "b\nc", "b\nd\nc", "a\nb\r\nd\r\nc\r\n"),
        ("\ufeffa b", "a", "x", "\ufeffx b"),
        ("cafe\u0301 noir", " noir", "", "cafe\u0301"),
    ],
)
def test_only_the_passage_changes(text: str, old: str, new: str, expected: str) -> None:
    assert replace_passage(text, old, new) == expected


@pytest.mark.parametrize(
    ("text", "old", "new", "reason", "hint"),
    [
        ("text", "", "x", "is empty", "Give the words"),
        ("text", "text", "\ud800", "invalid character", ""),
        ("text", "text", "text", "nothing to change", ""),
        ("a b a\nc a", "a", "x", "3 times, and was expected once: lines 1, 1, 2", "more of the text around"),
        ("aaa", "aa", "b", "2 times", ""),
        ("He said “no” – twice.", 'said "no" - twice', "x", "Line 1 differs only in case, ", "said “no” – twice"),
        ("\ncafe\u0301 noir", "caf\u00e9 noir", "x", "Line 2 differs only in", "cafe\u0301 noir"),
        ("so…\u200b wrapped\n  text here", "so... wrapped text", "x", "differs only in", "so…\u200b wrapped\n  text"),
        ("a café noir", "a cafe", "x", "nor one like it", "Read the note again"),
        ("one two three four five", "two three for five", "x", "nearest is in line 1", "two three four five"),
        ("status: done", "status: draft", "status: done", "already there (line 1)", "status: done"),
        ("status done.\nThe old", "the old", "status done.", "already there (line 1)", "status done."),
        ("status done\nThe old", "the old", "status done", "differs only in", "The old"),
        ("text", "nowhere to be found", "x", "nor one like it", ""),
        ("some old words", "old words", "new words\n… rest unchanged", "placeholder", "whole text"),
    ],
)
def test_a_refusal_says_why_and_shows_what_is_there(text: str, old: str, new: str, reason: str, hint: str) -> None:
    with pytest.raises(EditRefused) as refused:
        replace_passage(text, old, new)
    assert reason in refused.value.message
    assert hint in refused.value.hint


def test_as_many_as_are_expected_are_replaced() -> None:
    assert replace_passage("a b a\nc a", "a", "x", expected=3) == "x b x\nc x"


@pytest.mark.parametrize(
    "line",
    ["… rest unchanged", "...", "[...]", "<!-- ... existing text ... -->", "- ... Rest bleibt", f"...{'x' * 60}"],
)
def test_dots_in_the_place_of_text_are_refused_unless_the_note_holds_them(line: str) -> None:
    with pytest.raises(EditRefused, match="holds a placeholder"):
        replace_passage("Old text.", "Old", f"New\n{line}\nmore")
    assert replace_passage(f"Old text.\n{line}\n", "Old", f"New\n{line}\nmore").startswith("New\n")


@pytest.mark.parametrize("line", ["Wait... the rest is silence", "[[Rest of the note]] is a title", f"...{'x' * 61}"])
def test_dots_in_a_sentence_are_text(line: str) -> None:
    assert line in replace_passage("Old text.", "Old", f"New\n{line}\nmore")


def test_of_a_long_passage_a_refusal_shows_the_beginning() -> None:
    with pytest.raises(EditRefused) as refused:
        replace_passage("A" + "b" * 700, "a" + "b" * 700, "x")
    assert refused.value.hint.endswith(f" A{'b' * 598}…")

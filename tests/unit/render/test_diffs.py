"""Diffs as they stand on a screen: every row fits, changed words are marked, long ones are folded."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from zkchat.core.changes import ChangeSet, FileMove, FileWrite
from zkchat.render.diffs import FOLDED_LINES, DiffStyle, diff_rows, style_for

PLAIN = DiffStyle(width=60, colored=False)


def changed(before: str | None, after: str, path: str = "Sleep.md") -> ChangeSet:
    encoded = None if before is None else before.encode()
    return ChangeSet(title="Edit", writes=(FileWrite(path=path, before=encoded, after=after.encode()),))


def rows(changes: ChangeSet, style: DiffStyle = PLAIN) -> list[str]:
    return [row.plain.rstrip() for row in diff_rows(changes, style)]


def test_words_that_differ_are_marked_on_lines_with_their_numbers_and_context() -> None:
    before = "---\ntags: [a]\n---\n\nThe quick brown fox.\n"
    assert rows(changed(before, before.replace("quick", "slow").replace("[a]", "[a, b]"))) == [
        "Sleep.md: changed, +2 -2",
        "1   ---",
        "2 - tags: [a]",
        "2 + tags: [a{+, b+}]",
        "3   ---",
        "4",
        "5 - The [-quick-] brown fox.",
        "5 + The {+slow+} brown fox.",
    ]


def test_where_lines_between_changes_are_left_out_a_sign_stands_for_them() -> None:
    before = "".join(f"line {number}\n" for number in range(30))
    after = before.replace("line 0\n", "").replace("line 15", "row 15").replace("line 29", "row 29")
    shown = rows(changed(before, after))
    assert [shown[number - 1][5:] for number, row in enumerate(shown) if row.strip() == "⋮"] == ["line 3", "line 18"]


def test_on_a_colour_terminal_words_are_told_by_their_style() -> None:
    (row,) = (
        row
        for row in diff_rows(changed("two words b\n", "two words c\n"), DiffStyle(width=60))
        if row.plain == "1 + two words c"
    )
    assert [row.plain[span.start : span.end] for span in row.spans if "reverse" in str(span.style)] == ["c"]


@pytest.mark.parametrize(
    ("is_terminal", "no_color", "colored"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_without_colour_brackets_are_used(is_terminal: bool, no_color: bool, colored: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=is_terminal, no_color=no_color, width=50, _environ={})
    assert style_for(console) == DiffStyle(width=50, colored=colored)


def test_a_new_file_is_shown_whole_up_to_a_bound_and_the_rest_is_counted() -> None:
    text = "".join(f"line {number}\n" for number in range(FOLDED_LINES + 240))
    shown = rows(changed(None, text, "New.md"))
    assert shown[0] == "New.md: new file, 280 lines"
    assert shown[-2:] == ["40 + line 39".rjust(13), "… 240 more lines"]
    whole = rows(changed(None, text, "New.md"), DiffStyle(width=60, colored=False, most_lines=None))
    assert len(whole) == 281


def test_a_rename_is_the_list_of_notes_that_it_touches_and_their_lines_on_demand() -> None:
    writes = tuple(
        FileWrite(path=f"N{number}.md", before=b"see [[Old]]\n", after=b"see [[New]]\n") for number in range(15)
    )
    changes = ChangeSet(title="Rename", moves=(FileMove(source="Old.md", target="New.md"),), writes=writes)
    shown = rows(changes)
    assert shown[0] == "Old.md → New.md"
    assert "15 links in 15 notes will be changed too" in shown
    assert shown[-1] == "  … and 3 more notes"
    assert not any("[[New]]" in row for row in shown)
    whole = rows(changes, DiffStyle(width=60, colored=False, most_lines=None))
    assert sum(row == "1 + see [[{+New+}]]" for row in whole) == 15


def test_line_ends_a_missing_last_one_and_blanks_that_differ_are_visible() -> None:
    assert rows(changed("a\r\nb\r\n", "a\nb\n"))[:3] == [
        "Sleep.md: changed, +2 -2",
        "line endings: CRLF → LF",
        "1 - a[-␍-]",
    ]
    assert rows(changed("end", "end\n"))[1:] == ["1 - end", "    (no line break at the end)", "1 + end"]
    assert rows(changed("two  \n", "two\n"))[1:] == ["1 - two[-··-]", "1 + two"]
    assert rows(changed("a\tb\n", "a\u00a0b\n"))[1:] == ["1 - a[-→   -]b", "1 + a{+⍽+}b"]
    assert "byte order mark removed" in rows(changed("\ufeffa\n", "a\n"))


def test_nothing_of_a_note_acts_on_the_terminal() -> None:
    shown = "\n".join(rows(changed("safe\n", "\x1b]0;title\x07 \u202eevil\x9b31m\n", "A\x1b[2J\nB.md")))
    assert not any(character in shown for character in "\x1b\x07\x9b\u202e")
    assert "<U+202E>" in shown
    followed = FileWrite(path="L\x1b[2J.md", before=b"[[Old]]\n", after=b"[[New]]\n")
    moves = (FileMove(source="Old.md", target="New.md"),)
    assert not any("\x1b" in row for row in rows(ChangeSet(title="Rename", moves=moves, writes=(followed,))))


@pytest.mark.parametrize("width", [40, 100])
def test_every_row_fits_the_screen_whatever_the_script(width: int) -> None:
    text = "".join(f"{word * 30} {word}\n" for word in ("日本語", "word ", "x", "नमस्ते", "👩‍👩‍👧", "❤️", "\t"))
    style = DiffStyle(width=width, colored=False)
    for changes in (changed(None, text), changed(text, text.replace("x", "y").replace("本", "木"))):
        assert all(cell_len(row.plain) <= width for row in diff_rows(changes, style))


def test_of_a_very_long_line_the_place_of_the_change_is_shown() -> None:
    before = f"{'a ' * 50_000}here {'b ' * 50_000}\n"
    shown = rows(changed(before, before.replace("here", "there")))
    assert any("{+t+}here" in row or "{+there+}" in row for row in shown)
    assert len(shown) < 80
    assert any("more characters" in row for row in shown)


def test_added_lines_beside_changed_ones_are_paired_with_what_they_were_made_of() -> None:
    shown = rows(changed("one two three\n", "first\none 2 three\n"))
    assert shown[1:] == ["1 - one [-two-] three", "1 + first", "2 + one {+2+} three"]

"""Diffs as they stand on a screen: every row fits, changed words are marked, long ones are folded."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from zkchat.core.changes import ChangeSet, FileMove, FileWrite
from zkchat.render.diffs import DiffStyle, diff_rows, pair_lines, style_for, word_marks

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
    text = "".join(f"line {number}\n" for number in range(280))
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


@pytest.mark.parametrize(("lines", "are_marked"), [(500, True), (501, False)])
def test_words_are_marked_in_so_many_lines_and_no_more(lines: int, are_marked: bool) -> None:
    before = "".join(f"line {number} old\n" for number in range(lines))
    assert any("[-old-]" in row for row in rows(changed(before, before.replace("old", "new")))) is are_marked


def test_of_a_long_line_a_thousand_characters_are_shown_in_rows_of_ten_at_least() -> None:
    shown = rows(changed(None, "x" * 1_200 + "\n"), DiffStyle(width=5, colored=False))
    assert [row for row in shown if row[2:] == f"+ {'x' * 10}"] == [f"1 + {'x' * 10}", *[f"  + {'x' * 10}"] * 99]
    assert rows(changed(None, "x" * 1_200 + "\n"), DiffStyle(width=2_000, colored=False))[1].endswith(
        " … 200 more characters"
    )


@pytest.mark.parametrize(
    ("old", "new", "marked"),
    [
        ("abc de", "abc fg", 1),  # half of it is the same
        ("ab cd", "ab fg", None),
        (f"x {'same ' * 147}x", f"y {'same ' * 147}y", 2),
        (f"x {'same ' * 149}x", f"y {'same ' * 149}y", None),  # too many words to compare
        (f"x {'a' * 1_996} x", f"y {'a' * 1_996} y", 2),
        (f"x {'a' * 1_997} x", f"y {'a' * 1_997} y", None),
    ],
)
def test_words_are_marked_where_enough_is_the_same_and_the_line_is_not_too_long(
    old: str, new: str, marked: int | None
) -> None:
    found = word_marks(old, new)
    assert (len(found[0]) if found else None) == marked


@pytest.mark.parametrize(("lines", "pairs"), [(12, 1), (13, 0)])
def test_of_more_lines_none_is_said_to_be_made_of_another(lines: int, pairs: int) -> None:
    assert len(pair_lines(["one two"], [*map(str, range(lines - 1)), "one three"])) == pairs


def test_added_lines_beside_changed_ones_are_paired_with_what_they_were_made_of() -> None:
    shown = rows(changed("one two three\n", "first\none 2 three\n"))
    assert shown[1:] == ["1 - one [-two-] three", "1 + first", "2 + one {+2+} three"]

"""Edits of sections and blocks: a table of cases with the bytes that are expected."""

from typing import NamedTuple

import pytest

from zkchat.core.choices import SectionPosition
from zkchat.core.errors import EditRefused
from zkchat.writing.sections import append_text, edit_section


class Case(NamedTuple):
    what: str
    position: SectionPosition
    place: str
    text: str
    new: str
    expected: str
    include_children: bool = False


NOTE = "# T\n\nintro\n\n## A\n\ntext\n\n### S\n\nsub\n\n## B\n\nend\n"
FENCE = "# A\n\n```\n# B\n```\n\n# B\n\ntext\n"
CASES = (
    # each position, with and without subsections
    Case("append", "append", "A", NOTE, "new", NOTE.replace("text\n", "text\n\nnew\n")),
    Case("prepend", "prepend", "A", NOTE, "new", NOTE.replace("text\n", "new\n\ntext\n")),
    Case("replace", "replace", "A", NOTE, "new", NOTE.replace("text\n", "new\n")),
    Case("replace, all", "replace", "A", NOTE, "new", NOTE.replace("text\n\n### S\n\nsub\n", "new\n"), True),
    Case("before", "before", "A", NOTE, "new", NOTE.replace("## A\n", "new\n\n## A\n")),
    Case("after", "after", "A", NOTE, "new", NOTE.replace("sub\n", "sub\n\nnew\n")),
    Case("the whole note", "append", "T", NOTE, "new", NOTE + "\nnew\n", True),
    Case("emptied", "replace", "A", NOTE, "", NOTE.replace("text\n\n", "")),
    Case("a subsection", "append", "A", NOTE, "### N\n\nx", NOTE.replace("text\n", "text\n\n### N\n\nx\n")),
    # how a section is named
    Case("path", "append", "T#A", NOTE, "new", NOTE.replace("text\n", "text\n\nnew\n")),
    Case("markup", "append", "bold", "# **bold**\n", "x", "# **bold**\nx\n"),
    Case("hash in it", "append", "C# notes", "# C# notes\n", "x", "# C# notes\nx\n"),
    Case("NFD heading", "append", "Caf\u00e9", "# Cafe\u0301\n", "x", "# Cafe\u0301\nx\n"),
    Case("twice, by its path", "append", "B#X", "# A\n## X\n# B\n## X\n", "x", "# A\n## X\n# B\n## X\nx\n"),
    Case("twice, by its level", "append", "# X", "# X\n## X\n", "x", "# X\nx\n## X\n"),
    # code, comments and quotes hold no headings
    Case("fence", "append", "B", FENCE, "x", FENCE + "\nx\n"),
    Case("fence ends a section", "append", "A", FENCE, "x", "# A\n\n```\n# B\n```\n\nx\n\n# B\n\ntext\n"),
    Case("indented code", "append", "A", "# A\n\n    # B\n", "x", "# A\n\n    # B\n\nx\n"),
    Case("comment", "append", "A", "# A\n%%\n# B\n%%\n", "x", "# A\n%%\n# B\n%%\n\nx\n"),
    Case("quote", "append", "A", "# A\n> # B\n", "x", "# A\n> # B\n\nx\n"),
    Case("frontmatter", "append", "A", "---\n# B\na: 1\n---\n# A\n", "x", "---\n# B\na: 1\n---\n# A\nx\n"),
    Case("code that is added", "append", "A", "# A\n# B\n", "```\n# x\n```", "# A\n```\n# x\n```\n# B\n"),
    # underlined headings
    Case("underlined", "append", "A", "A\n===\n\ntext\n\nB\n---\n", "x", "A\n===\n\ntext\n\nx\n\nB\n---\n"),
    Case("before an underlined one", "append", "A", "# A\nB\n===\n", "x", "# A\nx\n\nB\n===\n"),
    Case("after a rule", "append", "A", "# A\n\n---\n", "x", "# A\n\n---\n\nx\n"),
    # blank lines
    Case("none, empty", "append", "A", "# A\n# B\n", "x", "# A\nx\n# B\n"),
    Case("one, empty", "append", "A", "# A\n\n# B\n", "x", "# A\n\nx\n\n# B\n"),
    Case("many", "append", "A", "# A\n\n\ntext\n\n\n\n# B\n", "x", "# A\n\n\ntext\n\nx\n\n\n\n# B\n"),
    Case("as other headings", "append", "B", "# A\n\nt\n\n# B\n", "x", "# A\n\nt\n\n# B\n\nx\n"),
    Case("before, after a heading", "before", "B", "# A\n# B\n", "x", "# A\nx\n# B\n"),
    Case("HTML needs one", "append", "A", "# A\n# B\n", "<div>", "# A\n<div>\n\n# B\n"),
    Case("emptied, none before", "replace", "A", "# A\ntext\n\n# B\n", "", "# A\n\n# B\n"),
    # lists and tables
    Case("list", "append", "A", "# A\n- a\n\n# B\n", "- b", "# A\n- a\n- b\n\n# B\n"),
    Case("nested", "append", "A", "# A\n- a\n  - b\n", "- c", "# A\n- a\n  - b\n- c\n"),
    Case("other kind", "append", "A", "# A\n- a\n", "1. b", "# A\n- a\n\n1. b\n"),
    Case("loose", "append", "A", "# A\n- a\n\n- b\n  - c\n", "- d", "# A\n- a\n\n- b\n  - c\n\n- d\n"),
    Case("prepend an item", "prepend", "A", "# A\n\n- a\n", "- x", "# A\n\n- x\n- a\n"),
    Case("row", "append", "A", "# A\n|a|\n|-|\n|b|\n", "|c|", "# A\n|a|\n|-|\n|b|\n|c|\n"),
    Case("table", "append", "A", "# A\n|a|\n|-|\n", "|b|\n|-|", "# A\n|a|\n|-|\n\n|b|\n|-|\n"),
    # line ends, BOM, the end of the note
    Case("CRLF", "append", "A", "# A\r\n\r\nt\r\n\r\n# B\r\n", "x\ny", "# A\r\n\r\nt\r\n\r\nx\r\ny\r\n\r\n# B\r\n"),
    Case("mixed, CRLF here", "append", "B", "# A\nt\n# B\r\nu\r\n", "x", "# A\nt\n# B\r\nu\r\n\r\nx\r\n"),
    Case("mixed, LF here", "append", "A", "# A\nt\n# B\r\nu\r\n", "x", "# A\nt\n\nx\n# B\r\nu\r\n"),
    Case("BOM", "append", "A", "\ufeff# A\nt\n", "x", "\ufeff# A\nt\n\nx\n"),
    Case("no final line end", "append", "A", "# A\nt", "x", "# A\nt\n\nx"),
    Case("no final line end, empty", "append", "A", "# A", "x", "# A\nx"),
    Case("blank lines at the end", "append", "A", "# A\nt\n\n\n", "x", "# A\nt\n\nx\n\n\n"),
    Case("NFD and nbsp stay", "append", "A", "# A\ne\u0301\u00a0x\n", "e\u0301", "# A\ne\u0301\u00a0x\n\ne\u0301\n"),
    # the heading in the text
    Case("not doubled", "replace", "A", NOTE, "## A\n\nnew", NOTE.replace("text\n", "new\n")),
    Case(
        "with its subsections",
        "replace",
        "A",
        NOTE,
        "n\n\n### S\n\ns",
        NOTE.replace("text", "n").replace("sub", "s"),
        True,
    ),
    Case(
        "a comment stays", "replace", "A", "# A\r\n%%\r\ny\r\n%%\r\n", "x\n%%\ny\n%%", "# A\r\nx\r\n%%\r\ny\r\n%%\r\n"
    ),
    # blocks
    Case("paragraph", "append", "^i", "text ^i\n\nmore\n", "x", "text x ^i\n\nmore\n"),
    Case("paragraph, first", "prepend", "^i", "text ^i\n", "x", "x text ^i\n"),
    Case("paragraph, replaced", "replace", "^i", "text\ntext ^i\n", "x", "x ^i\n"),
    Case("id is not doubled", "replace", "^i", "text ^i\n", "x ^i", "x ^i\n"),
    Case("after a paragraph", "after", "^i", "text ^i\nmore\n", "x", "text ^i\nmore\n\nx\n"),
    Case("after, apart", "after", "^i", "text ^i\n\nmore\n", "x", "text ^i\n\nx\n\nmore\n"),
    Case("before a paragraph", "before", "^i", "# A\ntext ^i\n", "x", "# A\n\nx\n\ntext ^i\n"),
    Case("item", "append", "^i", "- a ^i\n  - b\n- c\n", "x", "- a x ^i\n  - b\n- c\n"),
    Case("item, replaced", "replace", "^i", "- [ ] a ^i\n- c\n", "x", "- [ ] x ^i\n- c\n"),
    Case("item, its items stay", "replace", "^i", "- a ^i\n  - b\n- c\n", "x", "- x ^i\n  - b\n- c\n"),
    Case("item with items", "replace", "^i", "- a ^i\n  - b\n- c\n", "x", "- x ^i\n- c\n", True),
    Case("after an item", "after", "^i", "- a\n  - b ^i\n- c\n", "- x", "- a\n  - b ^i\n  - x\n- c\n"),
    Case("before an item", "before", "^i", "- a ^i\n- c\n", "- x", "- x\n- a ^i\n- c\n"),
    Case("table with an id", "append", "^i", "|a|\n|-|\n\n^i\n", "|b|", "|a|\n|-|\n|b|\n\n^i\n"),
    Case("list with an id", "append", "^i", "- a\n- b\n\n^i\n", "- c", "- a\n- b\n- c\n\n^i\n"),
    Case("table, replaced", "replace", "^i", "|a|\n|-|\n\n^i\n", "|b|\n|-|", "|b|\n|-|\n\n^i\n"),
    Case("CRLF block", "append", "^i", "text ^i\r\nmore\r\n", "x", "text x ^i\r\nmore\r\n"),
    Case("under a heading", "append", "A#^i", "# A\ntext ^i\n", "x", "# A\ntext x ^i\n"),
)


def test_edits() -> None:
    for case in CASES:
        edited = edit_section(
            case.text, case.place, case.new, position=case.position, include_children=case.include_children
        )
        assert edited == case.expected, case.what


class Refusal(NamedTuple):
    what: str
    position: SectionPosition
    place: str
    text: str
    new: str
    reason: str
    hint: str = ""


REFUSALS = (
    Refusal("missing", "append", "C", NOTE, "x", "no heading “C”", "## A (line 5)"),
    Refusal("a near name", "append", "Medicatoin", "# Medication\n", "x", "no heading", "nearest is “Medication”"),
    Refusal("only in code", "append", "B", "# A\n```\n# B\n```\n", "x", "no heading “B”"),
    Refusal(
        "twice", "append", "A", "# A\nx\n# A\ny\n", "z", "2 headings “A” in the note, in lines 1, 3", "Above#Heading"
    ),
    Refusal("no place", "append", " # ", NOTE, "x", "No section was named", "## B"),
    Refusal("no block", "append", "^x", "text ^i\n", "x", "no block ^x", "^i (line 1)"),
    Refusal("two blocks", "append", "^i", "a ^i\n\nb ^i\n", "x", "2 blocks ^i in the note, in lines 1, 3"),
    Refusal("nothing", "append", "A", NOTE, " \n ", "nothing to add"),
    Refusal("only the heading", "append", "A", NOTE, "## A", "nothing to add"),
    Refusal("a heading ends it", "append", "A", NOTE, "x\n\n# Other", "would end the section", "after the section"),
    Refusal("subsection twice", "replace", "A", NOTE, "x\n\n### S", "be there twice", "include_children"),
    Refusal("open code", "append", "A", NOTE, "```\nx", "other headings"),
    Refusal("into open code", "append", "A", "# A\n```\ncode\n", "x", "not closed"),
    Refusal("other headings go under it", "before", "S", NOTE, "# N", "other headings"),
    Refusal("placeholder", "replace", "A", NOTE, "new\n… (rest unchanged)", "placeholder", "whole text"),
    Refusal("becomes properties", "before", "A", "# A\n", "---\na: 1\n---", "properties"),
    Refusal("a comment is lost", "replace", "A", "# A\n\nx %% y %%\n", "x", "comment", "passages around it"),
    Refusal("block in a quote", "append", "^i", "> a ^i\n", "x", "quote"),
    Refusal("a comment in a block", "replace", "^i", "a %%c%% b ^i\n", "x", "comment", "passages around it"),
    Refusal("text for a list", "append", "^i", "- a\n\n^i\n", "x", "cannot become part"),
    Refusal("half a character", "append", "A", NOTE, "\ud800", "invalid character"),
    Refusal("two paragraphs for one", "replace", "^i", "a ^i\n", "x\n\ny", "one paragraph"),
)


def test_refusals_say_why_and_show_what_is_there() -> None:
    for case in REFUSALS:
        with pytest.raises(EditRefused) as refused:
            edit_section(case.text, case.place, case.new, position=case.position)
        assert case.reason in refused.value.message
        assert case.hint in refused.value.hint


def test_the_outline_of_a_long_note_is_cut() -> None:
    text = "".join(f"# Heading {number}\n" for number in range(500))
    with pytest.raises(EditRefused) as refused:
        edit_section(text, "Missing", "x", position="append")
    assert refused.value.hint.count("\n") == 41
    assert "460 more" in refused.value.hint


def test_a_note_with_more_headings_than_are_known_is_refused() -> None:
    with pytest.raises(EditRefused, match="too large"):
        edit_section("# A\n" * 10_001, "A", "x", position="append")


@pytest.mark.parametrize(
    ("text", "new", "after"),
    [
        ("", "new", "new\n"),
        ("---\na: 1\n---\n", "new", "---\na: 1\n---\nnew\n"),
        ("---\na: 1\n---", "new", "---\na: 1\n---\nnew\n"),
        ("A line.\n", "new", "A line.\n\nnew\n"),
        ("A line.", "new", "A line.\n\nnew"),
        ("A line.\r\n", "new\nlines", "A line.\r\n\r\nnew\r\nlines\r\n"),
        ("- one\n- two\n", "- three\n", "- one\n- two\n- three\n"),
        ("| a |\n|---|\n| 1 |\n", "| 2 |", "| a |\n|---|\n| 1 |\n| 2 |\n"),
        ("# One\ntext\n# Two\n", "- new", "# One\ntext\n# Two\n- new\n"),
        ("# One\n\ntext\n\n# Two\n", "- new", "# One\n\ntext\n\n# Two\n\n- new\n"),
        ("Text\n", "---", "Text\n\n---\n"),
    ],
)
def test_lines_are_appended_after_what_is_there(text: str, new: str, after: str) -> None:
    assert append_text(text, new) == after


def test_nothing_is_appended_to_what_is_not_closed() -> None:
    for text in ("```\ncode\n", "<!-- open\n", "~~~~\n~~~\n"):
        with pytest.raises(EditRefused):
            append_text(text, "new")
    with pytest.raises(EditRefused):
        append_text("A line.\n", " \n\n")


def test_text_that_leaves_code_or_a_comment_open_is_refused() -> None:
    for new in ("```\ncode", "~~~ python\nx = 1", "<!-- open"):
        with pytest.raises(EditRefused, match="does not close"):
            append_text("# A\n\ntext\n", new)
    assert append_text("# A\n\ntext\n", "```\ncode\n```").endswith("```\n")

"""Edits of sections and blocks: a table of cases with the bytes that are expected."""

from typing import NamedTuple

import pytest

from zkchat.core.choices import SectionPosition
from zkchat.core.errors import EditRefused
from zkchat.writing.edits.sections import edit_section


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
    Case("append, all", "append", "A", NOTE, "new", NOTE.replace("sub\n", "sub\n\nnew\n"), True),
    Case("prepend", "prepend", "A", NOTE, "new", NOTE.replace("text\n", "new\n\ntext\n")),
    Case("prepend, all", "prepend", "A", NOTE, "new", NOTE.replace("text\n", "new\n\ntext\n"), True),
    Case("replace", "replace", "A", NOTE, "new", NOTE.replace("text\n", "new\n")),
    Case("replace, all", "replace", "A", NOTE, "new", NOTE.replace("text\n\n### S\n\nsub\n", "new\n"), True),
    Case("before", "before", "A", NOTE, "new", NOTE.replace("## A\n", "new\n\n## A\n")),
    Case("after", "after", "A", NOTE, "new", NOTE.replace("sub\n", "sub\n\nnew\n")),
    Case("after, a section", "after", "A", NOTE, "## N\n\nnew", NOTE.replace("sub\n", "sub\n\n## N\n\nnew\n")),
    Case("before, a section", "before", "B", NOTE, "## N\n\nnew", NOTE.replace("## B\n", "## N\n\nnew\n\n## B\n")),
    Case("the title", "append", "T", NOTE, "new", NOTE.replace("intro\n", "intro\n\nnew\n")),
    Case("the whole note", "append", "T", NOTE, "new", NOTE + "\nnew\n", True),
    Case("the first", "before", "T", NOTE, "new", "new\n\n" + NOTE),
    Case("the last", "after", "B", NOTE, "new", NOTE + "\nnew\n"),
    Case("emptied", "replace", "A", NOTE, "", NOTE.replace("text\n\n", "")),
    Case("a subsection", "append", "A", NOTE, "### N\n\nx", NOTE.replace("text\n", "text\n\n### N\n\nx\n")),
    # how a section is named
    Case("path", "append", "T#A", NOTE, "new", NOTE.replace("text\n", "text\n\nnew\n")),
    Case("path with a gap", "append", "T#S", NOTE, "new", NOTE.replace("sub\n", "sub\n\nnew\n")),
    Case("with marks", "append", "## A", NOTE, "new", NOTE.replace("text\n", "text\n\nnew\n")),
    Case("other case", "append", "a", NOTE, "new", NOTE.replace("text\n", "text\n\nnew\n")),
    Case("punctuation", "append", "Q&A now", "# Q&A: now?\n", "x", "# Q&A: now?\nx\n"),
    Case("markup", "append", "bold", "# **bold**\n", "x", "# **bold**\nx\n"),
    Case("closing marks", "append", "A", "# A #\n", "x", "# A #\nx\n"),
    Case("hash in it", "append", "C# notes", "# C# notes\n", "x", "# C# notes\nx\n"),
    Case("NFD heading", "append", "Caf\u00e9", "# Cafe\u0301\n", "x", "# Cafe\u0301\nx\n"),
    Case("NFC heading", "append", "Cafe\u0301", "# Caf\u00e9\n", "x", "# Caf\u00e9\nx\n"),
    Case("twice, by its path", "append", "B#X", "# A\n## X\n# B\n## X\n", "x", "# A\n## X\n# B\n## X\nx\n"),
    Case("twice, by its level", "append", "# X", "# X\n## X\n", "x", "# X\nx\n## X\n"),
    Case("indented heading", "append", "A", "   # A\n", "x", "   # A\nx\n"),
    # code, comments and quotes hold no headings
    Case("fence", "append", "B", FENCE, "x", FENCE + "\nx\n"),
    Case("fence ends a section", "append", "A", FENCE, "x", "# A\n\n```\n# B\n```\n\nx\n\n# B\n\ntext\n"),
    Case("longer fence", "append", "A", "# A\n````\n```\n# B\n````\n", "x", "# A\n````\n```\n# B\n````\n\nx\n"),
    Case("tilde fence", "append", "A", "# A\n~~~\n```\n# B\n~~~\n", "x", "# A\n~~~\n```\n# B\n~~~\n\nx\n"),
    Case("indented fence", "append", "A", "# A\n  ```\n# B\n  ```\n", "x", "# A\n  ```\n# B\n  ```\n\nx\n"),
    Case(
        "fence in an item",
        "append",
        "A",
        "# A\n- i\n  ```\n  # B\n  ```\n",
        "x",
        "# A\n- i\n  ```\n  # B\n  ```\n\nx\n",
    ),
    Case("indented code", "append", "A", "# A\n\n    # B\n", "x", "# A\n\n    # B\n\nx\n"),
    Case("HTML comment", "append", "A", "# A\n<!--\n# B\n-->\n", "x", "# A\n<!--\n# B\n-->\n\nx\n"),
    Case("comment", "append", "A", "# A\n%%\n# B\n%%\n", "x", "# A\n%%\n# B\n%%\n\nx\n"),
    Case("quote", "append", "A", "# A\n> # B\n", "x", "# A\n> # B\n\nx\n"),
    Case("heading in an item", "append", "A", "# A\n- # B\n", "x", "# A\n- # B\n\nx\n"),
    Case("no heading without a space", "append", "A", "# A\n#B\n", "x", "# A\n#B\n\nx\n"),
    Case("frontmatter", "append", "A", "---\n# B\na: 1\n---\n# A\n", "x", "---\n# B\na: 1\n---\n# A\nx\n"),
    Case("code that is added", "append", "A", "# A\n# B\n", "```\n# x\n```", "# A\n```\n# x\n```\n# B\n"),
    # underlined headings
    Case("underlined", "append", "A", "A\n===\n\ntext\n\nB\n---\n", "x", "A\n===\n\ntext\n\nx\n\nB\n---\n"),
    Case("before an underlined one", "append", "A", "# A\nB\n===\n", "x", "# A\nx\n\nB\n===\n"),
    Case("two lines", "prepend", "A a", "A\na\n=\ntext\n", "x", "A\na\n=\nx\n\ntext\n"),
    Case("replaced", "replace", "A", "A\n=\ntext\n\nB\n-\n", "x", "A\n=\nx\n\nB\n-\n"),
    Case("before it", "before", "B", "text\n\nB\n===\n", "x", "text\n\nx\n\nB\n===\n"),
    Case("after a rule", "append", "A", "# A\n\n---\n", "x", "# A\n\n---\n\nx\n"),
    # blank lines
    Case("none", "append", "A", "# A\ntext\n# B\n", "x", "# A\ntext\n\nx\n# B\n"),
    Case("none, empty", "append", "A", "# A\n# B\n", "x", "# A\nx\n# B\n"),
    Case("one, empty", "append", "A", "# A\n\n# B\n", "x", "# A\n\nx\n\n# B\n"),
    Case("two, empty", "append", "A", "# A\n\n\n# B\n", "x", "# A\n\nx\n\n# B\n"),
    Case("many", "append", "A", "# A\n\n\ntext\n\n\n\n# B\n", "x", "# A\n\n\ntext\n\nx\n\n\n\n# B\n"),
    Case("blanks on the line", "append", "A", "# A\ntext\n  \n# B\n", "x", "# A\ntext\n\nx\n  \n# B\n"),
    Case("as other headings", "append", "B", "# A\n\nt\n\n# B\n", "x", "# A\n\nt\n\n# B\n\nx\n"),
    Case("prepend, none", "prepend", "A", "# A\ntext\n", "x", "# A\nx\n\ntext\n"),
    Case("around the text", "append", "A", "# A\n\nt\n", "\n\nx\n\n\n", "# A\n\nt\n\nx\n"),
    Case("before, none", "before", "B", "# A\ntext\n# B\n", "x", "# A\ntext\n\nx\n# B\n"),
    Case("before, after a heading", "before", "B", "# A\n# B\n", "x", "# A\nx\n# B\n"),
    Case("HTML needs one", "append", "A", "# A\n# B\n", "<div>", "# A\n<div>\n\n# B\n"),
    Case("HTML after text needs one", "append", "A", "# A\nt\n# B\n", "<div>", "# A\nt\n\n<div>\n\n# B\n"),
    Case("emptied, none before", "replace", "A", "# A\ntext\n\n# B\n", "", "# A\n\n# B\n"),
    # lists and tables
    Case("list", "append", "A", "# A\n- a\n\n# B\n", "- b", "# A\n- a\n- b\n\n# B\n"),
    Case("tasks", "append", "A", "# A\n- [ ] a\n- [x] b\n", "- [ ] c", "# A\n- [ ] a\n- [x] b\n- [ ] c\n"),
    Case("nested", "append", "A", "# A\n- a\n  - b\n", "- c", "# A\n- a\n  - b\n- c\n"),
    Case("numbers", "append", "A", "# A\n1. a\n", "2. b", "# A\n1. a\n2. b\n"),
    Case("other kind", "append", "A", "# A\n- a\n", "1. b", "# A\n- a\n\n1. b\n"),
    Case("loose", "append", "A", "# A\n- a\n\n- b\n", "- c", "# A\n- a\n\n- b\n\n- c\n"),
    Case("text after a list", "append", "A", "# A\n- a\n", "x", "# A\n- a\n\nx\n"),
    Case("item after text", "append", "A", "# A\ntext\n", "- x", "# A\ntext\n\n- x\n"),
    Case("prepend an item", "prepend", "A", "# A\n\n- a\n", "- x", "# A\n\n- x\n- a\n"),
    Case("row", "append", "A", "# A\n|a|\n|-|\n|b|\n", "|c|", "# A\n|a|\n|-|\n|b|\n|c|\n"),
    Case("table", "append", "A", "# A\n|a|\n|-|\n", "|b|\n|-|", "# A\n|a|\n|-|\n\n|b|\n|-|\n"),
    # line ends, BOM, the end of the note
    Case("CRLF", "append", "A", "# A\r\n\r\nt\r\n\r\n# B\r\n", "x\ny", "# A\r\n\r\nt\r\n\r\nx\r\ny\r\n\r\n# B\r\n"),
    Case("CRLF, given", "append", "A", "# A\nt\n", "x\r\ny", "# A\nt\n\nx\ny\n"),
    Case("CRLF, replace", "replace", "A", "# A\r\nt\r\n# B\r\n", "x", "# A\r\nx\r\n# B\r\n"),
    Case("CRLF, no final", "append", "A", "# A\r\nt", "x", "# A\r\nt\r\n\r\nx"),
    Case("CR", "append", "A", "# A\rt\r", "x", "# A\rt\r\rx\r"),
    Case("mixed, CRLF here", "append", "B", "# A\nt\n# B\r\nu\r\n", "x", "# A\nt\n# B\r\nu\r\n\r\nx\r\n"),
    Case("mixed, LF here", "append", "A", "# A\nt\n# B\r\nu\r\n", "x", "# A\nt\n\nx\n# B\r\nu\r\n"),
    Case("BOM", "append", "A", "\ufeff# A\nt\n", "x", "\ufeff# A\nt\n\nx\n"),
    Case("BOM, before", "before", "A", "\ufeff# A\n", "x", "\ufeffx\n\n# A\n"),
    Case("no final line end", "append", "A", "# A\nt", "x", "# A\nt\n\nx"),
    Case("no final line end, list", "append", "A", "# A\n- a", "- b", "# A\n- a\n- b"),
    Case("no final line end, empty", "append", "A", "# A", "x", "# A\nx"),
    Case("no final line end, replace", "replace", "A", "# A\nt", "x", "# A\nx"),
    Case("no final line end, prepend", "prepend", "A", "# A\nt", "x", "# A\nx\n\nt"),
    Case("blank lines at the end", "append", "A", "# A\nt\n\n\n", "x", "# A\nt\n\nx\n\n\n"),
    Case("blanks at the end", "append", "A", "# A\n  ", "x", "# A\n  \nx"),
    Case("NFD and nbsp stay", "append", "A", "# A\ne\u0301\u00a0x\n", "e\u0301", "# A\ne\u0301\u00a0x\n\ne\u0301\n"),
    # the heading in the text
    Case("not doubled", "replace", "A", NOTE, "## A\n\nnew", NOTE.replace("text\n", "new\n")),
    Case("not doubled, append", "append", "A", "# A\n- a\n", "# A\n- b", "# A\n- a\n- b\n"),
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
    Case("after, at the end", "after", "^i", "text ^i", "x", "text ^i\n\nx"),
    Case("before a paragraph", "before", "^i", "# A\ntext ^i\n", "x", "# A\n\nx\n\ntext ^i\n"),
    Case("item", "append", "^i", "- a ^i\n  - b\n- c\n", "x", "- a x ^i\n  - b\n- c\n"),
    Case("item, replaced", "replace", "^i", "- [ ] a ^i\n- c\n", "x", "- [ ] x ^i\n- c\n"),
    Case("item, with its mark", "replace", "^i", "  - a\n    - b ^i\n", "- x", "  - a\n    - x ^i\n"),
    Case("item with items", "replace", "^i", "- a ^i\n  - b\n- c\n", "x", "- x ^i\n- c\n", True),
    Case("after an item", "after", "^i", "- a\n  - b ^i\n- c\n", "- x", "- a\n  - b ^i\n  - x\n- c\n"),
    Case("before an item", "before", "^i", "- a ^i\n- c\n", "- x", "- x\n- a ^i\n- c\n"),
    Case("table with an id", "append", "^i", "|a|\n|-|\n\n^i\n", "|b|", "|a|\n|-|\n|b|\n\n^i\n"),
    Case("list with an id", "append", "^i", "- a\n- b\n\n^i\n", "- c", "- a\n- b\n- c\n\n^i\n"),
    Case("listing with an id", "replace", "^i", "```\na\n```\n\n^i\n", "```\nb\n```", "```\nb\n```\n\n^i\n"),
    Case("CRLF block", "append", "^i", "text ^i\r\nmore\r\n", "x", "text x ^i\r\nmore\r\n"),
    Case("CRLF, after", "after", "^i", "text ^i\r\n\r\nmore\r\n", "x", "text ^i\r\n\r\nx\r\n\r\nmore\r\n"),
    Case("CRLF, own line", "append", "^i", "- a\r\n\r\n^i\r\n", "- b", "- a\r\n- b\r\n\r\n^i\r\n"),
    Case("BOM block", "before", "^i", "\ufefftext ^i\n", "x", "\ufeffx\n\ntext ^i\n"),
    Case("under a heading", "append", "A#^i", "# A\ntext ^i\n", "x", "# A\ntext x ^i\n"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_edits(case: Case) -> None:
    edited = edit_section(
        case.text, case.place, case.new, position=case.position, include_children=case.include_children
    )
    assert edited == case.expected


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
    Refusal("missing, in a path", "append", "B#S", NOTE, "x", "no heading “B#S”", "### S (line 9)"),
    Refusal("a near name", "append", "Medicatoin", "# Medication\n", "x", "no heading", "nearest is “Medication”"),
    Refusal("no headings", "append", "C", "text\n", "x", "no heading", "has no headings"),
    Refusal("only in code", "append", "B", "# A\n```\n# B\n```\n", "x", "no heading “B”"),
    Refusal("only in an indented fence", "append", "B", "# A\n   ~~~~\n~~~\n# B\n   ~~~~\n", "x", "no heading “B”"),
    Refusal("only in a comment", "append", "B", "# A\n%%\n# B\n%%\n", "x", "no heading “B”"),
    Refusal("only in a quote", "append", "B", "# A\n> # B\n", "x", "no heading “B”"),
    Refusal(
        "twice", "append", "A", "# A\nx\n# A\ny\n", "z", "2 headings “A” in the note, in lines 1, 3", "Above#Heading"
    ),
    Refusal("no place", "append", " # ", NOTE, "x", "No section was named", "## B"),
    Refusal("no block", "append", "^x", "text ^i\n", "x", "no block ^x", "^i (line 1)"),
    Refusal("no blocks", "append", "^x", "text\n", "x", "no block ^x", "name a heading"),
    Refusal("two blocks", "append", "^i", "a ^i\n\nb ^i\n", "x", "2 blocks ^i in the note, in lines 1, 3"),
    Refusal("nothing", "append", "A", NOTE, " \n ", "nothing to add"),
    Refusal("only the heading", "append", "A", NOTE, "## A", "nothing to add"),
    Refusal("a heading ends it", "append", "A", NOTE, "x\n\n# Other", "would end the section", "after the section"),
    Refusal("a sibling ends it", "replace", "A", NOTE, "x\n\n## B", "would end the section"),
    Refusal("subsection twice", "replace", "A", NOTE, "x\n\n### S", "be there twice", "include_children"),
    Refusal("open code", "append", "A", NOTE, "```\nx", "Headings of the note"),
    Refusal("open HTML", "append", "A", NOTE, "<!-- x", "Headings of the note"),
    Refusal("open comment", "append", "A", "# A\n\n# B\n\n%%c%%\n", "%%", "Headings of the note"),
    Refusal("into open code", "append", "A", "# A\n```\ncode\n", "x", "not closed"),
    Refusal("after open code", "after", "A", "# A\n```\ncode", "x", "not closed"),
    Refusal("into open HTML", "append", "A", "# A\n<!-- x\n", "x", "not closed"),
    Refusal("other headings go under it", "before", "S", NOTE, "# N", "stand under others"),
    Refusal("placeholder", "replace", "A", NOTE, "new\n… (rest unchanged)", "placeholder", "whole text"),
    Refusal("becomes properties", "before", "A", "# A\n", "---\na: 1\n---", "properties"),
    Refusal("a comment is lost", "replace", "A", "# A\n\nx %% y %%\n", "x", "comment", "passages around it"),
    Refusal("block in a quote", "append", "^i", "> a ^i\n", "x", "quote"),
    Refusal("a comment in a block", "replace", "^i", "a %%c%% b ^i\n", "x", "comment", "passages around it"),
    Refusal("text for a list", "append", "^i", "- a\n\n^i\n", "x", "cannot become part"),
    Refusal("half a character", "append", "A", NOTE, "\ud800", "half a character"),
    Refusal("lines for a paragraph", "append", "^i", "a ^i\n", "- x", "cannot become part"),
    Refusal("two paragraphs for one", "replace", "^i", "a ^i\n", "x\n\ny", "one paragraph"),
    Refusal("nothing for a block", "replace", "^i", "a ^i\n", "", "is empty"),
)


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.what)
def test_refusals_say_why_and_show_what_is_there(case: Refusal) -> None:
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

from datetime import date

import pytest

from zkchat.core.note import Block, Heading
from zkchat.notes.parse import parse_note


def nested(levels: int) -> str:
    """Properties of so many levels, among more signs than could do no harm."""
    return f"a: {'[ ' * (levels - 1)}{'] ' * (levels - 1)}\nb: {'-' * 100}"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From the frontmatter\n---\n# From the heading", "From the frontmatter"),
        ("---\nTitle: >\n  Folded\n  over lines\n---\n", "Folded over lines"),
        ("# From the heading\n\n# Another", "From the heading"),
        ("[[Up]]\n\n# Later", "File name"),
        ("\n \n%% why\nso %%\n\n<!-- a -->\n<b></b>\n\n![[a.png]] ![b](b.png)\n#tag #other/one\n# Title", "Title"),
        ("---\ntags: [a]\n---\n#tag\n\nTitle\n===\n", "Title"),
        ("# A *strong* [[Note|word]], `code` &amp; [link](x.md) #", "A strong word, code & link"),
        ("# \n\n# Second", "File name"),
        ("## From a section", "File name"),
        ("%%\n# In a comment\n%%", "File name"),
    ],
)
def test_the_title_is_that_of_the_frontmatter_or_a_heading_at_the_top_or_the_file(text: str, title: str) -> None:
    assert parse_note("folder/File name.md", text).title == title


@pytest.mark.parametrize(
    ("yaml", "aliases"),
    [
        ("aliases: [One, Two]", ("One", "Two")),
        ("aliases:\n  - One, and a comma\n  - Two", ("One, and a comma", "Two")),
        ("alias: One\naliases: [Two]", ("Two", "One")),
        ("Aliases: [One, one, ' One ', '', null, ~]", ("One",)),
        ("aliases: [007, yes, 2024-01-01]", ("007", "yes", "2024-01-01")),
        ("aliases: [[a], b]", ("b",)),
    ],
)
def test_aliases_are_a_list_or_a_text_with_commas_as_they_are_written(yaml: str, aliases: tuple[str, ...]) -> None:
    assert parse_note("n.md", f"---\n{yaml}\n---\n").aliases == aliases


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("---\ntags: [one, '#two', three/four]\n---\n", ("one", "two", "three/four")),
        ("---\ntag: one\n---\n#two #One", ("one", "two")),
        (
            "#one, (#no) x#no #two/sub. #three-3 #vier_4\n#fünf #六。七 #🎉",
            ("one", "two/sub", "three-3", "vier_4", "fünf", "六", "🎉"),
        ),
        ("#2024 #12 #2024a #a/ ##no # no", ("2024a", "a")),
        ("`#no` $#no$ [[N #no]] [x #no](y.md) <b title='#no'> \\#no https://x.y/ #yes", ("yes",)),
        ("# Heading #yes\n- #item", ("yes", "item")),
    ],
)
def test_tags_stand_in_the_frontmatter_and_in_the_text(text: str, tags: tuple[str, ...]) -> None:
    assert parse_note("n.md", text).tags == tags


def test_headings_have_their_written_text_and_their_place() -> None:
    text = "---\na: b\n---\n# One *two* ##\r\n\r\n  ## `x` #3\ntext\n\nOver\ntwo lines\n---\n> # No\n\n- # No\n\n#\n"

    assert parse_note("n.md", text + "%%\n# In a comment\n%%\n").headings == (
        Heading(text="One *two*", level=1, line=4, start=text.index("# One")),
        Heading(text="`x` #3", level=2, line=6, start=text.index("## `x`")),
        Heading(text="Over two lines", level=2, line=9, start=text.index("Over")),
        Heading(text="", level=1, line=16, start=text.rindex("#")),
    )


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("One\ntwo ^id\n\nthree", Block(id="id", line=2, first_line=1, last_line=2)),
        ("- a\n- b ^id\n  - c\n- d", Block(id="id", line=2, first_line=2, last_line=3)),
        ("| a |\n|---|\n| b |\n\n^id", Block(id="id", line=5, first_line=1, last_line=3)),
        ("> a\n>\n> b ^id\n\nc", Block(id="id", line=3, first_line=3, last_line=3)),
        ("^id\n\nText", Block(id="id", line=1, first_line=1, last_line=1)),
        ("Text\n\n[x]: y.md ^id\n", Block(id="id", line=3, first_line=3, last_line=3)),
    ],
)
def test_a_block_with_an_id_knows_its_lines(text: str, block: Block) -> None:
    assert parse_note("n.md", text).blocks == (block,)


@pytest.mark.parametrize("text", ["x^2", "x ^2 y", "`x ^a`", "$x ^a$", "[[N ^a]]", "```\n^a\n```", "^a_b", "\\^a"])
def test_this_is_no_block_id(text: str) -> None:
    assert parse_note("n.md", text).blocks == ()


def test_links_in_the_frontmatter_have_the_name_of_their_property() -> None:
    text = (
        "---\n"
        'up: "[[A]]"\n'
        "related:\n"
        "  - '[[B#H|b]]'\n"
        "  - [[C]]\n"
        "'quoted key': [[D]] # [[no]]\n"
        "# commented: [[no]]\n"
        "deep: {x: '[[E]] # [[F]]'}\n"
        "---\n"
        "[[G]]\n"
    )

    links = parse_note("n.md", text).links

    assert [(link.target, link.in_frontmatter, link.line) for link in links] == [
        ("A", "up", 2),
        ("B", "related", 4),
        ("C", "related", 5),
        ("D", "quoted key", 6),
        ("E", "deep", 8),
        ("F", "deep", 8),
        ("G", "", 10),
    ]
    assert all(text[link.start : link.end] == link.text for link in links)


def test_the_frontmatter_is_given_as_plain_values_with_texts_for_keys() -> None:
    text = "---\ncreated: 2024-01-15\ncount: 3\n2024: {1: [yes, null, text]}\n---\nBody"

    note = parse_note("n.md", text)

    assert note.frontmatter == {"created": date(2024, 1, 15), "count": 3, "2024": {"1": [True, None, "text"]}}
    assert text[note.body_start :] == "Body"
    assert note.warnings == ()
    assert parse_note("n.md", f"---\n{nested(30)}\n---\n").warnings == ()


@pytest.mark.parametrize(
    "text",
    [
        " ---\na: b\n---\n", "\n---\na: b\n---\n", "---\na: b\n", "----\na: b\n----\n",
        "---\nText between two rules.\n---\n", "---\n- a\n- b\n---\n", "---",
    ],
)  # fmt: skip
def test_this_is_no_frontmatter(text: str) -> None:
    note = parse_note("n.md", text)

    assert (note.frontmatter, note.body_start, note.warnings) == ({}, 0, ())


def test_an_empty_frontmatter_is_fine() -> None:
    text = "---  \n \n--- \n"
    note = parse_note("n.md", text)
    assert (note.frontmatter, note.body_start, note.warnings) == ({}, len(text), ())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_byte_order_mark_and_any_line_end_are_understood(end: str) -> None:
    text = end.join(["\ufeff---", "title: T", "tags: [a]", "---", "# H", "", "[[N]] ^id", ""])

    note = parse_note("n.md", text)

    assert (note.title, note.tags, note.line_count) == ("T", ("a",), 8)
    assert [(heading.text, heading.line) for heading in note.headings] == [("H", 5)]
    assert [(text[link.start : link.end], link.line) for link in note.links] == [("[[N]]", 7)]
    assert [(block.id, block.line) for block in note.blocks] == [("id", 7)]


@pytest.mark.parametrize(
    ("yaml", "reason"),
    [
        ("title: a: b", "is not valid YAML (mapping values are not allowed in this context in line 2)"),
        ("title: {? {a: b}}", "has a mapping where a property's name should be"),
        ("a: !!python/object/apply:os.system [x]\nb: !!python/name:x y", "is not valid YAML"),
        ("a: \0", "has a value that cannot be read"),
        ("a: 0x" + "f" * 1_000, "has a number that is too long"),
        ("a: &x [1]\nb: *x", "uses YAML aliases"),
        ("a: " + "[" * 40_000, "is nested more than 30 levels deep"),
        (nested(31), "is nested more than 30 levels deep"),
        ("a: " + "x" * 49_998, "is longer than 50,000 characters"),
    ],
)
def test_a_frontmatter_that_cannot_be_read_is_a_warning(yaml: str, reason: str) -> None:
    text = f"---\n{yaml}\n---\n# Heading\n[[N]]"

    note = parse_note("n.md", text)

    (warning,) = note.warnings
    assert warning.text.startswith(f"The frontmatter {reason}")
    assert "\n" not in warning.text
    assert (warning.path, warning.kind) == ("n.md", "frontmatter")
    assert (note.title, note.frontmatter) == ("Heading", {})
    assert text[note.body_start :] == "# Heading\n[[N]]"
    assert [link.target for link in note.links] == ["N"]


def test_the_links_of_a_broken_frontmatter_are_kept() -> None:
    note = parse_note("n.md", "---\nup: '[[A]]\nrelated: [[B]]\n---\n[[C]]")

    assert [(link.target, link.in_frontmatter) for link in note.links] == [("A", "up"), ("B", "related"), ("C", "")]


@pytest.mark.parametrize(
    ("yaml", "properties"),
    [
        ("created: {{date}}\ntags: [day]", {"created": None, "tags": ["day"]}),
        ("at: {{date:HH: mm}}\nkind: day", {"at": None, "kind": "day"}),
        ("<% tp.file.include('[[Head]]') %>\nkind: [day]", {"kind": ["day"]}),
        ("{% if x %}\nkind: day\n{% endif %}", {"kind": "day"}),
        ("at: {{date}}\nkind: [", {}),
    ],
)
def test_the_placeholders_of_a_template_are_no_warning(yaml: str, properties: dict[str, object]) -> None:
    text = f"---\n{yaml}\n---\nbody"
    note = parse_note("Day.md", text)
    assert (note.title, note.warnings) == ("Day", ())
    assert note.frontmatter == properties
    assert text[note.body_start :] == "body"

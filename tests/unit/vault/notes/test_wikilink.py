"""Every row of the table of link forms, and what is no link."""

import pytest

from zkchat.notes.link_catalog import scan


@pytest.mark.parametrize(
    ("text", "target", "anchor", "display"),
    [
        ("[[N]]", "N", "", ""),
        ("[[N|text]]", "N", "", "text"),
        ("[[Years|2024]]", "Years", "", "2024"),
        ("[[N|one|two]]", "N", "", "one|two"),
        ("[[N#H]]", "N", "H", ""),
        ("[[N#H#Sub]]", "N", "H#Sub", ""),
        ("[[#H]]", "", "H", ""),
        ("[[N\\|text]]", "N", "", "text"),
        ("[[ N # H | text ]]", "N", "H", "text"),
        ("[[a%20b]]", "a%20b", "", ""),
        ("[[a [b] c]]", "a [b] c", "", ""),
    ],
)
def test_a_wikilink_is_split_into_target_anchor_and_text(text: str, target: str, anchor: str, display: str) -> None:
    (link,) = scan(f"See {text}.")

    assert (link.text, link.target, link.anchor, link.display) == (text, target, anchor, display)
    assert (link.start, link.end, link.line) == (4, 4 + len(text), 1)
    assert (link.syntax, link.embed, link.external) == ("wikilink", False, False)


@pytest.mark.parametrize(
    ("text", "target", "anchor", "display", "size"),
    [
        ("![[img.png|300]]", "img.png", "", "", "300"),
        ("![[img.png|A caption|300]]", "img.png", "", "A caption", "300"),
        ("![alt|300](img.png)", "img.png", "", "alt", "300"),
    ],
)
def test_an_exclamation_mark_embeds_and_digits_are_a_size(
    text: str, target: str, anchor: str, display: str, size: str
) -> None:
    (link,) = scan(f"See {text}")

    assert link.embed
    assert (link.text, link.target, link.anchor, link.display, link.size) == (text, target, anchor, display, size)


@pytest.mark.parametrize(
    ("text", "target", "anchor", "display"),
    [
        ("[x](<my note.md>)", "my note.md", "", "x"),
        ("[x](n.md#A%20heading)", "n.md", "A heading", "x"),
        ("[x](a%23b.md#c)", "a#b.md", "c", "x"),
        ('[x](n.md "a title")', "n.md", "", "x"),
        ("[*x* `y`](n.md)", "n.md", "", "*x* `y`"),
    ],
)
def test_a_hyperlink_is_split_at_the_hash_and_then_decoded(text: str, target: str, anchor: str, display: str) -> None:
    (link,) = scan(f"See {text}.")

    assert (link.text, link.target, link.anchor, link.display) == (text, target, anchor, display)
    assert link.syntax == "markdown"


def test_a_link_in_a_comment_is_flagged() -> None:
    links = scan("[[a]] %%[[b]]%% [[c]]\n\n%%\n\n[[d]]\n\n%%\n\n[[e]] 100%% [[f]]")

    assert [link.target for link in links if link.in_comment] == ["b", "d"]
    assert [link.target for link in links if not link.in_comment] == ["a", "c", "e", "f"]


@pytest.mark.parametrize(
    "text",
    [
        "```\n[[N]]", "- item\n\n  ```\n  [[N]]\n  ```", "> ```\n> [[N]]\n> ```", "<a title='[[N]]'>",
        "\\\\\\[[N]]", "[[N", "[[a\r\nb]]", "[x](%20)", "<https://example.org>",
    ],
)  # fmt: skip
def test_this_is_no_link_besides_those_of_the_links_vault(text: str) -> None:
    assert scan(text) == []


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[[a]b]]", ["a]b"]),
        ("\\\\[[x]]", ["x"]),
        ("[[x]](url)", ["x"]),
        ("[see [[x]] there](n.md)", ["x"]),
        ("[x](n.md '[[no]]')", ["n.md"]),
        ("# [[x]]\n[[y]]\n===", ["x", "y"]),
        ("<div>\n\n[[x]]\n\n</div>", ["x"]),
        ("[[A$AP]], [[b]] and [[Ke$ha]]", ["A$AP", "b", "Ke$ha"]),
        ("[[A$AP]] and $x [[b]] y$", ["A$AP"]),
        ("\ufeff[[x]]", ["x"]),
        ("[![x](p.png)](n.md)", ["n.md", "p.png"]),
        ("\ud800 [[x]]", ["x"]),
    ],
)
def test_brackets_and_neighbours_do_not_confuse(text: str, targets: list[str]) -> None:
    assert [link.target for link in scan(text)] == targets
    assert all(text[link.start : link.end] == link.text for link in scan(text))


def test_an_escaped_exclamation_mark_embeds_nothing() -> None:
    (link,) = scan("\\![[N]]")

    assert (link.embed, link.text) == (False, "[[N]]")


def test_offsets_are_those_of_characters_and_lines_those_of_any_line_end() -> None:
    text = "naïve 笔记 😀\r\n[[один]]\rx\n" + "é" * 300 + "[[zwei]]"

    assert [(text[link.start : link.end], link.line) for link in scan(text)] == [("[[один]]", 2), ("[[zwei]]", 4)]


def test_a_table_that_would_fill_up_with_empty_cells_still_gives_its_links() -> None:
    columns = 300
    text = "|a" * columns + "\n" + "|-" * columns + "\n" + "[[x]]\n" + "b\n" * 2_000 + "\n[[y]]\n"

    assert [link.target for link in scan(text)] == ["x", "y"]

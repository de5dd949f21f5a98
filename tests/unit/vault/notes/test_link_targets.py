import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.notes.parse import TextEdit, edited, find_links, fits, link_targets, written_target


def spans(text: str) -> list[str]:
    return [text[slice(*each.place)] if each.place else "?" for each in link_targets(text)]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[[N]]", ["N"]),
        ("![[ a/N.md #H|300]]", ["a/N.md"]),
        ("[x](n.md) [x](my%20n.md#h 'title')", ["n.md", "my%20n.md"]),
        ('[x](<my n.md#h> "title")', ["my n.md"]),
        ("[a ](b.md) [x [y](z)](n.md)", ["b.md", "z"]),
        ("[![i](p.png)](n.md)", ["n.md", "p.png"]),
        ("[x][r] [r] [r][]\n\n[r]: n.md 'title'\n", ["n.md", "n.md", "n.md"]),
        ('---\nup: "[[N|x]]" # [[M]]\nall:\n  - [[O]]\n---\n[[P]]', ["N", "O", "P"]),
        ("\ufeff---\r\nup: '[[N]]'\r\n---\r\n[x](m.md)\r\n", ["N", "m.md"]),
        ("%%[[N]]%% `[[M]]` <!-- [[O]] --> $[[P]]$", ["N"]),
        ("[x](https://example.org/n.md) [[https://example.org]]", []),
        ("[x](a&amp;b.md)", ["a&amp;b.md"]),
        ("[r]\n\n```\n[r]: a.md\n```\n\n[r]: n.md\n", ["n.md"]),
    ],
)
def test_the_place_of_a_target_is_known_in_every_form_of_link(text: str, targets: list[str]) -> None:
    assert spans(text) == targets


def test_a_target_that_cannot_be_placed_is_said_to_be_so() -> None:
    (target,) = link_targets("[x](a&#35;b.md)\n")  # an entity that holds the mark at which targets are split
    assert target.place is None


@pytest.mark.parametrize(
    ("before", "target", "after"),
    [
        ("[x](<n.md>)", "my note.md", "[x](<my note.md>)"),
        ("[x](a%20b/n.md)", "a b/m.md", "[x](a%20b/m.md)"),
        ("[x](n.md)", "50% a#b.md", "[x](50%25%20a%23b.md)"),
        ("[x](%C3%A9.md)", "über.md", "[x](%C3%BCber.md)"),
        ("[x](n.md)", "a) b.md", "[x](a%29%20b.md)"),
        ("[x](n.md)", "a)(b.md", "[x](a%29%28b.md)"),
        ("[x](n.md)", "a(b).md", "[x](a(b).md)"),
        ("[x](<n.md>)", "a<b>%20.md", "[x](<a%3Cb%3E%2520.md>)"),
        ("[[n]]", "a b (c)%20", "[[a b (c)%20]]"),
    ],
)
def test_a_target_is_written_as_the_one_before_it(before: str, target: str, after: str) -> None:
    (link,) = link_targets(before)
    assert link.place is not None
    assert edited(before, [TextEdit(*link.place, written_target(target, link, before))]) == after


@pytest.mark.parametrize("name", ["a#b", "a|b", "a\\", " a", "[a", "a]", "a]]b", "a[[b", "a\nb", "", "https://x"])
def test_not_every_name_fits_into_a_wikilink(name: str) -> None:
    assert not fits(name, "wikilink")
    assert fits(name, "plain")


@given(st.text(st.sampled_from("ab[]()|#\\<>!:%`$-. \n\r\"'&;é^{}")))
@settings(max_examples=50)
def test_each_link_of_a_text_has_its_place_or_none(text: str) -> None:
    links = [link for link in find_links(text).links if link.target and not link.external]
    targets = link_targets(text)
    assert [each.target for each in targets] == [link.target for link in links]
    for each in targets:
        if each.place and each.notation == "wikilink":
            assert text[slice(*each.place)] == each.target


@given(st.text(st.sampled_from("ab é%()#<>&;'`$~+"), min_size=1).map(str.strip).filter(bool), st.booleans())
@settings(max_examples=50)
def test_what_is_written_into_a_markdown_link_is_read_again(name: str, angle: bool) -> None:
    text = "See [x](<n.md>)." if angle else "See [x](n.md)."
    (link,) = link_targets(text)
    assert link.place is not None
    after = edited(text, [TextEdit(*link.place, written_target(f"{name}.md", link, text))])
    assert [each.target for each in link_targets(after)] == [f"{name}.md"]

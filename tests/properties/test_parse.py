import re
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from zkchat.notes.frontmatter import read_plain, read_yaml
from zkchat.notes.link_catalog import scan, section_lines, wikilink_spans
from zkchat.notes.markdown import MAX_TOKENS, flatten, outline, sections_of
from zkchat.notes.parse import parse_note

SETTINGS = settings(max_examples=300, deadline=None)

PIECES = (
    *("[[", "]]", "[", "]", "|", "#", "^", "!", "(", ")", "\\", "`", "``", "```", "$", "$$", "%%", "*", "_", "~~"),
    *("\n", "\n\n", "\r\n", "\r", " ", "\t", "    ", "\u00a0", "\u2028", "\x0c", "\0", "\ufeff", "\ud800"),
    *("a", "b c", "é", "e\u0301", "笔记", "\U0001f600", "\u200d", "# ", "## ", "===\n", "---\n", "> ", "- ", "1. "),
    *("<!--", "-->", "<div>", "</div>", "<b>", "&amp;", "| a | b |\n|---|---|\n", "[x](n.md)", "[r]: x.md\n", "[^1]: "),
    *("#tag", " ^id", "title: ", "aliases: [a]\n", "tags: ", "{", "}", "&a ", "*a ", "? ", '"', "'", "https://x.y"),
)
fragments = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
bodies = st.one_of(fragments, st.text(max_size=200))
texts = st.one_of(
    bodies,
    st.builds("---\n{}\n---\n{}".format, bodies, bodies),
    st.builds("\ufeff---\r\n{}\r\n---\r\n{}".format, bodies, bodies),
)


PLAIN_PIECES = (
    *("#", "# ", "## b ##", "#######", "#\u00a0x", " ", "  ", "   ", "    ", "\n", "\n\n", "\x0b", "\x0c", "\x85"),
    *("\0",),
    *("-", "- ", "--", "---", "=", "==", "> ", "1. ", "* ", "+ ", "- [x] ", "|", "| a | b |", "|---|---|", ":-", "~~"),
    *("a", "é", "–", "\u3000", "\u2028", "\\", "_", "**", "[", "]", "(", ")", "[[x]]", "[[a|b]]", "!", "%%", "&#35;"),
    *(":",),
    *("\n # a", "\n   ## b", "a\n-", "a\n--  ", "a\n  ==", "\n\n---\n", "-     a", ">     a", "\n#\x0c"),
)
plain_texts = st.lists(st.sampled_from(PLAIN_PIECES), max_size=10).map("".join)


PROPERTIES = st.lists(
    st.sampled_from(
        [
            *("title", "Tags", "aliases", "é-1", "a_b", "2", "yes", ":", ": ", ":  ", "\n", "\n", "\n", " ", "\t"),
            *("  ",),
            *("plain", "two words", "it's", "Größe", "笔记", "a.b/c", "- ", " - ", "-", "[", "]", "[]", ", ", ",", "#"),
            *(" #",),
            *("yes", "No", "TRUE", "null", "~", "7", "1e3", "2024-01-15", "2024-02-30", "0000-00-00", "٢٠٢٤-٠١-١٥"),
            *('"', "'", "\\", "|", ">", "&a ", "*a", "!", "%", "@", "?", "{", "}", "...", "=", "<<", ".inf", "\u2028"),
            *("_",),
            *("tags: [a, b c]\n", "tags:\n  - a\n  - b\n", "title: A title\n", "created: 2024-01-15\n", "up:\n"),
        ]
    )
    | st.text(max_size=3),
    max_size=12,
).map(lambda pieces: flatten("".join(pieces)) + "\n")


@settings(max_examples=1_000, deadline=None)
@given(PROPERTIES)
def test_a_plain_frontmatter_is_read_as_yaml_reads_it(source: str) -> None:
    plain = read_plain(source)
    assert plain is None or plain == read_yaml(source)


@SETTINGS
@given(st.text("[]!a|\n", max_size=12))
@example("[[]]")
@example("[[]a]]]")
def test_a_link_is_two_brackets_something_in_one_line_that_holds_no_two_and_two_brackets(text: str) -> None:
    written = re.compile(r"\[\[(?!\[)(?:(?!\[\[|\]\])[^\n])+\]\]")
    assert [text[slice(*span)].lstrip("!") for span in wikilink_spans(text)] == written.findall(text)


def line_of(text: str, offset: int) -> int:
    return text[:offset].replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1


@SETTINGS
@given(texts)
def test_no_text_makes_the_parser_raise_and_every_place_is_true(text: str) -> None:
    note = parse_note("folder/n.md", text)

    assert note.title
    for link in note.links:
        assert text[link.start : link.end] == link.text
        assert link.line == line_of(text, link.start)
        assert bool(link.in_frontmatter) <= (link.end <= note.body_start)
    for heading in note.headings:
        assert heading.line == line_of(text, heading.start)
        first, last = section_lines(note, heading.text) or (1, 1)
        assert 1 <= first <= last <= note.line_count
    for block in note.blocks:
        assert 1 <= block.first_line <= block.last_line <= note.line_count
    for start, end in note.comments:
        assert text[start : start + 2] == text[end - 2 : end] == "%%"


@SETTINGS
@given(bodies)
def test_a_message_is_read_like_the_body_of_a_note(text: str) -> None:
    note = parse_note("n.md", f"\n{text}")

    assert [(link.target, link.anchor, link.start) for link in note.links] == [
        (link.target, link.anchor, link.start + 1) for link in scan(text) if not text.startswith("\ufeff")
    ] or text.startswith("\ufeff")


@SETTINGS
@given(texts)
def test_every_visible_character_of_the_body_is_in_exactly_one_section(text: str) -> None:
    note = parse_note("n.md", text)
    hidden = {offset for start, end in note.comments for offset in range(start, end)}

    sections = sections_of(note, text)

    expected = (text[at] for at in range(note.body_start, len(text)) if at not in hidden)
    assert "".join("".join(section.text.split()) for section in sections) == "".join("".join(expected).split())
    for before, after in pairwise(sections):
        assert before.end <= after.start
    for section in sections:
        assert section.text.strip()
        assert section.first_line == line_of(text, section.start)
        assert section.last_line == line_of(text, section.end)


@SETTINGS
@given(
    st.lists(st.sampled_from(["word ", "词", "é", "\n", "\n\n", ". ", "x" * 50, "词" * 50]), max_size=300).map("".join)
)
def test_no_section_is_larger_than_it_may_be(text: str) -> None:
    for section in sections_of(parse_note("n.md", text), text):
        wide = section.text.count("词")
        assert wide + (len(section.text) - wide) / 4 <= MAX_TOKENS


@settings(max_examples=1_000, deadline=None)
@given(plain_texts)
def test_a_plain_text_has_the_outline_that_it_has_below_a_line_with_code(text: str) -> None:
    flat, above = flatten(text), "`code`\n\n"
    plain, below = outline(flat), outline(above + flat)
    assert [
        title._replace(start=title.start - len(above), line=title.line - 2) for title in below.titles
    ] == plain.titles
    assert [(start - len(above), end - len(above)) for start, end in below.code[1:]] == plain.code
    assert below.hyperlinks == plain.hyperlinks == []

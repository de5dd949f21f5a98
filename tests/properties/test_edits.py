"""What holds for every edit of every note: other bytes, headings, links, blocks and values stay what they were."""

import re
from collections import Counter
from datetime import date

import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.unit.writing.properties.odd_frontmatters import odd_notes
from zkchat.core.choices import SectionPosition
from zkchat.core.errors import EditRefused
from zkchat.notes.parse import frontmatter_of, parse_note
from zkchat.writing.passages import replace_passage
from zkchat.writing.properties import add_tag, set_property
from zkchat.writing.sections import edit_section

SETTINGS = settings(max_examples=50, deadline=None)

LINES = (
    *("# A\n", "## B\n", "### C\n", "A a\n===\n", "B b\n---\n", "two\nlines\n===\n", "   # I\n", "# e\u0301\n"),
    *("text\n", "text [[L]] more\n", "\n", "\n", "\n\n", "  \n", "- a\n", "  - b\n", "1. x\n", "\t- t\n", "line  \n"),
    *("```\n", "~~~\n", "````\n", "  ```\n", "> q\n", "> # Q\n", "<!--\n", "-->\n", "<div>\n", "</div>\n"),
    *("    code\n",),
    *("%%\n", "%% c %%\n", "|a|b|\n", "|-|-|\n", "text ^id1\n", "- i ^id2\n", "^id3\n", "---\n", "***\n"),
    *("[x](y.md)\n",),
    *("[^1]: foot\n", "$$\n", "#tag\n", "\\\n", "text", "[[a\n", "`a\n", "b`\n", "\u00a0\n", "e\u0301 “q” –\n"),
)
ADDED = (
    *("new", "- n", "1. n", "one\ntwo", "|r|", "```\nc\n```", "> q", "x ^new", "    ind", "[[New]]", "%%c%%", "<div>"),
    *("#### N\n\nx", "## N", "---", "===", "x\n---", "``` ", "<!--", "%%", "$$", "- a\n\n- b", "`", "e\u0301"),
)
POSITIONS: tuple[SectionPosition, ...] = ("append", "prepend", "replace", "before", "after")


@st.composite
def notes(draw: st.DrawFn) -> str:
    text = "".join(draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=14)))
    text = draw(st.sampled_from(["", "", "---\na: 1\n---\n"])) + text
    ends = draw(st.sampled_from(["\n", "\r\n", "\r", "mixed"]))
    if ends == "mixed":
        half = len(text) // 2
        text = text[:half].replace("\n", "\r\n") + text[half:]
    else:
        text = text.replace("\n", ends)
    return draw(st.sampled_from(["", "", "\ufeff"])) + (text.rstrip() if draw(st.booleans()) else text)


def _places(note: str, passage: str) -> int:
    """How often a passage is in a note, also where one overlaps the next."""
    return len(re.findall(f"(?={re.escape(_unified(passage))})", _unified(note)))


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(note=notes(), span=st.tuples(st.integers(0, 200), st.integers(1, 40)), new=st.sampled_from(ADDED))
@SETTINGS
def test_a_passage_is_replaced_where_it_is_and_can_be_put_back(note: str, span: tuple[int, int], new: str) -> None:
    start, length = span
    old = note[start : start + length]
    try:
        edited = replace_passage(note, old, new)
    except EditRefused:
        assert not old or _places(note, old) > 1 or _unified(new) in _unified(note)
        return
    assert _unified(edited) == _unified(note).replace(_unified(old), new)
    before, after = note[:start].rstrip("\r\n"), note[start + length :].lstrip("\r\n")
    assert edited.startswith(before)
    assert edited.endswith(after)
    if _unified(edited).count(new) == 1:
        assert _unified(replace_passage(edited, new, old)) == _unified(note)


@given(
    data=st.data(), note=notes(), new=st.sampled_from(ADDED), position=st.sampled_from(POSITIONS), whole=st.booleans()
)
@SETTINGS
def test_an_edited_section_leaves_the_rest_as_it_was(
    data: st.DataObject, note: str, new: str, position: SectionPosition, whole: bool
) -> None:
    before = parse_note("", note)
    places = [*(heading.text for heading in before.headings), *(f"^{block.id}" for block in before.blocks)]
    assume(places)
    try:
        edited = edit_section(note, data.draw(st.sampled_from(places)), new, position=position, include_children=whole)
    except EditRefused:
        return
    after = parse_note("", edited)
    assert after.frontmatter == before.frontmatter
    assert edited[: before.body_start] == note[: before.body_start]
    if position == "replace":
        return
    head = next((place for place, (one, two) in enumerate(zip(note, edited, strict=False)) if one != two), len(note))
    assert edited.endswith(note[head:]), "text is only inserted"
    titles = [(heading.text, heading.level) for heading in after.headings]
    assert not Counter((heading.text, heading.level) for heading in before.headings) - Counter(titles)
    assert len(after.headings) - len(before.headings) == len(parse_note("", new).headings)
    assert not Counter(link.text for link in before.links) - Counter(link.text for link in after.links)
    assert not Counter(block.id for block in before.blocks) - Counter(block.id for block in after.blocks)


BODIES = (
    "text",
    "- a\n- b",
    "one\n\ntwo",
    "```\n# H\n```",
    "|a|\n|-|",
    "> q",
    "[[L]] #t",
    "e\u0301\u00a0x",
    "    code",
)


@given(
    lead=st.sampled_from(["", "\ufeff", "---\na: 1\n---\n", "text\n\n", "# One\n\n"]),
    heading=st.sampled_from(["# H\n", "# H\n\n", "H\n===\n", "## H ##\n\n\n"]),
    body=st.sampled_from(BODIES),
    new=st.sampled_from(BODIES),
    tail=st.sampled_from(["", "\n", "\n\n", "\n\n# Next\n", "\n# Next", "\n\n\nNext\n---\n"]),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
)
@SETTINGS
def test_a_replaced_section_can_be_put_back(lead: str, heading: str, body: str, new: str, tail: str, ends: str) -> None:
    assume(not (tail.endswith("---\n") and heading.startswith("##")))
    before, changed = (f"{lead}{heading}{text}{tail}".replace("\n", ends) for text in (body, new))
    assert edit_section(before, "H", new, position="replace") == changed
    assert edit_section(changed, "H", body, position="replace") == before


SCALARS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["yes", "2024-01-01", "a: b", "#x", "[[N]]", "'", '"', "- x", "007", "x\ny\n", "\u2028", "{{x}}", "~"]
    ),
    st.integers(-(10**12), 10**12),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.dates(min_value=date(1000, 1, 1)),
)


@given(note=st.sampled_from(odd_notes()), value=st.one_of(SCALARS, st.lists(SCALARS, max_size=4)), data=st.data())
@SETTINGS
def test_a_property_is_read_back_as_it_was_given_and_no_other_changes(
    note: str, value: object, data: st.DataObject
) -> None:
    matter = frontmatter_of(note)
    name = data.draw(st.sampled_from([*matter.properties, "new one"]))
    try:
        edited = set_property(note, name, value)  # type: ignore[arg-type]
    except EditRefused:
        return
    after = frontmatter_of(edited)
    assert edited[after.end :] == note[matter.end :]
    assert {key: kept for key, kept in after.properties.items() if key != name} == {
        key: kept for key, kept in matter.properties.items() if key != name
    }
    start, end = after.span
    loaded = {str(key): kept for key, kept in yaml.load(edited[start:end], yaml.CSafeLoader).items()}
    assert loaded[name if name in loaded else "True"] == value
    assert set_property(edited, name, value) == edited  # type: ignore[arg-type]


def test_a_new_property_can_be_removed_again() -> None:
    for number, note in enumerate(odd_notes()):
        try:
            edited = set_property(note, "new one", ["x", "y"] if number % 2 else "a text")
        except EditRefused:
            continue
        if frontmatter_of(note).properties:
            assert set_property(edited, "new one", None) == note


def test_a_tag_is_added_to_every_odd_note_or_refused() -> None:
    for note in odd_notes():
        try:
            edited = add_tag(note, "New/Tag")
        except EditRefused:
            continue
        assert set(parse_note("", edited).tags) == {*parse_note("", note).tags, "New/Tag"}
        assert add_tag(edited, "#new/tag") == edited

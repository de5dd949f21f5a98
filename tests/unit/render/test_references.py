from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.support.screens import drawn, terminal, what_acts_on_a_terminal, written
from zkchat.core.message import DocumentReference, LineRange
from zkchat.core.values import from_plain
from zkchat.render.links import NO_LINKS, LinkTarget
from zkchat.render.references import (
    brief_lines,
    brief_rows,
    describe_content,
    describe_time,
    in_brief,
    place,
    reference_lines,
    references_panel,
    short_reason,
)


def reference(name: str = "Sleep", **fields: Any) -> DocumentReference:
    known = {"wikilink": f"[[{name}]]", "relative_path": f"notes/{name}.md", "lines": LineRange(first=12, last=14)}
    return from_plain(DocumentReference, known | fields)


def found(name: str = "Sleep", **fields: Any) -> DocumentReference:
    return reference(name, **{"reference_type": "search", "via": "find_excerpts", "included": True} | fields)


BROKEN = DocumentReference(wikilink="[[Nap]]", status="missing", candidates=("[[Naps]]",))
AMBIGUOUS = reference("Index", status="ambiguous", candidates=("b/Index.md", "c/Index.md"), lines=None)
WITHHELD = DocumentReference(wikilink="[[Diary]]", status="missing", via="withheld")
OUTDATED = found(via="evidence", cited=True, date="2024-05-02", outdated_by="[[Meeting\x1b]]")


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (reference(), "notes/Sleep.md, lines 12–14; linked by you, not cited"),
        (reference(lines=LineRange(first=3, last=3)), "notes/Sleep.md, line 3; linked by you, not cited"),
        (reference(anchor="Phases#REM", lines=None, cited=True), "notes/Sleep.md › Phases › REM; linked by you, cited"),
        (reference(via="alias", lines=None), "notes/Sleep.md; linked by you (alias), not cited"),
        (BROKEN, "no such note, linked by you; Closest: [[Naps]]"),
        (AMBIGUOUS, "notes/Index.md; linked by you, not cited; Could also be: b/Index.md, c/Index.md"),
        (
            reference(anchor="Phases", anchor_found=False, lines=None),
            "notes/Sleep.md › Phases; linked by you, not cited; No “Phases” in that note",
        ),
        (
            found(via="answer", cited=True, unverified=True, lines=None),
            "notes/Sleep.md; linked by the answer, never given to the model",
        ),
        (
            reference(included=True, extent="outline and 3 of 12 sections", lines=None),
            "notes/Sleep.md; linked by you, sent in part (outline and 3 of 12 sections), not cited",
        ),
        (reference(via="embed", lines=None), "notes/Sleep.md; embedded in a note you linked, not cited"),
        (found(score=0.4, lines=None), "notes/Sleep.md; found by search, not cited"),
        (found(via="find_backlinks", included=False, lines=None), "notes/Sleep.md; found by the model, not cited"),
        (found(via="read_document", hits=3, lines=None), "notes/Sleep.md; read by the model, 3 times, not cited"),
        (
            OUTDATED,
            "notes/Sleep.md, lines 12–14; found by search, cited, 2024-05-02, "
            "outdated: the newer [[Meeting␛]] says otherwise",
        ),
        (
            found(cited=True, date="2026-02-03", outdates=("[[Lease]]",), lines=None),
            "notes/Sleep.md; found by search, cited, 2026-02-03, older notes say otherwise",
        ),
    ],
)
def test_a_document_is_told_with_its_place_why_it_is_there_and_what_to_check(
    listed: DocumentReference, said: str
) -> None:
    heading, line = reference_lines([listed], most=10)
    assert (heading, line) == ("Referenced Documents", f"1. {listed.wikilink}: {said}")


def test_a_note_that_is_outdated_stays_so_when_it_is_named_too() -> None:
    named = reference(cited=True)
    assert describe_time(OUTDATED.merged_with(named)) == describe_time(named.merged_with(OUTDATED))
    assert describe_time(OUTDATED.merged_with(named)).startswith("2024-05-02, outdated")


def test_an_excerpt_is_what_was_found_else_the_summary_cut_to_a_few_lines() -> None:
    assert describe_content(reference(summary="Short.", snippet="… found\n here …")) == "… found here …"
    assert describe_content(reference(summary="Short.")) == "Short."
    assert len(describe_content(reference(summary="word " * 500))) == 160


def test_references_as_lines_are_numbered_and_folded() -> None:
    listed = list(reference_lines([reference()] * 12, most=10))
    assert (listed[10][:3], listed[11:]) == ("10.", ["… and 2 more"])
    assert list(reference_lines([], most=10)) == []


class OneAddress:
    """Implements `ClickableLinks`: every document opens at the same address."""

    def clickable(self, _reference: DocumentReference) -> str:
        return "file:///v/Note 1.md\x1b\\\x07é?a=b%20c"

    def current(self, references: Sequence[DocumentReference]) -> Sequence[DocumentReference]:
        return references

    def target_of(self, _written: str, _source: str | None = None) -> LinkTarget:
        return LinkTarget()


def test_a_link_is_clickable_only_with_an_address_of_ours_percent_encoded() -> None:
    console = terminal()
    console.print(references_panel([reference()], links=OneAddress()))
    assert ";file:///v/Note%201.md%1B%5C%07%C3%A9?a=b%20c\x1b\\" in written(console)
    assert what_acts_on_a_terminal(written(console)) == set()
    plain = terminal()
    plain.print(references_panel([reference()]))
    assert "\x1b]8" not in written(plain)


@pytest.mark.parametrize("width", [40, 250])
def test_no_line_of_the_panel_is_wider_than_the_screen(width: int) -> None:
    long = DocumentReference(wikilink=f"[[{'日本' * 60}]]", relative_path="x" * 300 + ".md", summary="word " * 90)
    assert max(map(len, drawn(references_panel([long, reference()]), width).splitlines())) <= width


def rows(references: Sequence[DocumentReference], width: int = 100) -> list[str]:
    listed = brief_rows(in_brief(references, most=10), NO_LINKS, width)
    assert listed is not None
    return [row.rstrip() for row in drawn(listed, width).splitlines()]


def test_what_the_answer_itself_lists_is_not_listed_again() -> None:
    listed = [found(str(number), via="index", cited=True) for number in range(3)]
    assert in_brief(listed, most=2) == in_brief([], most=2)
    assert [number for number, _ in in_brief([*listed, BROKEN], most=2).rows] == [4]


def test_what_is_cited_comes_first_and_what_is_doubtful_is_listed_whatever_the_limit() -> None:
    listed = in_brief([found("a"), reference("b"), found("c", cited=True)], most=10)
    assert [number for number, _ in listed.rows] == [3, 2]
    assert listed.rest("/sources") == "+ 1 looked at (/sources)"
    listed = in_brief([*(found(str(n), cited=True) for n in range(4)), BROKEN, found("x")], most=2)
    assert [number for number, _ in listed.rows] == [1, 2, 5]
    assert listed.rest("") == "+ 2 more, 1 looked at"
    assert in_brief([], most=2).rest("/refs") == ""


def test_the_best_three_of_what_was_only_found_are_named() -> None:
    listed = in_brief([found(str(number), score=number / 10) for number in range(5)], most=10)
    assert [each.wikilink for _, each in listed.unused] == ["[[4]]", "[[3]]", "[[2]]"]


@pytest.mark.parametrize(("width", "is_shown"), [(59, True), (58, False)])
def test_what_a_note_says_stands_beside_it_where_there_is_room_for_some_of_it(width: int, is_shown: bool) -> None:
    assert ("Seven" in rows([found("Sleep", cited=True, snippet="Seven hours of sleep.")], width)[0]) is is_shown


@pytest.mark.parametrize(
    ("doubtful", "words"),
    [
        (BROKEN, "1 [[Nap]]  no such note, linked by you; closest: [[Naps]]"),
        (AMBIGUOUS, "1 [[Index]]  notes/Index.md  could also be: b/Index.md, c/Index.md"),
        (WITHHELD, "1 [[Diary]]  private: not sent to this model"),
        (
            found(via="answer", cited=True, unverified=True),
            "1 [[Sleep]]  notes/Sleep.md:12  linked by the answer, never given to the model",
        ),
    ],
)
def test_what_is_doubtful_is_yellow_and_says_why(doubtful: DocumentReference, words: str) -> None:
    assert rows([doubtful]) == [words]
    console = terminal(100)
    console.print(brief_rows(in_brief([doubtful], most=10), NO_LINKS, 100))
    assert "\x1b[33m" in written(console)
    assert " ".join(" ".join(rows([doubtful], 40)).split()) == " ".join(words.split())  # wrapped, and whole


def test_where_there_is_little_room_the_place_stays_whole() -> None:
    both = [reference("Sleep and dreams", cited=True), found("Naps", cited=True)]
    assert rows(both, 55) == [
        "1 [[Sleep and dre…  notes/Sleep and dreams.md:12  cited",
        "2 [[Naps]]  notes/Naps.md:12  cited",
    ]
    assert rows(both, 53)[0] == "1 [[Sleep and d…  notes/Sleep and dreams.md:12  cited"
    assert rows(both, 52)[0] == "1 notes/Sleep and dreams.md:12  cited, linked by you"
    assert rows(both, 42)[0] == "1 notes/Sleep and dreams.md:12  cited"
    assert rows(both, 32)[0] == "1 notes/Sleep and dreams.md:12"


def test_plain_lines_hold_the_same() -> None:
    embedded = reference("Naps", via="embed", extent="the first half", lines=None)
    assert [*brief_lines(in_brief([found("Sleep", cited=True), embedded, BROKEN], most=10))] == [
        "1. [[Sleep]]  notes/Sleep.md:12  cited",
        "2. [[Naps]]  notes/Naps.md  embedded in a note you linked, sent in part",
        "3. [[Nap]]  no such note, linked by you; closest: [[Naps]]",
    ]


NAMES = st.text(st.sampled_from("aé日 .-_[]|#\x1b\n"), min_size=1, max_size=60)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(NAMES, st.booleans(), st.booleans()), min_size=1, max_size=6), st.integers(20, 200))
def test_any_documents_fit_any_width(names: list[tuple[str, bool, bool]], width: int) -> None:
    references = [reference(name, cited=cited, anchor_found=is_there) for name, cited, is_there in names]
    shown = drawn(brief_rows(in_brief(references, most=10), NO_LINKS, width) or "", width)
    assert what_acts_on_a_terminal(shown) == set()
    assert all(cell_len(row) <= width for row in shown.splitlines())
    squeezed = "".join(shown.split())
    assert all("".join(place(each).split()) in squeezed for each in references if not each.is_doubtful) or width < 70
    assert all(short_reason(each) for each in references)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Boards/Launch.canvas", ("Boards/Launch.canvas › Risks", "canvas, cited")),
        ("Circuit.excalidraw", ("Circuit.excalidraw › Risks", "drawing, cited")),
        ("Sleep.md", ("Sleep.md:12", "cited")),
    ],
)
def test_a_canvas_is_told_by_its_kind_and_heading(path: str, expected: tuple[str, str]) -> None:
    shown = found(relative_path=path, anchor="Risks", cited=True)
    assert (place(shown), short_reason(shown)) == expected

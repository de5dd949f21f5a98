"""The documents of an answer in brief."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.support.screens import drawn, terminal, what_acts_on_a_terminal, written
from zkchat.core.message import DocumentReference, LineRange
from zkchat.core.values import from_plain
from zkchat.render.links import NO_LINKS
from zkchat.render.references import brief_lines, brief_rows, in_brief, place, short_reason


def reference(name: str = "Sleep", **fields: Any) -> DocumentReference:
    known = {"wikilink": f"[[{name}]]", "relative_path": f"notes/{name}.md", "lines": LineRange(first=12, last=14)}
    return from_plain(DocumentReference, known | fields)


def found(name: str, **fields: Any) -> DocumentReference:
    return reference(name, reference_type="search", via="find_excerpts", included=True, **fields)


BROKEN = DocumentReference(wikilink="[[Nap]]", status="missing", candidates=("[[Naps]]",))
AMBIGUOUS = reference("Index", status="ambiguous", candidates=("b/Index.md", "c/Index.md"), lines=None)
WITHHELD = DocumentReference(wikilink="[[Diary]]", status="missing", via="withheld")


def rows(references: Sequence[DocumentReference], width: int = 100, most: int = 10) -> list[str]:
    listed = brief_rows(in_brief(references, most=most), NO_LINKS, width)
    assert listed is not None
    return [row.rstrip() for row in drawn(listed, width).splitlines()]


def test_what_the_answer_itself_lists_is_not_listed_again() -> None:
    listed = [reference(str(number), reference_type="search", via="index", cited=True) for number in range(3)]
    assert in_brief(listed, most=2) == in_brief([], most=2)
    assert [number for number, _ in in_brief([*listed, BROKEN], most=2).rows] == [4]


def test_what_is_cited_comes_first_and_keeps_its_number() -> None:
    listed = in_brief([found("a"), reference("b"), found("c", cited=True)], most=10)
    assert [number for number, _ in listed.rows] == [3, 2]
    assert listed.rest("/sources") == "+ 1 looked at (/sources)"


def test_what_is_doubtful_is_listed_whatever_the_limit() -> None:
    listed = in_brief([*(found(str(n), cited=True) for n in range(4)), BROKEN, found("x")], most=2)
    assert [number for number, _ in listed.rows] == [1, 2, 5]
    assert listed.rest("") == "+ 2 more, 1 looked at"
    assert in_brief([], most=2).rest("/refs") == ""


@pytest.mark.parametrize(
    ("doubtful", "words"),
    [
        (BROKEN, "1 [[Nap]]  no such note, linked by you; closest: [[Naps]]"),
        (AMBIGUOUS, "1 [[Index]]  notes/Index.md  could also be: b/Index.md, c/Index.md"),
        (WITHHELD, "1 [[Diary]]  private: not sent to this model"),
        (reference(anchor="Night", anchor_found=False), "1 [[Sleep]]  notes/Sleep.md:12  no “Night” in that note"),
        (
            reference(reference_type="search", via="answer", cited=True, unverified=True),
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
    listed = in_brief(references, most=10)
    shown = drawn(brief_rows(listed, NO_LINKS, width) or "", width)
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
    shown = found("Sleep", relative_path=path, anchor="Risks", cited=True)
    assert (place(shown), short_reason(shown)) == expected
    assert short_reason(found("Sleep", relative_path="a.canvas")) == "canvas, looked at"

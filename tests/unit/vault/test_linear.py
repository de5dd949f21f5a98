"""No note is slow: what takes a text takes four times as long for a text of four times the size, and not sixteen."""

import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from tests.support.libraries import library_of
from tests.support.odd_notes import ODD_NOTES
from zkchat.answers.verification.verify import extract_statements
from zkchat.core.note import Ambiguous
from zkchat.index import graph
from zkchat.index.search.passages import snippet
from zkchat.index.search.postings import SegmentBuilder
from zkchat.notes.markdown import sections_of
from zkchat.notes.note_blocks import blocks, excerpt, sentences
from zkchat.notes.parse import parse_note

SIZE = 6_000
TIMES = 4
MOST_TIMES = 11
"""Between linear (4) and quadratic (16)."""
LEAST = 0.005
"""Seconds below which a clock says nothing."""


def as_indexed(text: str) -> None:
    note = parse_note("Odd.md", text)
    sections = sections_of(note, text)
    builder = SegmentBuilder()
    builder.add(note, sections)
    builder.build()


def as_quoted(text: str) -> None:
    sentences(text)
    for block in blocks(text):
        excerpt(block, [len(block.sentences) - 1, len(block.sentences) // 2], 300)
    snippet(text, ["garden"])


def cpu(work: Callable[[str], object], text: str) -> float:
    started = process_time()
    work(text)
    return process_time() - started


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind, made in ODD_NOTES.items() if len(made(SIZE)) < TIMES * SIZE])
def test_a_note_of_four_times_the_size_takes_no_more_than_some_four_times_as_long(kind: str) -> None:
    assert is_linear(kind, as_indexed)
    assert is_linear(kind, as_quoted)


def is_linear(kind: str, work: Callable[[str], object]) -> bool:
    small, large = ODD_NOTES[kind](SIZE), ODD_NOTES[kind](TIMES * SIZE)
    # A busy machine may be slow once, but not each time.
    return any(cpu(work, large) <= max(LEAST, MOST_TIMES * cpu(work, small)) for _ in range(5))


@pytest.mark.no_cover
def test_the_statements_of_a_text_are_found_in_linear_time() -> None:
    assert is_linear("marks of two classes", extract_statements)


def test_notes_of_one_name_that_link_to_it_take_calls_and_bytes_by_their_number(tmp_path: Path) -> None:
    def cost(count: int) -> tuple[int, int]:
        """Of indexing so many: the functions called, and the size of the index."""
        folder, calls = tmp_path / str(count), 0

        def call(_frame: object, event: str, _argument: object) -> None:
            nonlocal calls
            calls += event == "call"

        folder.mkdir()
        sys.setprofile(call)
        try:
            with library_of(folder, {f"{number}/N.md": "[[N]]\n" * 10 for number in range(count)}) as library:
                (found, *_) = library.links_from("7/N.md")
        finally:
            sys.setprofile(None)
        assert isinstance(found.resolution, Ambiguous)
        assert (found.resolution.path, len(found.resolution.others)) == ("7/N.md", count - 1)
        (index,) = folder.glob("**/index.db")
        return calls, index.stat().st_size

    small, large = cost(25), cost(TIMES * 25)
    assert large[0] < 1.5 * TIMES * small[0]
    assert large[1] < 1.5 * TIMES * small[1]


def test_links_to_headings_look_up_the_headings_once(tmp_path: Path) -> None:
    headings = "".join(f"## Heading {number}\n" for number in range(2_000))
    links = " ".join(f"[[Target#Heading {number}]]" for number in range(2_000))
    with library_of(tmp_path, {"Target.md": headings, "Odd.md": links}) as library:
        assert graph.doubts(library).astray == []
        assert {each.link.anchor for each in graph.backlinks(library, "Target.md")} == {
            f"Heading {number}" for number in range(2_000)
        }


@pytest.mark.parametrize(
    ("text", "kind", "known"),
    [
        ("# h\n" * 10_001, "headings", lambda note: note.headings),
        ("[[Target]] " * 10_001, "links", lambda note: note.links),
        ("a ^id\n\n" * 10_001, "block ids", lambda note: note.blocks),
        (" ".join(f"#t{number}" for number in range(5_001)), "tags", lambda note: note.tags),
    ],
)
def test_more_than_is_looked_at_is_text_and_the_note_says_so(
    text: str, kind: str, known: Callable[[object], tuple[object, ...]]
) -> None:
    note = parse_note("Odd.md", text)
    assert len(known(note)) == (5_000 if kind == "tags" else 10_000)
    assert [warning.text for warning in note.warnings] == [
        f"It has more {kind} than zkchat reads; the rest is read as plain text."
    ]
    assert "".join(section.text for section in sections_of(note, text)).count("h") == text.count("h")


def test_a_heading_is_cut_where_it_is_no_heading_any_more() -> None:
    note = parse_note("Odd.md", "# " + "long " * 10_000)
    assert [len(heading.text) for heading in note.headings] == [1_000]
    assert len(note.title) <= 1_000

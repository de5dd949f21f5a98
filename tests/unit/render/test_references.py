"""The documents of an answer, in words and as a panel."""

from collections.abc import Sequence
from datetime import date

import pytest
from msgspec.structs import replace

from tests.support.screens import drawn, terminal, what_acts_on_a_terminal, written
from zkchat.core.message import DocumentReference, LineRange
from zkchat.core.values import from_plain
from zkchat.render.links import LinkTarget
from zkchat.render.references import (
    describe_content,
    describe_doubt,
    describe_location,
    describe_reason,
    describe_time,
    reference_lines,
    references_panel,
)


def reference(**fields: object) -> DocumentReference:
    return from_plain(DocumentReference, {"wikilink": "[[Sleep]]", "relative_path": "notes/Sleep.md"} | fields)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "notes/Sleep.md"),
        ({"anchor": "Phases#REM"}, "notes/Sleep.md › Phases › REM"),
        ({"lines": LineRange(first=3, last=9)}, "notes/Sleep.md, lines 3–9"),
        ({"lines": LineRange(first=3, last=3)}, "notes/Sleep.md, line 3"),
        ({"relative_path": None}, ""),
    ],
)
def test_a_place_is_path_heading_and_lines(fields: dict[str, object], expected: str) -> None:
    assert describe_location(reference(**fields)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"cited": True}, "linked by you, cited"),
        ({"via": "alias"}, "linked by you (alias), not cited"),
        ({"via": "name"}, "linked by you, not cited"),
        ({"status": "missing", "relative_path": None}, "no such note, linked by you"),
        ({"reference_type": "search", "via": "answer", "cited": True}, "linked by the answer, cited"),
        (
            {"reference_type": "search", "via": "answer", "cited": True, "unverified": True},
            "linked by the answer, never given to the model",
        ),
        (
            {"included": True, "extent": "outline and 3 of 12 sections"},
            "linked by you, sent in part (outline and 3 of 12 sections), not cited",
        ),
        ({"via": "embed", "included": True}, "embedded in a note you linked, not cited"),
        ({"reference_type": "search", "via": "evidence", "score": 0.4}, "found by search, not cited"),
        ({"reference_type": "search", "via": "find_excerpts", "score": 0.4}, "found by search, not cited"),
        ({"reference_type": "search", "via": "find_backlinks"}, "found by the model, not cited"),
        (
            {"reference_type": "search", "via": "read_document", "included": True, "hits": 3},
            "read by the model, 3 times, not cited",
        ),
    ],
)
def test_a_reason_says_how_the_document_came_here_and_whether_it_was_used(
    fields: dict[str, object], expected: str
) -> None:
    assert describe_reason(reference(**fields)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ""),
        ({"status": "missing", "candidates": ("[[Naps]]", "[[Map]]")}, "Closest: [[Naps]], [[Map]]"),
        ({"status": "missing"}, ""),
        ({"status": "ambiguous", "candidates": ("b/Sleep.md",)}, "Could also be: b/Sleep.md"),
        ({"anchor": "Phases", "anchor_found": False}, "No “Phases” in that note"),
    ],
)
def test_a_doubt_says_what_to_check(fields: dict[str, object], expected: str) -> None:
    assert describe_doubt(reference(**fields)) == expected


def test_an_excerpt_is_what_was_found_else_the_summary_cut_to_a_few_lines() -> None:
    assert describe_content(reference(summary="Short.", snippet="… found …")) == "… found …"
    assert describe_content(reference(summary="Short.")) == "Short."
    assert describe_content(reference(snippet="… found\n here …")) == "… found here …"
    assert len(describe_content(reference(summary="word " * 500))) == 160


def test_references_as_lines_are_numbered_and_folded() -> None:
    listed = list(reference_lines([reference()] * 12, most=10))
    assert listed[0] == "Referenced Documents"
    assert listed[1] == "1. [[Sleep]]: notes/Sleep.md; linked by you, not cited"
    assert listed[-1] == "… and 2 more"
    assert len(listed) == 12
    assert list(reference_lines([], most=10)) == []


class OneAddress:
    """Implements `ClickableLinks`: every document opens at the same address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def clickable(self, _reference: DocumentReference) -> str:
        return self._address

    def current(self, references: Sequence[DocumentReference]) -> Sequence[DocumentReference]:
        return references

    def target_of(self, _written: str, _source: str | None = None) -> LinkTarget:
        return LinkTarget(address=self._address)


def found(number: int) -> DocumentReference:
    return DocumentReference(wikilink=f"[[Note {number}]]", relative_path=f"n/Note {number}.md")


def test_a_link_is_clickable_only_with_an_address_of_ours_percent_encoded() -> None:
    console = terminal()
    console.print(references_panel([found(1)], links=OneAddress("file:///v/Note 1.md\x1b\\\x07é?a=b%20c")))
    text = written(console)
    assert ";file:///v/Note%201.md%1B%5C%07%C3%A9?a=b%20c\x1b\\" in text
    assert what_acts_on_a_terminal(text) == set()
    console = terminal()
    console.print(references_panel([found(1)]))
    assert "\x1b]8" not in written(console)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 250])
def test_no_line_of_the_panel_is_wider_than_the_screen(width: int) -> None:
    long = DocumentReference(wikilink=f"[[{'日本' * 60}]]", relative_path="x" * 300 + ".md", summary="word " * 90)
    panel = drawn(references_panel([long, found(2)]), width)
    assert max(map(len, panel.splitlines())) <= width


def test_the_panel_says_which_note_is_outdated() -> None:
    old = replace(
        DocumentReference(
            wikilink="[[Lease]]", relative_path="Lease.md", reference_type="search", via="evidence", cited=True
        ),
        date=date(2024, 5, 2),
        outdated_by="[[Meeting\x1b]]",
    )
    assert describe_reason(old) == (
        "found by search, cited, 2024-05-02, outdated: the newer [[Meeting␛]] says otherwise"
    )
    new = replace(old, date=date(2026, 2, 3), outdated_by="", outdates=("[[Lease]]",))
    assert describe_reason(new) == "found by search, cited, 2026-02-03, older notes say otherwise"
    named = DocumentReference(wikilink="[[Lease]]", relative_path="Lease.md", cited=True)
    assert describe_time(old.merged_with(named)) == describe_time(named.merged_with(old)) == describe_time(old)

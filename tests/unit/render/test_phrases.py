"""References, tool calls and token counts in words."""

import pytest

from tests.support.screens import a_usage, an_answer
from zkchat.model.message import CompactionPart, DocumentReference, LineRange, TextPart
from zkchat.render import phrases


def reference(**fields: object) -> DocumentReference:
    return DocumentReference.model_validate({"wikilink": "[[Sleep]]", "relative_path": "notes/Sleep.md"} | fields)


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
    assert phrases.place(reference(**fields)) == expected


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
        ({"via": "embed", "included": True}, "embedded in a note you linked, not cited"),
        ({"reference_type": "search", "via": "evidence", "score": 0.4}, "found by search, not cited"),
        ({"reference_type": "search", "via": "find_excerpts", "score": 0.4}, "found by find_excerpts, not cited"),
        ({"reference_type": "search", "via": "find_backlinks"}, "found by find_backlinks, not cited"),
        (
            {"reference_type": "search", "via": "read_document", "included": True, "hits": 3},
            "read by read_document, 3 times, not cited",
        ),
    ],
)
def test_a_reason_says_how_the_document_came_here_and_whether_it_was_used(
    fields: dict[str, object], expected: str
) -> None:
    assert phrases.reason(reference(**fields)) == expected


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
    assert phrases.doubt(reference(**fields)) == expected


def test_an_excerpt_is_what_was_found_else_the_summary_cut_to_a_few_lines() -> None:
    assert phrases.excerpt(reference(summary="Short.", snippet="… found …")) == "… found …"
    assert phrases.excerpt(reference(summary="Short.")) == "Short."
    assert phrases.excerpt(reference(snippet="… found\n here …")) == "… found here …"
    assert len(phrases.excerpt(reference(summary="word " * 500))) == 160


def test_references_as_lines_are_numbered_and_folded() -> None:
    listed = list(phrases.reference_lines([reference()] * 12, most=10))
    assert listed[0] == "Referenced Documents"
    assert listed[1] == "1. [[Sleep]]: notes/Sleep.md; linked by you, not cited"
    assert listed[-1] == "… and 2 more"
    assert len(listed) == 12
    assert list(phrases.reference_lines([], most=10)) == []


def test_tokens_are_told_with_window_and_share() -> None:
    assert phrases.tokens_used(a_usage(references=0, window=8192)) == "1,234 / 8,192 tokens (15 %)"
    assert phrases.tokens_used(a_usage(references=0, estimated=True)) == "≈ 1,234 / 8,192 tokens (15 %)"
    assert phrases.tokens_used(a_usage(references=0, window=0)) == "1,234 tokens"


def test_the_context_line_names_only_the_parts_that_are_there() -> None:
    line = phrases.context_line(a_usage(references=0))
    assert line == "Context: 1,234 / 8,192 tokens (15 %): system 320, tools 410, messages 504"
    assert phrases.context_line(a_usage(system=0, tools=0, references=0, messages=0)).endswith("(0 %)")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"query": "sleep"}', 'find "sleep"'),
        ('{"query": "a=b", "limit": 4}', 'find "a=b" limit=4'),
        ('{"query": "日本"}', 'find "日本"'),
        ("{}", "find"),
        ("", "find"),
        ("[1, 2]", "find [1, 2]"),
        ('{"query": "sl', 'find {"query": "sl'),
        ("[" * 100_000, "find " + "[" * 54 + "…"),
        ('{"query": "\\u001b]0;title\\u0007"}', 'find "\\u001b]0;title\\u0007"'),
    ],
)
def test_a_tool_call_is_told_whatever_the_model_wrote(arguments: str, expected: str) -> None:
    assert phrases.tool_call("find", arguments) == expected


def test_a_result_without_words_is_told_too() -> None:
    assert phrases.tool_result("4 passages", failed=False) == "4 passages"
    assert phrases.tool_result("", failed=False) == "done"
    assert phrases.tool_result("", failed=True) == "failed"


def test_a_warning_has_its_way_out_on_a_line_of_its_own() -> None:
    assert phrases.warning("The index is old.", "Run zkchat index.") == (
        "warning: The index is old.\n         Run zkchat index."
    )
    assert phrases.warning("Careful.", "") == "warning: Careful."


def test_a_compaction_says_what_it_archived_and_freed() -> None:
    part = CompactionPart(number=2, summary="…", archived=("a", "b"), tokens_before=12_900, tokens_after=600)
    message = an_answer().model_copy(update={"parts": (TextPart(text="x"), part)})
    assert phrases.compaction(message) == "Context compacted #2: 2 messages archived, ~12,300 tokens freed"

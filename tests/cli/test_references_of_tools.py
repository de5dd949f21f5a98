"""Each tool over the garden, called by a scripted model: which documents the answer's ledger holds, and why."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.libraries import library_of
from tests.support.sessions import NOON
from tests.support.world import GARDEN, World
from zkchat.chat.tools.explore import explore_tools

Call = tuple[str, dict[str, Any]]
Row = dict[str, Any]


@pytest.fixture
def garden(world: World) -> World:
    shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
    return world


def ledger(garden: World, *calls: Call, answer: str = "Done.", question: str = "What do my notes say?") -> list[Row]:
    """The references of an answer before which the model made these calls, one after the other."""
    steps = [[{"tool": name, "arguments": arguments}] for name, arguments in calls]
    result = garden.run("ask", question, "--json", "--model", garden.script(*steps, [{"text": answer}]))
    assert result.code == 0, result.err
    references: list[Row] = result.json["references"]
    return references


READ, LISTED = {"included": True, "score": None}, {"included": False, "score": None}
"""What tells a document that was opened from one that was only named."""
PEOPLE = ["People/Mara Okafor.md", "People/Niklas Luhmann.md", "People/Tomás Rivas.md"]
LINKING_TO_TOMATOES = [
    "Daily/2026-03-07.md",
    "Projects/Balcony greenhouse.md",
    "Reference/Sowing calendar.md",
    "Reference/阳台种菜.md",
]
CALLS: dict[str, tuple[dict[str, Any], list[str], Row]] = {
    "read_document": ({"relative_path": "Reference/Tomatoes.md"}, ["Reference/Tomatoes.md"], READ),
    "find_excerpts": ({"query": "rain on the leaves brings blight", "limit": 1}, ["Reference/Tomatoes.md"], {}),
    "find_documents": ({"query": "rain on the leaves brings blight", "limit": 1}, ["Reference/Tomatoes.md"], {}),
    "resolve_wikilink": (
        {"wikilink": "[[Compost]]"},
        ["Ideas/Compost.md"],
        {**LISTED, "candidates": ["Reference/Compost.md"]},
    ),
    "find_backlinks": ({"relative_path": "Tomatoes"}, LINKING_TO_TOMATOES, LISTED),
    "find_forward_links": ({"relative_path": "Tomatoes"}, ["Reference/Sowing calendar.md"], LISTED),
    "find_related": ({"relative_path": "Tomatoes"}, LINKING_TO_TOMATOES, LISTED),
    "list_documents": ({"folder": "People"}, PEOPLE, LISTED),
    "get_current_datetime": ({}, [], {}),
}
"""For each tool a call, the documents that come of it, and what their rows say."""


LISTING = [tool for tool, (_, _, facts) in CALLS.items() if facts.get("included") is False]


@pytest.mark.parametrize("tool", [tool for tool in CALLS if tool not in LISTING])
def test_a_call_leaves_a_row_for_each_document_it_gave_text_of(garden: World, tool: str) -> None:
    arguments, expected, facts = CALLS[tool]
    rows = ledger(garden, (tool, arguments))
    assert sorted(row["relative_path"] for row in rows) == expected
    for row in rows:
        assert (row["reference_type"], row["via"], row["hits"]) == ("search", tool, 1)
        assert not row["cited"]  # found, not used, and kept
        assert {name: row[name] for name in facts} == facts
    if tool in ("find_excerpts", "find_documents"):
        (row,) = rows
        assert row["included"]
        assert row["score"] > 0
        assert "blight" in row["snippet"]
        assert row["lines"] == {"first": 5, "last": 7}


@pytest.mark.parametrize("tool", LISTING)
def test_what_a_tool_only_lists_is_a_reference_once_it_is_cited(garden: World, tool: str) -> None:
    arguments, expected, facts = CALLS[tool]
    call = [{"tool": tool, "arguments": arguments}]
    named = f"See [[{expected[0]}]]."
    model = garden.script(call, [{"text": "Done."}], [{"text": named}], call, [{"text": named}])

    def asked(*options: str) -> list[Row]:
        rows: list[Row] = garden.run("ask", "What is there?", *options, "--json", "--model", model).json["references"]
        return rows

    assert asked() == []
    messages = garden.run("context", "export", "--format", "json").json["messages"]
    (given,) = [message["references"] for message in messages if message["role"] == "tool"]
    assert {*expected} <= {row["relative_path"] for row in given}  # what privacy goes by
    (later,) = asked("--continue")  # what was listed is a part of the conversation
    assert (later["relative_path"], later["cited"], later["unverified"]) == (expected[0], True, False)
    (row,) = asked("--continue")
    assert (row["relative_path"], row["via"], row["cited"], row["unverified"]) == (expected[0], tool, True, False)
    assert {name: row[name] for name in facts} == facts


def test_documents_that_are_cited_come_first_and_then_what_the_user_linked(garden: World) -> None:
    call = ("find_excerpts", {"query": "rain on the leaves brings blight", "limit": 3})
    rows = ledger(garden, call, question="Compare [[Sleep]] and [[Nowhere]]", answer="Blight, says [[Tomatoes]].")
    kinds = [(row["cited"], row["reference_type"]) for row in rows]
    assert kinds[:3] == [(True, "search"), (False, "direct"), (False, "direct")]
    assert kinds[3:]
    assert {*kinds[3:]} == {(False, "search")}


@pytest.fixture
def known_tools(tmp_path: Path) -> Iterator[set[str]]:
    with library_of(tmp_path, {}) as library:
        yield {tool.spec.name for tool in explore_tools(library, lambda: NOON)}


def test_every_tool_that_explores_the_vault_is_among_them(known_tools: set[str]) -> None:
    assert set(CALLS) == known_tools


@pytest.mark.parametrize(
    "call", [("read_document", {"relative_path": "Nobody"}), ("read_document", {}), ("no_tool", {"path": "Tomatoes"})]
)
def test_a_call_that_fails_leaves_no_row(garden: World, call: Call) -> None:
    assert ledger(garden, call) == []


def test_a_model_is_told_all_that_is_wrong_with_a_call_and_what_it_may_write(garden: World) -> None:
    call = {"tool": "edit_section", "arguments": {"note": "", "text": "Water.", "position": "Top"}}
    model = garden.script([call], [{"text": "Done."}])
    garden.configure("[write]\nenabled = true\n")
    session = garden.run("ask", "Add it.", "--json", "--model", model).json["session"]
    stored = garden.run("context", "export", session).json["messages"]
    (said,) = (part["text"] for message in stored for part in message["parts"] if part["kind"] == "tool_result")
    assert said == (
        "note: String should have at least 1 character. "
        "position: Input should be 'append', 'prepend', 'replace', 'before' or 'after'. "
        "Call edit_section again with short and valid JSON that fits its schema."
    )


@pytest.mark.parametrize("question", ["What do my notes say?", "What of [[Tomatoes]]?"])
def test_what_was_read_in_earlier_turns_is_found_again(garden: World, question: str) -> None:
    reads = [{"tool": "read_document", "arguments": {"path": "Tomatoes"}}]
    first = garden.run("ask", question, "--json", "--model", garden.script(reads, [{"text": "Something."}]))
    assert garden.run("context", "clear", first.json["session"]).code == 0
    looks = [{"tool": "search_conversation", "arguments": {"query": "rain leaves blight"}}]
    model = garden.script(looks, [{"text": "Rain."}])
    assert garden.run("ask", "And why?", "--session", first.json["session"], "--model", model).code == 0
    stored = garden.run("context", "export", first.json["session"]).json["messages"]
    said = [part for message in stored for part in message["parts"] if part.get("name") == "search_conversation"][-1]
    assert said["text"].startswith("<message tool ")
    assert "blight" in said["text"]

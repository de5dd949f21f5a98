"""Each tool over the garden, called by a scripted model: which documents the answer's ledger holds, and why."""

import shutil
from typing import Any

import pytest

from tests.support.world import GARDEN, World

Call = tuple[str, dict[str, Any]]
Row = dict[str, Any]


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The garden, whose notes no test changes."""
    world = World(tmp_path_factory.mktemp("garden"))
    shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
    return world


def ledger(garden: World, *calls: Call, answer: str = "Done.", question: str = "What do my notes say?") -> list[Row]:
    """The references of an answer before which the model made these calls, one after the other."""
    steps = [[{"tool": name, "arguments": arguments}] for name, arguments in calls]
    result = garden.run("ask", question, "--json", "--model", garden.script(*steps, [{"text": answer}]))
    assert result.code == 0, result.err
    references: list[Row] = result.json["references"]
    return references


def test_what_a_tool_gave_text_of_is_a_reference_whether_or_not_it_is_cited(garden: World) -> None:
    (read,) = ledger(garden, ("read_document", {"relative_path": "Reference/Tomatoes.md"}))
    assert (read["relative_path"], read["via"], read["included"]) == ("Reference/Tomatoes.md", "read_document", True)
    assert (read["reference_type"], read["hits"], read["cited"], read["score"]) == ("search", 1, False, None)
    (found,) = ledger(garden, ("find_excerpts", {"query": "rain on the leaves brings blight", "limit": 1}))
    assert (found["via"], found["included"], found["score"] > 0) == ("find_excerpts", True, True)
    assert ("blight" in found["snippet"], found["lines"]) == (True, {"first": 5, "last": 7})
    assert ledger(garden, ("get_current_datetime", {})) == []


def test_what_a_tool_only_lists_is_a_reference_once_it_is_cited(garden: World) -> None:
    call = [{"tool": "resolve_wikilink", "arguments": {"wikilink": "[[Compost]]"}}]
    named = "See [[Ideas/Compost.md]]."
    model = garden.script(call, [{"text": "Done."}], [{"text": named}], call, [{"text": named}])

    def asked(*options: str) -> list[Row]:
        rows: list[Row] = garden.run("ask", "What is there?", *options, "--json", "--model", model).json["references"]
        return rows

    assert asked() == []
    messages = garden.run("context", "export", "--format", "json").json["messages"]
    (given,) = [message["references"] for message in messages if message["role"] == "tool"]
    assert "Ideas/Compost.md" in {row["relative_path"] for row in given}  # what privacy goes by
    (later,) = asked("--continue")  # what was listed is a part of the conversation
    assert (later["relative_path"], later["cited"], later["unverified"]) == ("Ideas/Compost.md", True, False)
    (row,) = asked("--continue")
    assert (row["via"], row["cited"], row["unverified"]) == ("resolve_wikilink", True, False)
    assert (row["included"], row["score"], row["candidates"]) == (False, None, ["Reference/Compost.md"])


def test_documents_that_are_cited_come_first_and_then_what_the_user_linked(garden: World) -> None:
    call = ("find_excerpts", {"query": "rain on the leaves brings blight", "limit": 3})
    rows = ledger(garden, call, question="Compare [[Sleep]] and [[Nowhere]]", answer="Blight, says [[Tomatoes]].")
    kinds = [(row["cited"], row["reference_type"]) for row in rows]
    assert kinds[:3] == [(True, "search"), (False, "direct"), (False, "direct")]
    assert kinds[3:]
    assert {*kinds[3:]} == {(False, "search")}


@pytest.mark.parametrize(
    "call", [("read_document", {"relative_path": "Nobody"}), ("read_document", {}), ("no_tool", {"path": "Tomatoes"})]
)
def test_a_call_that_fails_leaves_no_row(garden: World, call: Call) -> None:
    assert ledger(garden, call) == []


def test_what_was_read_in_earlier_turns_is_found_again_and_does_not_crowd_out_what_was_said(world: World) -> None:
    for number in range(6):
        world.note(f"Frame {number}.md", "The frame is of larch.\n" * (number + 1))
    reads = [{"tool": "read_document", "arguments": {"path": f"Frame {number}"}} for number in range(6)]
    model = world.script(reads, [{"text": "Good."}])
    first = world.run("ask", "They gave a discount of 40 for the larch.", "--json", "--model", model).json["session"]
    assert world.run("context", "clear", first).code == 0
    looks = [{"tool": "search_conversation", "arguments": {"query": "frame larch"}}]
    model = world.script(looks, [{"text": "Larch."}])
    assert world.run("ask", "And why?", "--session", first, "--model", model).code == 0
    stored = world.run("context", "export", first).json["messages"]
    parts = [part for each in stored for part in each["parts"] if part.get("name") == "search_conversation"]
    found = parts[-1]["text"]
    assert ("discount of 40" in found, "The frame is of larch." in found) == (True, True)

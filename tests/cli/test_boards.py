"""Canvases and drawings on the command line: asked about, searched, followed, shown."""

import json
import shutil

import pytest

from tests.support.world import GARDEN, World

BOARDS = GARDEN.parent / "boards"


@pytest.fixture
def boards(world: World) -> World:
    shutil.copytree(BOARDS, world.vault, dirs_exist_ok=True)
    return world


def test_an_answer_from_a_canvas_cites_it_with_its_heading(boards: World) -> None:
    asked = boards.run("ask", "After how many turns does the switch wear out?", "--model", "quote", "--panels")
    assert "The switch wears out after ten thousand turns." in asked.out
    assert "[[Launch.canvas]]" in asked.out
    assert "Launch.canvas › Hardware" in asked.out + asked.err
    assert "canvas, found by search, cited" in asked.out + asked.err
    answered = boards.run("ask", "What protects the socket?", "--model", "quote", "--json").json
    assert "fuse of two amperes" in json.dumps(answered)
    assert answered["references"][0]["relative_path"] == "Circuit.excalidraw"
    tagged = boards.run("ask", "Which notes have the tag #launch?", "--model", "quote")
    assert "1. [[Launch.canvas]]" in tagged.out


def test_links_backlinks_and_search_know_canvases(boards: World) -> None:
    shown = boards.run("links", "Launch.canvas")
    assert "[[Notes/Budget.md#Spring]] → Notes/Budget.md" in shown.out
    assert "[[Notes/Wiring.md]] → nothing" in shown.out
    assert "line " not in shown.out
    leading = boards.run("backlinks", "Roadmap", "--json").json
    assert {each["source"] for each in leading} == {
        "Launch.canvas", "Notes/Tasks.canvas", "Circuit.excalidraw", "Sketch.excalidraw.md"
    }  # fmt: skip
    contexts = [each["context"] for each in leading if each["source"] == "Notes/Tasks.canvas"]
    assert "- Paint the shade before the wiring. —first step of→ [[Roadmap.md]]" in contexts
    assert boards.run("search", "workshop", "--json").json[0]["path"] == "Launch.canvas"
    assert "Decision —depends on→ [[Notes/Budget.md#Spring]]" in boards.run("search", "decision depends").out
    assert boards.run("search", "N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYB").out == ""
    status = boards.run("vault", "status", "--json").json
    assert (status["notes"], status["attachments"]) == (4, 3)
    assert [each["source"] for each in status["broken_links"]] == ["Launch.canvas"]
    assert status["orphans"] == ["Old sketch.excalidraw.md"]


def test_a_rename_is_followed_in_drawings_too(boards: World) -> None:
    renamed = boards.run("note", "rename", "Roadmap", "Route", "--yes")
    assert renamed.code == 0, renamed.err
    assert json.loads((boards.vault / "Circuit.excalidraw").read_text())["elements"][0]["link"] == "[[Route]]"
    assert "Zx8TtR4b: [[Route]]" in (boards.vault / "Sketch.excalidraw.md").read_text()
    assert '"file": "Route.md"' in (boards.vault / "Notes/Tasks.canvas").read_text()
    assert {each["source"] for each in boards.run("backlinks", "Route", "--json").json} == {
        "Launch.canvas", "Notes/Tasks.canvas", "Circuit.excalidraw", "Sketch.excalidraw.md"
    }  # fmt: skip

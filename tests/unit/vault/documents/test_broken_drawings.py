"""Broken canvases and drawings: a warning for each, and the rest of the vault works."""

import json
from pathlib import Path

import pytest

from tests.support.broken_drawings import BROKEN, MALFORMED, UNREADABLE
from tests.support.libraries import library_of
from zkchat.core.errors import NoteUnreadable
from zkchat.notes.drawings import read_drawing

WHOLE = {
    "Note.md": "# Note\n\nThe wombat digs. [[Good.canvas]]\n",
    "Good.canvas": '{"nodes":[{"id":"a","type":"text","text":"The wombat sleeps.","x":0,"y":0,"width":9,"height":9}]}',
}


def test_each_broken_file_is_one_warning_and_nothing_else_is_hurt(tmp_path: Path) -> None:
    with library_of(tmp_path, {**BROKEN, **WHOLE}) as library:
        assert sorted([warning.path for warning in library.warnings()]) == sorted(BROKEN)
        assert {hit.path for hit in library.search("wombat")} == {"Note.md", "Good.canvas"}
        assert [link.source for link in library.links_to("Good.canvas")] == ["Note.md"]
        assert {hit.path for hit in library.search("koala")} >= {"twice.canvas", "kinds.canvas", "types.excalidraw"}
        assert {row.path for row in library.indexed()} == {*BROKEN, *WHOLE}
        assert library.refresh().changed == 0


def test_what_is_no_drawing_is_found_by_its_name_and_refused_in_a_sentence(tmp_path: Path) -> None:
    with library_of(tmp_path, {**UNREADABLE}) as library:
        for warning in library.warnings():
            assert warning.text.startswith("It ")
            assert warning.text.endswith("and is only found by its name.")
        for path in UNREADABLE:
            name = path.rpartition(".")[0]
            assert path in [hit.path for hit in library.search(name)]
            with pytest.raises(NoteUnreadable, match=f"{name}.* (is not|has no|is nested)"):
                library.read(path)


def test_a_warning_says_what_is_wrong(tmp_path: Path) -> None:
    told = {
        "types.canvas": "It contains 4 malformed nodes; zkchat uses what it can.",
        "lists.canvas": "It contains 1 malformed list of nodes and 1 malformed list of edges; zkchat uses what it can.",
    }
    with library_of(tmp_path, {path: MALFORMED[path] for path in told}) as library:
        assert {warning.path: warning.text for warning in library.warnings()} == told


def test_only_so_many_nodes_groups_and_edges_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAX_CARDS", "MAX_GROUPS", "MAX_CONNECTIONS"):
        monkeypatch.setattr(f"zkchat.notes.drawings.{name}", 2)
    place = {"x": 0, "y": 0, "width": 1, "height": 1}
    cards = [{"id": f"t{each}", "type": "text", "text": f"emu{each}", **place} for each in range(3)]
    groups = [{"id": f"g{each}", "type": "group", "label": f"zoo{each}", **place} for each in range(3)]
    edges = [{"fromNode": "t0", "toNode": "t1", "label": f"near{each}"} for each in range(3)]
    shown = read_drawing("Full.canvas", json.dumps({"nodes": [*cards, *groups], "edges": edges}))
    (warning,) = shown.note.warnings
    assert (
        warning.text
        == "It contains more than 2 nodes and more than 2 groups and more than 2 edges; the others are left out."
    )
    assert [word for word in ("emu1", "emu2", "zoo1", "zoo2", "near1", "near2") if word in shown.text] == [
        "emu1", "zoo1", "near1"
    ]  # fmt: skip

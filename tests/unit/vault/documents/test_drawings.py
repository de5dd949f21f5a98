"""Canvases and Excalidraw drawings as documents: what of them is a passage, a heading, a link."""

import json
from pathlib import Path

import pytest

from zkchat.notes.documents import Document
from zkchat.notes.drawings import read_drawing

BOARDS = Path(__file__).parents[4] / "vault-fixtures" / "boards"


def node(id_: str, x: int = 0, y: int = 0, **more: object) -> dict[str, object]:
    return {"id": id_, "type": "text", "x": x, "y": y, "width": 100, "height": 50, **more}


def canvas(*nodes: object, edges: object = ()) -> Document:
    return read_drawing("Board.canvas", json.dumps({"nodes": nodes, "edges": edges}))


def edge(source: str, target: str, label: str = "", **more: str) -> dict[str, str]:
    return {"id": f"{source}-{target}", "fromNode": source, "toNode": target, "label": label, **more}


@pytest.fixture(scope="module")
def launch() -> Document:
    return read_drawing("Launch.canvas", (BOARDS / "Launch.canvas").read_text())


def test_cards_are_passages_with_their_groups_and_headings_as_place(launch: Document) -> None:
    assert [(section.heading_path, section.text) for section in launch.sections] == [
        (("Decision",), "# Decision\n\nThe lamp ships in **May**, as [[Roadmap]] says. #launch"),
        (("Decision", "Why not earlier"), "## Why not earlier\n\nThe glass needs six weeks to cool."),
        (("Decision",), "- Decision —depends on→ [[Notes/Budget.md#Spring]]"),
        ((), "- [[Notes/Budget.md#Spring]]\n- https://example.org/lamps"),
        ((), "Everybody meets on Thursday."),
        (("Risks",), "- Risks ←may move→ Decision"),
        (("Risks", "Supplier"), "### Supplier\n\nThe glass comes from one workshop only."),
        (
            ("Risks", "Hardware"),
            "The switch wears out after ten thousand turns.\n\n"
            "- The switch wears out after ten thousand turns. —same workshop— Supplier",
        ),
    ]
    assert (launch.note.title, launch.note.tags, launch.note.warnings) == ("Launch", ("launch",), ())
    headings = [(heading.text, heading.level) for heading in launch.note.headings]
    assert headings == [("Decision", 1), ("Why not earlier", 2), ("Risks", 1), ("Supplier", 3), ("Hardware", 2)]


def test_files_pages_and_labelled_edges_are_links(launch: Document) -> None:
    assert [(link.text, link.target, link.anchor, link.external) for link in launch.note.links] == [
        ("[[Roadmap]]", "Roadmap", "", False),
        ("[[Notes/Budget.md#Spring]]", "/Notes/Budget.md", "Spring", False),
        ("[[Notes/Budget.md#Spring]]", "/Notes/Budget.md", "Spring", False),
        ("https://example.org/lamps", "https://example.org/lamps", "", True),
        ("[[Notes/Wiring.md]]", "/Notes/Wiring.md", "", False),
    ]
    assert "—depends on→" in launch.text.split("\n")[launch.note.links[1].line - 1]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ({}, "A —l→ B"),
        ({"fromEnd": "arrow"}, "A ←l→ B"),
        ({"fromEnd": "arrow", "toEnd": "none"}, "A ←l— B"),
        ({"toEnd": "none"}, "A —l— B"),
    ],
)
def test_an_edge_has_its_arrows(ends: dict[str, str], expected: str) -> None:
    shown = canvas(node("a", text="A"), node("b", 0, 200, text="B"), edges=[edge("a", "b", "l", **ends)])
    assert f"- {expected}\n" in shown.text
    unlabelled = canvas(node("a", text="A"), node("b", 0, 200, text="B"), edges=[edge("a", "b", **ends)])
    arrow = expected[2:-2].replace("l", "").replace("—→", "→").replace("←—", "←").replace("←→", "↔").replace("——", "—")
    assert f"- A {arrow} B\n" in unlabelled.text


def test_cards_are_read_row_by_row_and_inside_their_group() -> None:
    group = node("g", 0, 500, type="group", label="Group", width=900, height=900)
    inside = [node("4", 500, 610, text="four"), node("3", 10, 620, text="three")]
    loose = [node("2", 300, -20, text="two"), node("1", 0, 0, text="one"), node("5", 0, 3000, text="five")]
    words = [word for word in canvas(*inside, group, *loose).text.split() if word.isalpha()]
    assert words == ["one", "two", "five", "Group", "three", "four"]
    empty = read_drawing("New.canvas", "\ufeff\n")
    assert (empty.text, [*empty.sections], empty.note.warnings, empty.note.title) == ("", [], (), "New")


def test_what_a_card_leaves_open_does_not_take_in_the_next() -> None:
    texts = ["```\ncode", "~~~~\nmore", "%%comment", "<!-- html", "$$x", "---\na: b\n---", "<div>", "`` ``` ``"]
    nodes = [node(str(number), 0, number * 100, text=text) for number, text in enumerate(texts)]
    shown = canvas(*nodes, node("last", 0, 5000, text="# Seen\n\n[[Target]]"))
    assert shown.note.links[-1].target == "Target"
    again = canvas(node("x", text=shown.text))
    assert [link.target for link in again.note.links] == ["Target"]
    assert [heading.text for heading in again.note.headings][-1] == "Seen"


def test_names_of_ends_are_their_first_words_without_marks() -> None:
    long = "[[Note|The **name**]] " + "word " * 50
    shown = canvas(
        node("a", text=f"\n\n{long}\n\nmore"),
        node("b", 0, 100, type="link", url="https://example.org"),
        node("c", 0, 200, text="   "),
        edges=[edge("a", "b", "1"), edge("b", "c", "2\n3"), edge("c", "a", "4")],
    )
    first = "The name word word"
    connections = [line for line in shown.text.split("\n") if "—" in line]
    assert connections[0].startswith(f"- {first}")
    assert connections[0].endswith("… —1→ https://example.org")
    assert connections[1:2] == ["- https://example.org —2 3→ an empty card"]
    assert connections[2].startswith(f"- an empty card —4→ {first}")


def test_texts_frames_links_and_labelled_arrows_are_read() -> None:
    shown = read_drawing("Circuit.excalidraw", (BOARDS / "Circuit.excalidraw").read_text())
    assert [(section.heading_path, section.text) for section in shown.sections] == [
        ((), "Power supply\n\n[[Roadmap]]\n\n- Power supply —feeds→ Lamp socket"),
        ((), "Lamp socket\n\n[https://example.org/socket](<https://example.org/socket>)"),
        (("Safety",), "A fuse of two amperes protects the socket."),
    ]
    assert [(link.target, link.external) for link in shown.note.links] == [
        ("Roadmap", False),
        ("https://example.org/socket", True),
    ]
    assert shown.note.warnings == ()
    assert "transformer" not in shown.text  # it is deleted
    assert "base64" not in shown.text

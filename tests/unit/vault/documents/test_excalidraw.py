"""Excalidraw drawings as documents."""

import json
from pathlib import Path

from zkchat.vault.documents.excalidraw import read_excalidraw

BOARDS = Path(__file__).parents[4] / "vault-fixtures" / "boards"


def test_texts_frames_links_and_labelled_arrows_are_read() -> None:
    shown = read_excalidraw("Circuit.excalidraw", (BOARDS / "Circuit.excalidraw").read_text())
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


def test_the_label_of_a_free_arrow_is_a_text() -> None:
    place = {"x": 0, "y": 0, "width": 1, "height": 1}
    arrow = {"id": "a", "type": "arrow", "startBinding": {"elementId": "gone"}, "endBinding": None, **place}
    label = {"id": "b", "type": "text", "containerId": "a", "text": "somewhere", **place}
    shown = read_excalidraw("x.excalidraw", json.dumps({"elements": [arrow, label]}))
    assert shown.text == "somewhere\n"

"""Notes of Obsidian's Excalidraw plugin: their texts and links count, their data is nobody's words."""

from pathlib import Path

import pytest

from zkchat.notes.markdown import sections_of
from zkchat.notes.parse import find_links, parse_note, shown_text

BOARDS = Path(__file__).parents[4] / "vault-fixtures" / "boards"
SKETCH, OLD = "Sketch.excalidraw.md", "Old sketch.excalidraw.md"


def read(name: str) -> str:
    return (BOARDS / name).read_text()


def test_texts_and_links_of_a_drawing_are_those_of_its_note() -> None:
    text = read(SKETCH)
    note = parse_note(SKETCH, text)
    assert (note.title, note.tags) == ("Sketch", ("excalidraw",))
    assert [(link.text, link.in_comment) for link in note.links] == [
        ("[[Budget]]", False),
        ("[[Roadmap]]", False),
        ("[[Launch.canvas]]", False),
    ]
    assert [link.text for link in find_links(text).links] == [link.text for link in note.links]
    assert [block.id for block in note.blocks] == ["k3PqWz81", "Hh2mNc0v"]
    sections = {section.heading_path[-1:]: section.text for section in sections_of(note, text)}
    assert sections[("Text Elements",)] == (
        "## Text Elements\nThe shade hangs from three wires ^k3PqWz81\n\nSee [[Budget]] for the brass ^Hh2mNc0v"
    )
    assert sections[("Element Links",)] == "## Element Links\n[[Roadmap]]"
    assert sections[("Embedded Files",)] == "## Embedded Files\n[[Launch.canvas]]"


@pytest.mark.parametrize("name", [SKETCH, OLD])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_data_is_shown_to_nobody(name: str, ends: str) -> None:
    text = read(name).replace("\n", ends)
    note = parse_note(name, text)
    shown = shown_text(text)
    searched = "\n".join(section.text for section in sections_of(note, text))
    for seen in (shown, searched, *(heading.text for heading in note.headings)):
        for data in ("N4KA", "compressed-json", "rawdrawingdata", "EXCALIDRAW VIEW", "## Drawing", "f00dfeed"):
            assert data not in seen
    assert shown.count("\n") == text.count("\n")
    assert "[[Nowhere]]" not in [link.text for link in note.links]
    if name == OLD:  # where all of the drawing is a comment
        assert (note.title, *(heading.text for heading in note.headings)) == (
            "Old sketch",
            "Excalidraw Data",
            "Text Elements",
        )
        assert "The first shade was paper" in searched
        assert "The first shade was paper" in shown


def test_a_note_about_excalidraw_is_a_note_like_any_other() -> None:
    text = "# Text Elements\n\nexcalidraw-plugin\n\n## Drawing\n```json\n{}\n```\n%%\nhidden\n%%\n"
    assert parse_note("About.md", text).title == "Text Elements"
    assert "```json" in shown_text(text)
    assert "hidden" not in shown_text(text)


@pytest.mark.parametrize(
    "body",
    [
        '# Text Elements\nkoala ^aaaaaaaa\n\n# Embedded files\nabcdef01: [[p.png]]\n\n# Drawing\n{"elements": "data"}',
        "## Text Elements\nkoala\n```compressed-json\ndata\n",
        "koala\n\n%%\n## Drawing\n\n```json\ndata",
        "## Text Elements\n\n^_dummy!_\n\nkoala\n## Drawing\n```compressed-json\ndata\n```\n%%",
    ],
)
def test_older_and_half_written_forms_are_known(body: str) -> None:
    text = f"---\nexcalidraw-plugin: parsed\n---\n{body}"
    shown = shown_text(text)
    assert "koala" in shown
    assert "data" not in shown
    assert "_dummy" not in shown
    assert (
        "".join(section.text for section in sections_of(parse_note("x.excalidraw.md", text), text)).count("data") == 0
    )

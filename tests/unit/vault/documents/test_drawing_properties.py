"""Whatever a canvas or drawing holds, its document is consistent with itself."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.notes.documents import Document, UnreadableDocument
from zkchat.notes.drawings import read_drawing

_MARKDOWN = st.lists(
    st.sampled_from(
        [
            *("word", "\n", "\n\n", "# Head", "## Sub\n", "[[Note]]", "[[Note#Part|shown]]", "![[p.png]]", "#tag", " "),
            *("```", "~~~", "%%", "<!--", "-->", "$$", "---", "===", "^id1", "- item", "> quote", "|", "\\", "é", "汉"),
        ]
    ),
    max_size=8,
).map(" ".join)
_NUMBER = st.one_of(st.integers(-500, 500), st.sampled_from([None, "x", 1e300, 10**400, True, float("nan")]))
_ID = st.sampled_from(["a", "b", "c", "d", ""])
_NODE = st.fixed_dictionaries(
    {"id": _ID, "type": st.sampled_from(["text", "file", "link", "group", "other"])},
    optional={
        "text": _MARKDOWN,
        "label": _MARKDOWN,
        "file": st.sampled_from(["Note.md", "a/b c.md", "", "p]].png"]),
        "subpath": st.sampled_from(["#Part", "#^id1", ""]),
        "url": st.sampled_from(["https://example.org", ""]),
        **dict.fromkeys(("x", "y", "width", "height"), _NUMBER),
    },
)
_EDGE = st.fixed_dictionaries({"fromNode": _ID, "toNode": _ID}, optional={"label": _MARKDOWN})
_ELEMENT = st.fixed_dictionaries(
    {"id": _ID, "type": st.sampled_from(["text", "arrow", "frame", "rectangle"])},
    optional={
        "text": _MARKDOWN,
        "name": _MARKDOWN,
        "link": st.sampled_from(["[[Note]]", "https://example.org", ""]),
        **dict.fromkeys(("containerId", "frameId"), _ID),
        **dict.fromkeys(("startBinding", "endBinding"), st.fixed_dictionaries({"elementId": _ID})),
        **dict.fromkeys(("x", "y", "width", "height"), _NUMBER),
    },
)


def check(document: Document) -> None:
    text, note = document.text, document.note
    lines = text.split("\n")
    for link in note.links:
        assert text[link.start : link.end] == link.text
        assert link.text.split("\n")[0] in lines[link.line - 1]
    for heading in note.headings:
        assert 1 <= heading.level <= 6
        assert text.count("\n", 0, heading.start) + 1 == heading.line
    for section in document.sections:
        assert 1 <= section.first_line <= section.last_line <= len(lines)
        shown = "\n".join(lines[section.first_line - 1 : section.last_line])
        assert all(word in shown for word in section.text.split())
    assert [heading.start for heading in note.headings] == sorted(heading.start for heading in note.headings)
    assert all(document.ends.get(heading.line, heading.line) >= heading.line for heading in note.headings)


@settings(max_examples=50, deadline=None)
@given(nodes=st.lists(_NODE, max_size=6), edges=st.lists(_EDGE, max_size=4))
def test_a_canvas_is_consistent(nodes: list[Any], edges: list[Any]) -> None:
    document = read_drawing("Board.canvas", json.dumps({"nodes": nodes, "edges": edges}))
    check(document)
    for node in nodes:
        if node["type"] == "text":
            for word in ("word", "汉"):
                assert document.text.count(word) >= node.get("text", "").count(word)


@settings(max_examples=30, deadline=None)
@given(elements=st.lists(_ELEMENT, max_size=6))
def test_a_drawing_is_consistent(elements: list[Any]) -> None:
    check(read_drawing("x.excalidraw", json.dumps({"elements": elements})))


_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["nodes", "edges", "elements", "id", "type", "text", "x"]), inner, max_size=4),
    ),
    max_leaves=15,
)


@settings(max_examples=40, deadline=None)
@given(content=_JSON, suffix=st.sampled_from(["canvas", "excalidraw"]))
def test_any_json_is_read_or_refused(content: Any, suffix: str) -> None:
    try:
        check(read_drawing(f"x.{suffix}", json.dumps(content)))
    except UnreadableDocument:
        return

"""Canvases and Excalidraw drawings that are not as they should be."""

import json
from collections.abc import Mapping

_PLACE = {"x": 0, "y": 0, "width": 10, "height": 10}


def _canvas(*nodes: object, edges: object = ()) -> str:
    return json.dumps({"nodes": nodes, "edges": edges})


UNREADABLE: Mapping[str, str] = {
    "cut off.canvas": '{"nodes":[{"id":"a","type":"text","text":"koala',
    "no json.canvas": "# A note that was renamed",
    "a list.canvas": "[]",
    "deep.canvas": '{"nodes":' + "[" * 200_000 + "]" * 200_000 + "}",
    "digits.canvas": '{"nodes":[{"x":' + "9" * 10_000 + "}]}",
    "two.canvas": "{}{}",
    "cut off.excalidraw": '{"type":"excalidraw","elements":[',
    "other.excalidraw": '{"type":"other"}',
    "text.excalidraw": "text",
}
"""Nothing of them can be read."""

MALFORMED: Mapping[str, str] = {
    "types.canvas": _canvas({"id": 5, "type": "text", "text": ["koala"], "x": "left"}, 7, None, "koala"),
    "huge.canvas": '{"nodes":[{"id":"a","type":"text","text":"koala","x":1e999,"y":-1e999,"width":NaN,"height":1}]}',
    "twice.canvas": _canvas(
        {"id": "a", "type": "text", "text": "koala", **_PLACE}, {"id": "a", "type": "text", "text": "emu", **_PLACE}
    ),
    "loose.canvas": _canvas(
        {"id": "a", "type": "text", "text": "koala", **_PLACE}, edges=[{"fromNode": "a", "toNode": "b"}, "edge", {}]
    ),
    "lists.canvas": '{"nodes":{"id":"a"},"edges":5}',
    "kinds.canvas": _canvas({"id": "a", "type": "hologram", "text": "koala", **_PLACE}),
    "types.excalidraw": json.dumps({"elements": [5, {"type": "text", "text": "koala", "x": None}, {"type": 7}]}),
    "ends.excalidraw": json.dumps(
        {"elements": [{"id": "a", "type": "arrow", "startBinding": 5, "endBinding": {"elementId": []}}]}
    ),
}
"""They are read as far as possible."""

BROKEN: Mapping[str, str] = {**UNREADABLE, **MALFORMED}

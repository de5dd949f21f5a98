"""The files and links of a canvas (`.canvas`, JSON), edited in place: all other bytes stay as they are."""

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from zkchat.vault.notes.link_targets import TextEdit, link_targets
from zkchat.writing.links.moved import MovedFiles, update_text

CANVAS_SUFFIX: Final = ".canvas"

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
_PATHS = frozenset({"file", "background"})
"""Of a node: the file that it shows, and the picture behind a group."""
_TEXT = "text"


class _Text(NamedTuple):
    """A text of a node."""

    key: str
    start: int
    end: int
    """Without its quotation marks."""


def update_canvas(text: str, source: str, moved: MovedFiles) -> list[TextEdit]:
    """The edits that make every node and link of a canvas mean what it meant; none for what is no JSON."""
    if not _is_json(text):
        return []
    edits: list[TextEdit] = []
    for each in _node_texts(text):
        written = text[each.start : each.end]
        if each.key in _PATHS:
            path = moved.moved_path(_decoded(written), source)
            if path:
                edits.append(TextEdit(each.start, each.end, _encoded(path)))
        elif "](" in written or "[[" in written or "]:" in written:
            edits += _in_text(written, each.start, source, moved)
    return edits


def canvas_targets(text: str) -> Iterator[tuple[str, bool]]:
    """What the nodes and links of a canvas name, and whether that is the very path of a file; nothing for no JSON."""
    if not _is_json(text):
        return
    for each in _node_texts(text):
        named = _decoded(text[each.start : each.end])
        if each.key in _PATHS:
            yield named, True
        else:
            yield from ((link.target, False) for link in link_targets(named, has_frontmatter=False))


def _is_json(text: str) -> bool:
    try:
        json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True


def _in_text(written: str, start: int, source: str, moved: MovedFiles) -> Iterator[TextEdit]:
    offsets = [match.start() for match in _CHARACTER.finditer(written)] + [len(written)]
    for edit in update_text(_decoded(written), source, moved, has_frontmatter=False):
        yield TextEdit(start + offsets[edit.start], start + offsets[edit.end], _encoded(edit.text))


def _node_texts(text: str) -> Iterator[_Text]:
    """The texts of `nodes` that name a file or may hold links, in a text that is known to be JSON."""
    keys: list[str | None] = []
    """For each open object the key at hand, empty before it; None for a list."""
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if piece in {"{", "["}:
            keys.append("" if piece == "{" else None)
        elif piece in {"}", "]"}:
            keys.pop()
        elif piece == ",":
            keys[-1] = None if keys[-1] is None else ""
        elif keys and keys[-1] == "":
            keys[-1] = _decoded(piece[1:-1])
        elif len(keys) == 3 and keys[:2] == ["nodes", None] and (key := keys[2]) and (key in _PATHS or key == _TEXT):
            yield _Text(key, match.start() + 1, match.end() - 1)


def _decoded(written: str) -> str:
    return str(json.loads(f'"{written}"', strict=False))


def _encoded(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]

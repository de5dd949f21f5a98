"""The files and links of a canvas or Excalidraw drawing (JSON), edited in place: all other bytes stay as they are."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.link_targets import TextEdit, link_targets
from zkchat.writing.links.moved import MovedFiles, update_text

_TOKEN = lazy_pattern(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_CHARACTER = lazy_pattern(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)


class _Format(NamedTuple):
    """Where files and links stand in the JSON: in objects of a list."""

    list_key: str
    paths: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


_CANVAS = _Format("nodes", paths=frozenset({"file", "background"}), texts=frozenset({"text"}))
"""The file that a node shows, the picture behind a group, the text of a card."""
_EXCALIDRAW = _Format("elements", texts=frozenset({"text", "rawText", "originalText", "link"}))


class _Text(NamedTuple):
    """A text of a node."""

    is_path: bool
    start: int
    end: int
    """Without its quotation marks."""


def update_canvas(text: str, source: str, moved: MovedFiles) -> list[TextEdit]:
    """The edits that make every node and link of a canvas mean what it meant; none for what is no JSON."""
    if not _is_json(text):
        return []
    edits: list[TextEdit] = []
    for each in _node_texts(text, source):
        written = text[each.start : each.end]
        if each.is_path:
            path = moved.moved_path(_decoded(written), source)
            if path:
                edits.append(TextEdit(each.start, each.end, _encoded(path)))
        elif "](" in written or "[[" in written or "]:" in written:
            edits += _in_text(written, each.start, source, moved)
    return edits


def canvas_targets(text: str, path: str) -> Iterator[tuple[str, bool]]:
    """What the nodes and links of a canvas name, and whether that is the very path of a file; nothing for no JSON."""
    if not _is_json(text):
        return
    for each in _node_texts(text, path):
        named = _decoded(text[each.start : each.end])
        if each.is_path:
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


def _node_texts(text: str, path: str) -> Iterator[_Text]:
    """The texts that name a file or may hold links, in the text of such a file that is known to be JSON."""
    format_ = _CANVAS if path.lower().endswith(".canvas") else _EXCALIDRAW
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
        elif len(keys) == 3 and keys[:2] == [format_.list_key, None] and keys[2] in format_.paths | format_.texts:
            yield _Text(keys[2] in format_.paths, match.start() + 1, match.end() - 1)


def _decoded(written: str) -> str:
    return str(json.loads(f'"{written}"', strict=False))


def _encoded(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]

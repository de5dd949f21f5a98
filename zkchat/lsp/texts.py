"""Texts as editors see them: open documents, positions in units of the client, addresses of files, edits."""

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate
from os.path import normpath
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import url2pathname

from lsprotocol import types
from msgspec import Struct
from pygls.workspace import PositionCodec

from zkchat.core import ChangeSet, changed_blocks, direct_moves, path_before, split_lines, text_of

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_BYTE_ORDER_MARK: Final = "\ufeff"


class OpenDocument(Struct, frozen=True, kw_only=True):
    """A document that the editor has open, with what is not saved yet."""

    uri: str
    version: int | None
    text: str


class Positions:
    """Offsets in a text as the lines and units that the client counts, and back."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._text = text
        self._codec = codec
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def at(self, offset: int) -> types.Position:
        line = bisect_right(self._starts, offset) - 1
        return types.Position(line, self._codec.client_num_units(self._text[self._starts[line] : offset]))

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.at(start), self.at(end))

    def lines(self, first: int, last: int) -> types.Range:
        """The range of lines, counted from 1, without the end of the last one."""
        return types.Range(types.Position(first - 1, 0), self.at(self._bounds(last - 1)[1]))

    def offset(self, position: types.Position) -> int:
        """Where a position is; behind a line or the text, the end of it."""
        start, end = self._bounds(position.line)
        units = 0
        for offset in range(start, end):
            if units >= position.character:
                return offset
            units += self._codec.client_num_units(self._text[offset])
        return end

    def line_before(self, offset: int) -> str:
        """What stands before an offset on its line."""
        return self._text[self._starts[bisect_right(self._starts, offset) - 1] : offset]

    def _bounds(self, line: int) -> tuple[int, int]:
        """Where a line, counted from 0, begins and ends, without its end of line."""
        if line >= len(self._starts):
            return len(self._text), len(self._text)
        start = self._starts[line]
        after = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._text)
        return start, start + len(self._text[start:after].rstrip("\r\n"))


class Addresses:
    """The addresses of the files of a vault."""

    def __init__(self, vault: Path, folder: Path | None) -> None:
        """`folder` is what the editor opened: where it is a way to the vault, addresses go the same way."""
        self._vault = vault
        self._root = folder if folder and folder.resolve() == vault else vault

    def uri(self, path: str) -> str:
        return (self._root / path).as_uri()

    def path(self, uri: str) -> str | None:
        """The path in the vault; None for what is not in it."""
        file = file_of(uri)
        for root, place in ((self._root, file), (self._vault, file), (self._vault, file and file.resolve())):
            if place and place != root and place.is_relative_to(root):
                return place.relative_to(root).as_posix()
        return None


def file_of(uri: str) -> Path | None:
    """The file that an address names; None for an address of another kind."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file":
        return None
    name = os.fsdecode(unquote_to_bytes(parts.path))
    if "\0" in name:
        return None
    return Path(normpath(url2pathname(name) if os.name == "nt" else name))


def workspace_edit(
    changes: ChangeSet, addresses: Addresses, documents: Mapping[str, OpenDocument], codec: PositionCodec
) -> types.WorkspaceEdit:
    """What an editor does to make a change set: texts under their present addresses first, then files are renamed."""
    edits: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    for write in changes.writes:
        path = path_before(changes, write.path)
        document = documents.get(path)
        before = document.text if document else text_of(write.before).removeprefix(_BYTE_ORDER_MARK)
        after = text_of(write.after)
        after = after if document else after.removeprefix(_BYTE_ORDER_MARK)
        uri = document.uri if document else addresses.uri(path)
        if write.before is None and document is None:
            edits.append(types.CreateFile(uri=uri, options=types.CreateFileOptions(ignore_if_exists=True)))
        if before != after:
            identifier = types.OptionalVersionedTextDocumentIdentifier(uri, document.version if document else None)
            edits.append(types.TextDocumentEdit(identifier, [*text_edits(before, after, codec)]))
    edits += [
        types.RenameFile(old_uri=_uri_of(move.source, addresses, documents), new_uri=addresses.uri(move.target))
        for move in direct_moves(changes)
    ]
    return types.WorkspaceEdit(document_changes=edits)


def _uri_of(path: str, addresses: Addresses, documents: Mapping[str, OpenDocument]) -> str:
    return documents[path].uri if path in documents else addresses.uri(path)


def text_edits(before: str, after: str, codec: PositionCodec) -> Iterator[types.TextEdit]:
    """What has to be replaced, line by line, and within a line no more than what differs."""
    old, new = split_lines(before), split_lines(after)
    starts = [*accumulate(map(len, old), initial=0)]
    positions = Positions(before, codec)
    for block in changed_blocks(old, new):
        lines = old[block.old_start : block.old_end], new[block.new_start : block.new_end]
        pairs = [*zip(*lines, strict=True)] if len(lines[0]) == len(lines[1]) else [("".join(each) for each in lines)]
        offset = starts[block.old_start]
        for one, other in pairs:
            first = _alike(one, other)
            last = _alike(one[first:][::-1], other[first:][::-1])
            place = positions.range(offset + first, offset + len(one) - last)
            yield types.TextEdit(place, other[first : len(other) - last])
            offset += len(one)


def _alike(one: str, other: str) -> int:
    """How many letters two texts begin with together."""
    return next(
        (number for number, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )

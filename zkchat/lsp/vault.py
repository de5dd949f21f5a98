"""What an editor asks of a vault: where links lead, what leads here, what is wrong, and what a change would be."""

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import accumulate
from os.path import normpath
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import url2pathname

from lsprotocol import types
from msgspec import Struct
from msgspec.structs import replace
from pygls.workspace import PositionCodec

from zkchat.app import Editing, Workspace, link_style, open_editing
from zkchat.core import (
    Ambiguous,
    ChangeSet,
    External,
    Heading,
    KnownNote,
    Link,
    Missing,
    Note,
    Resolution,
    Resolved,
    VaultError,
    changed_blocks,
    direct_moves,
    is_note,
    path_before,
    split_lines,
    text_of,
)
from zkchat.index import BrokenLink, Library, RepairFinder
from zkchat.notes import PLACEHOLDER, Anchors, flatten, is_attachment, parse_note, section_lines, with_line_feeds
from zkchat.render import common_length
from zkchat.repl import LinkCompleter, NameCache, normalize_name
from zkchat.writing import LinkRepairer, MentionGroup, MentionLinks, past_renames, stage_links, stage_move

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_BYTE_ORDER_MARK: Final = "\ufeff"
_MAX_PASSAGE_LINES: Final = 40
_MAX_PASSAGE_CHARACTERS: Final = 3_000
_MAX_RECORDS: Final = 1_000
"""Change sets of the journal among which renames are looked for."""
parsed = lru_cache(maxsize=64)(parse_note)
FoundKind = Literal["broken-link", "broken-place", "ambiguous-link", "unlinked-mention"]


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
    for move in direct_moves(changes):
        old = documents[move.source].uri if move.source in documents else addresses.uri(move.source)
        edits.append(types.RenameFile(old_uri=old, new_uri=addresses.uri(move.target)))
    return types.WorkspaceEdit(document_changes=edits)


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
            first = common_length(one, other)
            last = common_length(one[first:][::-1], other[first:][::-1])
            place = positions.range(offset + first, offset + len(one) - last)
            yield types.TextEdit(place, other[first : len(other) - last])
            offset += len(one)


class Found(Struct, frozen=True):
    """Something to be told of a place in a text."""

    kind: FoundKind
    start: int
    end: int
    message: str


class Fix(Struct, frozen=True, kw_only=True):
    """A change that mends something."""

    title: str
    changes: ChangeSet
    is_sure: bool = False


class Reference(Struct, frozen=True, kw_only=True):
    """A link to a note, in the text of the note that holds it."""

    path: str
    text: str
    start: int = 0
    end: int = 0


class EditorVault:
    """The notes of a vault, with the texts that are open in an editor in place of those on disk.

    Names of notes are those of the last refresh: what is typed changes the links of others when it is saved.
    """

    def __init__(self, workspace: Workspace, library: Library) -> None:
        self.library = library
        self.documents: dict[str, OpenDocument] = {}
        """By path, those that are open."""
        self.is_closing = False
        self._workspace = workspace
        self._names = NameCache()
        self._mentions: tuple[int, MentionLinks] | None = None
        self._finder: tuple[int, RepairFinder] | None = None
        """Both by the generation of the index: they know all names."""

    def refresh(self) -> None:
        """Read what changed on disk. Takes long in a large vault that was never read, unless it `is_closing`."""

        def go_on(_done: int, _total: int) -> None:
            if self.is_closing:
                raise _Closing

        with suppress(_Closing):
            self.library.refresh(go_on)
            self._names.refresh(self.library, ())

    def text(self, path: str) -> str:
        """Raises `VaultError` where a file cannot be read."""
        document = self.documents.get(path)
        return document.text if document else self.library.read_raw(path)

    def note(self, path: str) -> Note:
        return parsed(path, self.text(path))

    def link_at(self, path: str, offset: int) -> Link | None:
        around = [link for link in self.note(path).links if link.start <= offset <= link.end]
        return around[-1] if around else None

    def resolve(self, link: Link, source: str) -> Resolution:
        """Where a link leads; its place is looked for in the open text."""
        if link.target or link.external:
            found = self.library.resolve(link, source, suggestions=0)
        else:
            found = Resolved(path=source, via="self")
        if not isinstance(found, Resolved | Ambiguous) or not link.anchor:
            return found
        if link.target and found.path not in self.documents:
            return found
        note = self.note(found.path)
        place = Anchors(note.headings, note.blocks).find(link.anchor)
        return replace(found, anchor_found=place is not None, line=place.line if place else None)

    def target_at(self, path: str, offset: int) -> str | None:
        """The file that the link at an offset leads to; outside of a link the file itself, None for one to nowhere."""
        link = self.link_at(path, offset)
        if link is None:
            return path
        found = self.resolve(link, path)
        return found.path if isinstance(found, Resolved | Ambiguous) else None

    def passage(self, link: Link, source: str) -> str:
        """What a link leads to, as Markdown: the file, and the section, the block or the beginning of its text."""
        found = self.resolve(link, source)
        if isinstance(found, External):
            return ""
        if isinstance(found, Missing):
            near = self.library.resolve(link, source)
            names = near.suggestions if isinstance(near, Missing) else ()
            return f"Leads nowhere.{' Closest: ' if names else ''}{', '.join(names)}"
        anchor = link.anchor if found.anchor_found else ""
        with suppress(VaultError):
            text = with_line_feeds(self._section(found.path, anchor)).strip("\n")
            shown = "\n".join(text.split("\n")[:_MAX_PASSAGE_LINES])[:_MAX_PASSAGE_CHARACTERS]
            return f"**{found.path}**\n\n{shown}" + ("" if shown == text else "\n\n…")
        return f"**{found.path}**"

    def _section(self, path: str, anchor: str) -> str:
        if not is_note(path):
            return self.library.section(path, anchor) if self.library.is_indexed(path) else ""
        text, note = self.text(path), self.note(path)
        place = section_lines(note, anchor) if anchor else None
        if place is None:
            return text[note.body_start :]
        return "\n".join(flatten(text).split("\n")[place[0] - 1 : place[1]])

    def references(self, path: str) -> Iterator[Reference]:
        """The links to a file from others, where they stand now."""
        stored: dict[str, list[Link]] = {}
        for each in self.library.links_to(path):
            stored.setdefault(each.source, []).append(each.link)
        for source in sorted(({*stored} | {*self.documents}) - {path}):
            with suppress(VaultError):
                yield from self._references_in(source, path, stored.get(source, []))

    def _references_in(self, source: str, path: str, stored: list[Link]) -> Iterator[Reference]:
        if not is_note(source):  # in a canvas links are not where they are read
            yield Reference(path=source, text="")
            return
        text, links = self.text(source), stored
        if source in self.documents or any(text[link.start : link.end] != link.text for link in stored):
            resolved = ((link, self.resolve(link, source)) for link in parsed(source, text).links)
            links = [link for link, to in resolved if isinstance(to, Resolved | Ambiguous) and to.path == path]
        yield from (Reference(path=source, text=text, start=link.start, end=link.end) for link in links)

    def symbols(self, query: str) -> Iterator[tuple[str, str, int]]:
        """Notes, then headings, whose names match: name, path and line."""
        for match in self._names.find(query):
            yield match.note.title, match.note.path, 1
        wanted = normalize_name(query).strip()
        hits = self.library.search(query, limit=50, words_only=True) if wanted else []
        for path in dict.fromkeys(hit.path for hit in hits if is_note(hit.path)):
            known = self.library.outline(path)
            for heading in known.headings if known else ():
                if wanted in normalize_name(heading.text):
                    yield heading.text, path, heading.line

    def completer(self, source: str) -> LinkCompleter:
        return _EditorCompleter(self._names, self, source)

    def problems(self, path: str) -> Iterator[Found]:
        """The links of a note that `zkchat check` would list."""
        if not self.library.without_templates([path]):
            return
        for link in self.note(path).links:
            if link.external or PLACEHOLDER.search(link.text):
                continue
            found, place = self.resolve(link, path), (link.start, link.end)
            if isinstance(found, Missing):
                kind = "file" if is_attachment(link.target) else "note"
                yield Found("broken-link", *place, f"No {kind} is called {link.target}.")
            elif isinstance(found, Ambiguous):
                others = ", ".join(found.others)
                yield Found("ambiguous-link", *place, f"Leads to {found.path}, but {others} could be meant.")
            if isinstance(found, Resolved | Ambiguous) and not found.anchor_found:
                yield Found("broken-place", *place, f"{found.path} has no {_described(link.anchor)}.")

    def mentions(self, path: str) -> Iterator[MentionGroup]:
        """Where a note names another one without any link to it."""
        generation = self.library.generation()
        if self._mentions is None or self._mentions[0] != generation:
            links = MentionLinks(self.library, self.text, link_style(self._workspace.paths.vault))
            self._mentions = generation, links
        return self._mentions[1].inside(path)

    def fixes(self, path: str, start: int, end: int) -> Iterator[Fix]:
        """The repairs of the broken links between two offsets, as `zkchat check --fix` proposes them."""
        for problem in self.problems(path):
            link = self.link_at(path, problem.start)
            if link and problem.start <= end and start <= problem.end and problem.kind != "ambiguous-link":
                broken = BrokenLink(
                    source=path, link=link, is_missing=problem.kind == "broken-link", lines=(link.line,)
                )
                yield from self._repairs(broken)
                if broken.is_missing and not is_attachment(link.target):
                    with self._staging() as editing, suppress(VaultError):
                        made = editing.editor.create(link.target, "", may_take_over=False)
                        yield Fix(title=f"Create {made.path}", changes=editing.staged.change_set())

    def _repairs(self, broken: BrokenLink) -> Iterator[Fix]:
        generation = self.library.generation()
        if self._finder is None or self._finder[0] != generation:
            with self._staging() as editing:
                records = editing.store.records(limit=_MAX_RECORDS, with_contents=False)
            self._finder = generation, RepairFinder(self.library, past_renames(reversed(records)))
        finder = self._finder[1]
        find = finder.of_target if broken.is_missing else finder.of_anchor
        for repair in find(broken.link, broken.source):
            with self._staging() as editing, suppress(VaultError):
                repairer = LinkRepairer(self.library, editing.staged, link_style(self._workspace.paths.vault))
                link = repairer.stage(broken, repair).after
                title = f"Change to {link}: {repair.reason}"
                yield Fix(title=title, changes=editing.staged.change_set(), is_sure=repair.is_sure)

    def linked_mentions(self, path: str, start: int, end: int) -> Iterator[Fix]:
        """Links in place of the mentions between two offsets."""
        for group in self.mentions(path):
            if group.first.start <= end and start <= group.first.end:
                with self._staging() as editing:
                    if stage_links(editing.staged, [(group, [group.first])]).links:
                        title = f"Link to {group.first.link}"
                        yield Fix(title=title, changes=editing.staged.change_set())

    def rename(self, path: str, new: str) -> ChangeSet:
        """What `zkchat note rename` would do, with the open texts. Raises `VaultError`."""
        with self._staging() as editing:
            self.library.refresh()
            editing.editor.rename(path, new)
            return editing.staged.change_set()

    def follow(self, moves: list[tuple[str, str]]) -> ChangeSet:
        """What becomes of links once files or folders are moved. Raises `VaultError`."""
        with self._staging() as editing:
            for source, target in moves:
                stage_move(self.library, editing.staged, source, target, link_style(self._workspace.paths.vault))
            return editing.staged.change_set()

    @contextmanager
    def _staging(self) -> Iterator[Editing]:
        """An editor of the notes over the texts that are open; nothing of it is written."""
        with open_editing(self._workspace, self.library) as editing:
            staged = editing.staged
            for path, document in self.documents.items():
                with suppress(VaultError):  # what is no UTF-8 on disk is not changed
                    on_disk = staged.read(path)
                    if on_disk is None:
                        staged.create(path, document.text, title="")
                    elif on_disk != document.text:
                        staged.write(path, document.text, made_from=on_disk, title="")
            yield editing


class _Closing(Exception):
    """The connection ends."""


class _EditorCompleter(LinkCompleter):
    """Completes the places of notes as they are in the editor, and those of the note itself."""

    def __init__(self, names: NameCache, vault: EditorVault, source: str) -> None:
        super().__init__(names, vault)
        self._vault = vault
        self._source = source

    def outline_of(self, target: str) -> Note | KnownNote | None:
        found = self._vault.resolve(Link(text=f"[[{target}]]", target=target), self._source)
        if not isinstance(found, Resolved | Ambiguous):
            return None
        is_open = found.path in self._vault.documents
        return self._vault.note(found.path) if is_open else self._vault.library.outline(found.path)


def _described(anchor: str) -> str:
    last = anchor.rpartition("#")[2].strip()
    return f"block {last}" if last.startswith("^") else f"heading “{last}”"


def heading_tree(headings: tuple[Heading, ...], line_count: int) -> Iterator[tuple[Heading, int, int]]:
    """Each heading with its depth in the outline and the last line of its section."""
    above: list[int] = []
    for number, heading in enumerate(headings):
        while above and above[-1] >= heading.level:
            above.pop()
        after = (each.line - 1 for each in headings[number + 1 :] if each.level <= heading.level)
        yield heading, len(above), next(after, line_count)
        above.append(heading.level)

"""Completion at the prompt: notes after `[[`, headings, blocks; `@` agents, files, folders; `#` tags; commands."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final, Protocol

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from zkchat.core import Ambiguous, KnownNote, Link, Note, Resolved, ZkchatError, counted, file_kind, is_note
from zkchat.index import Library
from zkchat.notes import is_folder
from zkchat.render import sanitize_line
from zkchat.repl.note_names import NameCache, NameMatch, normalize_name
from zkchat.repl.picker import truncate_cells

_OPEN_LINK: Final = re.compile(r"\[\[([^\[\]|\n]*)$")
_MENTION: Final = re.compile(r"""(?:^|(?<=\s))@(?:"(?P<quoted>[^"\n]*)|(?P<plain>[^\s"]*))$""")
_TAG: Final = re.compile(r"""(?:^|(?<=\s))#([^\s#\[\]()"'`]*)$""")
_MAX_PLACES: Final = 200
_MAX_NAME_CELLS: Final = 44
"""Terminal cells of a title in the menu, so that one long title does not push out the paths."""


class LinkSource(Protocol):
    """Where links are followed."""

    @property
    def library(self) -> Library: ...


class CompletionSource(LinkSource, Protocol):
    """What the open conversation contributes to completion, beside the names of notes."""

    @property
    def agent_names(self) -> Sequence[str]: ...

    @property
    def resources(self) -> Sequence[tuple[str, str]]:
        """How a message names each resource of MCP servers, and what it is called."""

    def complete_command(self, line: str) -> Sequence[tuple[str, str]]:
        """Texts that may follow a line that begins with a slash, each with its description."""


class LinkCompleter(Completer):
    """Completes links and tags before the cursor. Reads the disk only for the headings of one note.

    An error means that there is no menu, and nothing else.
    """

    def __init__(self, name_cache: NameCache, source: LinkSource) -> None:
        self._name_cache = name_cache
        self._links = source

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
        with suppress(ZkchatError):
            yield from self._rows(document.text_before_cursor, document.text_after_cursor)

    def _rows(self, before: str, after: str) -> Iterable[Completion]:
        if link := _OPEN_LINK.search(before):
            closing = "" if after.startswith("]]") else "]]"
            target, is_place, place = Link.split(link[1])
            return self._places(target, place, closing) if is_place else self._notes(link[1], closing)
        if tag := _TAG.search(before):
            found = self._name_cache.find_tags(tag[1])
            return [_row(f"#{name}", len(tag[1]) + 1, about=counted(notes, "note")) for name, notes in found]
        return ()

    def _notes(self, typed: str, closing: str) -> Iterator[Completion]:
        for match in self._name_cache.find(typed):
            note = match.note
            link = self._name_cache.link(note.path)
            is_alias = match.name in note.aliases and normalize_name(match.name) != normalize_name(link)
            text = f"{link}|{match.name}" if is_alias else link
            name = truncate_cells(f"{match.name} → {note.title}" if is_alias else note.title, _MAX_NAME_CELLS)
            yield _row(text + closing, len(typed), name, f"{_cost(match)}  {note.path}")

    def outline_of(self, target: str) -> Note | KnownNote | None:
        """The note that a link names, with its headings and blocks."""
        library = self._links.library
        found = library.resolve(Link(text=f"[[{target}]]", target=target))
        return library.outline(found.path) if isinstance(found, Resolved | Ambiguous) else None

    def _places(self, target: str, typed: str, closing: str) -> list[Completion]:
        outline = self.outline_of(target)
        if outline is None:
            return []
        if typed.startswith("^"):
            places = [(f"^{block.id}", f"line {block.line}") for block in outline.blocks]
        else:
            typed = typed.rpartition("#")[2]
            places = [(heading.text, "#" * heading.level) for heading in outline.headings]
        query = normalize_name(typed)
        matches = [(name, about) for name, about in places if query in normalize_name(name)][:_MAX_PLACES]
        return [_row(name + closing, len(typed), name, about) for name, about in matches]


class MenuCompleter(LinkCompleter):
    """Completes what a message may hold besides: commands, agents, resources, files and folders."""

    def __init__(self, name_cache: NameCache, source: CompletionSource) -> None:
        super().__init__(name_cache, source)
        self._source = source

    def _rows(self, before: str, after: str) -> Iterable[Completion]:
        if _OPEN_LINK.search(before) or _TAG.search(before):
            return super()._rows(before, after)
        if before.startswith("/") and "\n" not in before:
            _, gap, argument = before.partition(" ")
            replaces = len(argument.lstrip()) if gap else len(before)
            return [_row(text, replaces, about=about) for text, about in self._source.complete_command(before)]
        if mention := _MENTION.search(before):
            typed, replaces = mention["quoted"] or mention["plain"] or "", len(mention[0])
            is_agent = mention.start() == 0 and mention["plain"] is not None
            return chain(
                self._agents(typed) if is_agent else (),
                self._resources(typed, replaces),
                self._documents(typed, replaces),
            )
        return ()

    def _documents(self, typed: str, replaces: int) -> Iterator[Completion]:
        """Files are inserted as links, like notes; a folder so that what is in it can be typed next."""
        for match in self._name_cache.find_documents(typed):
            path = match.note.path
            if is_folder(path):
                yield _row(f'@"{path}"' if " " in path else f"@{path}", replaces, path, "folder")
            else:
                yield _row(f"[[{path}]] ", replaces, path, _cost(match) if is_note(path) else file_kind(path) or "file")

    def _agents(self, typed: str) -> Iterator[Completion]:
        query = normalize_name(typed)
        for agent in self._source.agent_names:
            if query in normalize_name(agent):
                yield _row(f"@{agent} ", len(typed) + 1, f"@{agent}")

    def _resources(self, typed: str, replaces: int) -> list[Completion]:
        query = normalize_name(typed)
        found = [row for row in self._source.resources if query and query in normalize_name(" ".join(row))]
        return [
            _row(f"{mention} ", replaces, truncate_cells(mention, _MAX_NAME_CELLS), name)
            for mention, name in found[:_MAX_PLACES]
        ]


def _row(text: str, replaces: int, name: str = "", about: str = "") -> Completion:
    """A row of the menu: what is inserted, and how many characters before the cursor it replaces."""
    return Completion(
        text, start_position=-replaces, display=sanitize_line(name or text), display_meta=sanitize_line(about)
    )


def _cost(match: NameMatch) -> str:
    kind = file_kind(match.note.path)  # whose size says nothing of its text
    return kind or f"≈ {max(1, match.note.size // 4):,} tokens"

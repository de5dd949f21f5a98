"""Completion at the prompt: notes after `[[`, headings, blocks; `@` agents, files, folders; `#` tags; commands."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, Protocol

from msgspec import Struct
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from zkchat.core import Ambiguous, Link, Resolved, ZkchatError, counted, file_kind, is_note
from zkchat.index import Library
from zkchat.notes import is_folder
from zkchat.render import sanitize_line
from zkchat.repl.note_names import NameCache, NameMatch, normalize_name
from zkchat.repl.picker import truncate_cells

_OPEN_LINK: Final = re.compile(r"\[\[([^\[\]|\n]*)$")
_MENTION: Final = re.compile(r"""(?:^|(?<=\s))@(?:"(?P<quoted>[^"\n]*)|(?P<plain>[^\s"]*))$""")
_TAG: Final = re.compile(r"""(?:^|(?<=\s))#([^\s#\[\]()"'`]*)$""")
_BYTES_PER_TOKEN: Final = 4
_MAX_PLACES: Final = 200
_MAX_NAME_CELLS: Final = 44
"""Terminal cells of a title in the menu, so that one long title does not push out the paths."""


class Suggestion(Struct, frozen=True, kw_only=True):
    """A row of the menu. Its texts are sanitized where they are drawn."""

    text: str
    """What is inserted."""
    replaces: int
    """Number of characters before the cursor that it replaces."""
    name: str
    about: str = ""


class CompletionSource(Protocol):
    """What the open conversation contributes to completion, beside the names of notes."""

    @property
    def library(self) -> Library: ...

    @property
    def agent_names(self) -> Sequence[str]: ...

    @property
    def resources(self) -> Sequence[tuple[str, str]]:
        """How a message names each resource of MCP servers, and what it is called."""
        ...

    def complete_command(self, line: str) -> Sequence[tuple[str, str]]:
        """Texts that may follow a line that begins with a slash, each with its description."""
        ...


class Suggestions:
    """Completes a text. Reads the disk only for the headings of one note."""

    def __init__(self, name_cache: NameCache, source: CompletionSource) -> None:
        self._name_cache = name_cache
        self._source = source

    def after(self, before: str) -> Iterable[Suggestion]:
        """Suggestions for the text before the cursor."""
        if link := _OPEN_LINK.search(before):
            target, is_place, place = link[1].partition("#")
            return self._places(target, place) if is_place else self._notes(link[1])
        if tag := _TAG.search(before):
            return self._of_tags(tag[1])
        if before.startswith("/") and "\n" not in before:
            return self._of_commands(before)
        if mention := _MENTION.search(before):
            typed = mention["quoted"] or mention["plain"] or ""
            agents = self._source.agent_names if mention.start() == 0 else ()
            return chain(
                self._of_agents(agents, mention["plain"]),
                self._of_resources(typed, len(mention[0])),
                self._documents(typed, len(mention[0])),
            )
        return ()

    def _notes(self, typed: str) -> Iterator[Suggestion]:
        for match in self._name_cache.find(typed):
            note = match.note
            link = self._name_cache.link(note.path)
            is_alias = match.name in note.aliases and normalize_name(match.name) != normalize_name(link)
            yield Suggestion(
                text=f"{link}|{match.name}" if is_alias else link,
                replaces=len(typed),
                name=truncate_cells(f"{match.name} → {note.title}" if is_alias else note.title, _MAX_NAME_CELLS),
                about=_about(match),
            )

    def _documents(self, typed: str, replaces: int) -> Iterator[Suggestion]:
        """Files are inserted as links, like notes; a folder so that what is in it can be typed next."""
        for match in self._name_cache.find_documents(typed):
            path = match.note.path
            if is_folder(path):
                mention = f'@"{path}"' if " " in path else f"@{path}"
                yield Suggestion(text=mention, replaces=replaces, name=path, about="folder")
            else:
                about = _about(match, with_path=False) if is_note(path) else file_kind(path) or "file"
                yield Suggestion(text=f"[[{path}]] ", replaces=replaces, name=path, about=about)

    def _of_resources(self, typed: str, replaces: int) -> list[Suggestion]:
        query = normalize_name(typed)
        found = [row for row in self._source.resources if query and query in normalize_name(" ".join(row))]
        return [
            Suggestion(text=f"{mention} ", replaces=replaces, name=truncate_cells(mention, _MAX_NAME_CELLS), about=name)
            for mention, name in found[:_MAX_PLACES]
        ]

    def _of_tags(self, typed: str) -> list[Suggestion]:
        return [
            Suggestion(
                text=f"#{tag.name}", replaces=len(typed) + 1, name=f"#{tag.name}", about=counted(tag.notes, "note")
            )
            for tag in self._name_cache.find_tags(typed)
        ]

    def _places(self, target: str, typed: str) -> list[Suggestion]:
        library = self._source.library
        found = library.resolve(Link(text=f"[[{target}]]", target=target))
        outline = library.outline(found.path) if isinstance(found, Resolved | Ambiguous) else None
        if outline is None:
            return []
        if typed.startswith("^"):
            places = [(f"^{block.id}", f"line {block.line}") for block in outline.blocks]
        else:
            typed = typed.rpartition("#")[2]
            places = [(heading.text, "#" * heading.level) for heading in outline.headings]
        query = normalize_name(typed)
        matches = [(name, about) for name, about in places if query in normalize_name(name)][:_MAX_PLACES]
        return [Suggestion(text=name, replaces=len(typed), name=name, about=about) for name, about in matches]

    def _of_commands(self, before: str) -> list[Suggestion]:
        _, gap, argument = before.partition(" ")
        replaces = len(argument.lstrip()) if gap else len(before)
        return [
            Suggestion(text=text, replaces=replaces, name=text, about=about)
            for text, about in self._source.complete_command(before)
        ]

    @staticmethod
    def _of_agents(agents: Iterable[str], typed: str | None) -> list[Suggestion]:
        if typed is None:
            return []
        query = normalize_name(typed)
        matches = [agent for agent in agents if query in normalize_name(agent)]
        return [Suggestion(text=f"@{agent} ", replaces=len(typed) + 1, name=f"@{agent}") for agent in matches]


def _about(match: NameMatch, *, with_path: bool = True) -> str:
    kind = file_kind(match.note.path)  # whose size says nothing of its text
    tokens = kind or f"≈ {max(1, match.note.size // _BYTES_PER_TOKEN):,} tokens"
    return f"{tokens}  {match.note.path}" if with_path else tokens


class MenuCompleter(Completer):
    """Adapts the suggestions to prompt_toolkit. An error means that there is no menu, and nothing else."""

    def __init__(self, suggestions: Suggestions) -> None:
        self._suggestions = suggestions

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
        before, after = document.text_before_cursor, document.text_after_cursor
        closing = "" if after.startswith("]]") else "]]"
        is_link = _OPEN_LINK.search(before) is not None
        try:
            for suggestion in self._suggestions.after(before):
                yield Completion(
                    text=suggestion.text + closing if is_link else suggestion.text,
                    start_position=-suggestion.replaces,
                    display=sanitize_line(suggestion.name),
                    display_meta=sanitize_line(suggestion.about),
                )
        except ZkchatError:
            return

"""What may follow the text before the cursor: notes after `[[`, their headings and blocks, commands, agents, files."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from zkchat.errors import ZkchatError
from zkchat.model.note import Ambiguous, Link, Resolved
from zkchat.render.sanitize import sanitize_line
from zkchat.repl.note_names import Fitting, folded
from zkchat.repl.status_bar import cut

if TYPE_CHECKING:
    from zkchat.repl.name_cache import NameCache
    from zkchat.vault.library import Library

_OPEN_LINK: Final = re.compile(r"\[\[([^\[\]|\n]*)$")
_FILE: Final = re.compile(r"(?:^|(?<=\s))@(\S*)$")
_BYTES_OF_TOKEN: Final = 4
_MOST_PLACES: Final = 200
_LONGEST_NAME: Final = 44
"""Cells of a title in the menu, so that one long title does not push out where the notes are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A row of the menu. Its words may be anything; they are made safe where they are drawn."""

    text: str
    """What is inserted."""
    replaces: int
    """Characters before the cursor that it takes the place of."""
    name: str
    about: str = ""


class Offers:
    """What completes a text. Never waits for the disk, but for the headings of one note."""

    def __init__(
        self,
        name_cache: "NameCache",
        *,
        library: Callable[[], "Library"],
        commands: Callable[[str], Sequence[tuple[str, str]]],
        agents: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._name_cache = name_cache
        self._library = library
        self._commands = commands
        self._agents = agents

    def after(self, before: str) -> Iterable[Offer]:
        if link := _OPEN_LINK.search(before):
            target, is_place, place = link[1].partition("#")
            return self._places(target, place) if is_place else self._notes(link[1])
        if before.startswith("/") and "\n" not in before:
            return self._of_commands(before)
        if file := _FILE.search(before):
            agents = self._agents() if file.start() == 0 else ()
            return self._of_agents(agents, file[1]) if agents else self._files(file[1])
        return ()

    def _notes(self, typed: str) -> Iterator[Offer]:
        for fitting in self._name_cache.fitting(typed):
            note = fitting.note
            link = self._name_cache.link(note.path)
            is_alias = fitting.name in note.aliases and folded(fitting.name) != folded(link)
            yield Offer(
                text=f"{link}|{fitting.name}" if is_alias else link,
                replaces=len(typed),
                name=cut(f"{fitting.name} → {note.title}" if is_alias else note.title, _LONGEST_NAME),
                about=_about(fitting),
            )

    def _files(self, typed: str) -> Iterator[Offer]:
        """Files are linked like notes: that is how the conversation knows them."""
        for fitting in self._name_cache.fitting(typed):
            path = fitting.note.path
            yield Offer(text=f"[[{path}]] ", replaces=len(typed) + 1, name=path, about=_about(fitting, place=False))

    def _places(self, target: str, typed: str) -> list[Offer]:
        library = self._library()
        found = library.resolve(Link(text=f"[[{target}]]", target=target))
        outline = library.outline(found.path) if isinstance(found, Resolved | Ambiguous) else None
        if outline is None:
            return []
        if typed.startswith("^"):
            places = [(f"^{block.id}", f"line {block.line}") for block in outline.blocks]
        else:
            typed = typed.rpartition("#")[2]
            places = [(heading.text, "#" * heading.level) for heading in outline.headings]
        asked = folded(typed)
        fitting = [(name, about) for name, about in places if asked in folded(name)][:_MOST_PLACES]
        return [Offer(text=name, replaces=len(typed), name=name, about=about) for name, about in fitting]

    def _of_commands(self, before: str) -> list[Offer]:
        _, gap, argument = before.partition(" ")
        replaces = len(argument.lstrip()) if gap else len(before)
        return [Offer(text=text, replaces=replaces, name=text, about=about) for text, about in self._commands(before)]

    @staticmethod
    def _of_agents(agents: Iterable[str], typed: str) -> list[Offer]:
        asked = folded(typed)
        fitting = [agent for agent in agents if asked in folded(agent)]
        return [Offer(text=f"@{agent} ", replaces=len(typed) + 1, name=f"@{agent}") for agent in fitting]


def _about(fitting: Fitting, *, place: bool = True) -> str:
    tokens = f"≈ {max(1, fitting.note.size // _BYTES_OF_TOKEN):,} tokens"
    return f"{tokens}  {fitting.note.path}" if place else tokens


class MenuCompleter(Completer):
    """The offers as prompt_toolkit wants them. What goes wrong means that there is no menu, and nothing else."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
        before, after = document.text_before_cursor, document.text_after_cursor
        closes = "" if after.startswith("]]") else "]]"
        is_link = _OPEN_LINK.search(before) is not None
        try:
            for offer in self._offers.after(before):
                yield Completion(
                    text=offer.text + closes if is_link else offer.text,
                    start_position=-offer.replaces,
                    display=sanitize_line(offer.name),
                    display_meta=sanitize_line(offer.about),
                )
        except ZkchatError:
            return

"""Answers to questions about the vault itself, for an answer that no model writes: their text and their documents."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from zkchat.chat.question import Question
from zkchat.chat.references import VIA_WITHHELD
from zkchat.errors import StorageError, VaultError
from zkchat.model.evidence import VaultListing
from zkchat.model.note import Ambiguous, Link, Resolved
from zkchat.model.references import DocumentReference
from zkchat.vault.catalog.lexer import LINK_MARK
from zkchat.vault.catalog.parser import parse_question
from zkchat.vault.catalog.query import MAX_LISTED
from zkchat.vault.library import Library
from zkchat.vault.links.folders import is_folder
from zkchat.vault.notes import wikilink

if TYPE_CHECKING:
    from zkchat.vault.catalog.answers import CatalogAnswer, Row

_EXACT: Final = frozenset({"path", "name", "alias", "id", "title"})


def answer_about_vault(
    library: Library,
    question: Question,
    references: Sequence[DocumentReference],
    *,
    most: int = MAX_LISTED,
    after: int = 0,
) -> VaultListing | None:
    """What the index says on a question about the vault itself; None for every other question, and where it fails.

    The text of a list begins after so many rows, and has so many.
    """
    if question.has_material or question.unknown_paths:
        return None
    targets = [_target(link, references) for link in question.links]
    if not all(targets):
        return None
    names, calendar = _LibraryNames(library), library.calendar()
    try:
        query = parse_question(_marked(question), targets, names, calendar)
        if query is None:
            return None
        from zkchat.vault.catalog.answers import answer_query

        is_missing = any(each.status == "missing" for each in references)
        path = "" if is_missing else query.note if query.note in targets else names.path_of(query.note or "")
        answer = answer_query(library, query, path or "", calendar, most=after + most)
        text = _text(library, answer, after)
        return VaultListing(
            text=text,
            references=tuple(_references(library, answer, text)),
            rows=len(answer.rows),
            is_numbered=any(row.path for row in answer.rows),
            more=0 if query.kind == "tags" else answer.more,
        )
    except (StorageError, VaultError):
        return None


class _LibraryNames:
    """Implements `parser.Names`."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def is_folder(self, name: str) -> bool:
        return bool(self._library.find_folder(f"{name.strip('/')}/"))

    def is_note(self, name: str) -> bool:
        return bool(self.path_of(name))

    def is_tag(self, name: str) -> bool:
        return name.casefold() in self._library.tags()

    def path_of(self, name: str) -> str:
        found = self._library.resolve(Link(text=f"[[{name}]]", target=name), suggestions=0) if name else None
        return found.path if isinstance(found, Resolved | Ambiguous) and found.via in _EXACT else ""


def _target(link: Link, references: Iterable[DocumentReference]) -> str:
    """The note or folder that a link of the question leads to, or the name of one that is not there.

    Empty for a place in a note, and for a note that is kept back."""
    found = next((each for each in references if each.wikilink == link.text), None)
    if not found or link.anchor or found.via == VIA_WITHHELD:
        return ""
    return found.relative_path or link.target


def _marked(question: Question) -> str:
    """The question with a mark in the place of each link, without the agent that it is addressed to."""
    pieces: list[str] = []
    position = 0
    for link in question.links:
        pieces += (question.text[position : link.start], LINK_MARK)
        position = link.end
    text = "".join([*pieces, question.text[position:]]).strip()
    return text.partition(" ")[2] if question.agent is not None and text.startswith("@") else text


def _text(library: Library, answer: "CatalogAnswer", after: int) -> str:
    lines = [
        _line(library, row, number, is_list=len(answer.rows) > 1)
        for number, row in enumerate(answer.rows[after:], start=after + 1)
    ]
    more = f"\n… and {answer.more:,} more.\n" if answer.more else ""
    if after:
        return "".join([*lines, more])
    return f"{answer.heading}\n" + "".join(["\n", *lines, more] if lines else [])


def _line(library: Library, row: "Row", number: int, *, is_list: bool) -> str:
    if row.path is None:
        return f"- {row.details}\n" if is_list else f"{row.details}\n"
    return f"{number}. {' · '.join(filter(None, [library.link_to(row.path), row.details]))}\n"


def _references(library: Library, answer: "CatalogAnswer", text: str) -> Iterable[DocumentReference]:
    """The notes of the list in its order, so that they have its numbers, and those that are named beside it."""
    listed = [row.path for row in answer.rows if row.path]
    beside = (library.resolve(link, suggestions=0) for link in wikilink.scan(text))
    named = (found.path for found in beside if isinstance(found, Resolved | Ambiguous))
    for path in dict.fromkeys([*listed, *named]):
        if not is_folder(path):
            yield DocumentReference(
                wikilink=library.link_to(path),
                relative_path=path,
                reference_type="search",
                via="index",
                title=library.title(path),
            )

"""Passages that may answer a question, and in which notes they are looked for."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.errors import VaultError
from zkchat.model.dates import DayRange, NoteDate
from zkchat.model.note import Passage, is_pdf
from zkchat.model.trust import PAGES
from zkchat.vault.dates.questions import Order
from zkchat.vault.library import Library
from zkchat.vault.notes.parse import frontmatter_of
from zkchat.vault.search.block_ranking import RankedBlock
from zkchat.vault.search.synonyms import with_synonyms
from zkchat.vault.search.terms import idf, query_terms, terms

SEARCHED_PASSAGES = 12
"""Of all notes, or of a long one that is linked."""
NAMED_NOTES = 2
"""Notes, the best first, by whose names more is looked for."""
MAX_HELD = 0.7
"""The share of the words of a question that the best passage has where more is looked for."""
NAMESAKE_SHARE = 0.9
"""What passages score that were found by such names, beside those that were found by the question."""
WHOLE_NOTES = 5
"""Notes, the best first, of which all sections are looked at."""
MAX_WHOLE_NOTE = 10_000
"""Characters of such a note."""


class Scope(Struct, frozen=True):
    """Which notes evidence is looked for in, and which of them come first."""

    period: DayRange | None = None
    order: Order | None = None
    """By the day they were written, among those that answer; None: the best first."""
    names: tuple[str, ...] = ()
    """Notes that hold them come before all others."""
    without_pdfs: bool = False
    """Where it is asked what the user wrote."""


EVERYWHERE: Final = Scope()


class Candidate(Struct, frozen=True):
    ranked: RankedBlock
    linked: bool = False
    date: NoteDate | None = None
    outdated_by: str = ""
    """The path of the newest note that says otherwise."""
    outdates: tuple[str, ...] = ()
    """The paths of older notes that say otherwise."""

    @property
    def path(self) -> str:
        return self.ranked.passage.path

    @property
    def score(self) -> float:
        return self.ranked.score

    @property
    def is_opening(self) -> bool:
        """Whether it is quoted because the note begins with it, and not for what it says."""
        return self.linked and not self.ranked.best_sentences


def search_passages(library: Library, topic: str, scope: Scope, limit: int = SEARCHED_PASSAGES) -> list[Passage]:
    """The best for the topic of a question, and for what its words could be called instead.

    Without the pages that instruct the model: they are no notes, and may not be approved.
    """
    return _searched(library, with_synonyms(topic), scope, limit)


def _searched(library: Library, query: str, scope: Scope, limit: int) -> list[Passage]:
    found = library.search(query, limit=limit, period=scope.period)
    return [each for each in found if each.path not in PAGES and not (scope.without_pdfs and is_pdf(each.path))]


def with_namesakes(library: Library, topic: str, scope: Scope, found: Sequence[Passage]) -> list[Passage]:
    """The passages that were found, and those for the same topic under the names of the best notes.

    The question may describe what a note only names: "kitchen scale" finds the note Grama, and that name finds Grama
    FAQ. Where the best passage has most words of the question there is nothing to look for.
    """
    asked = set(query_terms(topic))
    if not found:
        return []
    held = asked.intersection(terms("\n".join((found[0].title, *found[0].heading_path, found[0].text))))
    if len(held) > MAX_HELD * len(asked):
        return [*found]
    titles = dict.fromkeys(each.title for each in found)
    names = [title for title in islice(titles, NAMED_NOTES) if not asked.issuperset(query_terms(title))]
    further = _searched(library, " ".join((topic, *names)), scope, SEARCHED_PASSAGES) if names else []
    known = {(each.path, each.first_line) for each in found}
    ratio = NAMESAKE_SHARE * found[0].score / further[0].score if further and further[0].score else 1.0
    added = (each for each in further if (each.path, each.first_line) not in known)
    return [*found, *(replace(each, score=ratio * each.score) for each in added)]


def whole_notes(library: Library, passages: Iterable[Passage]) -> dict[str, Passage]:
    """The best notes by path: what answers may stand beside what was found, in a section that has none of the words."""
    best: dict[str, Passage] = {}
    for each in passages:
        best.setdefault(each.path, each)
    notes: dict[str, Passage] = {}
    for path, first in islice(best.items(), WHOLE_NOTES):
        with suppress(VaultError):  # it is gone, or cannot be read
            text = library.section(path)
            body = text[frontmatter_of(text).end :]
            if len(body) <= MAX_WHOLE_NOTE:
                lines = text.count("\n") + 1
                notes[path] = replace(first, heading_path=(), text=body, first_line=1, last_line=lines, score=0.0)
    return notes


def rarest_idf(library: Library) -> float:
    """The inverse document frequency of a word that one note has."""
    return idf(max(1, library.note_count()), 1)


def telling(ranked: Iterable[RankedBlock]) -> Iterator[RankedBlock]:
    """Without blocks that only point elsewhere: "See also [[Compost]]." answers nothing."""
    return (each for each in ranked if not each.block.is_pointer)

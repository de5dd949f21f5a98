"""How notes begin: what is quoted of a note where a question only names it."""

from collections.abc import Sequence, Set
from contextlib import suppress
from itertools import islice

from zkchat.errors import VaultError
from zkchat.model.dates import DayRange
from zkchat.model.evidence import DEFAULT_LIMIT
from zkchat.model.note import Ambiguous, Link, Passage, Resolved
from zkchat.vault.evidence_candidates import Candidate
from zkchat.vault.indexing.reader import is_source
from zkchat.vault.library import Library
from zkchat.vault.notes.blocks import Block, blocks
from zkchat.vault.notes.parse import frontmatter_of
from zkchat.vault.search.block_ranking import RankedBlock
from zkchat.vault.search.question_terms import names_in, parts_of, topic_of
from zkchat.vault.search.terms import query_terms

MAX_OPENING_CHARACTERS = 20_000
"""Characters of a note in which its first passages are looked for."""
_MAX_NAMED = 8
"""Notes that a question asks about together."""


def of_named(library: Library, asked: str, passages: Sequence[Passage], period: DayRange | None) -> list[Candidate]:
    """How the notes begin whose name is all that the question says."""
    topic = frozenset(query_terms(topic_of(asked)))
    paths = _named(library, asked) if not period else []
    if topic:
        found = dict.fromkeys(passage.path for passage in passages)
        paths = [*paths, *(path for path in found if _is_called(library, path, topic))]
    openings: list[list[Candidate]] = []
    for path in dict.fromkeys(paths):
        with suppress(VaultError):  # it is gone, or cannot be read; others may still speak of it
            if is_source(frontmatter_of(library.read(path)).properties):
                openings.append(opening_of(library, path, ""))
    each_gives = max(1, DEFAULT_LIMIT // len(openings)) if openings else 0
    return [candidate for opening in openings for candidate in opening[:each_gives]]


def _named(library: Library, asked: str) -> list[str]:
    """The notes that have the name, or each of the names, that is all the question says: "Tea vs. coffee"."""
    if whole := _called(library, asked):
        return whole
    parts = parts_of(asked)
    if not 1 < len(parts) <= _MAX_NAMED:
        return []
    found: list[str] = []
    for part in parts:
        if not (paths := _called(library, part)):
            return []
        found += paths
    return found


def _called(library: Library, text: str) -> list[str]:
    """The notes with the longest name that may be all that a text says."""
    return next(filter(None, (resolved(library, name) for name in names_in(text))), [])


def resolved(library: Library, name: str) -> list[str]:
    """The notes that have a name."""
    match library.resolve(Link(text=f"[[{name}]]", target=name), suggestions=0):
        case Resolved(path=path) if library.is_indexed(path):
            return [path]
        case Ambiguous(path=path, others=others):
            return [each for each in (path, *others) if library.is_indexed(each)]
        case _:
            return []


def _is_called(library: Library, path: str, topic: Set[str]) -> bool:
    return any(topic == frozenset(query_terms(name)) for name in library.names(path))


def opening_of(library: Library, path: str, anchor: str) -> list[Candidate]:
    """How a note or section begins: the first block of each of its first sections, and more of them if they are few."""
    passage = section_of(library, path, anchor)
    found = blocks(passage.text)
    telling = [block for block in found if not block.is_pointer] or found
    first_of_section: dict[tuple[str, ...], Block] = {}
    for block in telling:
        first_of_section.setdefault(block.heading_path, block)
    chosen = [*islice(first_of_section.values(), DEFAULT_LIMIT)]
    chosen += islice((block for block in telling if block not in chosen), DEFAULT_LIMIT - len(chosen))
    return [
        Candidate(
            RankedBlock(
                passage=passage, block=block, best_sentences=(), score=1.0, coverage=0.0, framed=0.0, own_score=0.0
            ),
            linked=True,
        )
        for block in sorted(chosen, key=lambda block: block.first_line)
    ]


def section_of(library: Library, path: str, anchor: str) -> Passage:
    """The note, or what stands under one of its headings, as a passage."""
    text = library.section(path, anchor)
    return Passage(
        path=path,
        title=library.title(path),
        heading_path=(anchor,) if anchor else (),
        text=text[frontmatter_of(text).end :][:MAX_OPENING_CHARACTERS],
        first_line=1,
        last_line=library.read(path).count("\n") + 1,
        score=1.0,
        snippet="",
        why="linked",
    )

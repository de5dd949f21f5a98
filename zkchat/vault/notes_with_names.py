"""Which passages are of notes that hold the names of a question, such as `Ann` in "last meeting with Ann"."""

from collections.abc import Sequence
from typing import Final

from zkchat.errors import VaultError
from zkchat.vault.dates.headings import day_of_headings
from zkchat.vault.library import Library
from zkchat.vault.search.block_ranking import RankedBlock
from zkchat.vault.search.terms import query_terms, terms

_MAX_CHARACTERS: Final = 20_000
"""Characters of a note in which names are looked for."""


def holding(library: Library, names: Sequence[str], ranked: Sequence[RankedBlock]) -> list[tuple[RankedBlock, str]]:
    """The blocks of notes that hold most of the names, in the same order, each with what its note says: path,
    frontmatter and text; of a section that has a date of its own, the section. None where no note holds a name."""
    wanted = [frozenset(query_terms(name)) for name in names]
    texts: dict[str, str] = {}
    counts: dict[str, int] = {}
    found: list[tuple[RankedBlock, str, int]] = []
    for each in ranked:
        said = _said(library, each, texts)
        if said not in counts:
            present = frozenset(terms(said))
            counts[said] = sum(name <= present for name in wanted)
        found.append((each, said, counts[said]))
    most = max(counts.values(), default=0)
    return [(each, said) for each, said, count in found if count == most > 0]


def _said(library: Library, ranked: RankedBlock, texts: dict[str, str]) -> str:
    path, passage = ranked.passage.path, ranked.passage
    folders = path.replace("/", "\n")
    if day_of_headings(ranked.heading_path):
        return "\n".join((folders, passage.title, *ranked.heading_path, passage.text))
    if path not in texts:
        try:
            texts[path] = f"{folders}\n{passage.title}\n{library.read(path)[:_MAX_CHARACTERS]}"
        except VaultError:  # it is gone, or cannot be read
            texts[path] = f"{folders}\n{passage.title}\n{passage.text}"
    return texts[path]

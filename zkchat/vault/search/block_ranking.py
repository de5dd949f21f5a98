"""Rank the blocks of passages by how much of a question they answer. Pure: no vault is asked.

A block counts by the words of the question that it holds, rare ones more, and for part of that by what stands in the
title and the headings above it: "It closes at six." answers only under its heading. What the search thought of the
passage adds to that.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from zkchat.model.note import Passage
from zkchat.vault.notes.blocks import Block, blocks
from zkchat.vault.notes.cross_references import without_cross_references
from zkchat.vault.search.terms import UNSPACED_RUN, words
from zkchat.vault.search.weighted_question import CUE_WEIGHT, Held, Unit, WeightedQuestion

# The figures below were chosen on the questions for development and `dev` of benchmarks/retrieval; others measure them.
COVERAGE_WEIGHT = 0.5
"""What the share of the question counts that a block meets together with its title and headings."""
FRAME_WEIGHT = 0.4
"""What the share counts that stands in title and headings."""
FAMILY_WEIGHT = 0.6
"""And that in all that was found of the note and of those it is named after: a birthday stands in one list, and whose
it is in another paragraph."""
SEARCH_WEIGHT = 0.5
"""What the score of the passage adds, that of the best passage being 1."""
LIST_WEIGHT = 0.25
"""What a list adds where the question asks for one."""
MAX_SCORE = COVERAGE_WEIGHT + FRAME_WEIGHT + FAMILY_WEIGHT + SEARCH_WEIGHT + LIST_WEIGHT

_MAX_CUT_TEXTS = 16
_THREE_LETTERS = re.compile(r"[^\W\d_]{3}")


class RankedBlock(Struct, frozen=True, kw_only=True):
    passage: Passage
    block: Block
    best_sentences: tuple[int, ...]
    """The numbers of its sentences, best first."""
    score: float
    coverage: float
    """The share of the question that the block meets together with its title and headings."""
    framed: float
    """The share that stands in title and headings."""
    own_score: float
    """The score without what the note and the search add: among blocks of one note that tells nothing."""

    @property
    def heading_path(self) -> tuple[str, ...]:
        return self.block.heading_path or self.passage.heading_path


def rank_blocks(
    question: WeightedQuestion, passages: Sequence[Passage], notes: Mapping[str, Passage] | None = None
) -> list[RankedBlock]:
    """The blocks of all passages, best first. The same passages in any order give the same result.

    `notes` are those that were read as a whole: all of their blocks count, those beside a passage as well.
    """
    best = max((passage.score for passage in passages), default=0.0)
    matched = [_MatchedBlock.of(question, *each) for each in _all_blocks(passages, notes or {})]
    of_notes: dict[str, list[Held]] = {}
    titles: dict[str, str] = {}
    for each in matched:
        of_notes.setdefault(each.passage.path, []).append(each.whole)
        titles[each.passage.path] = each.passage.title
    met = {path: _best_of(held) for path, held in of_notes.items()}
    families = {path: question.share(_best_of([met[each] for each in named])) for path, named in _families(titles)}
    ranked = [
        _ranked(question, each, each.passage.score / best if best > 0 else 0.0, families[each.passage.path])
        for each in matched
    ]
    ranked.sort(key=lambda each: (-each.score, each.passage.path, each.passage.first_line, each.block.first_line))
    return ranked


def _all_blocks(passages: Sequence[Passage], notes: Mapping[str, Passage]) -> Iterator[tuple[Passage, Block]]:
    """Each block once, with the best passage that holds it, else with its note."""
    of_notes: dict[str, list[Passage]] = {}
    for passage in sorted(passages, key=lambda each: -each.score):
        of_notes.setdefault(passage.path, []).append(passage)
    for path, found in of_notes.items():
        known: set[str] = set()
        if path in notes:
            for block in blocks_of(notes[path].text):
                known.add(block.text)
                yield next((each for each in found if block.text in each.text), notes[path]), block
            continue
        for passage in found:
            for block in blocks_of(passage.text):
                if block.text not in known:
                    known.add(block.text)
                    yield passage, block


@lru_cache(_MAX_CUT_TEXTS)
def blocks_of(text: str) -> tuple[Block, ...]:
    """The blocks of a text; kept for a while, since what is ranked is then quoted, and asked about again."""
    return tuple(blocks(text))


def _families(titles: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """For each note itself and those that it is named after: "Grama FAQ" is about what "Grama" says of it."""
    names = {path: f" {' '.join(words(title))} " for path, title in titles.items()}
    for path, name in names.items():
        yield path, [each for each, other in names.items() if each == path or (_is_name(other) and other in name)]


def _is_name(said: str) -> bool:
    """Whether a title is more than a number or a short word, which many titles hold."""
    return bool(_THREE_LETTERS.search(said) or UNSPACED_RUN.search(said))


class _MatchedBlock(Struct, frozen=True, kw_only=True):
    """What of the question stands in a block, and in its title and headings."""

    passage: Passage
    block: Block
    frame: Held
    whole: Held

    @classmethod
    def of(cls, question: WeightedQuestion, passage: Passage, block: Block) -> "_MatchedBlock":
        frame = question.held("\n".join((passage.title, *passage.heading_path, *block.heading_path)))
        own = question.held(without_cross_references(block.text))
        return cls(passage=passage, block=block, frame=frame, whole=_best_of([own, frame]))


def _ranked(
    question: WeightedQuestion, matched: _MatchedBlock, search_score: float, met_by_family: float
) -> RankedBlock:
    block = matched.block
    coverage, framed = question.share(matched.whole), question.share(matched.frame)
    own_score = (
        COVERAGE_WEIGHT * coverage
        + FRAME_WEIGHT * framed
        + max(CUE_WEIGHT * question.cue(block.text), LIST_WEIGHT * (question.wants_list and block.kind == "list"))
    )
    return RankedBlock(
        passage=matched.passage,
        block=block,
        best_sentences=question.best_sentences(block),
        score=own_score + FAMILY_WEIGHT * met_by_family + SEARCH_WEIGHT * search_score,
        coverage=coverage,
        framed=framed,
        own_score=own_score,
    )


def _best_of(held: Sequence[Held]) -> Held:
    best: dict[Unit, float] = {}
    for each in held:
        for term, worth in each.items():
            best[term] = max(worth, best.get(term, 0.0))
    return best

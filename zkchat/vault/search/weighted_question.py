"""A question as the words that say its topic, each with its weight, and how much of it stands in a text.

Words count by their forms, parts and synonyms too; where no spaces are written, letters count by those around them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import lru_cache

from msgspec import Struct

from zkchat.lexicon.quantities import NUMBER_WORDS
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.blocks import Block
from zkchat.vault.search.question_terms import topic_of, wants_list, wants_number, wants_time
from zkchat.vault.search.synonyms import synonyms_of
from zkchat.vault.search.terms import UNSPACED_RUN, query_terms, terms

# The figures below were chosen on the questions for development and `dev` of benchmarks/retrieval; others measure them.
PREFIX_WEIGHT = 0.5
"""What a word is worth that has the beginning of a word of the question."""
SYNONYM_WEIGHT = 0.6
"""What a word is worth that says the same as a word of the question."""
CUE_WEIGHT = 0.13
"""What a number or a date adds where the question asks for one."""
MIN_SHARE_OF_BEST_SENTENCE = 0.5
"""Sentences of a block that is cut stay if they meet so much of what the best does."""
_MIN_CUT_CHARACTERS = 240
"""Shorter blocks are quoted whole."""
LETTER_WEIGHT = 0.5
"""The weight of a letter where no spaces are written, against that of a word."""
LONE_LETTER_WEIGHT = 0.5
"""What such a letter is worth without one of those around it."""

_PAIR, _SYLLABLE = 2, 4
"""Letters that make a group: of Chinese, Japanese and Korean, and of Thai and its relatives."""
_KANA = lazy_pattern("[\u3041-\u309f]")
"""The Japanese letters in which particles and endings are written."""
_MAX_KNOWN_PAIRS = 1 << 14
"""Of terms that are compared: the sentences of a note have most of theirs in common."""
_MIN_PREFIX_LETTERS = 4
_MIN_PART_LETTERS = 5
_MIN_PREFIX_SHARE = 0.6
"""Of the longer of two words, that both begin with."""
_NUMBER = (
    r"(?:(?<![\d.,/:-])(?!(?:1[5-9]|20)\d\d(?![\d,.]?\d))\d|[一二三四五六七八九十百千两半]|"
    rf"\b(?:{'|'.join(sorted({each.split(':')[0] for listed in NUMBER_WORDS.values() for each in listed.split()}))})\b)"
)
_AMOUNT = lazy_pattern(_NUMBER, re.IGNORECASE)
"""A number that may be an amount: no year, and none of the later parts of a date."""
_COUNTED = lazy_pattern(rf"{_NUMBER}[\d.,½]*[ -](\w+)", re.IGNORECASE)
"""An amount, and the word after it."""
_DATE = lazy_pattern(
    r"\b\d{4}\b|\d{1,2}[.:/]\d|[年月日]|\b(?:jan|feb|m[aä]r|apr|may|mai|jun|jul|aug|sep|o[ck]t|nov|de[cz])",
    re.IGNORECASE,
)
Idf = Callable[[Iterable[str]], Mapping[str, float]]
_IDEOGRAPHIC = lazy_pattern("[\u3005-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]")
"""A letter of Chinese, Japanese or Korean."""


class Unit(Struct, frozen=True):
    """What is looked for: a word, or a letter of a script without spaces."""

    term: str
    groups: tuple[str, ...] = ()
    """The groups of letters around a letter, any of which has to be there; none for a word."""


Held = Mapping[Unit, float]
"""What of a question stands in a text, each with how well."""


class WeightedQuestion(Struct, frozen=True, kw_only=True):
    """A question as the words that say its topic, with their weights, which together are 1."""

    weights: Mapping[Unit, float]
    synonyms: Mapping[Unit, Set[str]] = {}
    """Terms that say the same as a word."""
    wants_number: bool = False
    wants_time: bool = False
    wants_list: bool = False

    @classmethod
    def of(cls, question: str, idf: Idf, *, rarest: float = 0.0, without: Set[str] = frozenset()) -> "WeightedQuestion":
        """`without` are terms that tell nothing, such as the name of the only note that is looked at; nor does what
        says the same as one of them: "What did we decide in [[Decisions]] about the roof?"

        A word that the vault never uses weighs as much as the heaviest that it does, and at least as the `rarest`.
        """
        units = [unit for unit in _units(topic_of(question)) if unit.term not in without]
        known = idf({unit.term for unit in units})
        unknown = max([rarest, *known.values()])
        weights: dict[Unit, float] = {}
        for unit in units:
            weights[unit] = known.get(unit.term, unknown) * (LETTER_WEIGHT if unit.groups else 1.0)
        total = sum(weights.values())
        synonyms = {unit: said for unit in weights if (said := synonyms_of(unit.term)) and said.isdisjoint(without)}
        return cls(
            weights={unit: weight / total for unit, weight in weights.items()} if total else {},
            synonyms=synonyms,
            wants_number=wants_number(question),
            wants_time=wants_time(question),
            wants_list=wants_list(question),
        )

    def share(self, held: Held) -> float:
        """The weight of what is held, each by how well."""
        return sum(self.weights[unit] * worth for unit, worth in held.items())

    def cue(self, text: str) -> float:
        """How far it holds a number or a date where the question asks for one: "nine hours" for "how many hours" twice
        as much as another number."""
        if self.wants_number and _AMOUNT.search(text):
            asked = {unit.term for unit in self.weights}
            return 1.0 if asked.isdisjoint(terms(" ".join(_COUNTED.findall(text)))) else 2.0
        return 1.0 if self.wants_time and _DATE.search(text) else 0.0

    def held(self, text: str) -> Held:
        """What of the question stands in a text, each with how well: 1 if it is the same word."""
        present = set(terms(text))
        worths = {
            unit: _letter_worth(unit, present, text) if unit.groups else self._word_worth(unit, present)
            for unit in self.weights
        }
        return {unit: worth for unit, worth in worths.items() if worth}

    def _word_worth(self, unit: Unit, present: Set[str]) -> float:
        if unit.term in present:
            return 1.0
        if not present.isdisjoint(self.synonyms.get(unit, ())):
            return SYNONYM_WEIGHT
        return PREFIX_WEIGHT if any(are_related(unit.term, term) for term in present) else 0.0

    def best_sentences(self, block: Block) -> tuple[int, ...]:
        """The numbers of the sentences that a block is cut to, best first; all of a short one."""
        if len(block.text) < _MIN_CUT_CHARACTERS:
            return tuple(range(len(block.sentences)))
        shares = [self.share(self.held(each.text)) + CUE_WEIGHT * self.cue(each.text) for each in block.sentences]
        least = MIN_SHARE_OF_BEST_SENTENCE * max(shares, default=0.0)
        order = sorted(range(len(shares)), key=lambda place: (-shares[place], place))
        return tuple(place for place in order if shares[place] >= least)


def _units(topic: str) -> Iterator[Unit]:
    for run in UNSPACED_RUN.findall(topic):
        size = _PAIR if _IDEOGRAPHIC.match(run) else _SYLLABLE
        for place, letter in enumerate(run):
            around = run[max(0, place - size + 1) : place + size]
            groups = tuple(around[at : at + size] for at in range(max(1, len(around) - size + 1)))
            if not _KANA.match(letter) or len(run) == 1:
                yield Unit(letter, groups)
    yield from map(Unit, query_terms(UNSPACED_RUN.sub(" ", topic)))


def _letter_worth(unit: Unit, present: Set[str], text: str) -> float:
    if any(group in text for group in unit.groups):
        return 1.0
    return LONE_LETTER_WEIGHT if unit.term in present and _IDEOGRAPHIC.match(unit.term) else 0.0


@lru_cache(_MAX_KNOWN_PAIRS)
def are_related(term: str, other: str) -> bool:
    """Whether two terms begin alike for most of the longer one, as forms of a word do, or one is part of the other."""
    if min(len(term), len(other)) >= _MIN_PART_LETTERS and (
        term.startswith(other) or other.startswith(term) or term.endswith(other) or other.endswith(term)
    ):
        return True
    if term[:_MIN_PREFIX_LETTERS] != other[:_MIN_PREFIX_LETTERS] or len(term) < _MIN_PREFIX_LETTERS:
        return False
    longer = max(len(term), len(other))
    shared = next((place for place, pair in enumerate(zip(term, other, strict=False)) if pair[0] != pair[1]), None)
    return (min(len(term), len(other)) if shared is None else shared) >= _MIN_PREFIX_SHARE * longer

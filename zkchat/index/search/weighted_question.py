"""A question as weighted words, and blocks of passages ranked by how much of it stands in them."""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from itertools import islice, pairwise
from typing import Final

from msgspec import Struct

from zkchat.core import Passage, as_open_as, lazy_pattern
from zkchat.index.search.terms import (
    MAX_QUERY_CHARACTERS,
    UNSPACED_RUN,
    UNSPACED_SCRIPTS,
    begins_unspaced,
    phrase_text,
    query_terms,
    query_words,
    shared_letters,
    stem,
    term_spans,
    terms,
    words,
    written_words,
)
from zkchat.language import (
    ABOUT_THE_ANSWER,
    CODES,
    COMPANY,
    COMPANY_ARTICLES,
    CONJUNCTIONS,
    CONNECTIVES,
    DEGREES,
    FOR_A_LIST,
    FOR_A_NUMBER,
    FOR_A_TIME,
    GREETINGS,
    HOW_TO,
    INTERROGATIVES,
    NUMBER_WORDS,
    PHRASES,
    REQUESTS,
    STOP_WORDS,
    SYNONYMS,
    UNSPACED,
    UNSPACED_COMPANY,
    UNSPACED_CONNECTIVES,
    UNSPACED_FOR_A_LIST,
    UNSPACED_FOR_A_NUMBER,
    UNSPACED_FOR_A_TIME,
    UNSPACED_GREETINGS,
    by_code,
    phrases,
)
from zkchat.notes import Block, blocks, detect_language, fold, without_cross_references

_PARTICLES: Final = frozenset("和与跟的了是在有我你吗呢及の和がはをにでともへやか")
"""Letters that say nothing where they stand alone."""
_MAX_WORDS_TO_NOTES: Final = 3
_MAX_CHARACTERS_TO_NOTES: Final = 24
"""Within these first words and characters a question for notes says "notes"."""
_MAX_NAME_WORDS: Final = 80
"""Words of a name, or its letters and pairs of them: whoever sends more asks for no note by its name."""
_MAX_WORDS_AROUND: Final = 12
"""Words that only ask, before or after a name, which may be part of it."""
_UNSPACED_GREETING: Final = lazy_pattern(rf"\s*(?:{'|'.join(UNSPACED_GREETINGS.split())})[^?？]{{0,10}}$")
_MAX_SMALL_TALK: Final = 100
"""Characters of a message that may be nothing but greetings and thanks."""
_MIN_COMPOUND: Final = 6
"""Letters of two words that may be one, with the space between them."""
_MIN_MISSPELLED: Final = 6
"""Letters of a word that may be spelled wrongly: a shorter one is near to too many others."""
_MIN_PARTED: Final = 4
"""Letters of each of two words that were written as one."""
_MAX_KNOWN_QUESTIONS: Final = 16
"""And their topics, of which the language is asked for again and again."""
_MIN_HITS: Final = 2
"""Words of a language that tell that a question is in it: one may be a word of another, or a name."""


@cache
def _folded(listed: str) -> frozenset[str]:
    return frozenset(words(listed))


def _spelled(text: str) -> str:
    """The words of a text between single spaces, however they are accented and punctuated."""
    return " ".join(word if begins_unspaced(word) else " ".join(words(word)) for word in written_words(text))


@cache
def _asking() -> dict[str, frozenset[str]]:
    """By language, its stop words and question words. Made when they are first needed: that takes ten milliseconds."""
    return {
        each: _folded(" ".join(listed.get(each, "") for listed in (STOP_WORDS, INTERROGATIVES, REQUESTS)))
        for each in sorted(STOP_WORDS.keys() | INTERROGATIVES.keys() | REQUESTS.keys())
    }


@cache
def _any_asking() -> frozenset[str]:
    """As terms, in any language."""
    return frozenset(stem(word) for listed in _asking().values() for word in listed).union(query_terms(UNSPACED))


@cache
def _own_scripts() -> frozenset[str]:
    """The question words that are in no Latin script: there they are no words of other languages."""
    return frozenset(word for listed in _asking().values() for word in listed if word[0] > "\u024f")


_REQUESTS: Final = _folded(" ".join(REQUESTS.values()))
_UNSPACED_ASKING: Final = lazy_pattern("|".join(sorted(UNSPACED.split(), key=len, reverse=True)))
_DEGREES: Final = _folded(DEGREES)
_FOR_A_NUMBER: Final = _folded(FOR_A_NUMBER)
_FOR_A_TIME: Final = _folded(FOR_A_TIME)
_FOR_A_LIST: Final = _folded(FOR_A_LIST)
_HOW_TO: Final = [phrase_text(each) for line in HOW_TO.split("\n") for each in line.split("|") if each.strip()]
_CONNECTIVE: Final = lazy_pattern(
    rf"(?<!\S)(?:{'|'.join(CONNECTIVES.split())})\.?(?!\S)|[{UNSPACED_CONNECTIVES}]|[,，、/&]", re.IGNORECASE
)
_SPELLED_PHRASES: Final = "|".join(
    sorted(map(_spelled, filter(str.strip, re.split(r"[\n|]", PHRASES))), key=len, reverse=True)
)
_PHRASES: Final = lazy_pattern(rf"(?<!\S)(?:{_SPELLED_PHRASES})(?!\S)")
"""Of small talk."""
_STOP_WORDS: Final = _folded(" ".join(STOP_WORDS.values()))


@cache
def _small_talk() -> frozenset[str]:
    return frozenset(query_terms(GREETINGS + ABOUT_THE_ANSWER)).union("0123456789")


@cache
def _phrase_terms() -> frozenset[str]:
    return frozenset(terms(PHRASES))


def topic_of(question: str) -> str:
    """The question without the words that only ask, in the order they were written; empty where it says no topic."""
    text = _UNSPACED_ASKING.sub(" ", question[:MAX_QUERY_CHARACTERS])
    found = written_words(text)
    keys = [words(word) for word in found]
    asking = asking_words([key for listed in keys for key in listed])
    telling = []
    for word, its_keys, before in zip(found, keys, [[], *keys], strict=False):
        is_degree = before and before[0] in _DEGREES and its_keys[0] in _FOR_A_NUMBER
        if not (is_degree or word in _PARTICLES or all(key in asking for key in its_keys)):
            telling.append(word)
    return as_open_as(question, " ".join(telling))


def asking_words(asked: Sequence[str]) -> frozenset[str]:
    """The stop words and question words of the language that these words seem to be in, and of scripts of their own."""
    (likeliest, hits), *_ = _likeliest_languages(tuple(asked))
    first = {word for word in asked[:1] if word in _REQUESTS}
    return _asking()[likeliest if hits >= _MIN_HITS else "english"] | first | _own_scripts()


def language_of(question: str) -> str | None:
    """The language of a question by its code, also where only its question words tell; None if it is unclear."""
    (likeliest, hits), (_, others), *_ = _likeliest_languages(tuple(words(question[:MAX_QUERY_CHARACTERS])))
    by_asking = CODES.get(likeliest) if hits >= _MIN_HITS and hits > others else None
    return detect_language(question) or by_asking


@lru_cache(_MAX_KNOWN_QUESTIONS)
def _likeliest_languages(asked: tuple[str, ...]) -> list[tuple[str, int]]:
    counted = Counter(asked)
    hits = Counter({name: sum(counted[word] for word in counted.keys() & known) for name, known in _asking().items()})
    return hits.most_common()


def names_in(question: str) -> list[str]:
    """What a question may be about as a whole, as it is written there, the longest first.

    The words at its ends that only ask may be part of a name: "What is in How to take notes?"
    """
    if len(question) > MAX_QUERY_CHARACTERS:
        return []
    found = [*term_spans(question)]
    telling = [place for place, (_, _, term) in enumerate(found) if term not in _any_asking()]
    if not telling or telling[-1] - telling[0] > _MAX_NAME_WORDS:
        return []
    starts = [start for start, _, _ in found[max(0, telling[0] - _MAX_WORDS_AROUND) : telling[0] + 1]]
    ends = [end for _, end, _ in found[telling[-1] : telling[-1] + _MAX_WORDS_AROUND]]
    return sorted([question[start:end] for start in starts for end in ends], key=len, reverse=True)


def parts_of(question: str) -> list[str]:
    """The parts of a question that tell something, cut where it joins things: "tea vs. coffee"."""
    parts = _CONNECTIVE.split(question[:MAX_QUERY_CHARACTERS])
    return [part for part in parts if any(term not in _any_asking() for _, _, term in term_spans(part))]


def with_compounds(question: str, known_of: Callable[[Iterable[str]], Container[str]]) -> str:
    """The question with two words written as one where the notes know that one: "back up" as "backup".

    `known_of` tells which terms they know.
    """
    compounds = {
        (start, end): term
        for (start, first_end, first), (second_start, end, second) in pairwise(term_spans(question))
        if question[first_end:second_start] == " "
        and end - start > _MIN_COMPOUND
        and first not in _any_asking()
        and (term := stem((question[start:first_end] + question[second_start:end]).lower())) not in {first, second}
    }
    known = known_of(compounds.values()) if compounds else ()
    written, done = "", 0
    for (start, end), term in compounds.items():
        if start >= done and term in known:
            written, done = written + question[done:start] + question[start:end].replace(" ", ""), end
    return written + question[done:]


def misspelled(
    question: str, known_of: Callable[[Iterable[str]], Container[str]], spelled: Callable[[str], str]
) -> dict[str, str]:
    """The words of a question that the notes do not have, each with what it is likely meant as.

    `known_of` tells which terms they know, and `spelled` which of them is nearest to a word.
    """
    long = [word for word in written_words(topic_of(question)) if len(word) >= _MIN_MISSPELLED and word.isalpha()]
    asked = {word: terms(word)[0] for word in long if not begins_unspaced(word)}
    meant = {word: {term, *synonyms_of(term)} for word, term in asked.items()}
    known = known_of({term for each in meant.values() for term in each}) if meant else ()
    found: dict[str, str] = {}
    for word in asked:
        if not any(each in known for each in meant[word]) and (
            near := spelled(words(word)[0]) or _parted(word, known_of)
        ):
            found[word] = near
    return found


def _parted(word: str, known_of: Callable[[Iterable[str]], Container[str]]) -> str:
    """Two words of the notes that were written as one; else empty."""
    lowered = "".join(words(word))
    cuts = range(_MIN_PARTED, len(lowered) - _MIN_PARTED + 1)
    pairs = [pair for cut in cuts if _STOP_WORDS.isdisjoint(pair := (lowered[:cut], lowered[cut:]))]
    known = known_of({stem(part) for pair in pairs for part in pair}) if pairs else ()
    return next((" ".join(pair) for pair in pairs if all(stem(part) in known for part in pair)), "")


def wants_number(question: str) -> bool:
    return _holds_one_of(question, _FOR_A_NUMBER, UNSPACED_FOR_A_NUMBER)


def lacks_number(question: str, answer: str) -> bool:
    """Whether a question asks how many, how deep or the like, and no number is in the answer."""
    asked = any(first in _DEGREES and second in _FOR_A_NUMBER for first, second in pairwise(words(question)))
    return asked and not _AMOUNT.search(answer)


def wants_time(question: str) -> bool:
    return _holds_one_of(question, _FOR_A_TIME, UNSPACED_FOR_A_TIME)


def wants_list(question: str) -> bool:
    asked = phrase_text(question)
    return any(phrase in asked for phrase in _HOW_TO) or _holds_one_of(question, _FOR_A_LIST, UNSPACED_FOR_A_LIST)


def wants_notes(question: str) -> bool:
    """Whether it asks which notes say something: "Which notes mention Owen?", "Find notes about coffee"."""
    begin = " ".join(fold(question).split()[:_MAX_WORDS_TO_NOTES])
    return any(
        re.search(rf"(?<!\w){phrase}(?!\w)" if phrase.isascii() else phrase, begin[:_MAX_CHARACTERS_TO_NOTES])
        for known in by_code("catalog").values()
        for phrase in phrases(known["note"])
    )


def topic_terms(text: str) -> frozenset[str]:
    """The terms that say what a message is about; none where it is small talk."""
    if _UNSPACED_GREETING.match(text):
        return frozenset()
    telling = _telling_terms(text)
    # What is in no phrase is left whichever phrases are taken out: most questions need not be compared with all.
    if len(text) <= _MAX_SMALL_TALK and telling <= _phrase_terms():
        return telling if _telling_terms(_PHRASES.sub(" ", _spelled(text))) else frozenset()
    return telling


def own_terms(question: str) -> frozenset[str]:
    """Those of `topic_terms` that do not only ask."""
    return topic_terms(question).intersection(query_terms(topic_of(question)))


def _telling_terms(text: str) -> frozenset[str]:
    # Those of its language alone, where that is clear: "una" is a name in English.
    (likeliest, hits), (_, others), *_ = _likeliest_languages(tuple(words(text[:MAX_QUERY_CHARACTERS])))
    stop_words = _folded(STOP_WORDS[likeliest]) if hits >= _MIN_HITS and hits > others else _STOP_WORDS
    telling = (stem(word) for word in query_words(text) if word not in stop_words)
    return frozenset(term for term in telling if term not in _small_talk())


def _holds_one_of(question: str, spaced: frozenset[str], unspaced: str) -> bool:
    return not spaced.isdisjoint(words(question)) or any(word in question for word in unspaced.split())


_MAX_ADDED = 24
"""Words that are added to a question."""


def synonyms_of(term: str) -> frozenset[str]:
    """As terms; a word may mean different things, in one language or in two."""
    return frozenset(map(stem, _synonyms_spelled().get(term, ()))) - {term}


def with_synonyms(topic: str) -> str:
    """The topic of a question with what its words could be called instead; the same where nothing is known."""
    asked = query_terms(topic)
    added = dict.fromkeys(
        word for term in asked for word in sorted(_synonyms_spelled().get(term, ())) if stem(word) not in asked
    )
    return as_open_as(topic, " ".join((topic, *[*added][:_MAX_ADDED])))


@cache
def _synonyms_spelled() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for listed in SYNONYMS.values():
        for group in listed.replace("\n", "|").split("|"):
            members = words(group)
            for word in members:
                found.setdefault(stem(word), set()).update(members)
    return {term: frozenset(members) for term, members in found.items()}


def is_said(term: str, said: Set[str]) -> bool:
    """Whether a term is among others, in any form or under another name."""
    return not said.isdisjoint({term, *synonyms_of(term)}) or any(are_related(term, each) for each in said)


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
EARLIER_WEIGHT = 0.25
"""The weight of a word that only earlier questions said, against that of one of this question."""
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
    wants_number: bool = False
    wants_time: bool = False
    wants_list: bool = False
    said: str = ""
    said_before: str = ""

    @classmethod
    def of(
        cls, question: str, idf: Idf, *, rarest: float = 0.0, without: Set[str] = frozenset(), about: str = ""
    ) -> "WeightedQuestion":
        """`about` is what of the question was said before it: that tells the note, and little of the place in it.

        `without` are terms that tell nothing, such as the name of the only note that is looked at; nor does what
        says the same as one of them: "What did we decide in [[Decisions]] about the roof?"

        A word that the vault never uses weighs as much as the heaviest that it does, and at least as the `rarest`.
        """
        units = [unit for unit in _units(topic_of(question)) if unit.term not in without]
        known = idf({unit.term for unit in units})
        unknown = max([rarest, *known.values()])
        earlier = {*_units(about)}
        weights: dict[Unit, float] = {}
        for unit in units:
            weights[unit] = known.get(unit.term, unknown) * (LETTER_WEIGHT if unit.groups else 1.0)
            weights[unit] *= EARLIER_WEIGHT if unit in earlier else 1.0
        total = sum(weights.values())
        synonyms = {unit: said for unit in weights if (said := synonyms_of(unit.term)) and said.isdisjoint(without)}
        return cls(
            weights={unit: weight / total for unit, weight in weights.items()} if total else {},
            synonyms=synonyms,
            wants_number=wants_number(question),
            wants_time=wants_time(question),
            wants_list=wants_list(question),
            said=_stems(question),
            said_before=_stems(about),
        )

    def names(self, title: str) -> bool:
        """Whether it says all of a title of several words: "can I work from home" names "Working from home"."""
        stems = _stems(title)
        return " " in stems.strip() and stems in self.said and stems not in self.said_before

    def share(self, held: Held) -> float:
        return sum(self.weights[unit] * worth for unit, worth in held.items())

    def cue(self, text: str) -> float:
        """How far it holds a number or a date where the question asks for one: "nine hours" for "how many hours" twice
        as much as another number."""
        if self.wants_number and _AMOUNT.search(text):
            counted = terms(" ".join(_COUNTED.findall(text)))
            return 1.0 if {unit.term for unit in self.weights}.isdisjoint(counted) else 2.0
        return 1.0 if self.wants_time and _DATE.search(text) else 0.0

    def held(self, text: str) -> Held:
        """What of the question stands in a text, each with how well: 1 if it is the same word."""
        present = set(terms(text))
        return {unit: worth for unit in self.weights if (worth := self._worth(unit, present, text))}

    def _worth(self, unit: Unit, present: Set[str], text: str) -> float:
        if unit.groups:
            is_lone = unit.term in present and _IDEOGRAPHIC.match(unit.term)
            return 1.0 if any(group in text for group in unit.groups) else LONE_LETTER_WEIGHT if is_lone else 0.0
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


def _stems(text: str) -> str:
    return f" {' '.join(map(stem, words(text)))} "


def _units(topic: str) -> Iterator[Unit]:
    for run in UNSPACED_RUN.findall(topic):
        size = _PAIR if _IDEOGRAPHIC.match(run) else _SYLLABLE
        for place, letter in enumerate(run):
            around = run[max(0, place - size + 1) : place + size]
            groups = tuple(around[at : at + size] for at in range(max(1, len(around) - size + 1)))
            if not _KANA.match(letter) or len(run) == 1:
                yield Unit(letter, groups)
    yield from map(Unit, query_terms(UNSPACED_RUN.sub(" ", topic)))


@lru_cache(_MAX_KNOWN_PAIRS)
def are_related(term: str, other: str) -> bool:
    """Whether two terms begin alike for most of the longer one, as forms of a word do, or one is part of the other."""
    if min(len(term), len(other)) >= _MIN_PART_LETTERS and (
        term.startswith(other) or other.startswith(term) or term.endswith(other) or other.endswith(term)
    ):
        return True
    if term[:_MIN_PREFIX_LETTERS] != other[:_MIN_PREFIX_LETTERS] or len(term) < _MIN_PREFIX_LETTERS:
        return False
    return shared_letters(term, other) >= _MIN_PREFIX_SHARE * max(len(term), len(other))


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
NAMED_WEIGHT = 0.5
"""What it adds that the question says all of the note's title."""
MAX_SCORE = COVERAGE_WEIGHT + FRAME_WEIGHT + FAMILY_WEIGHT + SEARCH_WEIGHT + LIST_WEIGHT

_MAX_CUT_TEXTS = 128
_NAME = lazy_pattern(rf"[^\W\d_]{{3}}|[{UNSPACED_SCRIPTS}]")


class RankedBlock(Struct, frozen=True, kw_only=True):
    passage: Passage
    block: Block
    best_sentences: tuple[int, ...]
    score: float
    coverage: float
    """The share of the question that the block meets together with its title and headings."""
    likeness: float = 0.0
    """The cosine of the question and the block, by a model; 0 where they were not compared."""
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
    matched: list[tuple[Passage, Block, Held, Held]] = []
    of_notes: dict[str, list[Held]] = {}
    for passage, block in _all_blocks(passages, notes or {}):
        frame = question.held("\n".join((passage.title, *passage.heading_path, *block.heading_path)))
        whole = _best_of([question.held(without_cross_references(block.text)), frame])
        matched.append((passage, block, frame, whole))
        of_notes.setdefault(passage.path, []).append(whole)
    met = {path: _best_of(held) for path, held in of_notes.items()}
    titles = {passage.path: passage.title for passage, *_ in matched}
    families = {path: question.share(_best_of([met[each] for each in named])) for path, named in _families(titles)}
    of_name = {path: NAMED_WEIGHT * question.names(title) for path, title in titles.items()}
    ranked: list[RankedBlock] = []
    for passage, block, frame, whole in matched:
        coverage = question.share(whole)
        extra = max(CUE_WEIGHT * question.cue(block.text), LIST_WEIGHT * (question.wants_list and block.kind == "list"))
        own_score = COVERAGE_WEIGHT * coverage + FRAME_WEIGHT * question.share(frame) + extra
        of_search = SEARCH_WEIGHT * (passage.score / best if best > 0 else 0.0)
        ranked.append(
            RankedBlock(
                passage=passage,
                block=block,
                best_sentences=question.best_sentences(block),
                score=own_score + FAMILY_WEIGHT * families[passage.path] + of_search + of_name[passage.path],
                coverage=coverage,
                own_score=own_score,
            )
        )
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
        # Many titles hold what is no more than a number or a short word.
        after = (each for each, other in names.items() if _NAME.search(other) and other in name and each != path)
        yield path, [path, *after]


def _best_of(held: Sequence[Held]) -> Held:
    best: dict[Unit, float] = {}
    for each in held:
        for term, worth in each.items():
            best[term] = max(worth, best.get(term, 0.0))
    return best


_WORD: Final = re.compile(r"[^\W_]+")
_COMPANY: Final = frozenset(" ".join(COMPANY.values()).split())
_JOINING: Final = frozenset(words(f"{COMPANY_ARTICLES} {CONJUNCTIONS}"))
"""Articles, and what stands between two names."""
_UNSPACED: Final = tuple(map(lazy_pattern, UNSPACED_COMPANY))
_MAX_WORDS: Final = 4
"""Words of names that are looked for."""


def company_in(question: str) -> tuple[str, ...]:
    """The names after the first "with" of a question, word by word; none where nobody is named.

    After a word in lower case no further one counts: "with the landlord last year".
    """
    text = question[:MAX_QUERY_CHARACTERS]
    for pattern in _UNSPACED:
        if found := pattern.search(text):
            return (found["name"],)
    spelled = _WORD.findall(text)
    plain = [next(iter(words(word)), "") for word in spelled]
    start = next((place for place, word in enumerate(plain) if word in _COMPANY), len(plain))
    asking = asking_words(plain)
    names: list[str] = []
    for word, key in islice(zip(spelled, plain, strict=True), start + 1, None):
        if key in _JOINING and not word[0].isupper():
            continue
        is_lower = word[0].islower()
        if len(names) == _MAX_WORDS or (key in asking and is_lower) or (names and is_lower):
            break
        names.append(word)
        if is_lower:
            break
    return tuple(names)

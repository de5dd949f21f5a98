"""The sentences of a vault that may answer a question, best first; none where the vault says nothing on it.

A sentence counts by the words of the question that it holds, rare ones more, and for part of that by what stands in
its title, its headings and the sentences beside it: "It closes at six." answers only under its heading.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from zkchat.errors import VaultError
from zkchat.lexicon.question_words import QUESTION_WORDS
from zkchat.lexicon.stop_words import STOP_WORDS
from zkchat.model.message import Evidence, LineRange
from zkchat.model.note import Ambiguous, Link, Passage, Resolved, is_note
from zkchat.vault.indexing.reader import is_source
from zkchat.vault.library import Library
from zkchat.vault.notes import wikilink
from zkchat.vault.notes.parse import frontmatter_of
from zkchat.vault.notes.sentences import sentences
from zkchat.vault.search.terms import MAX_QUERY_CHARACTERS, query_terms, term_spans, terms

MAX_PASSAGES = 12
DEFAULT_LIMIT = 3
"""Passages that are shown unless more are asked for."""
MAX_SENTENCES = 5
_MAX_OPENING_CHARACTERS = 20_000
"""Characters of a note in which its first sentences are looked for."""
OPENING_SENTENCES = 3
"""Sentences of a note that is asked for as a whole."""
# The shares below were chosen on vault-fixtures/garden-questions.json; benchmarks/retrieval/quote.py measures them.
HEADING_WEIGHT = 0.6
"""What a word of the question is worth in title or headings, against 1 in the sentence itself."""
NEIGHBOUR_WEIGHT = 0.3
"""And in the sentence before or after."""
PASSAGE_WEIGHT = 0.6
"""What the share of the question that the whole passage meets adds to that of the sentence."""
LINKED_COVERAGE = 0.25
"""The share of the question that a note which the user named counts as meeting already."""
UNKNOWN_TERM_WEIGHT = 0.5
"""The weight of a word that the vault never uses, against that of the rarest it does."""
QUESTION_WORD_WEIGHT = 0.25
"""The weight of a word that only asks, such as "know", against what it would have as any other."""
MIN_COVERAGE = 0.25
"""The least share of the question that a passage must meet; below it the vault is silent."""
MIN_TERMS_NEARBY = 2
"""Words of the question that must stand near each other, where it has so many: a single one is found anywhere."""
MIN_WORDS = 3
"""A sentence of fewer words, links aside, only points elsewhere."""
MIN_SHARE_OF_BEST = 0.7
"""Others are shown only if they score at least this share of the best."""

_MAX_TOPIC_WORDS = 80
"""Words of a name, or its letters and pairs of them: whoever sends more asks for no note by its name."""
_MAX_WORDS_AROUND = 12
"""Words that only ask, before or after it, which may be part of it."""


@dataclass(frozen=True, slots=True)
class _ScoredSentence:
    sentence: str
    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class Findings:
    """What a vault says on a question."""

    evidence: tuple[Evidence, ...] = ()
    """The passages that answer, best first."""
    nearest: tuple[Evidence, ...] = ()
    """Where none answers: what comes nearest."""


def find_evidence(
    library: Library, question: str, linked: Sequence[tuple[str, str]], *, limit: int = DEFAULT_LIMIT, skip: int = 0
) -> Findings:
    """Passages for a question without its links; `linked` are the notes (path and heading) they lead to.

    They are searched in any case; a question of nothing but links is answered by how their notes begin.
    """
    return Findings(tuple(_ranked(library, question, linked)[skip : skip + limit]))


def _ranked(library: Library, question: str, linked: Sequence[tuple[str, str]]) -> list[Evidence]:
    asked = " ".join(question[:MAX_QUERY_CHARACTERS].split())
    if not query_terms(asked):
        begun = [candidate for path, anchor in linked for candidate in _beginning(library, path, anchor)]
        return [_evidence(library, candidate) for candidate in begun[:MAX_SENTENCES]]
    within = [path for path, _ in linked]
    passages = library.search(asked, limit=MAX_PASSAGES, within=within, words_only=True) if within else []
    passages += library.search(asked, limit=MAX_PASSAGES, words_only=True)
    ranked = rank(asked, passages, library.idf, preferred=frozenset(within))
    return [_evidence(library, each) for each in _deduplicated([*_on_a_name(library, topics(asked)), *ranked])]


def _on_a_name(library: Library, names: Iterable[str]) -> list[_ScoredSentence]:
    """How the notes begin that have the first of these names: who asks for no more than what is said of one."""
    begun: list[_ScoredSentence] = []
    called = next(filter(None, (_called(library, name) for name in names)), ())
    for path in called:
        with suppress(VaultError):  # it is gone, or cannot be read; others may still speak of it
            if is_source(frontmatter_of(library.read(path)).properties):
                begun += _beginning(library, path, "")[: max(1, OPENING_SENTENCES // len(called))]
    return begun


def _called(library: Library, name: str) -> Sequence[str]:
    match library.resolve(Link(text=f"[[{name}]]", target=name), suggestions=0):
        case Resolved(path=path) if is_note(path):
            return [path]
        case Ambiguous(path=path, others=others):
            return [each for each in (path, *others) if is_note(each)]
        case _:
            return []


def _beginning(library: Library, path: str, anchor: str) -> list[_ScoredSentence]:
    text = library.section(path, anchor)
    body = text[frontmatter_of(text).end :][:_MAX_OPENING_CHARACTERS]
    passage = Passage(
        path=path,
        title=library.title(path),
        heading_path=(anchor,) if anchor else (),
        text=body,
        first_line=1,
        last_line=library.read(path).count("\n") + 1,
        score=1.0,
        snippet="",
        why="linked",
    )
    said = sentences(body)
    telling = [sentence for sentence in said if _says_something(sentence)] or said
    return [_ScoredSentence(sentence, passage, 1.0) for sentence in telling[:OPENING_SENTENCES]]


def _without_links(text: str) -> str:
    return " ".join(wikilink.without_links(text).split())


def rank(
    question: str,
    passages: Iterable[Passage],
    idf: Callable[[Iterable[str]], Mapping[str, float]],
    *,
    preferred: frozenset[str] = frozenset(),
) -> list[_ScoredSentence]:
    """The best sentences of the passages. Pure; the same passages in any order give the same result."""
    weights = _weights(set(query_terms(question)), idf)
    if not weights:
        return []
    candidates = [
        candidate
        for passage in passages
        for candidate in _candidates(passage, weights, head_start=LINKED_COVERAGE if passage.path in preferred else 0.0)
    ]
    candidates.sort(
        key=lambda each: (-each.score, each.passage.path not in preferred, each.passage.path, each.sentence)
    )
    return _deduplicated(candidates)


def _weights(asked: set[str], idf: Callable[[Iterable[str]], Mapping[str, float]]) -> dict[str, float]:
    """How much each word of the question counts; together 1. Nothing where the vault knows none of them."""
    known = idf(asked)
    unknown = UNKNOWN_TERM_WEIGHT * max(known.values(), default=0.0)
    asking = question_terms()
    weights = {
        term: known.get(term, unknown) * (QUESTION_WORD_WEIGHT if term in asking else 1.0) for term in sorted(asked)
    }
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total else {}


def _candidates(passage: Passage, weights: Mapping[str, float], *, head_start: float) -> list[_ScoredSentence]:
    frame = weights.keys() & set(terms(" ".join((passage.title, *passage.heading_path))))
    said = sentences(passage.text)
    held = [weights.keys() & set(terms(sentence)) for sentence in said]
    surroundings = min(1.0, head_start + sum(weights[term] for term in frame.union(*held)))
    if surroundings < MIN_COVERAGE:
        return []
    telling = weights.keys() - question_terms() or weights.keys()
    least = 0 if head_start else min(MIN_TERMS_NEARBY, len(telling))
    found = []
    for index, sentence in enumerate(said):
        beside = held[index].union(*held[max(0, index - 1) : index + 2])
        near = beside | frame
        if len(near) < least or telling.isdisjoint(near):
            continue
        share = sum(
            weight * _worth(term in held[index], term in frame, term in beside) for term, weight in weights.items()
        )
        if held[index] and _says_something(sentence):
            score = (min(1.0, head_start + share) + PASSAGE_WEIGHT * surroundings) / (1 + PASSAGE_WEIGHT)
            found.append(_ScoredSentence(sentence, passage, score))
    return found


def _says_something(sentence: str) -> bool:
    """Whether it does more than point elsewhere: "See also [[Compost]]." answers nothing."""
    return len(terms(_without_links(sentence))) >= MIN_WORDS


def _worth(in_sentence: bool, in_frame: bool, beside: bool) -> float:
    return 1.0 if in_sentence else max(HEADING_WEIGHT * in_frame, NEIGHBOUR_WEIGHT * beside)


def _deduplicated(candidates: Sequence[_ScoredSentence]) -> list[_ScoredSentence]:
    """Deduplicate by normalized text, and drop what scores too low beside the best."""
    kept: dict[str, _ScoredSentence] = {}
    for candidate in candidates:
        if candidate.score < MIN_SHARE_OF_BEST * candidates[0].score or len(kept) == MAX_SENTENCES:
            break
        kept.setdefault(" ".join(terms(candidate.sentence)), candidate)
    return list(kept.values())


def _evidence(library: Library, candidate: _ScoredSentence) -> Evidence:
    passage = candidate.passage
    return Evidence(
        text=candidate.sentence,
        relative_path=passage.path,
        title=passage.title,
        wikilink=library.link_to(passage.path),
        heading=passage.heading_path[-1] if passage.heading_path else "",
        lines=_lines(library, candidate),
        score=round(candidate.score, 4),
    )


def _lines(library: Library, candidate: _ScoredSentence) -> LineRange:
    """Where the sentence stands in the file: exact as long as the file is the one that was indexed."""
    passage = candidate.passage
    lines = library.read(passage.path).splitlines()
    block = "\n".join(lines[passage.first_line - 1 : passage.last_line])
    place = block.find(candidate.sentence)
    if place < 0:
        return LineRange(first=passage.first_line, last=passage.last_line)
    first = passage.first_line + block.count("\n", 0, place)
    return LineRange(first=first, last=first + candidate.sentence.count("\n"))


@cache
def question_terms() -> frozenset[str]:
    return frozenset(query_terms(QUESTION_WORDS))


def topics(question: str) -> list[str]:
    """What a question may be about, as it is written there, the longest first.

    The words at its ends that only ask may be part of a name: "What is in How to take notes?"
    """
    if len(question) > MAX_QUERY_CHARACTERS:
        return []
    asking = question_terms() | _stop_terms()
    words = [*term_spans(question)]
    telling = [place for place, (_, _, term) in enumerate(words) if term not in asking]
    if not telling or telling[-1] - telling[0] > _MAX_TOPIC_WORDS:
        return []
    starts = [start for start, _, _ in words[max(0, telling[0] - _MAX_WORDS_AROUND) : telling[0] + 1]]
    ends = [end for _, end, _ in words[telling[-1] : telling[-1] + _MAX_WORDS_AROUND]]
    return sorted([question[start:end] for start in starts for end in ends], key=len, reverse=True)


@cache
def _stop_terms() -> frozenset[str]:
    return frozenset(term for listed in STOP_WORDS.values() for term in terms(listed))

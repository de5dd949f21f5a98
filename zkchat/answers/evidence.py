"""The passages of a vault that answer a question, best first; else what comes nearest.

Notes that the question links to come first, and are quoted in any case: the passages that fit, or how the note begins.
Everything else has to meet a share of the question.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from math import inf

from msgspec.structs import replace

from zkchat.answers.evidence_by_date import by_date, newest_first, with_names_first, with_useful_dates, written_date
from zkchat.answers.evidence_passages import (
    EVERYWHERE,
    MAX_OPENING_CHARACTERS,
    SEARCHED_PASSAGES,
    Candidate,
    Earlier,
    Scope,
    max_characters,
    nearest_passages,
    of_named,
    opening_of,
    passages_of,
    rarest_idf,
    resolved,
    search_passages,
    section_of,
    telling,
    whole_notes,
)
from zkchat.core import DEFAULT_LIMIT, Evidence, Findings, LineRange, Passage, VaultError, anchor_of, as_open_as
from zkchat.index import (
    MAX_QUERY_CHARACTERS,
    MAX_SCORE,
    Library,
    RankedBlock,
    WeightedQuestion,
    language_of,
    rank_blocks,
    terms,
    topic_of,
    topic_terms,
    wants_notes,
    with_compounds,
)
from zkchat.notes import cross_references, excerpt, find_lines, scan, sentences

MAX_EVIDENCE = 30
"""Passages that can be asked for."""
# The figures below were chosen on the questions for development and `dev` of benchmarks/retrieval; others measure them.
MIN_CONFIDENCE = 1.03
"""Of what is shown as an answer: its score, and what its similarity to the question adds."""
DOUBTLESS, DOUBTLESS_ELSEWHERE = 1.6, 1.45
"""Below this confidence, with what the lead adds, an answer is in doubt: in English, and in other languages."""
LEAD_CONFIDENCE = 0.8
"""What the lead of the best passage over those of other notes adds, as a share of its score."""
MAX_LEAD = 0.3
"""The most that counts: where there is no other note, nothing was better than it."""
MIN_SCORE_AFTER_LINKED = 1.2
"""The score from which a passage of another note follows those of linked ones."""
SIMILARITY_CONFIDENCE = 0.4
"""What the similarity in meaning of the question and a passage with its title adds."""
MEANING_WEIGHT = 0.4
"""What similarity in meaning counts."""
OF_EARLIER = 0.15
"""What it adds that a passage is of the note that the answer before was from, where a question points back."""
MIN_FIT = 0.15
"""The least share of the question, and similarity to it, of a passage of a linked note that fits it."""
MIN_SHARE_OF_BEST = 0.6
"""The second and third are shown only if they score at least this share of the best."""
MIN_SHARE_OF_FURTHER = 0.45
"""And those after them, for whoever asks for more, this one."""
MIN_POINTING = 0.3
"""The share of the question in a clause that tells where something is described, from which that is looked up."""
MAX_NOTES = 5
"""Passages, each of another note, where it is asked which notes say something."""
WORDS_IN_DOUBT = 0.5
"""What the score by words counts of a passage that a model has compared with the question."""
LIKENESS_WEIGHT = 3.0
"""What the cosine of the two counts."""
MIN_LIKENESS = 0.28
"""The cosine from which something is shown, with a word of doubt, though too few words speak for it."""
_MAX_KEPT_IN_DOUBT = 5
"""Passages, the best by words, that stay beside them."""
_MAX_NEAREST = 3
_MAX_COMPARED = 30
"""Passages that are compared by meaning."""


def find_undated_evidence(
    library: Library,
    question: str,
    linked: Sequence[tuple[str, str]],
    *,
    limit: int = DEFAULT_LIMIT,
    skip: int = 0,
    scope: Scope = EVERYWHERE,
) -> Findings:
    """Passages for a question without its links; `linked` are the notes (path and heading) they lead to."""
    asked = as_open_as(question, with_compounds(" ".join(question[:MAX_QUERY_CHARACTERS].split()), library.idf))
    if not linked and not topic_terms(asked):
        return Findings()
    topic = topic_of(asked)
    passages = search_passages(library, topic, scope) if topic and not scope.order else []
    notes = whole_notes(library, passages)
    if scope.order:
        ranked = by_date(library, asked, scope)
    else:
        first = _of_linked(library, asked, linked) if linked else of_named(library, asked, passages, scope.period)
        ranked = [*first, *_of_others(library, asked, passages, notes, first, scope.earlier)]
        ranked = with_names_first(library, scope.names, ranked) if scope.names else ranked
    confidence = _confidence(library, asked, ranked[0], is_compared=not scope.order) if ranked else 0.0
    found = _quotable(ranked, notes)
    doubtless = DOUBTLESS if language_of(asked) in {None, "en"} else DOUBTLESS_ELSEWHERE
    is_doubtful = confidence + LEAD_CONFIDENCE * _lead(found) < doubtless
    if is_doubtful and not (scope.order or scope.names) and (alike := _alike(library, asked, ranked, scope)):
        ranked = alike
        found = _quotable(ranked, notes)
        if max(each.ranked.likeness for each in alike) >= MIN_LIKENESS:
            confidence = max(confidence, MIN_CONFIDENCE)
    if confidence < MIN_CONFIDENCE:
        return Findings(nearest=() if skip else _evidence(library, _of_different_notes(found)))
    limit, shows_all = max(limit, len(dict.fromkeys(linked))), skip or limit > DEFAULT_LIMIT
    best = _close(found)
    if wants_notes(question):
        best, limit = _of_different_notes(best, MAX_NOTES), max(limit, MAX_NOTES)
        found = [*best, *(each for each in found if each not in best)]
    if not scope.order:
        best = newest_first(library, asked, _with_each_named(asked, best, ranked, limit), has_links=bool(linked))
        best = _with_pointed(library, asked, best, [] if linked else passages)
    every = [*best, *(each for each in found if _place(each) not in {*map(_place, best)})]
    shown = (every if shows_all else best)[skip : skip + limit]
    more = len(every) - skip - len(shown)
    day = written.day if scope.order and shown and (written := written_date(library, shown[0])) else None
    evidence = _evidence(library, _grouped(with_useful_dates(shown)))
    return Findings(evidence, is_doubtful=is_doubtful, more=more, day=day)


def _quotable(ranked: Sequence[Candidate], notes: Mapping[str, Passage]) -> list[Candidate]:
    """What is quoted of those that come near the best. Those that are shown at once come before all others, so that
    whoever asks for more reads each of them once."""
    near = [each for each in ranked if each.linked or each.score >= MIN_SHARE_OF_FURTHER * ranked[0].score]
    quoted = passages_of(near, notes)
    close = _close(quoted)
    return [*close, *(each for each in quoted if each not in close)][:MAX_EVIDENCE]


def _alike(library: Library, asked: str, ranked: Sequence[Candidate], scope: Scope) -> list[Candidate]:
    """The best by words, and what a model finds near, ranked by both; none without a model.

    What is near is found by section, and compared by block: the vector of a section says little of one line in it.
    """
    near = [replace(each, score=0.0) for each in nearest_passages(library, asked, scope)]
    if not near:
        return []
    question = WeightedQuestion.of(asked, library.idf, rarest=rarest_idf(library), about=scope.earlier.topic)
    known = {_place(each): each for each in ranked}
    found = {_place(each): each for each in map(Candidate, telling(rank_blocks(question, near)))}
    places = dict.fromkeys([*map(_place, ranked[:_MAX_KEPT_IN_DOUBT]), *found])
    compared = [known.get(place) or found[place] for place in places]
    headed = ["\n".join((*each.ranked.heading_path[-1:], each.ranked.block.text)) for each in compared]
    alike: list[Candidate] = []
    for each, likeness in zip(compared, library.likenesses(asked, headed), strict=False):
        score = WORDS_IN_DOUBT * each.score + LIKENESS_WEIGHT * max(0.0, likeness)
        alike.append(replace(each, ranked=replace(each.ranked, likeness=likeness, score=score)))
    return sorted(alike, key=lambda each: -each.score)


def _place(candidate: Candidate) -> tuple[str, str]:
    return candidate.path, candidate.ranked.block.text


def openings(library: Library, paths: Sequence[str]) -> tuple[Evidence, ...]:
    """How notes begin: of few their first blocks, of many one block each."""
    found: list[Candidate] = []
    each_gives = max(1, 2 * DEFAULT_LIMIT // max(1, len(paths)))
    for path in paths:
        with suppress(VaultError):  # it is gone, or cannot be read
            found += opening_of(library, path, "")[:each_gives]
    dates = library.dates([each.path for each in found])
    dated = [
        replace(
            each,
            ranked=replace(each.ranked, score=MAX_SCORE),  # these notes are what is asked for
            linked=False,
            date=dates[each.path].written if each.path in dates else None,
        )
        for each in found
    ]
    return _evidence(library, with_useful_dates(dated))


def _of_linked(library: Library, asked: str, linked: Sequence[tuple[str, str]]) -> list[Candidate]:
    """The best of each linked note, then the others of all of them."""
    of_each: list[list[Candidate]] = []
    for path, anchor in dict.fromkeys(linked):
        with suppress(VaultError):  # it is gone, or cannot be read
            of_each.append(_of_note(library, asked, path, anchor))
    best = [found[0] for found in of_each if found]
    rest = [each for found in of_each for each in found[1:]]
    return [*best, *sorted(rest, key=lambda each: -each.score)]


def _of_note(library: Library, asked: str, path: str, anchor: str) -> list[Candidate]:
    """The passages of a note that fit, best first; else how it begins."""
    names = {term for name in (*library.names(path), anchor) for term in terms(name)}
    question = WeightedQuestion.of(asked, library.idf, rarest=rarest_idf(library), without=names)
    if not question.weights:
        return opening_of(library, path, anchor)
    passages = [section_of(library, path, anchor)]
    if len(passages[0].text) == MAX_OPENING_CHARACTERS and not anchor:
        passages = library.search(topic_of(asked), within=[path], limit=SEARCHED_PASSAGES)
    ranked = [*islice(telling(rank_blocks(question, passages)), _MAX_COMPARED)]
    near = library.similarities(asked, [_said(each) for each in ranked])
    fitting = [
        _nearer(replace(each, score=each.own_score), similarity)
        for each, similarity in zip(ranked, near, strict=True)
        if each.coverage + similarity >= MIN_FIT
    ]
    fitting.sort(key=lambda each: (-each.score, each.passage.first_line, each.block.first_line))
    return [Candidate(each, linked=True) for each in fitting] or opening_of(library, path, anchor)


def _of_others(
    library: Library,
    asked: str,
    passages: Sequence[Passage],
    notes: Mapping[str, Passage],
    first: Sequence[Candidate],
    earlier: Earlier,
) -> Iterator[Candidate]:
    """The passages of other notes; after linked ones, those that meet more of the question."""
    known = {candidate.path for candidate in first}
    least = max((candidate.ranked.own_score for candidate in first), default=0.0)
    question = WeightedQuestion.of(asked, library.idf, rarest=rarest_idf(library), about=earlier.topic)
    found = rank_blocks(question, passages, notes)
    if earlier.notes:
        found = [replace(each, score=each.score + OF_EARLIER * (each.passage.path in earlier.notes)) for each in found]
        found.sort(key=lambda each: -each.score)
    for ranked in telling(_by_meaning(library, asked, found)):
        if ranked.passage.path in known or ranked.own_score < least:
            continue
        if first and ranked.score < MIN_SCORE_AFTER_LINKED:
            return
        yield Candidate(ranked)


def _by_meaning(library: Library, asked: str, ranked: Sequence[RankedBlock]) -> list[RankedBlock]:
    """Ranked anew, since a passage may say the same in other words."""
    compared = ranked[:_MAX_COMPARED]
    near = library.similarities(asked, [_said(each) for each in compared])
    nearer = [_nearer(each, similarity) for each, similarity in zip(compared, near, strict=True)]
    return sorted([*nearer, *ranked[_MAX_COMPARED:]], key=lambda each: -each.score)


def _confidence(library: Library, asked: str, candidate: Candidate, *, is_compared: bool) -> float:
    """How likely it is that a passage answers, whether or not its score has its meaning in it; without limit if the
    user has said that the answer stands there."""
    if candidate.linked:
        return inf
    ranked = candidate.ranked if is_compared else _by_meaning(library, asked, [candidate.ranked])[0]
    described = "\n".join((ranked.passage.title, *ranked.heading_path[-1:], ranked.block.text))
    (similarity,) = library.similarities(asked, [described])
    return ranked.score + SIMILARITY_CONFIDENCE * max(0.0, similarity)


def _lead(found: Sequence[Candidate]) -> float:
    """The share of its score that the best passage is ahead of the best of another note."""
    if not found or not found[0].score:
        return 0.0
    of_others = max((each.score for each in found if each.path != found[0].path), default=0.0)
    return min(MAX_LEAD, 1 - of_others / found[0].score)


def _nearer(ranked: RankedBlock, similarity: float) -> RankedBlock:
    by = MEANING_WEIGHT * max(0.0, similarity)
    return replace(ranked, score=ranked.score + by, own_score=ranked.own_score + by)


def _said(ranked: RankedBlock) -> str:
    """The block with its heading: the title, which all blocks of a note share, tells none of them apart."""
    return "\n".join((*(each for each in ranked.heading_path[-1:] if each != ranked.passage.title), ranked.block.text))


def _close(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best, the best of each linked note, and those that come close to it."""
    least = MIN_SHARE_OF_BEST * max((each.score for each in candidates[:1]), default=0.0)
    best_of_linked = {each.path: number for number, each in reversed([*enumerate(candidates)]) if each.linked}
    return [
        each
        for number, each in enumerate(candidates)
        if number == 0 or each.score >= least or best_of_linked.get(each.path) == number
    ]


def _with_each_named(asked: str, best: Sequence[Candidate], ranked: Sequence[Candidate], limit: int) -> list[Candidate]:
    """The best, the last of which give way where the question names other notes: "rye bread and country loaf"."""
    said = frozenset(terms(asked))
    titles = {each.path: frozenset(terms(each.ranked.passage.title)) for each in (*best, *ranked)}
    named = {each.path: each for each in reversed(ranked) if titles[each.path] <= said}
    shown = [titles[each.path] for each in best[:limit]]
    others = [each for each in named.values() if not any(title >= titles[each.path] for title in shown)]
    kept = max(1, limit - len(others)) if len(named) > 1 else limit
    return [*best[:kept], *others[: limit - kept], *best[kept:]]


def _with_pointed(library: Library, asked: str, best: list[Candidate], passages: Iterable[Passage]) -> list[Candidate]:
    """The best, the first of them with what it points to, or another passage does: "the reasons are in [[X]]"."""
    question = WeightedQuestion.of(asked, library.idf, rarest=rarest_idf(library))
    shares = {said: question.share(question.held(said)) for each in passages for said in cross_references(each.text)}
    shares |= dict.fromkeys(cross_references(best[0].ranked.block.text), 1.0)
    clause = max(shares, key=lambda said: shares[said], default="")
    links = scan(clause) if clause and shares[clause] >= MIN_POINTING else []
    only_points = bool(links) and all("[[" in said for said in sentences(best[0].ranked.block.text))
    for path, anchor in [(path, link.anchor) for link in links for path in resolved(library, link.target)]:
        with suppress(VaultError):
            if only_points and path in {each.path for each in best[1:]}:
                return sorted(best, key=lambda each: each.path != path)
            pointed = _of_note(library, asked, path, anchor)[0]
            if not pointed.is_opening and path not in {each.path for each in best[:DEFAULT_LIMIT]}:
                return [best[0], replace(pointed, linked=False), *best[1:]]
    return best


def _grouped(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those of one note together, notes in the order of their best."""
    paths = [*dict.fromkeys(each.path for each in candidates)]
    return sorted(candidates, key=lambda each: paths.index(each.path))


def _of_different_notes(candidates: Iterable[Candidate], most: int = _MAX_NEAREST) -> list[Candidate]:
    """The best passage of each of the first notes."""
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        best.setdefault(candidate.path, candidate)
    return [*islice(best.values(), most)]


def _evidence(library: Library, candidates: Iterable[Candidate]) -> tuple[Evidence, ...]:
    """What can be quoted of them; a note may be gone since it was indexed."""
    found: list[Evidence] = []
    for candidate in candidates:
        with suppress(VaultError):
            found.append(_quoted(library, candidate))
    return tuple(found)


def _quoted(library: Library, candidate: Candidate) -> Evidence:
    ranked, passage = candidate.ranked, candidate.ranked.passage
    heading = "" if ranked.block.kind == "faq" else anchor_of(passage.path, ranked.heading_path)
    # Exact as long as the file is the one that was indexed.
    text = library.read(passage.path)
    first, last = find_lines(text, passage.first_line, passage.last_line, ranked.block.text)
    return Evidence(
        text=excerpt(ranked.block, ranked.best_sentences, max_characters(ranked.block.text)),
        relative_path=passage.path,
        title=passage.title,
        wikilink=library.link_into(passage.path, ranked.heading_path),
        heading=heading if heading != passage.title else "",
        lines=LineRange(first=first, last=last),
        score=round(min(1.0, candidate.score / MAX_SCORE), 4),
        linked=candidate.linked,
        date=candidate.date.day if candidate.date else None,
        outdated_by=library.link_to(candidate.outdated_by) if candidate.outdated_by else "",
        outdates=tuple(dict.fromkeys(map(library.link_to, candidate.outdates))),
    )

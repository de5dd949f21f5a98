"""How a sentence of a note relates to a statement: whether it says the same, or the same with something altered.

Precision first: a statement with another number, name or negation is not supported, however alike the rest is.
"""

from collections.abc import Container, Iterable, Mapping
from difflib import SequenceMatcher
from functools import cached_property
from itertools import combinations, pairwise
from typing import Final

from msgspec import Struct

from zkchat.answers.verification.sentence_parser import (
    CONDITION,
    NEGATION,
    Operator,
    ParsedSentence,
    Token,
    TokenKind,
    beginning,
    listed,
)
from zkchat.core import Difference

# Chosen on the first half of benchmarks/retrieval/verification.json; benchmarks/retrieval/verification.py measures.
MIN_COVERAGE: Final = 0.8
"""The share of a statement's content that a passage must hold to support it."""
MIN_OWN_COVERAGE: Final = 0.5
"""The share that must stand in the sentence itself, and not in the title and the headings above it."""
MIN_ALTERED_COVERAGE: Final = 0.7
"""The share, without what is altered, that a sentence must hold to contradict a statement."""
MIN_DENIED_SHARE: Final = 0.6
"""The share of the clauses of a sentence that a statement must hold for one to deny the other."""
MIN_WEIGHT: Final = 1.0
"""The least weight of what both hold; a word that one note has weighs 1, one of every note next to nothing."""
MIN_COHESION: Final = 0.5
"""The share of neighbours in the statement that must be neighbours in the sentence as well."""
WEIGHTS: Final[Mapping[TokenKind, float]] = {"word": 1.0, "letter": 0.4, "number": 0.5, "sign": 0.1}
"""Of content, against a word; a letter is of a script without spaces."""
_YEARS: Final = range(1500, 2101)

Weights = Mapping[str, float]


class Comparison(Struct, frozen=True):
    """What came of comparing a statement with a sentence."""

    score: float = 0.0
    """The share of the statement that is held."""
    supports: bool = False
    difference: Difference | None = None
    """In what the sentence says otherwise, if it does."""


UNRELATED: Final = Comparison()


class Source(Struct, frozen=True):
    """A sentence of a note with what stands above it."""

    sentence: ParsedSentence
    frame: tuple[Token, ...] = ()
    """The tokens of title, headings and lead: what the sentence need not repeat."""


def compare(said: ParsedSentence, source: Source, weights: Weights) -> Comparison:
    held = source.sentence.beginnings
    if max(len(said.content), len(source.sentence.content)) > 200:  # longer ones can only be quoted
        return UNRELATED
    weighed = {place: _weight(said.tokens[place], weights) for place in said.content}
    within_reach = sum(weight for place, weight in weighed.items() if beginning(said.tokens[place]) in held)
    if within_reach < MIN_OWN_COVERAGE / 2 * sum(weighed.values()) or not weighed:
        return UNRELATED
    return _Alignment(said, source, weighed).result()


class _Alignment:
    """The content of a statement beside that of a sentence."""

    def __init__(self, said: ParsedSentence, source: Source, weights: Mapping[int, float]) -> None:
        self._said = said
        self._held = source.sentence
        self._frame = source.frame
        self._weights = weights
        self._matches = self._match()
        """By place of a content token of the statement, in order: its place in the sentence."""
        self._taken = {*self._matches.values()}
        self._framed = {
            place
            for place in said.content
            if place not in self._matches and any(_is_same(said.tokens[place], other) for other in self._frame)
        }
        """What stands above the sentence."""

    def result(self) -> Comparison:
        total = sum(self._weights.values())
        own = sum(self._weights[place] for place in self._matches)
        held = own + sum(self._weights[place] for place in self._framed)
        if own < MIN_OWN_COVERAGE / 2 * total or own < MIN_WEIGHT / 2:
            return UNRELATED
        score = round(held / total, 4)
        altered = self._alterations()
        if not altered:
            is_enough = held >= MIN_COVERAGE * total and own >= MIN_OWN_COVERAGE * total and own >= MIN_WEIGHT
            return Comparison(score, supports=is_enough and self._is_cohesive)
        if len(altered) > 1 or None in altered or own < MIN_WEIGHT:
            return Comparison(score)
        missing = sum(self._weights[place] for place in self._unmatched if self._is_marked(place))
        if held < MIN_ALTERED_COVERAGE * (total - missing) or ("negation" in altered and not self._is_denial):
            return Comparison(score)
        return Comparison(score, difference=altered.pop() if self._is_cohesive else None)

    @cached_property
    def _unmatched(self) -> list[int]:
        return [place for place in self._said.content if place not in self._matches and place not in self._framed]

    def _is_marked(self, place: int) -> bool:
        token = self._said.tokens[place]
        return place in self._said.names or token.kind == "number" or bool(token.date)

    def _match(self) -> dict[int, int]:
        """Pair the content of the statement with that of the sentence, what stands in the same order first."""
        said, held = self._said, self._held
        theirs = [held.tokens[place] for place in held.content]
        names = _canonical_names([said.tokens[place] for place in said.content], theirs)
        others = [_name_of(token) for token in theirs]
        pairs: dict[int, int] = {}
        for mine, their, size in SequenceMatcher(None, names, others, autojunk=False).get_matching_blocks():
            pairs.update(zip(said.content[mine : mine + size], held.content[their : their + size], strict=True))
        taken = {*pairs.values()}
        free: dict[str, list[int]] = {}
        for name, place in zip(others, held.content, strict=True):
            if place not in taken:
                free.setdefault(name, []).append(place)
        for name, place in zip(names, said.content, strict=True):
            if place not in pairs and free.get(name):
                pairs[place] = free[name].pop(0)
        return dict(sorted(pairs.items()))

    @cached_property
    def _is_cohesive(self) -> bool:
        """Whether what stands together in the statement stands together in the sentence."""
        places = [self._held.order[place] for place in self._matches.values()]
        near = [abs(one - another) <= 2 for one, another in pairwise(places)]
        return sum(near) >= MIN_COHESION * len(near) and not self._mixes_clauses() and not self._exchanges()

    def _mixes_clauses(self) -> bool:
        """Whether a clause of the statement takes up what the sentence says of different things."""
        said, held = self._said.tokens, self._held.tokens
        left_out = [place for place in self._held.content if place not in self._taken]
        return any(
            said[one].clause == said[another].clause
            and held[first].clause != held[last].clause
            and (last < first or any(first < each < last for each in left_out))
            for (one, first), (another, last) in pairwise(self._matches.items())
        )

    def _exchanges(self) -> bool:
        """Whether two parts of the sentence have changed places around a third, and not with all that belongs to them.

        "In the garden stands a shed" for "A shed stands in the garden" keeps "in the" with the garden.
        """
        heads = self._heads()
        if len(heads) > 12:  # too many to compare each with each
            return True
        return any(
            first > middle > last and self._is_exchanged((one, first), (another, last))
            for (one, first), (_, middle), (another, last) in combinations(heads, 3)
        )

    def _is_exchanged(self, one: tuple[int, int], another: tuple[int, int]) -> bool:
        pairs = one, another
        said, held = self._said.tokens, self._held.tokens
        if self._said.marks_case and all(said[mine].word == held[theirs].word for mine, theirs in pairs):
            return False
        roles = [(self._said.roles.get(mine), self._held.roles.get(theirs)) for mine, theirs in pairs]
        return any(mine != theirs for mine, theirs in roles) or roles[0] == roles[1]

    def _heads(self) -> list[tuple[int, int]]:
        """The first token of each part that stands in both in the same order, with its place in the sentence."""
        heads: list[tuple[int, int]] = []
        before = -1
        ranks = {place: rank for rank, place in enumerate(sorted(self._taken))}
        for place, there in self._matches.items():
            if ranks[there] != before + 1 or not heads:
                heads.append((place, there))
            before = ranks[there]
        return heads

    def _alterations(self) -> set[Difference | None]:
        """What differs in number, name or negation, and None for what is simply not the same."""
        found: set[Difference | None] = set()
        for place, other in self._matches.items():
            if self._said.tokens[place].kind == "number" and not self._counts_the_same(place, other):
                found.add(None)
        for place in self._unmatched:
            found |= self._substitution(place)
        for place in self._framed:
            found |= self._displacement(place)
        units = (self._matches.get(place, 0) for place in self._said.single_units)
        before = (self._held.tokens[there - 1] for there in units if there > 0)
        if any(each.kind == "number" and 1.0 not in each.values for each in before):  # where the statement has "a year"
            found.add("number")
        return found | self._operator_differences()

    @cached_property
    def _is_denial(self) -> bool:
        """Whether one denies what the other says: both say what is denied, in the same order, and little else."""
        denied = [each.target for each in self._said.operators if each.word == NEGATION]
        clauses = {self._held.tokens[place].clause for place in self._taken}
        # The part of the sentence with all that is matched, from one "and" to the next.
        before = [each for each in self._held.connectives if each < min(self._taken)]
        after = [each for each in self._held.connectives if each > max(self._taken)]
        between = range(max(before, default=0), min(after, default=len(self._held.tokens)))
        has_date = any(token.date for token in self._said.tokens)
        there = [each for each in self._held.content if self._held.tokens[each].clause in clauses and each in between]
        return (
            all(target in self._matches for target in denied)
            and len(self._taken) >= MIN_DENIED_SHARE * len(there)
            and not (has_date and any(self._held.tokens[each].date for each in {*there} - self._taken))
            and [*self._matches.values()] == sorted(self._taken)
        )

    # Numbers.

    def _counts_the_same(self, mine: int, theirs: int) -> bool:
        """Whether a number stands before or after the same in both, or is the only one that it can be."""
        for step in (1, -1):
            one, another = self._neighbour(self._said, mine, step), self._neighbour(self._held, theirs, step)
            if one >= 0 and self._matches.get(one) == another:
                return True
        is_year = _is_year(self._said.tokens[mine])
        there = [self._held.tokens[place] for place in self._held.content]
        return sum(each.kind == "number" and _is_year(each) == is_year for each in there) == 1

    @staticmethod
    def _neighbour(sentence: ParsedSentence, place: int, step: int) -> int:
        """The place of the content token before or after; negative where there is none."""
        number = sentence.order[place] + step
        return sentence.content[number] if 0 <= number < len(sentence.content) else -1

    # What stands in the place of another.

    def _substitution(self, place: int) -> set[Difference | None]:
        """What an unmatched token of the statement means: nothing for a small addition."""
        token = self._said.tokens[place]
        places = self._replaced(place)
        others = [self._held.tokens[each] for each in places]
        if token.kind == "number":
            # "A year" may stand where the statement has another number of years.
            is_unlike_one = 1.0 not in token.values and self._matches.get(place + 1) in self._held.single_units
            return {"number"} if is_unlike_one or any(each.kind == "number" for each in others) else {None}
        if token.date:
            # For another date, or for a name with the same preposition: "on Friday" and "in March" may both be so.
            named = [each for each in places if each in self._held.names]
            is_named = any(self._said.roles[place] == self._held.roles[each] for each in named)
            return {"name"} if is_named or any(each.date == token.date for each in others) else {None}
        if place in self._said.names:
            return {"name"} if any(each.is_capitalised for each in others) else {None}
        around = self._replaced(place, reach=2)
        return {None} if any(self._held.tokens[each].kind == token.kind for each in around) else set()

    def _displacement(self, place: int) -> set[Difference | None]:
        """What it means that the sentence has something else where the statement has what stands only above it."""
        others = [self._held.tokens[each] for each in self._replaced(place)]
        if self._said.tokens[place].kind == "number":
            return {"number"} if any(each.kind == "number" for each in others) else set()
        is_subject = place == self._said.content[0] or place in self._said.names
        return {None} if is_subject and any(each.kind == "word" for each in others) else set()

    def _replaced(self, place: int, reach: int = 1) -> list[int]:
        """The places of the content that the sentence has around there and the statement has not.

        It stands between the next tokens, in both directions, that both have; with a greater `reach`, beyond them.
        """
        content, number, end = self._said.content, self._said.order[place], len(self._held.tokens)
        before = [self._matches[each] for each in reversed(content[:number]) if each in self._matches][:reach]
        after = [self._matches[each] for each in content[number + 1 :] if each in self._matches][:reach]
        bounds = [before[-1] if len(before) == reach else -1, after[-1] if len(after) == reach else end]
        first, last = min(bounds), max(bounds)
        return [each for each in self._held.content if first < each < last and each not in self._taken]

    # Negation and other operators.

    def _operator_differences(self) -> set[Difference | None]:
        mine = self._said.operators
        with_number = {each.word for each in mine if self._bears_on_other_number(self._said, each, self._matches)}
        theirs = [
            each
            for each in self._held.operators
            if (each.word == CONDITION or each.target < 0 or each.target in self._taken)
            or (each.word in with_number and self._bears_on_other_number(self._held, each, self._taken))
        ]
        negated = [each for each in mine if each.word == NEGATION]
        negated_there = [each for each in theirs if each.word == NEGATION]
        found: set[Difference | None] = set()
        if bool(negated) != bool(negated_there):
            found.add("negation")
        elif len(negated) != len(negated_there):
            found.add(None)
        wanted = {(each.word, self._matches.get(each.target, -1)) for each in mine if each.word != NEGATION}
        others = {
            (each.word, -1 if self._bears_on_other_number(self._held, each, self._taken) else each.target)
            for each in theirs
            if each.word != NEGATION
        }
        unlike = wanted ^ others
        if "negation" in found:  # "never" denies "always"; "not always" does not deny what is said of some cases
            affirmed = others if negated else wanted
            unlike -= {each for each in affirmed if each[0] in listed("universals")}
        return found | {None} if unlike else found

    @staticmethod
    def _bears_on_other_number(sentence: ParsedSentence, operator: Operator, matched: Container[int]) -> bool:
        """Whether it stands with a number that the other does not have: "since 2011"."""
        is_number = operator.target >= 0 and sentence.tokens[operator.target].kind == "number"
        return is_number and operator.target not in matched


def weights_of(terms: Iterable[str], idf: Mapping[str, float], rarest: float) -> dict[str, float]:
    """The weight of each term: 1 for one that a single note has or none, little for one that all notes have."""
    return {term: min(1.0, idf.get(term, rarest) / rarest) if rarest else 1.0 for term in terms}


def _weight(token: Token, weights: Weights) -> float:
    return WEIGHTS[token.kind] * (weights.get(token.key, 1.0) if token.kind in {"word", "letter"} else 1.0)


def _is_year(token: Token) -> bool:
    return token.word.isdecimal() and len(token.word) == 4 and int(token.word) in _YEARS


def _canonical_names(mine: Iterable[Token], theirs: Iterable[Token]) -> list[str]:
    """For each token of a statement the name of the token that it is the same as, else its own."""
    by_beginning: dict[str, list[Token]] = {}
    for token in theirs:
        by_beginning.setdefault(beginning(token), []).append(token)
    found: list[str] = []
    for token in mine:
        alike = by_beginning.get(beginning(token), ())
        same = [_name_of(each) for each in alike if _is_same(token, each)]
        found.append(_name_of(token) if not same or _name_of(token) in same else same[0])
    return found


def _name_of(token: Token) -> str:
    """What tells tokens apart."""
    return f"{token.kind[0]}{token.key}"


def _is_same(token: Token, other: Token) -> bool:
    """Whether two tokens mean the same, as far as they can be told."""
    if token.kind != other.kind:
        return False
    if token.kind == "number":
        return token.key == other.key or not token.values.isdisjoint(other.values)
    return token.key == other.key or (token.kind == "word" and _are_forms(token, other))


def _are_forms(token: Token, other: Token) -> bool:
    """Whether two words are forms of one, as far as their beginnings tell; names have to be the same."""
    one, another = token.word, other.word
    if one.isascii() and (token.is_capitalised or other.is_capitalised):
        return False
    shared = next((place for place, pair in enumerate(zip(one, another, strict=False)) if pair[0] != pair[1]), None)
    prefix = min(len(one), len(another)) if shared is None else shared
    longer = max(len(one), len(another))
    return prefix >= 4 and prefix >= 0.6 * longer and longer - prefix <= 4

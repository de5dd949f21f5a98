"""How a sentence of a note relates to a statement: whether it says the same, or the same with something altered.

Precision first: a statement with another number, name or negation is not supported, however alike the rest is.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from zkchat.model.verification import Difference
from zkchat.vault.verification.sentence_parser import NEGATION, Operator, ParsedSentence
from zkchat.vault.verification.tokens import Token

# Chosen on the first half of benchmarks/retrieval/verification.json; benchmarks/retrieval/verification.py measures.
MIN_COVERAGE: Final = 0.8
"""The share of a statement's content that a passage must hold to support it."""
MIN_OWN_COVERAGE: Final = 0.5
"""The share that must stand in the sentence itself, and not in the title and the headings above it."""
MIN_ALTERED_COVERAGE: Final = 0.7
"""The share, without what is altered, that a sentence must hold to contradict a statement."""
MIN_WEIGHT: Final = 1.0
"""The least weight of what both hold; a word that one note has weighs 1, one of every note next to nothing."""
LETTER_WEIGHT: Final = 0.4
"""The weight of a letter of a script without spaces, against that of a word."""
_MIN_PREFIX: Final = 4
_MIN_PREFIX_SHARE: Final = 0.6
_MAX_ENDING: Final = 4

Weight = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of comparing a statement with a sentence."""

    score: float = 0.0
    """The share of the statement that is held."""
    supports: bool = False
    difference: Difference | None = None
    """In what the sentence says otherwise, if it does."""


UNRELATED: Final = Comparison()


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence of a note with what stands above it."""

    sentence: ParsedSentence
    frame: tuple[Token, ...] = ()
    """The tokens of title, headings and lead: what the sentence need not repeat."""


def compare(said: ParsedSentence, source: Source, weight: Weight) -> Comparison:
    """Compare a statement with a sentence of a note."""
    return _Alignment(said, source, weight).result()


class _Alignment:
    def __init__(self, said: ParsedSentence, source: Source, weight: Weight) -> None:
        self._said = said
        self._held = source.sentence
        self._frame = source.frame
        self._weights = {place: _weight(said.tokens[place], weight) for place in said.content}
        self._matches = self._match()
        """By place of a content token of the statement: its place in the sentence."""
        self._framed = {
            place
            for place in said.content
            if place not in self._matches and any(_is_same(said.tokens[place], other) for other in source.frame)
        }

    def result(self) -> Comparison:
        total = sum(self._weights.values())
        own = sum(self._weights[place] for place in self._matches)
        framed = sum(self._weights[place] for place in self._framed)
        if not total or own < MIN_OWN_COVERAGE * 0.5 * total or own < 0.5 * MIN_WEIGHT:
            return UNRELATED
        coverage = (own + framed) / total
        altered = self._alterations()
        if not altered:
            supports = coverage >= MIN_COVERAGE and own >= MIN_OWN_COVERAGE * total and own >= MIN_WEIGHT
            return Comparison(round(coverage, 4), supports=supports)
        if len(altered) > 1 or None in altered:
            return Comparison(round(coverage, 4))
        missing = sum(
            self._weights[place]
            for place in self._said.content
            if place not in self._matches and place not in self._framed and self._is_marked(place)
        )
        rest = (own + framed) / (total - missing) if total > missing else 0.0
        difference = altered.pop() if rest >= MIN_ALTERED_COVERAGE and own >= MIN_WEIGHT else None
        return Comparison(round(coverage, 4), difference=difference)

    def _is_marked(self, place: int) -> bool:
        return place in self._said.names or self._said.tokens[place].kind == "number"

    def _match(self) -> dict[int, int]:
        """Pair the content of the statement with that of the sentence, what stands in the same order first."""
        said, held = self._said, self._held
        mine = [said.tokens[place] for place in said.content]
        theirs = [held.tokens[place] for place in held.content]
        names = _canonical(mine, theirs)
        matcher = SequenceMatcher(None, names, [_name(token) for token in theirs], autojunk=False)
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        for block in matcher.get_matching_blocks():
            for step in range(block.size):
                pairs[said.content[block.a + step]] = held.content[block.b + step]
                taken.add(block.b + step)
        left: dict[str, list[int]] = {}
        for number, token in enumerate(theirs):
            if number not in taken:
                left.setdefault(_name(token), []).append(number)
        for number, place in enumerate(said.content):
            if place not in pairs and left.get(names[number]):
                pairs[place] = held.content[left[names[number]].pop(0)]
        return pairs

    def _alterations(self) -> set[Difference | None]:
        """What differs in number, name or negation, and None for what is simply not the same."""
        found: set[Difference | None] = set()
        for place in self._said.content:
            if place in self._matches:
                if self._said.tokens[place].kind == "number" and not self._has_same_unit(place, self._matches[place]):
                    found.add(None)
            elif place not in self._framed:
                found |= self._substitution(place)
        found |= self._operator_differences()
        return found

    # Numbers.

    def _has_same_unit(self, mine: int, theirs: int) -> bool:
        """Whether a number stands beside the same in both: before it or after it."""
        for step in (1, -1):
            one, another = self._neighbour(self._said, mine, step), self._neighbour(self._held, theirs, step)
            if one is not None and another is not None and self._matches.get(one) == another:
                return True
        return len(self._said.numbers) == 1 == len(self._held.numbers)

    @staticmethod
    def _neighbour(sentence: ParsedSentence, place: int, step: int) -> int | None:
        number = sentence.content.index(place) + step
        return sentence.content[number] if 0 <= number < len(sentence.content) else None

    # What stands in the place of another.

    def _substitution(self, place: int) -> set[Difference | None]:
        """What an unmatched token of the statement means: nothing for a small addition."""
        token = self._said.tokens[place]
        others = [self._held.tokens[each] for each in self._gap(place) if each not in self._taken]
        if token.kind == "number":
            return {"number"} if any(each.kind == "number" for each in others) else {None}
        is_name = place in self._said.names
        if is_name:
            return {"name"} if any(each.is_capitalised for each in others) else {None}
        if any(each.kind == token.kind for each in others):
            return {None}
        return set()

    @property
    def _taken(self) -> set[int]:
        return {*self._matches.values()}

    def _gap(self, place: int) -> list[int]:
        """The content of the sentence that stands where the token would: between the same neighbours."""
        number = self._said.content.index(place)
        before = next(
            (self._matches[each] for each in reversed(self._said.content[:number]) if each in self._matches), -1
        )
        after = next((self._matches[each] for each in self._said.content[number + 1 :] if each in self._matches), None)
        end = len(self._held.tokens) if after is None else after
        if end < before:
            before, end = end, before
        return [each for each in self._held.content if before < each < end]

    # Negation and other operators.

    def _operator_differences(self) -> set[Difference | None]:
        mine = [*self._said.operators]
        theirs = [each for each in self._held.operators if each.target < 0 or each.target in self._taken]
        negated, negated_there = (_count(operators) for operators in (mine, theirs))
        found: set[Difference | None] = set()
        if negated != negated_there:
            found.add("negation" if not (negated and negated_there) else None)
        elif negated and not self._have_near_targets(mine, theirs):
            found.add(None)
        if {each.word for each in mine} - {NEGATION} != {each.word for each in theirs} - {NEGATION}:
            found.add(None)
        return found

    def _have_near_targets(self, mine: Iterable[Operator], theirs: Iterable[Operator]) -> bool:
        there = [self._held.content.index(each.target) for each in theirs if each.word == NEGATION and each.target >= 0]
        for each in mine:
            if each.word != NEGATION or each.target not in self._matches:
                continue
            target = self._held.content.index(self._matches[each.target])
            if not any(abs(target - other) <= 1 for other in there):
                return False
        return True


def _count(operators: Iterable[Operator]) -> int:
    return sum(each.word == NEGATION for each in operators)


def _weight(token: Token, weight: Weight) -> float:
    match token.kind:
        case "word":
            return weight(token.key)
        case "number":
            return 0.5
        case "letter":
            return LETTER_WEIGHT * weight(token.key)
        case "sign":
            return 0.1


def _canonical(mine: list[Token], theirs: list[Token]) -> list[str]:
    """For each token of a statement the name of the token that it is the same as, else its own."""
    known = {_name(token) for token in theirs}
    found: dict[str, str] = {}
    for token in mine:
        name = _name(token)
        if name not in found:
            other = None if name in known else next((each for each in theirs if _is_same(token, each)), None)
            found[name] = _name(other) if other else name
    return [found[_name(token)] for token in mine]


def _name(token: Token) -> str:
    return f"{token.kind[0]}{token.key}"


def _is_same(token: Token, other: Token) -> bool:
    if token.kind != other.kind:
        return False
    if token.kind == "number":
        return token.key == other.key or not token.values.isdisjoint(other.values)
    if token.key == other.key:
        return True
    return token.kind == "word" and _are_forms(token, other)


def _are_forms(token: Token, other: Token) -> bool:
    """Whether two words are forms of one, as far as their beginnings tell; names have to be the same."""
    one, another = token.word, other.word
    shared = next((place for place, pair in enumerate(zip(one, another, strict=False)) if pair[0] != pair[1]), None)
    prefix = min(len(one), len(another)) if shared is None else shared
    longer = max(len(one), len(another))
    if one.isascii() and (token.is_capitalised or other.is_capitalised):
        return False
    return prefix >= _MIN_PREFIX and prefix >= _MIN_PREFIX_SHARE * longer and longer - prefix <= _MAX_ENDING


def weights_of(terms: Iterable[str], idf: Mapping[str, float], rarest: float) -> dict[str, float]:
    """The weight of each term: 1 for one that a single note has or none, little for one that all notes have."""
    return {term: min(1.0, idf.get(term, rarest) / rarest) if rarest else 1.0 for term in terms}

"""The time that a question asks for: which days its notes are of, or whether the newest is wanted."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, Literal

from msgspec import Struct

from zkchat.core import Calendar, DayRange, lazy_pattern
from zkchat.language import STOP_WORDS_BY_CODE, by_code, languages, phrases
from zkchat.notes.dates.calendar import Expression, fold, tokens_of
from zkchat.notes.dates.expressions import UnspacedGrammar, time_filters
from zkchat.notes.dates.grammar import Grammar

MAX_CHARACTERS: Final = 400
"""Of a question; what is longer tells a story."""
_MAX_NAME_TOKENS: Final = 3
"""Words beside a time that may be part of a name with it; where no spaces are written, twice as many characters."""
_UNSPACED: Final = lazy_pattern(r"[\u3040-\u30ff\u4e00-\u9fff]")
_QUOTED: Final = lazy_pattern(
    r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|《[^》]*》|〈[^〉]*〉|`[^`]*`"
)
_POSSESSIVE: Final = lazy_pattern(r"['’]s\b")
_PIECE: Final = lazy_pattern(r"\w+")
"""A part of a word between apostrophes and hyphens."""
Order = Literal["newest", "oldest"]
Place = tuple[int, int]


class TimeInQuestion(Struct, frozen=True, kw_only=True):
    period: DayRange | None
    """The days that are asked for; None where only an order is."""
    words: str
    """What says so in the question."""
    rest: str
    """The question without these words."""
    topic: str
    """The rest without what people do with notes at any time: empty where a time is all that is asked for."""
    order: Order | None = None
    """Whether the newest or the oldest note is asked for."""
    asks_when: bool = False
    is_about_changes: bool = False
    is_certain: bool = True
    """Whether it asks for the user's own notes; if not, it may ask what happened in the world."""


class MissingDay(Struct, frozen=True):
    words: str
    topic: str
    """What else is asked; empty where the day is all."""


def time_in_question(
    text: str, calendar: Calendar, is_name: Callable[[str], bool] = lambda _: False
) -> TimeInQuestion | None:
    """The time that a question asks for; None where it asks for none, or where its time is what it is about.

    `is_name` tells which words are the name of a note: a time in a name is none. Filters such as `after:2026-03-01`
    count before all words.
    """
    plain = _plain(text)
    filtered = _filtered(plain, calendar) if plain else None
    return filtered or next(filter(None, (_time(question) for question in _questions(plain, calendar, is_name))), None)


def missing_day(text: str, calendar: Calendar) -> MissingDay | None:
    for question in _questions(_plain(text), calendar):
        if question.said.oriented or question.said.personal:
            for place in question.missing_days():
                if not _overlaps(place, question.quoted):
                    return MissingDay(question.text[slice(*place)], question.topic(_without(question.text, [place])))
    return None


def asks_for_own_writing(text: str) -> bool:
    """Whether a question asks for what the user wrote: that is in notes, and not in documents of others."""
    if _UNSPACED.search(text):
        return not re.search("[谁誰]", text) and bool(re.search(_any_of("own_writing"), text))
    words = {*_PIECE.findall(fold(text[:MAX_CHARACTERS]))}
    return any(
        words & _listed(language, "own_writing")
        and (languages()[language].get("drops_pronouns") or words & _listed(language, "first_person"))
        for language in _languages_of(text[:MAX_CHARACTERS])
    )


def asks_of_own_past(text: str, calendar: Calendar) -> bool:
    """Whether a question asks what the user did, or what happened to them: "Where did I put the keys?"."""
    return any(each.said.personal and each.said.past for each in _questions(_plain(text), calendar))


def find_period(text: str, language: str, calendar: Calendar) -> tuple[DayRange, Place] | None:
    """The first period that a text in this language names, whatever the text is about, and where it stands."""
    if language in by_code("calendar", spaced=True):
        return _SpacedQuestion(text, language, calendar).first_period()
    return _UnspacedQuestion(text, calendar).first_period()


def _plain(text: str) -> str:
    """Empty where it is too long."""
    plain = unicodedata.normalize("NFC", " ".join(text.split()))
    return plain if len(plain) <= MAX_CHARACTERS else ""


def _questions(
    plain: str, calendar: Calendar, is_name: Callable[[str], bool] = lambda _: False
) -> Iterator["_Question"]:
    """A question in each of the languages that it may be in."""
    if _UNSPACED.search(plain):
        yield _UnspacedQuestion(plain, calendar, is_name)
    elif plain:
        for language in _languages_of(plain):
            yield _SpacedQuestion(plain, language, calendar, is_name)


def _filtered(text: str, calendar: Calendar) -> TimeInQuestion | None:
    """The period of the filters that are typed into a question."""
    period: DayRange | None = None
    places: list[Place] = []
    for found, days in time_filters(text, calendar):
        if days:
            period = days.overlap(period)
            places.append(found.span())
    if period is None:
        return None
    rest = _without(text, places)
    words = " ".join(text[start:end] for start, end in places)
    return TimeInQuestion(period=period, words=words, rest=rest, topic=rest)


def _languages_of(text: str) -> list[str]:
    """The languages that a question may be in: those that most of its words are of."""
    words = _PIECE.findall(fold(text))
    hits: dict[str, int] = {}
    for language in by_code("calendar", spaced=True):
        telling = _stop_words(language) | _interrogatives(language) | _listed(language, "about", "past", "events")
        hits[language] = sum(word in telling for word in words)
    most = max(hits.values())
    return [language for language in hits if hits[language] == most]


@cache
def _listed(language: str, *keys: str) -> frozenset[str]:
    table = by_code("time")[language]
    return frozenset(word for key in keys for word in table.get(key, "").split())


@cache
def _any_of(key: str) -> str:
    """A regular expression for the words of a list where no spaces are written, the longest first."""
    tables = by_code("time", spaced=False).values()
    found = [phrase for table in tables for phrase in phrases(table.get(key, ""))]
    return "|".join(sorted(found, key=len, reverse=True))


@cache
def _stop_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, STOP_WORDS_BY_CODE[language])) | _listed(language, "first_person")


@cache
def _interrogatives(language: str) -> frozenset[str]:
    return frozenset(map(fold, by_code("interrogatives")[language].split()))


def _quoted(text: str) -> list[Place]:
    return [found.span() for found in _QUOTED.finditer(text)]


def _overlaps(place: Place, spans: Sequence[Place]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in spans)


def _without(text: str, spans: Sequence[Place]) -> str:
    position, kept = 0, []
    for start, end in spans:
        kept.append(text[position:start])
        position = max(position, end)
    return " ".join(" ".join([*kept, text[position:]]).split())


def _hull(periods: Sequence[DayRange]) -> DayRange | None:
    """All days of periods that overlap or follow each other; None where there are gaps between them, or no periods."""
    if not periods:
        return None
    ordered = sorted(periods, key=lambda each: (each.first is not None, each.first))
    whole = ordered[0]
    for each in ordered[1:]:
        if whole.end is None or each.first is None or each.first <= whole.end:
            ends = [whole.end, each.end]
            whole = DayRange(whole.first, None if None in ends else max(end for end in ends if end))
        else:
            return None
    return whole


class _Words(Struct, frozen=True):
    """What the words of a question tell beside its time."""

    past: bool
    personal: bool
    event: bool
    """Whether it speaks of notes or meetings, or of what happened."""
    changes: bool
    when: bool
    present: bool = False
    modal: bool = False

    @property
    def own(self) -> bool:
        """Whether it asks for the user's own notes."""
        return self.personal or self.event or self.changes

    @property
    def oriented(self) -> bool:
        """Whether it asks for what was, or for notes."""
        return self.past or self.event or self.changes


def _time(question: "_Question") -> TimeInQuestion | None:
    found = [*question.periods()]
    period = _hull([expression.period for expression, _ in found])
    if found and period is None:
        return None
    spans = [place for _, place in found]
    order, order_place = question.order(spans)
    if period is None and order is None:
        return None
    spans = sorted([*spans, *([order_place] if order_place else [])])
    rest = _without(question.text, spans)
    return TimeInQuestion(
        period=period,
        words=" … ".join(question.text[start:end].strip() for start, end in spans),
        rest=rest,
        topic=question.topic(rest),
        order=order,
        asks_when=question.said.when and order is not None,
        is_about_changes=question.said.changes,
        is_certain=question.said.own,
    )


def _expressions(grammar: Grammar | UnspacedGrammar, length: int) -> Iterator[tuple[int, Expression]]:
    """The times that are named one after the other, and where each begins."""
    at = 0
    while at < length:
        found = grammar.expression(at)
        if found:
            yield at, found
        at = found.end if found else at + 1


class _SpacedQuestion:
    def __init__(
        self, text: str, language: str, calendar: Calendar, is_name: Callable[[str], bool] = lambda _: False
    ) -> None:
        self.text = text
        self.quoted = _quoted(text)
        self._folded = fold(text)
        self._language = language
        self._calendar = calendar
        self._is_name = is_name
        self._tokens = tokens_of(text, language)
        self._grammar = Grammar(self._tokens, language, calendar)
        self.said = self._words()

    def _has(self, text: str, *keys: str) -> bool:
        return text in _listed(self._language, *keys)

    def missing_days(self) -> Iterator[Place]:
        for at, token in enumerate(self._tokens):
            if (end := self._grammar.missing_day(at)) is not None:
                yield token.start, self._tokens[end - 1].end

    def first_period(self) -> tuple[DayRange, Place] | None:
        """The first time that it names, whatever it is about."""
        found = _expressions(self._grammar, len(self._tokens))
        return next(((each.period, self._span(at, each)) for at, each in found if not self._is_verb(at, each)), None)

    def _is_verb(self, at: int, found: Expression) -> bool:
        """Whether a month is one by its letters alone: "who may edit it"."""
        token, before = self._tokens[at], self._tokens[max(0, at - 1)]
        is_small = found.end == at + 1 and self.text[token.start].islower()
        return is_small and self._has(token.text, "modals") and "at" not in before.meanings

    def periods(self) -> Iterator[tuple[Expression, Place]]:
        """The times that narrow, and where they stand; a list has one preposition for all."""
        listed_at: tuple[int, ...] = ()
        for at, found in _expressions(self._grammar, len(self._tokens)):
            if self._narrows(found, at, is_listed=at in listed_at):
                yield found, self._span(at, found)
                is_joined = found.end < len(self._tokens) and "and" in self._tokens[found.end].meanings
                listed_at = (found.end, found.end + is_joined)

    def _narrows(self, found: Expression, at: int, *, is_listed: bool) -> bool:
        said = self.said
        start, end = self._tokens[at].start, self._tokens[found.end - 1].end
        if _overlaps((start, end), self.quoted) or self._is_part_of_name(at, found.end):
            return False
        has_no_verb = not (said.present or said.modal)
        if found.strength == "relative":
            is_past = found.period.end is not None and found.period.end <= self._calendar.today
            if is_past or (found.is_named and found.period.first):
                return said.oriented or said.personal or has_no_verb
            is_general = said.modal and not said.past
            return not is_general and (said.own or has_no_verb)
        if found.strength == "day":
            is_exact = found.of_year is None  # with a year it is hardly anything but a date
            return said.oriented or (said.personal and not said.modal) or (has_no_verb and is_exact)
        asks_for_date = said.when and not said.past
        if asks_for_date or not said.oriented or (found.unit == "year" and not said.own):
            return False
        is_time = is_listed or found.is_named or self._has_preposition(at)
        return is_time and not (found.unit == "number" and self._counts_what_follows(found))

    def _counts_what_follows(self, found: Expression) -> bool:
        """Whether a number is that of a thing: "the 8th note"."""
        following = next(iter(self._tokens[found.end : found.end + 1]), None)
        if following is None or not following.text[:1].isalnum() or following.meanings:
            return False
        is_beside = not self.text[self._tokens[found.end - 1].end : following.start].strip(" ")
        known = _stop_words(self._language) | _listed(self._language, "activity")
        return is_beside and (self._has(following.text, "events") or following.text not in known)

    def _has_preposition(self, at: int) -> bool:
        """Whether a word before it says that it is a time; with a year, a note or a meeting before it does too."""
        meanings = self._tokens[at].meanings
        if not meanings.keys().isdisjoint({"early", "mid", "late"}):  # "Ende März"
            return True
        place = at + ("at" in meanings)
        while place and "article" in self._tokens[place - 1].meanings and "at" not in self._tokens[place - 1].meanings:
            place -= 1
        before = self._tokens[place - 1] if place else None
        if before is None or "at" not in before.meanings:
            return before is not None and self._has(before.text, "events")
        if before.text == "of":  # "notes of March", and not "the history of March"
            return place > 1 and self._has(self._tokens[place - 2].text, "events")
        return True

    def _is_part_of_name(self, at: int, end: int) -> bool:
        tokens = self._tokens
        for first in range(max(0, at - _MAX_NAME_TOKENS), at + 1):
            for stop in range(min(len(tokens), end + _MAX_NAME_TOKENS), end - 1, -1):
                if stop - first > end - at and self._is_name(self.text[tokens[first].start : tokens[stop - 1].end]):
                    return True
        return False

    def _span(self, at: int, found: Expression) -> tuple[int, int]:
        """Where the time stands, with the preposition before it and a possessive after it."""
        first = at
        while first and ({"at", "article"} & self._tokens[first - 1].meanings.keys()):
            first -= 1
        end = self._tokens[found.end - 1].end
        possessive = _POSSESSIVE.match(self.text, end)
        return self._tokens[first].start, possessive.end() if possessive else end

    def order(self, spans: Sequence[Place]) -> tuple[Order | None, Place | None]:
        table = by_code("time")[self._language]
        orders: tuple[tuple[Order, str, str], ...] = (
            ("newest", "last_time", "newest"),
            ("oldest", "first_time", "first"),
        )
        for order, phrase, adjective in orders:
            said = re.search(rf"(?<!\w)(?:{table[phrase]})(?!\w)", self._folded)
            if said and not _overlaps(said.span(), spans) and self.said.past:
                return order, said.span()
            if place := self._adjective(adjective, spans):
                return order, place
        return None, None

    def _adjective(self, key: str, spans: Sequence[Place]) -> Place | None:
        """Where `last` stands before a note or a meeting, with at most one word between them."""
        for at, token in enumerate(self._tokens):
            place = (token.start, token.end)
            beside = [*self._tokens[at + 1 : at + 3], *self._tokens[max(0, at - 1) : at]]
            is_free = not (_overlaps(place, spans) or _overlaps(place, self.quoted))
            if self._has(token.text, key) and is_free and any(self._has(each.text, "events") for each in beside):
                return place
        return None

    def topic(self, rest: str) -> str:
        asking = _stop_words(self._language) | _interrogatives(self._language)
        activity = _listed(self._language, "activity", "past", "about") | asking
        kept = []
        for word in rest.split():
            parts = _PIECE.findall(fold(word))
            if parts and not all(part in activity for part in parts):
                kept.append(word)
        return " ".join(kept)

    def _words(self) -> _Words:
        language = self._language
        words = {piece for token in self._tokens for piece in (token.text, *_PIECE.findall(token.text))}

        def has(*keys: str) -> bool:
            return not words.isdisjoint(_listed(language, *keys))

        personal = has("first_person", *(["own_writing"] if languages()[language].get("drops_pronouns") else []))
        asks = bool(self._tokens) and self._tokens[0].text in _interrogatives(language)
        tells_of_past = language != "en" or asks or personal  # "pointed end up"
        past_endings = re.compile(by_code("time")[language]["past_endings"])
        written = (self.text[token.start : token.end].lower().replace("’", "'") for token in self._tokens)
        return _Words(
            past=has("past") or (tells_of_past and any(map(past_endings.fullmatch, written))),
            present=has("present"),
            modal=has("modals"),
            personal=personal,
            event=has("events", "happened"),
            changes=has("changes"),
            when=bool(re.search(rf"(?<!\w)(?:{by_code('time')[language]['when']})(?!\w)", self._folded)),
        )


class _UnspacedQuestion:
    def __init__(self, text: str, calendar: Calendar, is_name: Callable[[str], bool] = lambda _: False) -> None:
        self.text = text
        self.quoted = _quoted(text)
        self._calendar = calendar
        self._is_name = is_name
        self._grammar = UnspacedGrammar(text, calendar)
        self.said = self._words()

    def missing_days(self) -> Iterator[Place]:
        for at in range(len(self.text)):
            if (end := self._grammar.missing_day(at)) is not None:
                yield at, end

    def first_period(self) -> tuple[DayRange, Place] | None:
        found = _expressions(self._grammar, len(self.text))
        return next(((each.period, (at, each.end)) for at, each in found), None)

    def topic(self, rest: str) -> str:
        return " ".join(re.sub(_any_of("activity"), " ", rest).split())

    def periods(self) -> Iterator[tuple[Expression, Place]]:
        for at, found in _expressions(self._grammar, len(self.text)):
            if self._narrows(found, at):
                yield found, (at, found.end)

    def _narrows(self, found: Expression, start: int) -> bool:
        said, text = self.said, self.text
        if _overlaps((start, found.end), self.quoted) or self._is_part_of_name(start, found.end):
            return False
        if found.strength == "relative":
            is_past = found.period.end is not None and found.period.end <= self._calendar.today
            is_past |= found.is_named and found.period.first is not None
            return is_past or said.oriented or said.personal
        return said.oriented and text[found.end : found.end + 1] != "天"

    def _is_part_of_name(self, start: int, end: int) -> bool:
        text = self.text
        return any(
            stop - first > end - start and self._is_name(text[first:stop])
            for first in range(max(0, start - 2 * _MAX_NAME_TOKENS), start + 1)
            for stop in range(end, min(len(text), end + 2 * _MAX_NAME_TOKENS) + 1)
        )

    def order(self, spans: Sequence[Place]) -> tuple[Order | None, Place | None]:
        newest_event = rf"(?:{_any_of('newest_event')})(?=[^，。、？！?!]{{0,12}}(?:{_any_of('events')}))"
        orders: tuple[tuple[Order, str], ...] = (
            ("newest", f"{_any_of('newest')}|{newest_event}"),
            ("oldest", _any_of("first")),
        )
        for order, phrase in orders:
            said = re.search(phrase, self.text)
            if said and not _overlaps(said.span(), spans) and self.said.oriented:
                return order, said.span()
        return None, None

    def _words(self) -> _Words:
        def has(key: str) -> bool:
            return bool(re.search(_any_of(key), self.text))

        return _Words(
            past=has("past"),
            personal=has("first_person"),
            event=has("events"),
            changes=has("changes"),
            when=has("when"),
        )


_Question = _SpacedQuestion | _UnspacedQuestion

"""Finding what was said before (SPEC 4.6): a search over every message, archived or not.

All messages are indexed as they are stored, so what is found does not depend on what a compaction has archived: those
that are wanted are picked from the same scores.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from zkchat.errors import StorageDamaged
from zkchat.model.message import ChatMessage, CompactionPart
from zkchat.model.session import Entry, EntryFilter, IndexedMessage, IndexedUpTo, MessageEntry, MessageHit, Session
from zkchat.ports import MessageIndex, SessionStore
from zkchat.vault.search.snippet import snippet
from zkchat.vault.search.terms import query_terms

if TYPE_CHECKING:
    from zkchat.context.recall.ranking import MessageRanking

T = TypeVar("T")

_FROM_EACH_END = 50
"""Terms of a long question."""


class RankedMessage(NamedTuple):
    """A message and the share of the question that it answers to: about 1 where all that was asked for stands once."""

    session: str
    message: str
    score: float


class FoundMessage(NamedTuple):
    message: IndexedMessage
    score: float


@dataclass(frozen=True, slots=True)
class _Talk:
    """Messages in memory, by place: those of one session, or of all with gaps between them."""

    owners: list[tuple[str, str]]
    """Session and id of each message."""
    ranking: "MessageRanking"
    up_to: int = 0
    """The last change that is in it."""


class ConversationSearch:
    """The messages of a vault's sessions. What `learn` and `catch_up` have not seen is not found."""

    def __init__(self, index: MessageIndex) -> None:
        self._index = index
        self._talks: dict[str, _Talk] = {}
        self._outdated: set[str] = set()
        self._everything: _Talk | None = None
        self._make_again: Callable[[], None] | None = None

    def learn(self, session: str, entries: Sequence[Entry]) -> bool:
        """Take in what is new in the entries of a session, at a cost that does not depend on how many are old.

        False if some in between are missing, because another process stored them: then only `catch_up` helps.
        """
        reached = self._index.known().get(session)
        sequence = reached.sequence if reached else 0
        new = _after(entries, sequence)
        is_whole = not new or new[0].sequence == sequence + 1
        if is_whole:
            self._take(session, new)
        return is_whole

    def catch_up(self, store: SessionStore, session: str | None = None) -> None:
        """Bring one session, or all, in step with the store; forget those that are no longer there."""
        self._make_again = partial(self._catch_up, store, session)
        self._undamaged(self._make_again)

    def _catch_up(self, store: SessionStore, session: str | None) -> None:
        known = self._index.known()
        there = store.sessions() if session is None else [store.get(session)]
        for each in there:
            reached = known.get(each.id)
            if reached and reached.at > each.updated_at:  # an older state of the sessions was put back
                self.forget(each.id)
                reached = None
            self._take(each.id, _missing(store, each, reached))
        if session is None:
            for gone in known.keys() - {each.id for each in there}:
                self.forget(gone)

    def forget(self, session: str) -> None:
        """Remove every trace of a session that was deleted."""
        try:
            self._index.forget(session)
        except StorageDamaged:
            self._begin_anew()
        self._talks.pop(session, None)
        self._everything = None

    def _undamaged(self, ask: Callable[[], T]) -> T:
        """The answer, if need be of an index that was made again from the store."""
        try:
            return ask()
        except StorageDamaged:
            self._begin_anew()
            if self._make_again:
                self._make_again()
            return ask()

    def _begin_anew(self) -> None:
        self._index.reset()
        self._talks.clear()
        self._everything = None

    def ranked(
        self,
        query: str,
        *,
        session: str | None = None,
        limit: int = 10,
        among: Collection[str] | None = None,
        asked_in: str = "",
    ) -> list[RankedMessage]:
        """The messages that answer best, of one session or of all; only those among some ids, if these are given.

        `asked_in` is the message that asks, where it is one of them: it does not count.
        """
        return self._undamaged(lambda: self._ranked(query, session, limit, among, asked_in))

    def _ranked(
        self, query: str, session: str | None, limit: int, among: Collection[str] | None, asked_in: str
    ) -> list[RankedMessage]:
        from zkchat.context.recall.ranking import best

        talk = self._all() if session is None else self._talk(session)
        places_back = reversed(range(len(talk.owners))) if asked_in else ()
        question = next((place for place in places_back if talk.owners[place][1] == asked_in), None)
        scores = talk.ranking.scores(Counter(_asked(query)), question)
        places = best(scores, limit, lambda place: among is None or talk.owners[place][1] in among)
        return [RankedMessage(*talk.owners[place], float(scores[place])) for place in places]

    def found(
        self, query: str, *, session: str | None = None, limit: int = 10, among: Collection[str] | None = None
    ) -> list[FoundMessage]:
        """The same, with what they say."""
        ranked = self.ranked(query, session=session, limit=limit, among=among)
        of_session: dict[str, list[str]] = {}
        for each in ranked:
            of_session.setdefault(each.session, []).append(each.message)
        said = self._undamaged(
            lambda: [message for each, ids in of_session.items() for message in self._index.messages(each, ids)]
        )
        stored = {(message.session, message.id): message for message in said}
        return [
            FoundMessage(stored[key], each.score) for each in ranked if (key := (each.session, each.message)) in stored
        ]

    def search(
        self, query: str, *, session: str | None = None, limit: int = 10, among: Collection[str] | None = None
    ) -> list[MessageHit]:
        """The same, as it is shown: each with the words around the match."""
        asked = set(query_terms(query))
        return [
            MessageHit(
                session=message.session,
                message=message.id,
                external_id=message.external_id,
                role=message.role,
                name=message.name,
                time=message.time,
                snippet=snippet(message.text, asked),
                score=round(score, 4),
            )
            for message, score in self.found(query, session=session, limit=limit, among=among)
        ]

    def _take(self, session: str, entries: Sequence[Entry]) -> None:
        if entries:
            up_to = IndexedUpTo(entries[-1].sequence, max(entry.at for entry in entries))
            self._index.add(session, list(_indexed(session, entries)), up_to)
            self._outdated.add(session)
            self._everything = None

    def _talk(self, session: str) -> _Talk:
        from zkchat.context.recall.ranking import MessageRanking, MessageWords

        talk = self._talks.get(session)
        if talk is None or session in self._outdated:
            rows = self._index.words(session, talk.up_to if talk else 0)
            if talk and any(place <= talk.up_to for _, place, *_ in rows):  # a message was stored anew
                talk, rows = None, self._index.words(session, 0)
            words = MessageWords.unpacked((said, labels) for *_, said, labels in rows)
            talk = self._talks[session] = _Talk(
                owners=[*(talk.owners if talk else ()), *((session, id_) for id_, *_ in rows)],
                ranking=talk.ranking.followed_by(words) if talk else MessageRanking(words),
                up_to=max((changed for _, _, changed, *_ in rows), default=talk.up_to if talk else 0),
            )
            self._outdated.discard(session)
        return talk

    def _all(self) -> _Talk:
        from zkchat.context.recall.ranking import APART, MessageRanking, MessageWords

        if self._everything is None:
            talks = [self._talk(session) for session in sorted(self._index.known())]
            words = MessageWords.joined(words for talk in talks for words in (talk.ranking.words, APART))
            gap = [("", "")] * len(APART.lengths)
            owners = [owner for talk in talks for owner in (*talk.owners, *gap)]
            self._everything = _Talk(owners, MessageRanking(words))
        return self._everything


def _asked(query: str) -> list[str]:
    """The terms to look for; of somebody who pastes a whole text those at its beginning and its end."""
    asked = query_terms(query)
    return asked if len(asked) <= 2 * _FROM_EACH_END else [*asked[:_FROM_EACH_END], *asked[-_FROM_EACH_END:]]


def _after(entries: Sequence[Entry], sequence: int) -> list[Entry]:
    new: list[Entry] = []
    for entry in reversed(entries):
        if entry.sequence <= sequence:
            break
        new.append(entry)
    return new[::-1]


def _missing(store: SessionStore, session: Session, reached: IndexedUpTo | None) -> list[Entry]:
    """The entries of a session that the index has not seen; all of them if it cannot be told which."""
    if reached and reached.at == session.updated_at:
        return []
    if reached:
        new = _after(store.entries(session.id, EntryFilter(since=reached.at)), reached.sequence)
        if new and new[0].sequence == reached.sequence + 1:
            return new
    return store.entries(session.id)


def _indexed(session: str, entries: Sequence[Entry]) -> Iterator[IndexedMessage]:
    from zkchat.context.recall.ranking import packed

    for entry in entries:
        if isinstance(entry.body, MessageEntry) and was_said(entry.body.message):
            message = entry.body.message
            at = message.created_at
            yield IndexedMessage(
                session=session,
                id=message.id,
                place=entry.sequence,
                changed=entry.sequence,
                external_id=message.external_id,
                role=message.role,
                name=message.name,
                time=at,
                text=message.text,
                said=packed(message.text),
                labels=packed(f"{message.name} {at:%A} {at.day} {at:%B %Y-%m-%d}"),
            )


def was_said(message: ChatMessage) -> bool:
    """Whether a message is part of what was talked about; summaries and compactions only tell of it."""
    told = message.context_type in {"summary", "memory"} or any(isinstance(p, CompactionPart) for p in message.parts)
    return bool(message.text.strip()) and not told

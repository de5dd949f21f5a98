"""Full-text search over every message of every session, archived or not.

All messages are indexed as they are stored, so what is found does not depend on what a compaction has archived: those
that are wanted are picked from the same scores.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec.structs import replace

from zkchat.core import (
    Calendar,
    ChatMessage,
    Entry,
    EntryFilter,
    FilePart,
    IndexedMessage,
    IndexedUpTo,
    MessageEntry,
    MessageHit,
    ProviderError,
    Session,
    SessionStore,
    StorageDamaged,
    TextEmbedder,
    TextPart,
    ToolResultPart,
    compaction_of,
)
from zkchat.index import query_terms, snippet, terms
from zkchat.notes import time_in_question

if TYPE_CHECKING:
    from zkchat.chat.message_ranking import MessageRanking
    from zkchat.index import Vectors
    from zkchat.sessions import SqliteMessageIndex


T = TypeVar("T")

EDGE_TERMS = 50
"""Of a question that is longer than twice as many."""
MIN_CANDIDATES = 60
"""Messages with the best words of which the best answers are chosen."""
MAX_READ = 3
"""Texts that were read, among the messages that a search shows."""
MAX_CHARACTERS = 4_000
"""Of a message that are embedded: the vector of a longer text says little of any of its sentences."""


class RankedMessage(NamedTuple):
    """A message and the share of the question that it answers to: about 1 where all that was asked for stands once."""

    session: str
    message: str
    score: float


class ConversationSearch:
    """The messages of a vault's sessions. What `learn` and `catch_up` have not seen is not found."""

    def __init__(self, index: "SqliteMessageIndex", embedder: TextEmbedder | None = None) -> None:
        self._index = index
        self._embedder = embedder
        self._rankings: dict[str | None, MessageRanking] = {}
        """By session; all sessions together under None."""
        self._rebuild: Callable[[], None] | None = None
        self._read: dict[str, tuple[datetime | None, tuple[ChatMessage, ...]]] = {}
        """By session, when it last changed, and its messages beside which something was read."""

    def learn(self, session: str, entries: Sequence[Entry]) -> bool:
        """Index the new entries of a session, at a cost that does not depend on how many are old.

        False if some in between are missing, because another process stored them: then only `catch_up` helps.
        """
        reached = self._index.known().get(session)
        sequence = reached.sequence if reached else 0
        new = _after(entries, sequence)
        is_whole = (not new or new[0].sequence == sequence + 1) and not self._has_other_vectors(reached)
        if is_whole:
            self._take(session, new)
        return is_whole

    def catch_up(self, store: SessionStore, session: str | None = None) -> None:
        """Index what one session, or all, have in the store and not here; forget those that are no longer there."""
        self._rebuild = partial(self._catch_up, store, session)
        self._with_rebuild(self._rebuild)

    def _catch_up(self, store: SessionStore, session: str | None) -> None:
        known = self._index.known()
        there = store.sessions() if session is None else [store.get(session)]
        for each in there:
            reached = known.get(each.id)
            is_older = reached and reached.at > each.updated_at  # an older state of the sessions was put back
            if is_older or self._has_other_vectors(reached):
                self.forget(each.id)
                reached = None
            self._take(each.id, _missing(store, each, reached))
        if session is None:
            for gone in known.keys() - {each.id for each in there}:
                self.forget(gone)

    def _has_other_vectors(self, reached: IndexedUpTo | None) -> bool:
        """Whether messages have no vectors, or not ours, although ours could be made."""
        return bool(reached and self._embedder and reached.vectors != self._embedder.name)

    def forget(self, session: str) -> None:
        """Remove every trace of a session that was deleted."""
        try:
            self._index.forget(session)
        except StorageDamaged:
            self._reset()
        self._outdate(session)

    def _outdate(self, session: str) -> None:
        self._rankings.pop(session, None)
        self._rankings.pop(None, None)

    def _with_rebuild(self, ask: Callable[[], T]) -> T:
        """The answer; if the index is damaged, of one that was rebuilt from the store."""
        try:
            return ask()
        except StorageDamaged:
            self._reset()
            if self._rebuild:
                self._rebuild()
            return ask()

    def _reset(self) -> None:
        self._index.reset()
        self._rankings.clear()

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
        return self._with_rebuild(lambda: self._ranked(query, session, limit, among, asked_in))

    def _ranked(
        self, query: str, session: str | None, limit: int, among: Collection[str] | None, asked_in: str
    ) -> list[RankedMessage]:
        import numpy as np

        from zkchat.chat.message_ranking import GAP, reordered

        ranking = self._ranking(session)
        rows = ranking.rows
        asked_at = next((place for place in range(len(rows)) if rows[place].id == asked_in), None) if asked_in else None
        asked = query_terms(query)
        if len(asked) > 2 * EDGE_TERMS:  # of somebody who pastes a whole text, those at its beginning and its end
            asked = [*asked[:EDGE_TERMS], *asked[-EDGE_TERMS:]]
        scores = ranking.scores(Counter(asked), asked_at)
        found = np.flatnonzero(scores > 0)
        best_first = found[np.lexsort((-found, -scores[found]))].tolist()
        wanted = (
            place for place in best_first if rows[place] is not GAP and (among is None or rows[place].id in among)
        )
        places = [*islice(wanted, max(limit, MIN_CANDIDATES))]
        vectors = self._embedded([query]) if places else None
        best = reordered(places, scores, rows, query, asked, None if vectors is None else vectors[0])[:limit]
        return [RankedMessage(rows[place].session, rows[place].id, float(scores[place])) for place in best]

    def found(
        self, query: str, *, session: str | None = None, limit: int = 10, among: Collection[str] | None = None
    ) -> list[tuple[IndexedMessage, float]]:
        """The same, with what they say."""
        ranked = self.ranked(query, session=session, limit=limit, among=among)
        of_session: dict[str, list[str]] = {}
        for each in ranked:
            of_session.setdefault(each.session, []).append(each.message)
        said = self._with_rebuild(
            lambda: [message for each, ids in of_session.items() for message in self._index.messages(each, ids)]
        )
        stored = {(message.session, message.id): message for message in said}
        return [(stored[key], each.score) for each in ranked if (key := (each.session, each.message)) in stored]

    def search(
        self, query: str, *, session: str | None = None, limit: int = 10, among: Collection[str] | None = None
    ) -> list[MessageHit]:
        """The same, as it is shown: each with the words around the match, and those with none of the words last."""
        asked = set(query_terms(query))
        found = self.found(query, session=session, limit=max(limit, MIN_CANDIDATES), among=among)
        found.sort(key=lambda each: asked.isdisjoint(terms(each[0].text)))
        return [_hit(each.session, each, each.time, asked, score) for each, score in found[:limit]]

    def look_up(
        self,
        store: SessionStore,
        words: str,
        calendar: Calendar,
        *,
        session: str | None = None,
        limit: int = 10,
        with_read: bool = True,
    ) -> list[MessageHit]:
        """What was said with these words; where they name nothing but a time, how the conversations of then begin.

        `with_read` adds the best of what a model read, for which whole sessions are loaded.
        """
        time = time_in_question(words, calendar)
        if time is None or time.period is None or time.topic:
            hits = self.search(words, session=session, limit=limit)
            return self._with_read(store, words, hits, session)[:limit] if with_read else hits
        first, end = (
            datetime.combine(day, datetime.min.time(), calendar.now.tzinfo) if day else None
            for day in (time.period.first, time.period.end)
        )
        wanted = EntryFilter(role="user", since=first, until=end)
        sessions = store.sessions() if session is None else [store.get(session)]
        said = (next((message for _, message in _said(store.entries(each.id, wanted))), None) for each in sessions)
        begun = ((each.id, message) for each, message in zip(sessions, said, strict=True) if message)
        return [_hit(each, message, message.created_at, set(), 1.0) for each, message in islice(begun, limit)]

    def _with_read(
        self, store: SessionStore, query: str, said: Sequence[MessageHit], session: str | None
    ) -> list[MessageHit]:
        """What was said, and the best of what the model read beside it, each before what scores less."""
        asked, hits = set(query_terms(query)), [*said]
        sessions = store.sessions() if session is None else [store.get(session)]
        read = [(each.id, *found) for each in sessions for found in read_in(self._readings(store, each), query)]
        for of_session, message, score in sorted(read, key=lambda found: -found[2])[:MAX_READ]:
            place = next((place for place, hit in enumerate(hits) if hit.score < score), len(hits))
            hits.insert(place, _hit(of_session, message, message.created_at, asked, score))
        return hits

    def _readings(self, store: SessionStore, session: Session) -> Sequence[ChatMessage]:
        """The messages of a session beside which something was read."""
        at, known = self._read.get(session.id, (None, ()))
        if at != session.updated_at:
            said = (entry.body.message for entry in store.entries(session.id) if isinstance(entry.body, MessageEntry))
            known = tuple(
                each for each in said if any(isinstance(part, FilePart | ToolResultPart) for part in each.parts)
            )
            self._read[session.id] = session.updated_at, known
        return known

    def _take(self, session: str, entries: Sequence[Entry]) -> None:
        if entries:
            said = [*_said(entries)]
            vectors = self._packed([message.text for _, message in said])
            method = self._embedder.name if self._embedder else ""
            up_to = IndexedUpTo(entries[-1].sequence, max(entry.at for entry in entries), method)
            self._index.add(session, [*_indexed(session, said, vectors)], up_to)
            self._outdate(session)

    def _ranking(self, session: str | None) -> "MessageRanking":
        from zkchat.chat.message_ranking import GAP, NEIGHBOURS, MessageRanking

        if session not in self._rankings:
            sessions = sorted(self._index.known()) if session is None else [session]
            rows = [row for each in sessions for row in (*self._index.rows(each, 0), *[GAP] * NEIGHBOURS)]
            if any(len(row.features) != len(GAP.features) for row in rows):
                raise StorageDamaged("The index of your conversations is damaged.")
            self._rankings[session] = MessageRanking(rows)
        return self._rankings[session]

    def _embedded(self, texts: Sequence[str]) -> "Vectors | None":
        """Without an embedder, or with one that fails, there are no vectors, and messages are ordered without them."""
        with suppress(ProviderError):
            return self._embedder.embed([text[:MAX_CHARACTERS] for text in texts]) if self._embedder else None
        self._embedder = None
        return None

    def _packed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text as it is stored, or nothing for any."""
        from zkchat.index import packed

        rows = self._embedded(texts) if texts else None
        return [b""] * len(texts) if rows is None else [packed(row[None]) for row in rows]


def _hit(
    session: str, message: IndexedMessage | ChatMessage, time: datetime, asked: Set[str], score: float
) -> MessageHit:
    return MessageHit(
        session=session,
        message=message.id,
        external_id=message.external_id,
        role=message.role,
        name=message.name,
        time=time,
        snippet=snippet(message.text, asked),
        score=round(score, 4),
    )


def read_in(messages: Iterable[ChatMessage], query: str) -> Iterator[tuple[ChatMessage, float]]:
    """What the model read beside messages, each text once: results of tools, and notes that came with a question.

    The score is the share of the query's words that stand in it.
    """
    asked = {*query_terms(query)}
    read = {
        part.text: replace(message, role="tool", name=part.name, parts=(TextPart(text=part.text),))
        for message in messages
        for part in message.parts
        if isinstance(part, FilePart) or (isinstance(part, ToolResultPart) and not part.failed)
    }
    shares = ((message, len(asked.intersection(terms(text))) / len(asked or " ")) for text, message in read.items())
    return ((message, share) for message, share in shares if share >= 0.5)


def _after(entries: Sequence[Entry], sequence: int) -> list[Entry]:
    new: list[Entry] = []
    for entry in reversed(entries):
        if entry.sequence <= sequence:
            break
        new.append(entry)
    return new[::-1]


def _missing(store: SessionStore, session: Session, reached: IndexedUpTo | None) -> list[Entry]:
    """The entries of a session that the index has not seen; all of them if it is unclear which."""
    if reached and reached.at == session.updated_at:
        return []
    if reached:
        new = _after(store.entries(session.id, EntryFilter(since=reached.at)), reached.sequence)
        if new and new[0].sequence == reached.sequence + 1:
            return new
    return store.entries(session.id)


def _said(entries: Sequence[Entry]) -> Iterator[tuple[int, ChatMessage]]:
    """The messages among these entries that are part of the conversation itself, each with its entry's number;
    summaries and compactions only report it."""
    for entry in entries:
        if isinstance(entry.body, MessageEntry) and entry.body.message.text.strip():
            message = entry.body.message
            if not (message.context_type in {"summary", "memory"} or compaction_of(message)):
                yield entry.sequence, message


def _indexed(
    session: str, said: Sequence[tuple[int, ChatMessage]], vectors: Sequence[bytes]
) -> Iterator[IndexedMessage]:
    from zkchat.chat.message_ranking import pack_features, pack_terms

    for (sequence, message), vector in zip(said, vectors, strict=True):
        at, found = message.created_at, terms(message.text)
        yield IndexedMessage(
            session=session,
            id=message.id,
            place=sequence,
            changed=sequence,
            external_id=message.external_id,
            role=message.role,
            name=message.name,
            time=at,
            text=message.text,
            said=pack_terms(found),
            labels=pack_terms(terms(f"{message.name} {at:%A} {at.day} {at:%B %Y-%m-%d}")),
            features=pack_features(message.text, found, message.name, at),
            vector=vector,
        )

"""Full-text search over every message of every session, archived or not.

All messages are indexed as they are stored, so what is found does not depend on what a compaction has archived: those
that are wanted are picked from the same scores.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec import Struct

from zkchat.core import (
    ChatMessage,
    CompactionPart,
    Entry,
    EntryFilter,
    IndexedMessage,
    IndexedUpTo,
    MessageEntry,
    MessageHit,
    MessageIndex,
    MessageRow,
    ProviderError,
    Session,
    SessionStore,
    StorageDamaged,
    TextEmbedder,
)
from zkchat.index import query_terms, snippet, terms

if TYPE_CHECKING:
    from zkchat.chat.message_search.ranking import MessageRanking
    from zkchat.index import Vector, Vectors


T = TypeVar("T")

EDGE_TERMS = 50
"""Of a question that is longer than twice as many."""
MIN_CANDIDATES = 60
"""Messages with the best words of which the best answers are chosen."""
MAX_CHARACTERS = 4_000
"""Of a message that are embedded: the vector of a longer text says little of any of its sentences."""


class RankedMessage(NamedTuple):
    """A message and the share of the question that it answers to: about 1 where all that was asked for stands once."""

    session: str
    message: str
    score: float


class FoundMessage(NamedTuple):
    message: IndexedMessage
    score: float


class _MessageTable(Struct, frozen=True):
    """Messages in memory, by row: those of one session, or of all with gaps between them."""

    rows: list[MessageRow]
    ranking: "MessageRanking"
    up_to: int = 0
    """The last change that is in it."""


class ConversationSearch:
    """The messages of a vault's sessions. What `learn` and `catch_up` have not seen is not found."""

    def __init__(self, index: MessageIndex, embedder: TextEmbedder | None = None) -> None:
        self._index = index
        self._vectors = MessageVectors(embedder)
        self._tables: dict[str, _MessageTable] = {}
        self._outdated: set[str] = set()
        self._everything: _MessageTable | None = None
        self._rebuild: Callable[[], None] | None = None

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
        return bool(reached and self._vectors.method and reached.vectors != self._vectors.method)

    def forget(self, session: str) -> None:
        """Remove every trace of a session that was deleted."""
        try:
            self._index.forget(session)
        except StorageDamaged:
            self._reset()
        self._tables.pop(session, None)
        self._everything = None

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
        self._tables.clear()
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
        return self._with_rebuild(lambda: self._ranked(query, session, limit, among, asked_in))

    def _ranked(
        self, query: str, session: str | None, limit: int, among: Collection[str] | None, asked_in: str
    ) -> list[RankedMessage]:
        from zkchat.chat.message_search.ranking import GAP, AskedFeatures, reordered, top_rows

        table = self._all() if session is None else self._table(session)
        places_back = reversed(range(len(table.rows))) if asked_in else ()
        question = next((place for place in places_back if table.rows[place].id == asked_in), None)
        asked = _asked(query)
        scores = table.ranking.scores(Counter(asked), question)
        rows = table.rows
        places = top_rows(
            scores,
            max(limit, MIN_CANDIDATES),
            lambda place: rows[place] is not GAP and (among is None or rows[place].id in among),
        )
        features = AskedFeatures.of(query, asked, self._vectors.of_question(query) if places else None)
        best = reordered(places, scores, rows, features)[:limit]
        return [
            RankedMessage(rows[place].session, rows[place].id, score)
            for place, score in zip(best, scores[best].tolist(), strict=True)
        ]

    def found(
        self, query: str, *, session: str | None = None, limit: int = 10, among: Collection[str] | None = None
    ) -> list[FoundMessage]:
        """The same, with what they say."""
        ranked = self.ranked(query, session=session, limit=limit, among=among)
        of_session: dict[str, list[str]] = {}
        for each in ranked:
            of_session.setdefault(each.session, []).append(each.message)
        said = self._with_rebuild(
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
            said = [*_said(entries)]
            vectors = self._vectors.packed([message.text for _, message in said])
            up_to = IndexedUpTo(entries[-1].sequence, max(entry.at for entry in entries), self._vectors.method)
            self._index.add(session, [*_indexed(session, said, vectors)], up_to)
            self._outdated.add(session)
            self._everything = None

    def _table(self, session: str) -> _MessageTable:
        from zkchat.chat.message_search.ranking import GAP, MessageRanking, MessageWords

        table = self._tables.get(session)
        if table is None or session in self._outdated:
            rows = self._index.rows(session, table.up_to if table else 0)
            if table and any(row.place <= table.up_to for row in rows):  # a message was stored anew
                table, rows = None, self._index.rows(session, 0)
            if any(len(row.features) != len(GAP.features) for row in rows):
                raise StorageDamaged("The index over messages holds what was not written to it.")
            words = MessageWords.unpacked((row.said, row.labels) for row in rows)
            table = self._tables[session] = _MessageTable(
                rows=[*(table.rows if table else ()), *rows],
                ranking=MessageRanking(MessageWords.joined([table.ranking.words, words]) if table else words),
                up_to=max((row.changed for row in rows), default=table.up_to if table else 0),
            )
            self._outdated.discard(session)
        return table

    def _all(self) -> _MessageTable:
        from zkchat.chat.message_search.ranking import GAP, SESSION_GAP, MessageRanking, MessageWords

        if self._everything is None:
            tables = [self._table(session) for session in sorted(self._index.known())]
            words = MessageWords.joined(words for table in tables for words in (table.ranking.words, SESSION_GAP))
            gap = [GAP] * len(SESSION_GAP.lengths)
            rows = [row for table in tables for row in (*table.rows, *gap)]
            self._everything = _MessageTable(rows, MessageRanking(words))
        return self._everything


def _asked(query: str) -> list[str]:
    """The terms to look for; of somebody who pastes a whole text those at its beginning and its end."""
    asked = query_terms(query)
    return asked if len(asked) <= 2 * EDGE_TERMS else [*asked[:EDGE_TERMS], *asked[-EDGE_TERMS:]]


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
    """The messages among these entries that are part of the conversation itself, each with its entry's number."""
    for entry in entries:
        if isinstance(entry.body, MessageEntry) and was_said(entry.body.message):
            yield entry.sequence, entry.body.message


def _indexed(
    session: str, said: Sequence[tuple[int, ChatMessage]], vectors: Sequence[bytes]
) -> Iterator[IndexedMessage]:
    from zkchat.chat.message_search.ranking import pack_features, pack_terms

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


def was_said(message: ChatMessage) -> bool:
    """Whether a message is part of the conversation itself; summaries and compactions only report it."""
    is_report = message.context_type in {"summary", "memory"} or any(
        isinstance(p, CompactionPart) for p in message.parts
    )
    return bool(message.text.strip()) and not is_report


class MessageVectors:
    """Without an embedder, or with one that fails, there are no vectors, and messages are ordered without them."""

    def __init__(self, embedder: TextEmbedder | None) -> None:
        self._embedder = embedder

    @property
    def method(self) -> str:
        """How vectors are made; empty if they cannot be."""
        return self._embedder.name if self._embedder else ""

    def packed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text as it is stored, or nothing for any."""
        from zkchat.index import packed

        rows = self._embedded(texts) if texts else None
        if rows is None:
            return [b""] * len(texts)
        data, size = packed(rows), rows.shape[1]
        return [data[start : start + size] for start in range(0, len(data), size)]

    def of_question(self, question: str) -> "Vector | None":
        rows = self._embedded([question])
        return None if rows is None else rows[0]

    def _embedded(self, texts: Sequence[str]) -> "Vectors | None":
        with suppress(ProviderError):
            return self._embedder.embed([text[:MAX_CHARACTERS] for text in texts]) if self._embedder else None
        self._embedder = None
        return None

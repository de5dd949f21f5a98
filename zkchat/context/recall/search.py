"""Full-text search over every message of every session, archived or not.

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
from zkchat.vault.search.passages import snippet
from zkchat.vault.search.terms import query_terms

if TYPE_CHECKING:
    from zkchat.context.recall.ranking import MessageRanking

T = TypeVar("T")

EDGE_TERMS = 50
"""Of a question that is longer than twice as many."""


class RankedMessage(NamedTuple):
    """A message and the share of the question that it answers to: about 1 where all that was asked for stands once."""

    session: str
    message: str
    score: float


class FoundMessage(NamedTuple):
    message: IndexedMessage
    score: float


@dataclass(frozen=True, slots=True)
class _MessageTable:
    """Messages in memory, by row: those of one session, or of all with gaps between them."""

    owners: list[tuple[str, str]]
    """Session and id of each message."""
    ranking: "MessageRanking"
    up_to: int = 0
    """The last change that is in it."""


class ConversationSearch:
    """The messages of a vault's sessions. What `learn` and `catch_up` have not seen is not found."""

    def __init__(self, index: MessageIndex) -> None:
        self._index = index
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
        is_whole = not new or new[0].sequence == sequence + 1
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
        from zkchat.context.recall.ranking import top_rows

        table = self._all() if session is None else self._table(session)
        places_back = reversed(range(len(table.owners))) if asked_in else ()
        question = next((place for place in places_back if table.owners[place][1] == asked_in), None)
        scores = table.ranking.scores(Counter(_asked(query)), question)
        places = top_rows(scores, limit, lambda place: among is None or table.owners[place][1] in among)
        return [RankedMessage(*table.owners[place], float(scores[place])) for place in places]

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
            up_to = IndexedUpTo(entries[-1].sequence, max(entry.at for entry in entries))
            self._index.add(session, list(_indexed(session, entries)), up_to)
            self._outdated.add(session)
            self._everything = None

    def _table(self, session: str) -> _MessageTable:
        from zkchat.context.recall.ranking import MessageRanking, MessageWords

        table = self._tables.get(session)
        if table is None or session in self._outdated:
            rows = self._index.words(session, table.up_to if table else 0)
            if table and any(place <= table.up_to for _, place, *_ in rows):  # a message was stored anew
                table, rows = None, self._index.words(session, 0)
            words = MessageWords.unpacked((said, labels) for *_, said, labels in rows)
            table = self._tables[session] = _MessageTable(
                owners=[*(table.owners if table else ()), *((session, id_) for id_, *_ in rows)],
                ranking=table.ranking.extended(words) if table else MessageRanking(words),
                up_to=max((changed for _, _, changed, *_ in rows), default=table.up_to if table else 0),
            )
            self._outdated.discard(session)
        return table

    def _all(self) -> _MessageTable:
        from zkchat.context.recall.ranking import SESSION_GAP, MessageRanking, MessageWords

        if self._everything is None:
            tables = [self._table(session) for session in sorted(self._index.known())]
            words = MessageWords.joined(words for table in tables for words in (table.ranking.words, SESSION_GAP))
            gap = [("", "")] * len(SESSION_GAP.lengths)
            owners = [owner for table in tables for owner in (*table.owners, *gap)]
            self._everything = _MessageTable(owners, MessageRanking(words))
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


def _indexed(session: str, entries: Sequence[Entry]) -> Iterator[IndexedMessage]:
    from zkchat.context.recall.ranking import pack_terms

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
                said=pack_terms(message.text),
                labels=pack_terms(f"{message.name} {at:%A} {at.day} {at:%B %Y-%m-%d}"),
            )


def was_said(message: ChatMessage) -> bool:
    """Whether a message is part of the conversation itself; summaries and compactions only report it."""
    is_report = message.context_type in {"summary", "memory"} or any(
        isinstance(p, CompactionPart) for p in message.parts
    )
    return bool(message.text.strip()) and not is_report

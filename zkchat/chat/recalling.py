"""Archived messages that come back into the prompt because the question is about them (SPEC 4.6)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from zkchat.chat.journal import Journal
from zkchat.context.assembly import Piece, piece
from zkchat.context.recall.search import ConversationSearch, Found
from zkchat.context.recall.selection import Recalled, recall
from zkchat.model.message import ChatMessage
from zkchat.ports import Tokenizer

_APART = 1
"""Tokens between one recalled message and the next."""


@dataclass(frozen=True, kw_only=True)
class Recollection:
    journal: Journal
    search: ConversationSearch
    tokenizer: Tokenizer
    hidden: Callable[[], frozenset[str]] = frozenset
    """The ids of messages that the model may not see."""

    def __call__(self, text: str, budget: int) -> list[Piece]:
        """What of the archive bears on a text, in the order in which it was said."""
        self._catch_up()
        archived = self._archived()
        asked = next((message.id for message in self.journal.history.newest_first if message.role == "user"), "")
        found = recall(
            self.search,
            text,
            archived,
            session=self.journal.session_id,
            budget=budget,
            count=lambda quoted: self.tokenizer.count(quoted) + _APART,
            asked_in=asked,
        )
        places = {id_: place for place, id_ in enumerate(archived)}
        return [_piece(each) for each in sorted(found, key=lambda each: places[each.message.id])]

    def find(self, query: str, limit: int) -> list[Found]:
        """The archived messages that answer a query best."""
        self._catch_up()
        return self.search.found(query, session=self.journal.session_id, limit=limit, among=self._archived())

    def _archived(self) -> Mapping[str, ChatMessage]:
        archived, hidden = self.journal.history.archived, self.hidden()
        return {id_: message for id_, message in archived.items() if id_ not in hidden} if hidden else archived

    def _catch_up(self) -> None:
        session = self.journal.session_id
        if not self.search.learn(session, self.journal.history.entries):
            self.search.catch_up(self.journal.store, session)


def _piece(recalled: Recalled) -> Piece:
    return piece(
        "recall",
        recalled.message.id,
        recalled.quoted,
        include="agent",
        score=round(recalled.score, 3),
        reason="said earlier, and archived",
        passing=True,
    )

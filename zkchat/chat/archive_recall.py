"""Archived messages that come back into the prompt because the question is about them."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.journal import Journal
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.context.budget import Shares, budget_for
from zkchat.context.prompt_items import PromptItem, prompt_item
from zkchat.context.recall.search import ConversationSearch, FoundMessage
from zkchat.context.recall.selection import Recalled, recall
from zkchat.context.selection import wants_evidence
from zkchat.memory.facts import MAX_TITLE_CHARS
from zkchat.model.message import ChatMessage
from zkchat.model.text import shorten
from zkchat.model.thread import abstained_turns
from zkchat.ports.tokenizer import Tokenizer

_SEPARATOR_TOKENS = 1
"""Between one recalled message and the next."""


class ArchiveRecall(Struct, frozen=True, kw_only=True):
    """Archived messages that come back into the prompt because the question is about them."""

    journal: Journal
    search: ConversationSearch
    tokenizer: Tokenizer
    privacy: ConversationPrivacy
    shares: Shares

    def items(self, text: str, budget: int) -> list[PromptItem]:
        """The archived messages that are relevant to a text, in the order in which they were said."""
        self._catch_up()
        archived = self._archived()
        asked = next((message.id for message in self.journal.history.newest_first if message.role == "user"), "")
        found = recall(
            self.search,
            text,
            archived,
            session=self.journal.session_id,
            budget=budget,
            count=lambda quoted: self.tokenizer.count(quoted) + _SEPARATOR_TOKENS,
            asked_in=asked,
        )
        by_id = {each.message.id: each for each in found}
        return [_recalled_item(by_id[id_]) for id_ in archived if id_ in by_id]

    def find(self, query: str, limit: int) -> list[FoundMessage]:
        """The archived messages that answer a query best."""
        self._catch_up()
        return self.search.found(query, session=self.journal.session_id, limit=limit, among=self._archived())

    def _archived(self) -> Mapping[str, ChatMessage]:
        archived, hidden = self.journal.history.archived, self.privacy.hidden()
        info = self.privacy.provider.info
        if wants_evidence(info, budget_for(info, self.shares).window, can_read=info.calls_tools):
            hidden |= abstained_turns(archived.values())
        return {id_: message for id_, message in archived.items() if id_ not in hidden} if hidden else archived

    def _catch_up(self) -> None:
        session = self.journal.session_id
        if not self.search.learn(session, self.journal.history.entries):
            self.search.catch_up(self.journal.store, session)


def _recalled_item(recalled: Recalled) -> PromptItem:
    made = prompt_item(
        "recall",
        recalled.message.id,
        recalled.quoted,
        include="agent",
        score=round(recalled.score, 3),
        reason="said earlier, and archived",
        this_turn_only=True,
    )
    title = shorten(" ".join(recalled.message.text.split()), MAX_TITLE_CHARS)
    return replace(made, item=replace(made.item, title=title))

"""What else the notes say on the last question: passage by passage, beyond those that the user has read."""

from collections.abc import Callable
from dataclasses import dataclass, field

from zkchat.chat.question import Question
from zkchat.chat.references import resolve_links
from zkchat.chat.second_look import look_up
from zkchat.errors import StorageError, UsageError, VaultError
from zkchat.model.message import ChatMessage, Evidence, EvidencePart
from zkchat.vault.evidence import Findings
from zkchat.vault.library import Library

PAGE_SIZE = 5
"""Passages that are shown at once."""
MAX_QUOTED = 10
"""Passages that one answer quotes at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The next passages on a question."""

    question: Question
    passages: tuple[Evidence, ...]
    nearest: tuple[Evidence, ...]
    """Where nothing answers: what comes nearest."""
    is_first: bool
    """Whether the user has read no passage on this question before."""
    left: int
    """Passages on the page after this one."""


@dataclass(frozen=True, kw_only=True)
class FurtherPassages:
    library: Library
    asked: Callable[[], ChatMessage | None]
    """The last question of the conversation."""
    are_quoted: bool
    """Whether the answer shows the passages that go with its question."""
    _seen: dict[str, int] = field(default_factory=dict)
    """How many passages the user has read on a question, by its id."""

    def next_page(self) -> Page:
        """The passages after those that the user has read. Raises `UsageError` where nothing was asked."""
        message = self.asked()
        if message is None:
            raise UsageError("There is no question to look up.", hint="Ask one first.")
        seen = self._count_seen(message)
        question, found = self._look_up(message, seen, 2 * PAGE_SIZE)
        passages = found.evidence[:PAGE_SIZE]
        self._seen[message.id] = seen + len(passages)
        return Page(
            question=question,
            passages=passages,
            nearest=found.nearest,
            is_first=not seen,
            left=len(found.evidence) - len(passages),
        )

    def count(self, limit: int) -> int:
        """How many passages there are after those that the user has read, up to the limit."""
        message = self.asked()
        seen = self._count_seen(message) if message else 0
        return len(self._look_up(message, seen, limit)[1].evidence) if message and seen else 0

    def _count_seen(self, asked: ChatMessage) -> int:
        parts = [part for part in asked.parts if isinstance(part, EvidencePart)] if self.are_quoted else []
        return self._seen.get(asked.id, sum(len(part.evidence) for part in parts))

    def _look_up(self, asked: ChatMessage, skip: int, limit: int) -> tuple[Question, Findings]:
        question = Question.of(asked)
        try:
            references = resolve_links(self.library, question.links)
        except (StorageError, VaultError):
            return question, Findings()
        return question, look_up(self.library, question, references, limit=limit, skip=skip)

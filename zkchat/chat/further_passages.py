"""What else the notes say on the last question: passage by passage, beyond those that the user has read."""

from collections.abc import Callable, Mapping
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
    after_linked: bool
    """Whether the user has read passages of notes that the question links to or names."""
    left: int
    """Passages on the page after this one."""


@dataclass(frozen=True, kw_only=True)
class FurtherPassages:
    library: Library
    asked: Callable[[], ChatMessage | None]
    """The last question of the conversation."""
    found: Mapping[str, int]
    """How many passages would follow those that went with a question, by its id."""
    are_quoted: bool
    """Whether the answer shows the passages that go with its question."""
    _read: dict[str, int] = field(default_factory=dict)
    """How many passages the user has read on a question, by its id."""

    @property
    def read(self) -> int:
        """How many passages the user has read on the last question."""
        message = self.asked()
        return self._count_read(message) if message else 0

    @property
    def left(self) -> int:
        """How many passages on it follow those that the user has read."""
        message = self.asked()
        if message is None or not self.are_quoted:
            return 0
        return len(_given(message)) + self.found.get(message.id, 0) - self._count_read(message)

    def next_page(self) -> Page:
        """The passages after those that the user has read. Raises `UsageError` where nothing was asked."""
        message = self.asked()
        if message is None:
            raise UsageError("There is no question to look up.", hint="Ask one first.")
        if any(isinstance(part, EvidencePart) and part.listing for part in message.parts):
            hint = "Narrow it by a tag, a folder or a time, or ask for a number: the 50 newest notes."
            raise UsageError("The last answer is a list from the index, and no passages follow it.", hint=hint)
        read = self._count_read(message)
        question = Question.of(message)
        found = self._look_up(question, read)
        self._read[message.id] = read + len(found.evidence)
        return Page(
            question=question,
            passages=found.evidence,
            nearest=found.nearest,
            is_first=not read,
            after_linked=self.are_quoted and any(found.linked for found in _given(message)),
            left=min(found.more, PAGE_SIZE),
        )

    def _count_read(self, asked: ChatMessage) -> int:
        return self._read.get(asked.id, len(_given(asked)) if self.are_quoted else 0)

    def _look_up(self, question: Question, skip: int) -> Findings:
        try:
            references = resolve_links(self.library, question.links)
        except (StorageError, VaultError):
            return Findings()
        return look_up(self.library, question, references, limit=PAGE_SIZE, skip=skip)


def _given(asked: ChatMessage) -> list[Evidence]:
    """The passages that went with a question."""
    return [found for part in asked.parts if isinstance(part, EvidencePart) for found in part.evidence]

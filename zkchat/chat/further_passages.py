"""What else there is on the last question: passages, or rows of a list, beyond those that the user has read."""

from collections.abc import Mapping

from msgspec import Struct

from zkchat.chat.core import ConversationCore
from zkchat.chat.evidence_lookup import look_up
from zkchat.chat.question import Question
from zkchat.chat.references import resolve_links
from zkchat.errors import StorageError, UsageError, VaultError
from zkchat.model.evidence import Evidence, Findings, VaultListing
from zkchat.model.message import ChatMessage
from zkchat.model.parts import EvidencePart

PAGE_SIZE = 5
"""Passages that are shown at once."""
MAX_QUOTED = 10
"""Passages that one answer quotes at most."""


class Page(Struct, frozen=True, kw_only=True):
    """The next passages on a question."""

    question: Question
    passages: tuple[Evidence, ...]
    nearest: tuple[Evidence, ...]
    """Where nothing answers: what comes nearest."""
    searched_for: tuple[str, ...] = ()
    """And the words that were looked for."""
    is_first: bool
    """Whether the user has read no passage on this question before."""
    after_linked: bool
    """Whether the user has read passages of notes that the question links to or names."""
    left: int
    """Passages on the page after this one."""
    listing: VaultListing | None = None
    """The next rows of a list from the index, with the references of all rows up to its end."""


class FurtherPassages:
    def __init__(self, core: ConversationCore, found: Mapping[str, int]) -> None:
        """`found`: how many passages would follow those that went with a question, by its id."""
        self._core = core
        self._found = found
        self._read: dict[str, int] = {}
        """How many passages the user has read on a question, by its id."""
        self._listed: dict[str, VaultListing] = {}
        """What the user has read last of the list that answers a question, by its id."""

    @property
    def _are_quoted(self) -> bool:
        """Whether the answer shows the passages that go with its question."""
        return self._core.info.needs_notes

    @property
    def listing(self) -> VaultListing | None:
        """The list from the index that answers the last question, as far as the user has read it."""
        message = self._core.history.last_question
        return self._listing_of(message) if message else None

    @property
    def read(self) -> int:
        """How many passages the user has read on the last question."""
        message = self._core.history.last_question
        return self._count_read(message) if message else 0

    @property
    def left(self) -> int:
        """How many passages on it follow those that the user has read."""
        message = self._core.history.last_question
        if message is None or not self._are_quoted:
            return 0
        return len(_given(message)) + self._found.get(message.id, 0) - self._count_read(message)

    def next_page(self) -> Page:
        """The passages or rows after those that the user has read. Raises `UsageError` where nothing was asked."""
        message = self._core.history.last_question
        if message is None:
            raise UsageError("There is no question to look up.", hint="Ask one first.")
        if listing := self._listing_of(message):
            return self._next_rows(message, listing)
        read = self._count_read(message)
        question = Question.of(message)
        found = self._look_up(question, read)
        self._read[message.id] = read + len(found.evidence)
        return Page(
            question=question,
            passages=found.evidence,
            nearest=found.nearest,
            searched_for=found.searched_for,
            is_first=not read,
            after_linked=self._are_quoted and any(found.linked for found in _given(message)),
            left=min(found.more, PAGE_SIZE),
        )

    def _listing_of(self, asked: ChatMessage) -> VaultListing | None:
        given = (part.listing for part in asked.parts if isinstance(part, EvidencePart) and part.listing)
        return self._listed.get(asked.id) or next(given, None)

    def _next_rows(self, asked: ChatMessage, listing: VaultListing) -> Page:
        question = Question.of(asked)
        found = self._look_up_rows(question, listing.rows) if listing.more else None
        if found is None or found.rows <= listing.rows:
            hint = "Ask for other notes: by a tag, a folder or a time, or for a number: the 50 newest notes."
            raise UsageError("The list from the index ends here.", hint=hint)
        self._listed[asked.id] = found
        return Page(
            question=question, passages=(), nearest=(), is_first=False, after_linked=False, left=0, listing=found
        )

    def _look_up_rows(self, question: Question, after: int) -> VaultListing | None:
        try:
            references = resolve_links(self._core.library, question.links)
        except (StorageError, VaultError):
            return None
        from zkchat.chat.vault_answers import answer_about_vault

        return answer_about_vault(self._core.library, question, references, after=after)

    def _count_read(self, asked: ChatMessage) -> int:
        return self._read.get(asked.id, len(_given(asked)) if self._are_quoted else 0)

    def _look_up(self, question: Question, skip: int) -> Findings:
        try:
            references = resolve_links(self._core.library, question.links)
        except (StorageError, VaultError):
            return Findings()
        return look_up(self._core.library, question, references, limit=PAGE_SIZE, skip=skip)


def _given(asked: ChatMessage) -> list[Evidence]:
    """The passages that went with a question."""
    return [found for part in asked.parts if isinstance(part, EvidencePart) for found in part.evidence]

"""What composition asks of a user interface: notices, progress and consent."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from zkchat.chat.compaction import Reviewer
    from zkchat.tools.server_approval import CallReviewer
    from zkchat.vault.indexing.indexer import Progress
    from zkchat.writing.review import ChangeReviewer


class Notices(Protocol):
    """Takes what the user should know beside the result: a file that was recovered, settings that are left out."""

    def note(self, text: str) -> None: ...


class UserInterface(Protocol):
    """Shows progress and asks for consent."""

    @property
    def reviewer(self) -> "Reviewer | None":
        """Who is asked about compactions; None where nobody can be asked."""

    @property
    def change_reviewer(self) -> "ChangeReviewer | None":
        """Who is asked about changes of notes; None where nobody can be asked."""

    @property
    def call_reviewer(self) -> "CallReviewer | None":
        """Who is asked about calls of MCP servers' tools; None where nobody can be asked."""

    def may_remember(self, text: str) -> bool:
        """Show the user what a model wants to be kept. Whether they agree."""

    def indexing_progress(self) -> "AbstractContextManager[Progress | None]":
        """Show how far the indexing is, if there is somebody to see it."""


class Unattended:
    """Implements `Notices` and `UserInterface` where there is nobody: nothing is shown, nothing is agreed to."""

    reviewer: "Reviewer | None" = None
    change_reviewer: "ChangeReviewer | None" = None
    call_reviewer: "CallReviewer | None" = None

    def note(self, text: str) -> None:
        pass

    def may_remember(self, _text: str) -> bool:
        return False

    indexing_progress = nullcontext


UNATTENDED = Unattended()

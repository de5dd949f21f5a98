"""Changes of a vault's files: what is proposed, what was applied, and what can be undone."""

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

TRASH: Final = ".trash"
"""Obsidian's folder for deleted files, at the root of the vault."""

ChangeState = Literal["applied", "undone"]
Decision = Literal["applied", "declined", "kept", "dropped"]
"""What became of a proposal. `kept`: it was written nowhere, for the reason that is said. `dropped`: the turn that made
it did not come to its end, so that nobody was asked."""


class FileWrite(Struct, frozen=True, kw_only=True):
    """The new content of a file."""

    path: str
    before: bytes | None
    """What it held; None for a file that is not there yet."""
    after: bytes
    goes_away: bool = False
    """Whether, in changes that are only shown, the file is not there afterwards."""


class FileMove(Struct, frozen=True, kw_only=True):
    """A file, or a folder with all that it holds, under another path; its content stays."""

    source: str
    target: str

    def follow(self, path: str) -> str | None:
        """Where a path is afterwards; None for one that the move does not concern."""
        if path == self.source:
            return self.target
        return f"{self.target}{path[len(self.source) :]}" if path.startswith(f"{self.source}/") else None

    def reversed(self) -> "FileMove":
        return FileMove(source=self.target, target=self.source)


class ChangeSet(Struct, frozen=True, kw_only=True):
    """Changes that take effect together or not at all: first the moves in their order, then the writes.

    The paths of writes are those after the moves.
    """

    title: str
    """What it does, in a few words: `Append to Inbox.md`."""
    moves: tuple[FileMove, ...] = ()
    writes: tuple[FileWrite, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.moves or self.writes)


class ChangeOrigin(Struct, frozen=True, kw_only=True):
    """Who made a change."""

    command: str = ""
    """The command, or the tools of a model, separated by commas."""
    session_id: str = ""
    message_id: str = ""
    """The answer that proposed it."""


class ChangeRecord(Struct, frozen=True, kw_only=True):
    """A change set of the journal."""

    id: int
    at: datetime
    state: ChangeState
    origin: ChangeOrigin
    changes: ChangeSet
    has_contents: bool = True
    """False where the journal has dropped what the files held, to stay small: the writes are empty then, and the change
    cannot be undone."""
    remarks: tuple[str, ...] = ()
    """What the user should know beside, just after it was applied or undone: a git commit that failed."""


class ReviewOutcome(Struct, frozen=True, kw_only=True):
    """What became of a proposal."""

    decision: Decision
    proposed: ChangeSet
    changes: ChangeSet
    """As they were applied: the user may have edited them, or left some out."""
    edited: bool = False
    stops: bool = False
    """Whether the user also wants nothing more of what made the proposal."""
    record_id: int | None = None
    """In the journal, where they were applied."""
    reason: str = ""
    """Why they were not applied, as a sentence, where the user did not say no; else what went wrong beside."""
    exit_code: int = 0
    """Of a command that was to apply them, where they could not be."""
    withheld: frozenset[str] = frozenset()
    """Paths that the model which proposed it may not be told of."""

"""What the inside asks of the outside. Adapters implement these; nothing inside names an adapter."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from zkchat.model.message import Role
from zkchat.model.note import FileStamp, NoteWarning
from zkchat.model.prompt import ModelChunk, ModelInfo, ModelRequest, ToolSpec
from zkchat.model.reference import DocumentReference
from zkchat.model.session import Entry, EntryBody, Session


class ModelProvider(Protocol):
    """A model that answers. Foreign exceptions never pass: they become `ProviderError`."""

    @property
    def info(self) -> ModelInfo: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """The answer as it arrives, ended by `Finish`. Closing the iterator cancels the request."""
        ...


class Tokenizer(Protocol):
    @property
    def exact(self) -> bool:
        """Whether counts are a tokenizer's own, or an estimate."""
        ...

    def count(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What a tool gives back: text for the model, and the documents it came from."""

    text: str
    references: tuple[DocumentReference, ...] = ()
    summary: str = ""
    """For the user, in a few words: `4 passages`."""
    failed: bool = False


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec: ...

    async def call(self, arguments: str) -> ToolOutcome:
        """Run with JSON arguments as the model wrote them. Bad arguments give a failed outcome, not an exception."""
        ...


class NoteFiles(Protocol):
    """The files of one vault, and nothing outside it."""

    def scan(self) -> Iterable[FileStamp | NoteWarning]:
        """Every file of the vault, notes and attachments, in no particular order, and what had to be left out."""
        ...

    def read(self, path: str) -> str:
        """The text of a note. Raises `NoteNotFound`, `NoteUnreadable` or `OutsideVault`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """Which entries of a session to load. Empty: all."""

    last: int | None = None
    """Only so many messages, the newest."""
    role: Role | None = None
    since: datetime | None = None
    until: datetime | None = None


class SessionStore(Protocol):
    """Sessions on disk. What `append` returned from is there after a crash."""

    def create(self, title: str = "") -> Session: ...

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        """Add entries in order, all or none. Raises `SessionNotFound`, `StorageFull`, `StorageDamaged`."""
        ...

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]: ...

    def sessions(self) -> list[Session]:
        """All of them, the last used first."""
        ...

    def get(self, session_id: str) -> Session: ...

    def find(self, name: str) -> Session:
        """By id, the beginning of an id, or title. Raises `SessionNotFound` with the closest ones as a hint."""
        ...

    def delete(self, session_id: str) -> None: ...

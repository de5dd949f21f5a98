"""What a conversation asks of the outside: models, tokens, changes, tools, sessions, memory, servers."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from zkchat.core.changes import ChangeOrigin, ChangeRecord, ChangeSet, FileMove
from zkchat.core.errors import FilesChanged
from zkchat.core.message import DocumentReference
from zkchat.core.profile import Fact, FactSource
from zkchat.core.prompt import ModelChunk, ModelInfo, ModelRequest, ToolSpec
from zkchat.core.session import Entry, EntryBody, EntryFilter, Session
from zkchat.core.tool_server import ServerAnswer, ServerStatus

BringToPresent = Callable[[ChangeSet, FilesChanged], ChangeSet]
"""Makes the same changes of what the files hold now. Raises `FilesChanged` where that cannot be done."""


class ChangeableFiles(Protocol):
    """The files of a vault to the last byte, as a change needs them. Raises `OutsideVault` for a path that leads out,
    and `VaultError` for one that no change may touch: hidden files and folders, those of `vault.exclude`."""

    def read_bytes(self, path: str) -> bytes | None:
        """What a file holds; None where there is none. Raises `NoteUnreadable`."""

    def is_taken(self, path: str) -> bool:
        """Whether a file, folder or link has this path; where names ignore case, also one that differs only in it."""


class ChangeStore(ChangeableFiles, Protocol):
    """The files of a vault, changed so that every change is in the journal first and can be undone."""

    def apply(self, changes: ChangeSet, origin: ChangeOrigin, bring: BringToPresent | None = None) -> ChangeRecord:
        """Make all of the changes or none, as the record tells them.

        Where a file is not what `before` says, `bring` makes them anew while no other process changes files. Raises
        `FilesChanged` where it cannot, or there is none, `VaultError` for a target that is taken or out of
        reach, `StorageError` where the disk refuses; nothing is changed then.
        """

    def undo(self, record_id: int) -> ChangeRecord:
        """Restore what a change replaced, to the last byte. Raises `FilesChanged` where a file changed since."""

    def records(
        self, *, since: datetime | None = None, limit: int | None = None, with_contents: bool = True
    ) -> list[ChangeRecord]:
        """The journal, the latest change first. Without contents, what files held is empty in it."""

    def record(self, record_id: int) -> ChangeRecord:
        """One change of the journal. Raises `UsageError` where there is none of this number."""

    def last_move(self, move: FileMove) -> ChangeSet | None:
        """The last change set in force that made this move."""


class MemoryStore(Protocol):
    """Facts on disk. What `add` returned from is there after a crash. Any of its methods may raise `StorageError`."""

    def facts(self) -> tuple[Fact, ...]:
        """Those that hold, the oldest first."""

    def add(
        self,
        text: str,
        source: FactSource,
        session_id: str = "",
        replaces: Sequence[str] = (),
        *,
        local: bool = False,
        agent: str = "",
    ) -> Fact:
        """Keep a fact; those with the ids in `replaces` do not hold any more."""

    def confirm(self, fact_id: str) -> Fact:
        """It was said again: it is as fresh as a new one."""

    def used(self, fact_ids: Sequence[str]) -> None:
        """They went into a request."""


class ModelProvider(Protocol):
    """A model that answers. Foreign exceptions never pass: they become `ProviderError`."""

    @property
    def info(self) -> ModelInfo:
        """What is known so far; all there is to know after `connect`."""

    async def connect(self) -> None:
        """Learn what only the model's server knows. May be called before every turn; asks once."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """The answer as it arrives, ended by `Finish`. Closing the iterator cancels the request."""


class LocatedModel(Protocol):
    """A model of which it matters only where it runs, such as a `ModelProvider`."""

    @property
    def info(self) -> ModelInfo: ...


class Tokenizer(Protocol):
    @property
    def exact(self) -> bool:
        """Whether counts are a tokenizer's own, or an estimate."""

    @property
    def problem(self) -> str:
        """Why counts are estimates although they should not be, as a sentence; known once something was counted."""

    def count(self, text: str) -> int: ...


class ToolServers(Protocol):
    """The MCP servers of a conversation. No method raises for what a server does: it becomes a sentence."""

    def start(self) -> None:
        """Begin to connect to all of them; returns at once. A second time it does nothing."""

    def statuses(self) -> tuple[ServerStatus, ...]:
        """By name, as far as they are connected now. Never waits."""

    async def call(self, server: str, tool: str, arguments: Mapping[str, object]) -> ServerAnswer: ...

    async def read(self, server: str, uri: str) -> ServerAnswer: ...

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> ServerAnswer: ...


class ToolOutcome(Struct, frozen=True, kw_only=True):
    """What a tool gives back: text for the model, and the documents it came from."""

    text: str
    references: tuple[DocumentReference, ...] = ()
    summary: str = ""
    """For the user, in a few words: `4 passages`."""
    warning: str = ""
    """A sentence that the user has to read, once in a turn."""
    failed: bool = False
    may_repeat: bool = False
    """Whether the same call may be made again, and be answered otherwise."""
    stages_change: bool = False
    """Whether a change to notes was staged, so that earlier calls may be answered otherwise now."""


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec: ...

    async def call(self, arguments: str) -> ToolOutcome:
        """Run with JSON arguments as the model wrote them. Bad arguments give a failed outcome, not an exception."""


class SessionsSaid(Protocol):
    """From words to the ids of the sessions in which they were said, or of that time, the best first."""

    def __call__(self, words: str, *, with_read: bool = False) -> Sequence[str]:
        """`with_read` also finds what a model read, which takes longer."""
        ...


class SessionStore(Protocol):
    """Sessions on disk. What `append` returned from is there after a crash."""

    def create(self, title: str = "") -> Session: ...

    def add(self, session_id: str, bodies: Sequence[EntryBody]) -> bool:
        """Add a session that was held elsewhere, under this id and with the times of its messages, all or nothing.

        False if there is one of that id, or was one that the user deleted.
        """

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        """Add entries in order, all or none. Raises `SessionNotFound`, `StorageFull`, `StorageDamaged`."""

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]: ...

    def sessions(self) -> list[Session]:
        """All of them, the last used first."""

    def get(self, session_id: str) -> Session: ...

    def find(self, name: str) -> Session:
        """By id, the beginning of an id, or title. Raises `SessionNotFound` with the closest ones as a hint."""

    def delete(self, session_id: str) -> None: ...

    def enter(self, session_id: str) -> bool:
        """Say that a session is open here, until the store is closed. False if another process has it open."""

"""The public Python API: open a vault, search it, resolve links, read notes, ask a model, and read sessions.

docs/python.md describes it with examples. Everything in `__all__` stays as it is within a major version; the rest of
the package is internal. All errors are subclasses of `ZkchatError`.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat import index
from zkchat.actions import Result, every_action
from zkchat.app import (
    ConversationOptions,
    action_vault,
    embed_for_search,
    extract_for_search,
    load_workspace,
    open_conversation,
    open_note_library,
    open_session_store,
)
from zkchat.core import (
    Ambiguous,
    AnswerReplaced,
    ChangesReviewed,
    ChatMessage,
    Compacted,
    Compacting,
    ConfigError,
    ContextUsage,
    DocumentReference,
    Environment,
    Event,
    EvidenceFound,
    External,
    LinksResolved,
    Missing,
    NoAnswer,
    OpenText,
    Passage,
    PromptReady,
    ProviderError,
    ReferenceFound,
    Remarked,
    Resolution,
    Resolved,
    ResourceRead,
    Session,
    SessionError,
    StorageError,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    UsageError,
    UsageReported,
    VaultError,
    Warned,
    ZkchatError,
    thread_of,
    to_plain,
)

if TYPE_CHECKING:
    from zkchat.app import Workspace
    from zkchat.index import Library


__all__ = [
    "Ambiguous",
    "AnswerReplaced",
    "ChangesReviewed",
    "ChatMessage",
    "Compacted",
    "Compacting",
    "ConfigError",
    "ContextUsage",
    "DocumentReference",
    "Event",
    "EvidenceFound",
    "External",
    "LinksResolved",
    "Missing",
    "NoAnswer",
    "Passage",
    "PromptReady",
    "ProviderError",
    "ReferenceFound",
    "Remarked",
    "Resolution",
    "Resolved",
    "ResourceRead",
    "Result",
    "Session",
    "SessionError",
    "StorageError",
    "TextDelta",
    "ThinkingDelta",
    "ToolFinished",
    "ToolStarted",
    "TurnFailed",
    "TurnFinished",
    "UsageError",
    "UsageReported",
    "Vault",
    "VaultError",
    "Warned",
    "ZkchatError",
    "open_vault",
    "to_plain",
]


@contextmanager
def open_vault(folder: str | PathLike[str] | None = None, *, model: str | None = None) -> "Iterator[Vault]":
    """Open a vault and bring its index up to date; settings, sessions and memories are those of the command line.

    Without a folder, the vault is found as the command line finds it. `model` answers unless a question names another.
    """
    workspace = load_workspace(
        Environment.of_this_process(), None if folder is None else Path(folder).absolute(), model=model
    )
    with open_note_library(workspace) as (library, notices):
        library.refresh()
        yield Vault(workspace, library, model, (*notices, *workspace.loaded.every_warning))


class Vault(Struct, frozen=True):
    """An open vault. To be used in one thread, inside the `with` block of `open_vault`."""

    _workspace: "Workspace"
    _library: "Library"
    _model: str | None
    notices: tuple[str, ...]
    """What is not as the user set it: settings of the vault that are left out, a cache that cannot be written."""

    @property
    def path(self) -> Path:
        return self._workspace.paths.vault

    def refresh(self) -> None:
        """Bring the index up to date with files that changed since the vault was opened."""
        self._library.refresh()

    def notes(self) -> list[str]:
        """The paths of all notes, relative to the vault."""
        return [note.path for note in self._library.notes()]

    def read(self, path: str) -> str:
        """The text of a note. Raises `VaultError` where there is none at that path, or it cannot be read."""
        return self._library.read(path)

    def search(self, query: str, *, limit: int = 10) -> list[Passage]:
        """The best passages for words and filters such as `tag:idea path:Projects`, the best one first."""
        extract_for_search(self._library)
        embed_for_search(self._library)
        return self._library.search(OpenText(query), limit=limit)

    def resolve(self, link: str, *, source: str | None = None) -> Resolution:
        """What a link such as `[[Note#Heading]]` or the name of a note leads to; `source` is the note it stands in."""
        return self._library.resolve(index.parse_link(link), source)

    def run(self, action: str, **arguments: object) -> Result:
        """Run an action by the name of its command: `recent`, `tags`, `timeline`, `links` …

        Arguments are those of the command; a note is named as there. Rows, and the data that `--json` prints, are in
        the result. Raises `UsageError` for an action that there is not.
        """
        actions = every_action()
        found = actions.get(action)
        if found is None:
            raise UsageError(f"There is no action {action!r}.", hint=f"There are {', '.join(sorted(actions))}.")
        if found.by_meaning:
            extract_for_search(self._library)
            embed_for_search(self._library)
        return found.on(action_vault(self._workspace, self._library), arguments)

    async def ask(
        self,
        question: str,
        *,
        model: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        private: bool = False,
        strict: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """Ask a question and iterate over the events of the turn; `TurnFinished` or `TurnFailed` is the last one,
        unless `ChangesReviewed` follows.

        The turn is stored in a new session, or in the one that `session` names. Closing the iterator early stops the
        model; what had arrived is kept.
        """
        options = ConversationOptions(
            vault=self.path,
            model=model or self._model,
            session=session,
            agent=agent,
            private=private,
            strict=strict,
            question=question,
        )
        if not question.strip():
            raise UsageError("There is no question.")
        with open_conversation(self._workspace.environment, options) as opened:
            for warning in opened.warnings:
                yield warning
            assert opened.asked is not None
            async with aclosing(opened.conversation.answer(opened.asked)) as events:
                async for event in events:
                    yield event

    def answer(
        self,
        question: str,
        *,
        model: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        private: bool = False,
        strict: bool = False,
    ) -> TurnFinished:
        """Ask a question and wait for the answer. Raises `ZkchatError` where a turn fails, `NoAnswer` where none comes.

        For code without an event loop; in one, iterate over `ask`.
        """
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            raise UsageError("answer() cannot wait in an event loop.", hint="Iterate over ask() instead.")
        events = self.ask(question, model=model, agent=agent, session=session, private=private, strict=strict)
        return asyncio.run(_finish(events))

    def sessions(self) -> list[Session]:
        """The sessions of the vault, the last used first."""
        with open_session_store(self._workspace) as (store, _):
            return store.sessions()

    def messages(self, session: str) -> list[ChatMessage]:
        """The messages of a session, which is named by its id, the beginning of its id, or its title."""
        with open_session_store(self._workspace) as (store, _):
            return thread_of(store.entries(store.find(session).id))


async def _finish(events: AsyncGenerator[Event, None]) -> TurnFinished:
    """The answer, once the turn is over."""
    warned = Warned(text="No answer came.")
    finished: TurnFinished | None = None
    async with aclosing(events):
        async for event in events:
            match event:
                case Warned():
                    warned = event
                case TurnFailed():
                    kinds = ZkchatError.__subclasses__()
                    kind = next((kind for kind in kinds if kind.exit_code == event.exit_code), ZkchatError)
                    raise kind(event.text, hint=event.hint)
                case TurnFinished() if event.message.text.strip():
                    finished = event
    if finished:
        return finished
    raise NoAnswer(warned.text, hint=warned.hint)

"""The conversation that is open in a chat, with its background work and its resources."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress

from msgspec import Struct, field

from zkchat.cli.common import CommandIO, known_keys
from zkchat.cli.consent import MemoryProposals
from zkchat.cli.vectors import VectorActivity
from zkchat.compose import conversation
from zkchat.compose.conversation_options import ConversationOptions
from zkchat.compose.providers import key_variables
from zkchat.environment import Environment
from zkchat.errors import ProviderError, SessionError, StorageError
from zkchat.model.note import NoteWarning
from zkchat.model.session import Session
from zkchat.repl.background import Background, ProgressObserver


class ActiveConversation(Struct, kw_only=True):
    """An open conversation with its background work and its resources."""

    opened: conversation.OpenConversation
    background: Background
    resources: ExitStack
    proposals: MemoryProposals
    named_model: str | None = None
    """The model that the user named for it, on the command line or by `/model`."""
    session: Session | None = None
    """As it was after the last turn."""
    is_begun: bool = False
    """Whether the background work was started."""
    is_refreshed: bool = False
    """Whether its notes were looked through since it was opened here."""
    is_used: bool = False
    """Whether a turn took place in it since it was opened here."""
    measuring: asyncio.Future[None] | None = None
    """The task that prepares measuring the context; the loop alone would not keep it."""
    vectors: VectorActivity | None = None
    """What is known of the vectors that a server makes; None where none does."""
    odd_notes: list[NoteWarning] = field(default_factory=list)
    """Warnings about notes that were not printed yet."""
    last_id: str = ""
    """Of the last message when `has_new_answer` was last asked."""

    @property
    def activity(self) -> str:
        """What goes on in the background."""
        return self.background.activity or (self.vectors.text if self.vectors else "")

    def refresh(self) -> None:
        try:
            self.odd_notes += self.opened.refresher.refresh().warnings
        finally:
            self.is_refreshed = True

    @property
    def session_id(self) -> str:
        return self.opened.conversation.session_id

    def look_up_session(self) -> None:
        with suppress(SessionError, StorageError):
            self.session = self.opened.store.get(self.session_id) if self.session_id else None

    def has_new_answer(self) -> bool:
        """Whether anything was said since this was last asked: `/brief` and `/compact` may say nothing."""
        last = self.opened.conversation.history.last
        before, self.last_id = self.last_id, last.id if last else ""
        return self.last_id != before

    def watch_vectors(self, changed: Callable[[], None]) -> None:
        """Have the bar show how far the vectors of a server are; `changed` is called from another thread."""
        if self.opened.settings.embeddings.model:
            from zkchat.cli.vectors import VectorActivity

            self.vectors = VectorActivity(self.opened.library, changed)
            self.resources.callback(self.vectors.close)
            self.vectors.start()

    async def prepare_measuring(self) -> None:
        """Learn the model's window and load its tokenizer, so that the bar can show how full the context is."""
        talk = self.opened.conversation
        if talk.model.context_limit is None:
            with suppress(ProviderError):
                await talk.connect()
        self.background.submit(talk.load_tokenizer)
        await self.background.wait()

    def close(self, io: CommandIO) -> None:
        """End it; a warning says where entries that a full disk refused are lost."""
        if warning := self.opened.conversation.save_rest():
            io.note_wrapped(f"{warning.text} {warning.hint}".strip())
        self.resources.close()


def open_active_conversation(
    io: CommandIO, options: ConversationOptions, observer: ProgressObserver
) -> ActiveConversation:
    """Open a conversation and a thread for its background work. Raises `ZkchatError`."""
    with ExitStack() as stack:
        opened = stack.enter_context(conversation.open_conversation(io.environment, options))
        background = stack.enter_context(Background(observer))
        learns = opened.settings.memory.learn == "ask"
        active = ActiveConversation(
            opened=opened,
            background=background,
            proposals=MemoryProposals(io, opened.conversation, enabled=learns),
            resources=stack.pop_all(),
            named_model=options.model,
        )
        active.look_up_session()
        return active
    raise AssertionError("nothing above swallows an exception")


def keys_of(environment: Environment, opened: conversation.OpenConversation) -> tuple[str, ...]:
    """The API keys of this user, also those in variables that the settings name."""
    return known_keys(environment, *key_variables(opened.settings))

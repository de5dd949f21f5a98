"""What a slash command is: the context that it is given, the row that describes it, and its possible outcomes."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any, NoReturn, Protocol

from msgspec import Struct

from zkchat.chat import Conversation, GoalRun, ServerAccess, SessionItems
from zkchat.core import (
    ChangeStore,
    DocumentReference,
    EmbeddingProgress,
    Event,
    ImagePart,
    ModelInfo,
    ModelOverview,
    ModelRow,
    SessionsSaid,
    SessionStore,
    UsageError,
)
from zkchat.repl.surface import Surface, VaultBrowser
from zkchat.writing import ChosenLinks, LinkStyle, MentionGroup


class DocumentLinks(Protocol):
    """The addresses under which documents of an answer open."""

    def of(self, reference: DocumentReference) -> str | None:
        """An address for Obsidian, or of the file; None for a broken link."""

    def current(self, references: Sequence[DocumentReference]) -> Sequence[DocumentReference]:
        """The same documents as the vault is now: those that are gone are missing."""

    def risk(self, reference: DocumentReference) -> str:
        """A warning to confirm before opening; empty for notes and other files that cannot run."""


class ModelCatalogue(Protocol):
    told: set[str]
    """What was said already of servers that do not answer."""

    @property
    def names(self) -> Sequence[str]:
        """Names to complete, as far as they are known. Does not block."""

    async def survey(self, in_use: ModelInfo) -> ModelOverview:
        """List them, within a few seconds; `in_use` is the model of the conversation."""

    async def verify(self, name: str) -> ModelInfo:
        """Check that a model answers. Raises `ZkchatError` if not."""

    async def of_server(self, address: str) -> ModelRow:
        """The first model of a server that the settings do not name yet. Raises `ZkchatError` where it lists none."""

    def keep_server(self, address: str) -> None:
        """Name that server in the user's settings."""


def only_in_a_terminal(*_: object) -> NoReturn:
    raise UsageError("This works only in a terminal.")


def no_clipboard() -> ImagePart:
    raise UsageError("There is no clipboard here.")


class CommandContext(Struct, frozen=True, kw_only=True, eq=False):
    """Everything that a slash command may use. A new one is made for each conversation."""

    conversation: Conversation
    store: SessionStore
    changes: ChangeStore
    """The files of the vault, and the journal of what zkchat changed in them."""
    surface: Surface
    links: DocumentLinks
    items: SessionItems
    """The rules, notes and tools of the session."""
    browser: VaultBrowser
    now: Callable[[], datetime]
    models: ModelCatalogue
    goals: GoalRun
    edit_page: Callable[[str, bool], bool] = only_in_a_terminal
    """Lets the user edit the page of the vault (`ZKCHAT.md`), which may be new; whether it is used, which is approved
    by that. It waits until the editor is closed."""
    link_style: Callable[[], LinkStyle] = LinkStyle
    choose_mentions: Callable[[Iterable[MentionGroup]], ChosenLinks | None] = only_in_a_terminal
    """Asks the user which mentions of notes become links, one after the other; None after Ctrl-C."""
    servers: ServerAccess | None = None
    embedding_progress: Callable[[], EmbeddingProgress | None] = lambda: None
    """How far the vectors of the vault are."""
    clipboard_image: Callable[[], ImagePart] = no_clipboard
    """The image on the clipboard. Raises `UsageError` where there is none."""
    said: Callable[[], AbstractContextManager[SessionsSaid]] = lambda: nullcontext(lambda *_, **__: ())
    keys: Sequence[str] = ()
    """The API keys of this user, which no export may hold."""

    def __repr__(self) -> str:
        """Without the keys."""
        return f"CommandContext(conversation={self.conversation!r})"


class Leave(Struct, frozen=True):
    """End the chat."""


class Send(Struct, frozen=True):
    """Send this text as if the user had typed it."""

    text: str


class Play(Struct, frozen=True):
    """Show these events like those of a turn; Ctrl-C closes the iterator."""

    events: AsyncGenerator[Event, None]


class Edit(Struct, frozen=True):
    """Put this text into the next prompt, to be edited and sent."""

    text: str
    replaces: str
    """The id of the message whose place is taken by what is sent from that prompt."""


class Switch(Struct, frozen=True, kw_only=True):
    """Switch to another conversation. If it cannot be opened, the error is shown and the present one continues."""

    session: str | None
    """Its id; None for a new session."""
    model: str | None = None
    """The model to switch to; None keeps the present one."""


Outcome = Leave | Send | Play | Edit | Switch | None
"""What follows a command; None: the prompt."""


class Command(Struct, frozen=True, kw_only=True):
    """A slash command, as the table of commands has it (`commands.table`)."""

    name: str
    """Without the slash."""
    aliases: tuple[str, ...] = ()
    arguments: str = ""
    """As `/help` shows them, such as `[N]`."""
    help: str
    """A few words, for the list."""
    details: str = ""
    """Whole sentences, for `/help NAME`."""
    is_minor: bool = True
    """Whether only `/help all` lists it; the menu offers it once its name is typed."""
    act: Callable[[CommandContext, str], Awaitable[Outcome]]
    complete: Callable[[CommandContext, str], list[str]] = lambda _context, _text: []
    """Arguments that begin with, or contain, what was typed so far. Must not block."""
    describe: Callable[[CommandContext, str], str] = lambda _context, _text: ""
    """What the menu shows beside a completion of the argument."""

    async def run(self, context: CommandContext, argument: str) -> Outcome:
        """Run the command. Raises `ZkchatError` with a hint for wrong use."""
        return await self.act(context, argument.strip())

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()


def slash(
    usage: str, help: str, **more: Any
) -> Callable[[Callable[[CommandContext, str], Awaitable[Outcome]]], Command]:
    """Make a slash command of a function, whose docstring is what `/help NAME` tells. `usage` begins with its name;
    `more` are further fields of `Command`."""
    name, _, arguments = usage.partition(" ")
    return lambda act: Command(
        name=name, arguments=arguments, help=help, details=" ".join((act.__doc__ or "").split()), act=act, **more
    )

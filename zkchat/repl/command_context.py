"""What a slash command is: the context that it is given, the row that describes it, and its possible outcomes."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from zkchat.chat import Conversation, GoalRun, ServerAccess, SessionItems
from zkchat.core import (
    ChangeSet,
    ChangeStore,
    ContextUsage,
    DocumentReference,
    EmbeddingProgress,
    Event,
    ModelInfo,
    ModelOverview,
    SessionStore,
)
from zkchat.render import Matches, RowSection
from zkchat.repl.picker import PickRow
from zkchat.repl.surface import Position, VaultBrowser
from zkchat.writing import ChosenLinks, LinkStyle, MentionGroup


class Surface(Protocol):
    """What commands use of the terminal. It sanitizes everything that it prints."""

    @property
    def width(self) -> int:
        """Columns."""
        ...

    def print(self, text: str) -> None:
        """Print one or more lines."""
        ...

    def print_dimmed(self, text: str) -> None:
        """Print what matters less, dimmed where there is colour."""
        ...

    def print_markdown(self, text: str, matches: Matches | None = None, /) -> None:
        """Draw the text of a message as an answer is drawn; `matches` finds words to be marked in quotations."""
        ...

    def print_sections(self, sections: Sequence[RowSection], matches: Matches | None = None, /) -> None:
        """Show a numbered list of places in parts; `matches` finds words to be marked in their texts."""
        ...

    def print_changes(self, changes: ChangeSet) -> None:
        """Show the diff of changes of notes."""
        ...

    def print_heading(self, name: str, place: str) -> None:
        """Show the name of a document above its text, and where it stands."""
        ...

    def print_note(
        self, text: str, *, source: str, first_line: int = 1, after: Position | None = None, whole: bool = False
    ) -> Position:
        """Draw a page of the note `source`, or the `whole` rest, and return how far it was shown.

        It begins `after` what was shown, else at the top, or at a line of a note that is longer than a page.
        """
        ...

    def print_references(self, references: Sequence[DocumentReference]) -> None:
        """Show the panel "Referenced Documents" with all of them."""
        ...

    def print_usage(self, usage: ContextUsage) -> None:
        """Show the context bar."""
        ...

    async def confirm(self, question: str) -> bool:
        """Ask the user; False where nobody is there to answer."""
        ...

    async def pick(self, title: str, rows: Sequence[PickRow], instead: str) -> int | None:
        """Let the user choose a row and return its number from 0; None if the user chose none.

        Where nothing can be drawn, the rows are printed, numbered from 1, and `instead`: how to choose otherwise.
        """
        ...

    @property
    def has_desktop(self) -> bool:
        """Whether there is a desktop that opens addresses."""
        ...

    def open(self, address: str) -> bool:
        """Open an address on the desktop; False where there is none."""
        ...

    def copy(self, text: str) -> bool:
        """Copy the text to the clipboard through the terminal. Where that is impossible, print it and return False."""
        ...


class DocumentLinks(Protocol):
    """The addresses under which documents of an answer open."""

    def of(self, reference: DocumentReference) -> str | None:
        """An address for Obsidian, or of the file; None for a broken link."""
        ...

    def current(self, references: Sequence[DocumentReference]) -> Sequence[DocumentReference]:
        """The same documents as the vault is now: those that are gone are missing."""
        ...

    def risk(self, reference: DocumentReference) -> str:
        """A warning to confirm before opening; empty for notes and other files that cannot run."""
        ...


class PageEditor(Protocol):
    """The user's editor, for the page of the vault (`ZKCHAT.md`)."""

    def edit(self, page: str, *, is_new: bool) -> bool:
        """Open the page and wait until the editor is closed. `is_new`: the user just created it.

        Returns whether the page is used, which needs the user's approval.
        """
        ...


class ModelCatalogue(Protocol):
    """The models that there are."""

    @property
    def names(self) -> Sequence[str]:
        """Names to complete, as far as they are known. Does not block."""
        ...

    async def survey(self, in_use: ModelInfo) -> ModelOverview:
        """List them, within a few seconds; `in_use` is the model of the conversation."""
        ...

    async def verify(self, name: str) -> ModelInfo:
        """Check that a model answers. Raises `ZkchatError` if not."""
        ...


class MentionChooser(Protocol):
    """Asks the user which mentions of notes become links."""

    @property
    def style(self) -> LinkStyle:
        """How links are written in this vault."""
        ...

    def choose(self, groups: Iterable[MentionGroup]) -> ChosenLinks | None:
        """Ask one after the other; None after Ctrl-C. Raises `UsageError` where nobody can be asked."""
        ...


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
    page_editor: PageEditor
    browser: VaultBrowser
    """The notes of the vault, and what was shown of them."""
    now: Callable[[], datetime]
    """The clock."""
    models: ModelCatalogue
    goals: GoalRun
    mentions: MentionChooser
    servers: ServerAccess | None = None
    """The MCP servers; None where there is none."""
    embedding_progress: Callable[[], EmbeddingProgress | None] = lambda: None
    """How far the vectors of the vault are."""
    keys: Sequence[str] = ()
    """The API keys of this user, which no export may hold."""

    def __repr__(self) -> str:
        """Without the keys."""
        return f"CommandContext(conversation={self.conversation!r})"


class Nothing(Struct, frozen=True):
    """Return to the prompt."""


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


Outcome = Nothing | Leave | Send | Play | Edit | Switch

NOTHING = Nothing()


def no_description(_context: CommandContext, _text: str) -> str:
    """For commands whose completions say enough."""
    return ""


def no_completion(_context: CommandContext, _text: str) -> list[str]:
    """For commands whose argument cannot be completed."""
    return []


class Command(Struct, frozen=True, kw_only=True):
    """One row of the table of commands (`commands.table`)."""

    name: str
    """Without the slash."""
    aliases: tuple[str, ...] = ()
    arguments: str = ""
    """As `/help` shows them, such as `[N]`."""
    help: str
    """A few words, for the list."""
    details: str = ""
    """Whole sentences, for `/help NAME`."""
    is_minor: bool = False
    """Whether the list for a wide screen only names it, so that all of it fits on one."""
    act: Callable[[CommandContext, str], Awaitable[Outcome]]
    complete: Callable[[CommandContext, str], list[str]] = no_completion
    """Arguments that begin with, or contain, what was typed so far. Must not block."""
    describe: Callable[[CommandContext, str], str] = no_description
    """What the menu shows beside a completion of the argument."""

    async def run(self, context: CommandContext, argument: str) -> Outcome:
        """Run the command. Raises `ZkchatError` with a hint for wrong use."""
        return await self.act(context, argument.strip())

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()

"""What slash commands work with: the context they may touch, what a command is, and what comes of it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from zkchat.chat.session_items import SessionItems
    from zkchat.model.events import Event
    from zkchat.model.message import ChatMessage, ContextUsage, DocumentReference
    from zkchat.model.prompt import ModelInfo
    from zkchat.model.session import Window
    from zkchat.ports import SessionStore


class ActiveConversation(Protocol):
    """The conversation, as commands know it. `chat.conversation.Conversation` is one."""

    @property
    def session_id(self) -> str:
        """Empty until the first message is sent."""
        ...

    @property
    def model(self) -> "ModelInfo": ...

    @property
    def messages(self) -> "list[ChatMessage]":
        """The whole thread, archived messages and compactions too; commands number it from 1."""
        ...

    @property
    def window(self) -> "Window": ...

    @property
    def usage(self) -> "ContextUsage | None": ...

    def stays_here(self, messages: "Iterable[ChatMessage]") -> bool:
        """Whether what is made of these messages is to stay on this machine."""
        ...

    def retry(self) -> "AsyncGenerator[Event, None]": ...

    def compact(self, focus: str = "") -> "AsyncGenerator[Event, None]": ...

    def uncompact(self) -> "ChatMessage | None":
        """Take back the last compaction and return its message; None where there is none."""
        ...

    def pin(self, message_id: str, *, pinned: bool = True) -> object: ...

    def branch(self, message_id: str | None) -> object:
        """Go on after this message; None is the very beginning."""
        ...


class Surface(Protocol):
    """The terminal, as commands know it. Everything it is given goes through the door of `render`."""

    @property
    def width(self) -> int:
        """Columns."""
        ...

    def tell(self, text: str) -> None:
        """One or more lines, as they are."""
        ...

    def aside(self, text: str) -> None:
        """The same for what matters less: dimmed where there is colour."""
        ...

    def markdown(self, text: str) -> None:
        """Text of a message, drawn as an answer is."""
        ...

    def references(self, references: "Sequence[DocumentReference]") -> None:
        """The panel "Referenced Documents", unfolded."""
        ...

    def usage(self, usage: "ContextUsage") -> None:
        """The bar of the context."""
        ...

    async def confirm(self, question: str) -> bool:
        """Whether the user says yes. Nobody there to ask is a no."""
        ...

    def open(self, address: str) -> bool:
        """Hand an address to the desktop; False where there is none."""
        ...

    def copy(self, text: str) -> bool:
        """Ask the terminal to put the text on the clipboard. Where it cannot be asked, print it as it is: False."""
        ...


class NoteCreator(Protocol):
    """New files in the vault. Nothing that is there is ever changed."""

    def create(self, path: str, text: str) -> None:
        """Write a new file, whole or not at all. Raises `VaultError` where one is there already, or no place for it."""
        ...

    def is_free(self, path: str) -> bool:
        """Whether `create` would find nothing there. Raises `OutsideVault` for a path that leads out."""
        ...


class DocumentLinks(Protocol):
    """Where the documents of an answer open."""

    def of(self, reference: "DocumentReference") -> str | None:
        """In Obsidian, or as a file; None where it leads nowhere."""
        ...

    def risk(self, reference: "DocumentReference") -> str:
        """What the user should know before it is opened; empty for notes and other files that can only be shown."""
        ...


@dataclass(frozen=True, kw_only=True)
class CommandContext:
    """All that a command may touch. The loop lays a new one when the conversation changes."""

    conversation: ActiveConversation
    store: "SessionStore"
    notes: NoteCreator
    surface: Surface
    addresses: DocumentLinks
    kit: "Callable[[], SessionItems]"
    """The rules, notes and tools of the session."""
    edit_page: Callable[[str, bool], bool]
    """Opens the vault's page in the user's editor and waits until it is closed; the second argument tells whether the
    user just made it. Tells whether the page is used, which takes the user's approval."""
    models: Callable[[], Sequence[str]] = tuple
    """Names of models that `/model` completes, as far as they are known without waiting."""
    keys: Sequence[str] = field(default=(), repr=False)
    """The keys of this user, which no export may hold."""


@dataclass(frozen=True)
class Nothing:
    """The command is done; the prompt comes back."""


@dataclass(frozen=True)
class Leave:
    """The user wants to go."""


@dataclass(frozen=True)
class Send:
    """Say this as if the user had typed it."""

    text: str


@dataclass(frozen=True)
class Play:
    """Show these events as a turn is shown: Ctrl-C closes the iterator."""

    events: "AsyncGenerator[Event, None]"


@dataclass(frozen=True)
class Edit:
    """Put this text into the next prompt, to be changed and sent."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Switch:
    """Go on in another conversation. An error while it is opened is told, and the present one goes on."""

    session: str | None
    """Its id; None for a new one."""
    model: str | None = None
    """Another model; None keeps the present one."""


Outcome = Nothing | Leave | Send | Play | Edit | Switch

NOTHING = Nothing()


def no_completion(_context: CommandContext, _text: str) -> list[str]:
    """For commands whose argument only the user can know."""
    return []


@dataclass(frozen=True, kw_only=True)
class Command:
    """One row of the table of commands."""

    name: str
    """Without the slash."""
    aliases: tuple[str, ...] = ()
    arguments: str = ""
    """As `/help` shows them: `[N]`."""
    help: str
    """In a few words, for the list."""
    details: str = ""
    """What else there is to know, in whole sentences, for `/help NAME`."""
    act: Callable[[CommandContext, str], Awaitable[Outcome]]
    complete: Callable[[CommandContext, str], list[str]] = no_completion
    """Whole arguments that begin with, or hold, what was typed so far. Must not wait for anything."""

    async def run(self, context: CommandContext, argument: str) -> Outcome:
        """Do it. Wrong use raises `ZkchatError` with the way out as its hint."""
        return await self.act(context, argument.strip())

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()

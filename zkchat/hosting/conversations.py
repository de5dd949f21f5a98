"""A conversation of the vault whose user is elsewhere: on a thread of its own, with the slash commands that make sense
there."""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any, Final, TypeVar, assert_never

from msgspec import Struct
from msgspec.structs import replace

from zkchat.app import (
    ConversationOptions,
    ModelCatalogue,
    OpenConversation,
    ServerConnections,
    UserInterface,
    WritingOptions,
    command_context,
    left_out_sentence,
    open_conversation,
    trust_states,
)
from zkchat.chat import CallReviewer, Conversation
from zkchat.core import (
    ChangeSet,
    Environment,
    Event,
    ImagePart,
    ProviderError,
    SessionError,
    UsageError,
    VaultError,
    lazy_pattern,
    patch_of,
)
from zkchat.index import Progress
from zkchat.render import Matches, sanitize_line, sanitize_text
from zkchat.repl import (
    COMMANDS,
    Background,
    Command,
    CommandContext,
    Edit,
    Leave,
    Outcome,
    Play,
    Position,
    Send,
    Surface,
    Switch,
    VaultView,
    find_command,
    run,
)
from zkchat.writing import ChangeReviewer

T = TypeVar("T")
CLOSE_SECONDS: Final = 10.0
"""How long the end of a conversation may take: its answer is stopped, and what came of it is stored."""
REPLACED: Final = "Ignore the text above: it contradicts your notes. The answer follows."
ASKED_AGAIN: Final = "The model answered without reading your notes. Asking again, with what they say:"
BUSY: Final = "This session is still answering. Wait for it to finish, or cancel it."
NOT_OFFERED: Final = frozenset({"open", "link", "copy", "edit", "sessions", "resume", "new", "help", "quit"})
"""They need a terminal, an editor or a desktop, or the client has them itself."""
HELP: Final = "help"
_FENCE: Final = lazy_pattern(r"`{3,}")


class ChatOptions(Struct, frozen=True, kw_only=True):
    """For every new session."""

    vault: Path | None = None
    model: str | None = None
    agent: str | None = None
    write: bool | None = None
    """Whether the model may propose changes to notes; None for what the settings say."""


class Worker:
    """A thread with an event loop."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run on the thread of the worker, from another event loop; a caller that is cancelled cancels the work."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self, *last: Coroutine[Any, Any, object]) -> None:
        """Run what is left to do, and end the thread. Whoever waits for work that is under way gets its end."""
        for work in (*last, _end_all()):
            with suppress(FutureTimeout):
                self.submit(work).result(CLOSE_SECONDS)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(CLOSE_SECONDS)


async def _end_all() -> None:
    """Cancel everything else on this loop."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def cleaned(value: Any) -> Any:
    """The same JSON without what acts on a terminal."""
    match value:
        case str():
            return sanitize_text(value)
        case list():
            return [cleaned(each) for each in value]
        case dict():
            return {sanitize_text(name): cleaned(each) for name, each in value.items()}
        case _:
            return value


def fenced(text: str, language: str = "") -> str:
    """The text as a block of code that it cannot end."""
    fence = "`" * max(3, *(len(found) + 1 for found in [*_FENCE.findall(text), ""]))
    return f"{fence}{language}\n{text}\n{fence}"


class MarkdownSurface(Surface):
    """What is printed is Markdown, and kept until it is taken."""

    width = 79
    """Below the width at which lists are set in two columns."""
    next_step = "/show N shows number N of these."

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._lines: list[str] = []

    def take(self) -> str:
        """All that was printed, as Markdown."""
        self._end_lines()
        text, self._pieces = "\n\n".join(self._pieces), []
        return text

    def print(self, text: str) -> None:
        self._lines.extend(sanitize_text(text).split("\n"))

    def print_markdown(self, text: str, _matches: Matches | None = None, /) -> None:
        self._end_lines()
        self._pieces.append(sanitize_text(text))

    def print_changes(self, changes: ChangeSet) -> None:
        if changes:
            self.print_markdown(fenced(patch_of(changes).removesuffix("\n"), "diff"))

    def print_heading(self, name: str, place: str) -> None:
        self.print_markdown(f"**{sanitize_line(name)}** {sanitize_line(place)}")

    def print_note(
        self, text: str, *, source: str, first_line: int = 1, after: Position | None = None, whole: bool = False
    ) -> Position:
        """All of it: clients scroll."""
        del source, first_line, after, whole
        self.print_markdown(text.strip("\n"))
        return Position()

    def copy(self, text: str) -> bool:
        self.print_markdown(text)
        return False

    def _end_lines(self) -> None:
        """Lines one below the other stay so; a single one is a sentence."""
        lines, self._lines = self._lines, []
        text = "\n".join(lines).strip("\n")
        if text:
            self._pieces.append(fenced(text, "text") if "\n" in text else text)


class HostedInterface(UserInterface):
    """Asks about changes to notes and about servers; a client sends files by itself."""

    def __init__(
        self,
        change_reviewer: ChangeReviewer | None,
        call_reviewer: CallReviewer | None,
        background: Callable[[], Background],
    ) -> None:
        self.change_reviewer = change_reviewer
        self.call_reviewer = call_reviewer
        self._background = background

    def indexing_progress(self) -> AbstractContextManager[Progress]:
        """Indexing ends when the conversation is closed."""
        return self._background().progress("Indexing notes")


class HostedChat(ABC):
    """A conversation of the vault. All methods but `cancel` run on the thread of its worker."""

    not_offered = NOT_OFFERED
    """Slash commands that there are not here."""

    def __init__(
        self, environment: Environment, options: ChatOptions, loop: asyncio.AbstractEventLoop, surface: MarkdownSurface
    ) -> None:
        """`loop` is the event loop on which all but `cancel` run."""
        self._loop = loop
        self._environment = environment
        self._chosen = options
        self._resources = ExitStack()
        self._servers = ServerConnections()
        self._surface = surface
        self._view = VaultView()
        self._models = ModelCatalogue(lambda: self._opened.workspace)
        self._model_name = ""
        """What the user calls the model that answers."""
        self._turn: asyncio.Task[None] | None = None
        self._is_cancelled = False
        self._idle = asyncio.Event()
        """Set while nothing is being answered."""
        self._idle.set()
        self._untold: list[tuple[str, str]] = []
        """Sentences and their hints that the user has not read yet."""
        self._opened: OpenConversation
        self._background: Background
        self._options: ConversationOptions

    @property
    def _talk(self) -> Conversation:
        return self._opened.conversation

    @abstractmethod
    async def _show(self, text: str) -> None:
        """Show what a command printed, as Markdown."""

    @abstractmethod
    async def _notice(self, text: str, hint: str = "") -> None:
        """Show a sentence of zkchat itself."""

    @abstractmethod
    async def _activity(self, text: str) -> None:
        """Show what is waited for."""

    @abstractmethod
    async def _play(self, events: AsyncGenerator[Event, None]) -> None:
        """Show the events of a turn as they come. Raises `ProviderError` where the turn failed."""

    @abstractmethod
    def _stop_asking(self) -> None:
        """Have a question that is open answered by nothing. May be called from any thread."""

    @abstractmethod
    async def _after_turn(self) -> None:
        """What is told after a turn, however it ended."""

    def _start(self, vault: Path, session_id: str, interface: HostedInterface, *, stored: bool) -> None:
        """Open the conversation, of a session that is `stored` or of a new one. Raises `ZkchatError`.

        A session that was answered before goes on with its own model and agent.
        """
        chosen = self._chosen
        self._options = ConversationOptions(
            vault=vault,
            model=None if stored else chosen.model,
            session=session_id if stored else None,
            id_of_new=session_id,
            servers=self._servers,
            bounded_refresh=True,
            agent=None if stored else chosen.agent,
            user_interface=interface,
            writing=WritingOptions(enabled=chosen.write),
        )
        self._open(self._options)
        if stored and chosen.model and self._talk.history.model is None:
            self._reopen(Switch(session=session_id, model=chosen.model))
        opened = self._opened
        if opened.chosen:
            self._untold.append((opened.chosen, ""))
        self._untold += [(warning.text, warning.hint) for warning in opened.warnings]
        left_out = [item for item in trust_states(self._environment, opened.paths) if item[1] != "approved"]
        if left_out:
            self._untold.append((left_out_sentence(left_out), ""))

    def _open(self, options: ConversationOptions) -> None:
        with ExitStack() as stack:
            opened = stack.enter_context(open_conversation(self._environment, options))
            background = stack.enter_context(Background())
            before, self._resources = self._resources, stack.pop_all()
        self._opened, self._background = opened, background
        self._model_name = options.model or opened.conversation.model.name
        before.close()

    def _reopen(self, to: Switch) -> None:
        """Open the same conversation anew, with another model or with the settings of another agent."""
        before = self._talk.writing
        options = replace(
            self._options,
            session=to.session,
            agent=None if to.session else self._options.agent,
            model=to.model or self._options.model,
            writing=replace(self._options.writing, enabled=before.is_on),
        )
        self._open(options)
        self._options = options
        self._talk.writing.keep_accepted_folders(before)

    async def _run(self, turn: Coroutine[Any, Any, None]) -> bool:
        """Run a turn that `cancel` stops, and return whether it did. Raises `UsageError` while another one runs."""
        if self._turn:
            turn.close()
            raise UsageError(BUSY)
        self._is_cancelled = False
        self._idle.clear()
        self._turn = asyncio.ensure_future(turn)
        try:
            await self._turn
        except asyncio.CancelledError:
            if not self._is_cancelled:
                raise  # not this turn, but all of it is to end
        finally:
            self._turn = None
            await self._after_turn()
            self._idle.set()
        return self._is_cancelled

    def cancel(self) -> None:
        """Stop the answer; what came is kept. May be called from any thread."""
        self._stop_asking()
        with suppress(RuntimeError):  # it is closed
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if self._turn:
            self._is_cancelled = True
            self._stop_asking()
            self._turn.cancel()

    async def close(self) -> None:
        """Stop what is under way, store what is not stored, and close everything."""
        self._stop()
        await self._idle.wait()
        with self._servers:  # they outlast the conversation, which is opened anew for another model
            self._resources.close()

    async def _respond(self, text: str, images: Sequence[ImagePart] = (), notices: Sequence[str] = ()) -> None:
        """Answer a message, or run the command that it is."""
        for sentence, hint in [*self._untold, *((notice, "") for notice in notices)]:
            await self._notice(sentence, hint)
        self._untold.clear()
        is_command = text.startswith("/")
        if not is_command:
            self._talk.keep(text, images=images)
        # A new vault is indexed before the first answer; until then the user reads what is waited for.
        if activity := self._background.activity:
            await self._activity(f"{activity} …\n")
        await self._background.wait()
        if is_command:
            await self._command(text)
        else:
            await self._play(self._talk.say(text))

    async def _command(self, line: str) -> None:
        """Run a slash command, and show what it printed."""
        name, argument = (*line.removeprefix("/").split(maxsplit=1), "", "")[:2]
        try:
            if name.casefold() == HELP:
                self._surface.print_markdown(self._help(argument))
            else:
                self._check_offered(name, argument)
                await self._follow(await run(self._command_context(), line))
        except (UsageError, ProviderError, VaultError, SessionError) as error:
            self._surface.print(f"{error.message} {error.hint}".strip())
        if printed := self._surface.take():
            await self._show(printed)

    def _help(self, argument: str) -> str:
        """What `/help` says here, as Markdown. Raises `UsageError` for a command that there is not."""
        if argument and argument != "all":
            command = find_command(argument.removeprefix("/"))
            return f"`{command.usage}`: {command.help}. {command.details}".strip()
        offered = offered_commands(self.not_offered, every=argument == "all")
        rows = [f"- `{command.usage}`: {command.help}" for command in offered]
        first = "The commands you can use here; /help NAME explains one, /help all lists more."
        return "\n".join([first, "", *rows])

    def _check_offered(self, name: str, argument: str) -> None:
        """Raises `UsageError` for a command that only the terminal has."""
        if "/" in name or ":" in name:  # a message that begins with a path, a prompt of an MCP server
            return
        command = find_command(name)
        opens_editor = command.name == "memory" and not argument
        if command.name in self.not_offered or opens_editor:
            raise UsageError(f"/{command.name} works only in a terminal.", hint="/help lists what can be used here.")

    async def _follow(self, outcome: Outcome) -> None:
        """Show what a command printed, and do what it asks for."""
        if printed := self._surface.take():
            await self._show(f"{printed}\n\n")
        match outcome:
            case Send():
                await self._play(self._talk.say(outcome.text))
            case Play():
                await self._play(outcome.events)
            case Switch():
                self._reopen(outcome)
                self._surface.print(f"{self._talk.model.shown} answers now, as agent {self._talk.agent.name}.")
            case None | Edit() | Leave():
                pass
            case _:
                assert_never(outcome)

    def _command_context(self) -> CommandContext:
        return command_context(self._environment, self._opened, self._surface, self._view, self._models)


def offered_commands(without: frozenset[str] = NOT_OFFERED, *, every: bool = False) -> tuple[Command, ...]:
    found = (command for command in COMMANDS if command.name not in without)
    return tuple(command for command in found if every or not command.is_minor)

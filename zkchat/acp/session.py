"""One session of a client: a conversation of the vault, on the thread of its worker."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, aclosing, nullcontext, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, assert_never

from acp import schema
from acp.helpers import update_user_message_text
from msgspec.structs import replace

from zkchat.acp import choices
from zkchat.acp import updates as tool_calls
from zkchat.acp.agent import SessionClient
from zkchat.acp.choices import AgentOptions
from zkchat.acp.prompts import Block, PromptReader, fenced
from zkchat.acp.reviewer import ClientCallReviewer, ClientChangeReviewer
from zkchat.acp.updates import NotePlaces, TurnUpdates, Update, notice_chunk, plan_of, text_chunk, thought_chunk
from zkchat.app import (
    ConversationOptions,
    ModelCatalogue,
    OpenConversation,
    ServerConnections,
    WritingOptions,
    bounds_of,
    daily_note_settings,
    left_out_sentence,
    open_conversation,
    open_goal_run,
    sessions_where_said,
    trust_states,
)
from zkchat.chat import CallReviewer, Conversation, Reviewer, SessionItems
from zkchat.core import (
    ChangeSet,
    ChatMessage,
    CompactionPart,
    Environment,
    Event,
    Goal,
    ProviderError,
    Session,
    SessionError,
    StorageError,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    UsageError,
    VaultError,
    ZkchatError,
    patch_of,
    shorten,
)
from zkchat.index import Progress
from zkchat.render import compaction_part, reviewed, sanitize_line, sanitize_text
from zkchat.repl import (
    COMMANDS,
    Background,
    Command,
    CommandContext,
    Edit,
    Leave,
    Nothing,
    Play,
    Position,
    Send,
    Surface,
    Switch,
    VaultBrowser,
    VaultView,
    find_command,
    run,
)
from zkchat.writing import ChangeReviewer, LinkStyle

if TYPE_CHECKING:
    from zkchat.render import Matches


_WIDTH: Final = 79
"""Below the width at which lists are set in two columns."""
_YES: Final = "yes"


class MarkdownSurface(Surface):
    """What is printed is Markdown, and kept until it is taken."""

    width = _WIDTH

    def __init__(self, client: SessionClient) -> None:
        self._client = client
        self._pieces: list[str] = []
        self._lines: list[str] = []
        self._questions = count(1)

    def take(self) -> str:
        """All that was printed, as Markdown."""
        self._end_lines()
        text, self._pieces = "\n\n".join(self._pieces), []
        return text

    def print(self, text: str) -> None:
        self._lines.extend(sanitize_text(text).split("\n"))

    def print_markdown(self, text: str, _matches: "Matches | None" = None, /) -> None:
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

    async def confirm(self, question: str) -> bool:
        """A permission request, after what was printed so far."""
        if printed := self.take():
            await self._client.update(text_chunk(f"{printed}\n\n"))
        call = schema.ToolCallUpdate(
            tool_call_id=f"question-{next(self._questions)}",
            title=sanitize_line(question),
            kind="other",
            status="pending",
        )
        options = [
            schema.PermissionOption(option_id=_YES, name="Yes", kind="allow_once"),
            schema.PermissionOption(option_id="no", name="No", kind="reject_once"),
        ]
        return self._client.ask(call, options) == _YES

    def copy(self, text: str) -> bool:
        self.print_markdown(text)
        return False

    def _end_lines(self) -> None:
        """Lines one below the other stay so; a single one is a sentence."""
        lines, self._lines = self._lines, []
        text = "\n".join(lines).strip("\n")
        if text:
            self._pieces.append(fenced(text, "text") if "\n" in text else text)


NOT_OFFERED: Final = frozenset({"open", "link", "copy", "edit", "sessions", "resume", "new", "help", "quit"})
"""They need a terminal, an editor or a desktop, or the client has them itself."""
HELP: Final = "help"
ALL: Final = "all"
_HELP_SENTENCE: Final = "The commands you can use here; /help NAME explains one, /help all lists more."


def offered_commands(*, every: bool = False) -> tuple[Command, ...]:
    found = (command for command in COMMANDS if command.name not in NOT_OFFERED)
    return tuple(command for command in found if every or not command.is_minor)


def commands_update() -> schema.AvailableCommandsUpdate:
    described = [(command.name, command.help, command.arguments) for command in offered_commands()]
    return schema.AvailableCommandsUpdate(
        session_update="available_commands_update",
        available_commands=[
            schema.AvailableCommand(
                name=name,
                description=about,
                input=schema.AvailableCommandInput(schema.UnstructuredCommandInput(hint=arguments))
                if arguments
                else None,
            )
            for name, about, arguments in (*described, (HELP, "what the commands do", "[NAME]"))
        ],
    )


def help_text(argument: str) -> str:
    """What `/help` says here, as Markdown. Raises `UsageError` for a command that there is not."""
    if argument and argument != ALL:
        command = find_command(argument.removeprefix("/"))
        return f"`{command.usage}`: {command.help}. {command.details}".strip()
    rows = [f"- `{command.usage}`: {command.help}" for command in offered_commands(every=argument == ALL)]
    return "\n".join([_HELP_SENTENCE, "", *rows])


def check_offered(line: str) -> None:
    """Raises `UsageError` for a command that only the terminal has."""
    name, argument = (*line.removeprefix("/").split(maxsplit=1), "", "")[:2]
    if "/" in name or ":" in name:  # a message that begins with a path, a prompt of an MCP server
        return
    command = find_command(name)
    opens_editor = command.name == "memory" and not argument
    if command.name in NOT_OFFERED or opens_editor:
        raise UsageError(f"/{command.name} works only in a terminal.", hint="/help lists what can be used here.")


class _NoEditor:
    """Implements `PageEditor`, `DocumentEditor` and `MentionChooser` where nobody edits."""

    name = ""
    style = LinkStyle()

    def edit(self, *_: object, **__: object) -> NoReturn:
        raise UsageError("Editing works only in a terminal.")

    def choose(self, _groups: object) -> NoReturn:
        raise UsageError("/link works only in a terminal.", hint="In a terminal: zkchat note link NAME")


def replay(messages: Sequence[ChatMessage], goal: Goal | None, places: NotePlaces) -> Iterator[Update]:
    """The messages in their order; what was compacted is there too."""
    for message in messages:
        for update in _updates_of(message, places):
            if isinstance(update, schema.UserMessageChunk | schema.AgentMessageChunk | schema.AgentThoughtChunk):
                update.message_id = message.id
            yield update
    if goal and goal.steps:
        yield plan_of(goal)


def _updates_of(message: ChatMessage, places: NotePlaces) -> Iterator[Update]:
    for part in message.parts:
        match part:
            case TextPart() if message.role == "user":
                yield update_user_message_text(sanitize_text(part.text))
            case TextPart():
                yield text_chunk(part.text)
            case ThinkingPart():
                yield thought_chunk(part.text)
            case ToolCallPart():
                yield tool_calls.started(f"{message.id}-{part.call_id}", part.name, part.arguments)
            case ToolResultPart():
                summary = shorten(part.text, tool_calls.MAX_OUTPUT_CHARS)
                yield tool_calls.finished(f"{message.parent_id}-{part.call_id}", summary, failed=part.failed)
            case CompactionPart():
                yield thought_chunk(f"{compaction_part(part)}\n")
            case _:  # documents that went along, and what a newer zkchat wrote
                pass
    if message.role == "assistant":
        there = (each for each in message.references if os.path.lexists(places.absolute(each.relative_path or "")))
        yield from places.links([*there])


BUSY: Final = "This session is still answering. Wait for it to finish, or cancel it."


class _Interface:
    """Implements `UserInterface`: asks about changes to notes and about servers."""

    reviewer: Reviewer | None = None

    def __init__(
        self, client: SessionClient, reviewer: ClientChangeReviewer, background: Callable[[], Background]
    ) -> None:
        self.change_reviewer: ChangeReviewer | None = reviewer
        self.call_reviewer: CallReviewer | None = ClientCallReviewer(client)
        self.file_reviewer = None  # a client sends files by itself
        self._background = background

    def may_remember(self, _text: str) -> bool:
        return False

    def indexing_progress(self) -> AbstractContextManager[Progress]:
        """Indexing ends when the conversation is closed."""
        return self._background().progress("Indexing notes")

    def waiting(self, _what: str) -> AbstractContextManager[object]:
        return nullcontext()


class AgentSession:
    """All methods but `cancel` run on the thread of the session's worker."""

    def __init__(
        self,
        environment: Environment,
        options: AgentOptions,
        client: SessionClient,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """`loop` is the event loop on which all but `cancel` run."""
        self._loop = loop
        self._environment = environment
        self._agent_options = options
        self._client = client
        self._resources = ExitStack()
        self._servers = ServerConnections()
        self._surface = MarkdownSurface(client)
        self._view = VaultView()
        self._models = ModelCatalogue(lambda: self._opened.workspace)
        self._model_names: tuple[str, ...] = ()
        self._model_name = ""
        """What the user calls the model that answers."""
        self._turn: asyncio.Task[str] | None = None
        self._is_cancelled = False
        self._is_cut_off = False
        self._idle = asyncio.Event()
        """Set while no prompt is being answered."""
        self._idle.set()
        self._untold: list[tuple[str, str]] = []
        """Sentences and their hints that the user has not read yet."""
        self._told: Session | None = None
        """What the client was told last of the session."""
        self._opened: OpenConversation
        self._background: Background
        self._reviewer: ClientChangeReviewer
        self._options: ConversationOptions

    @property
    def _talk(self) -> Conversation:
        return self._opened.conversation

    async def open(self, vault: Path, *, stored: bool) -> None:
        """Open the conversation, of a session that is `stored` or of a new one. Raises `ZkchatError`.

        A session that was answered before goes on with its own model and agent.
        """
        session_id, chosen = self._client.session_id, self._agent_options
        self._places = NotePlaces(vault)
        self._reviewer = ClientChangeReviewer(self._client, self._places)
        self._options = ConversationOptions(
            vault=vault,
            model=None if stored else chosen.model,
            session=session_id if stored else None,
            id_of_new=session_id,
            servers=self._servers,
            bounded_refresh=True,
            agent=None if stored else chosen.agent,
            user_interface=_Interface(self._client, self._reviewer, lambda: self._background),
            writing=WritingOptions(enabled=chosen.write or None),
        )
        self._open(self._options)
        if stored and chosen.model and self._talk.history.model is None:
            self._reopen(Switch(session=session_id, model=chosen.model))
        opened = self._opened
        self._model_names = ("quote", *opened.settings.models)
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

    async def announce(self) -> None:
        """What a client is told after it has the id of the session; the notes are indexed, and models listed."""
        await self._client.update(commands_update())
        self._background.submit(self._opened.refresher.refresh)
        with suppress(ZkchatError):
            overview = await self._models.survey(self._talk.model)
            self._model_names = tuple(row.name for row in overview.rows)
            if self._options.model is None:
                self._model_name = next((row.name for row in overview.rows if row.is_in_use), self._model_name)
            await self._client.update(choices.updates_of(self._talk, self._model_name, self._model_names)[0])

    async def replay(self) -> None:
        """Send the whole conversation to the client."""
        await self._client.update(*replay(self._talk.messages, self._talk.history.goal, self._places))

    def choices(self) -> "tuple[list[schema.SessionConfigOptionSelect], schema.SessionModeState]":
        return choices.options_of(self._talk, self._model_name, self._model_names), choices.modes_of(self._talk)

    async def choose(self, what: str, value: str) -> None:
        """Make a choice of the client. Raises `ZkchatError` for one that cannot be made."""
        if self._turn:
            raise UsageError(BUSY)
        match what:
            case choices.MODE if value in {choices.ASK, choices.WRITE}:
                self._talk.writing.allow(value == choices.WRITE)
            case choices.MODEL:
                await self._models.verify(value)
                self._reopen(Switch(session=self._talk.session_id or None, model=value))
            case choices.AGENT:
                self._talk.use_agent(value)
                self._reopen(Switch(session=self._talk.session_id))
            case _:
                raise UsageError(f"{value!r} is not a choice for {what!r}.")

    async def prompt(self, blocks: Sequence[Block]) -> schema.StopReason:
        """Answer a prompt. Raises `ZkchatError` where there is no answer."""
        if self._turn:
            raise UsageError(BUSY)
        self._is_cancelled = self._is_cut_off = False
        self._idle.clear()
        self._turn = asyncio.ensure_future(self._answer(blocks))
        try:
            await self._turn
        except asyncio.CancelledError:
            if not self._is_cancelled:
                raise  # not this turn, but all of it is to end
        finally:
            self._turn = None
            await self._tell_afterwards()
            self._idle.set()
        if self._is_cancelled:
            return "cancelled"
        return "max_tokens" if self._is_cut_off else "end_turn"

    def cancel(self) -> None:
        """Stop the answer; what came is kept. May be called from any thread."""
        self._client.stop_asking()
        with suppress(RuntimeError):  # it is closed
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if self._turn:
            self._is_cancelled = True
            self._client.stop_asking()
            self._turn.cancel()

    async def close(self) -> None:
        """Stop what is under way, store what is not stored, and close everything."""
        self._stop()
        await self._idle.wait()
        with self._servers:  # they outlast the conversation, which is opened anew for another model
            self._resources.close()

    async def _answer(self, blocks: Sequence[Block]) -> str:
        workspace, live = self._opened.workspace, self._opened.live
        live.catch_up()
        if any(isinstance(block, schema.EmbeddedResourceContentBlock) for block in blocks):
            with suppress(ProviderError):  # then the model counts as one that is not on this machine
                await self._talk.connect()
        reader = PromptReader(
            workspace.paths.vault,
            self._opened.library,
            self._talk.model,
            local_globs=live.local_only,
            max_bytes=workspace.settings.limits.max_input_bytes,
        )
        prompt = reader.read(blocks)
        if not prompt.text:
            raise UsageError("There is no question.", hint=" ".join(prompt.notices))
        for text, hint in [*self._untold, *((notice, "") for notice in prompt.notices)]:
            await self._client.update(notice_chunk(text, hint))
        self._untold.clear()
        is_command = prompt.text.startswith("/")
        if not is_command:
            self._talk.keep(prompt.text, images=prompt.images)
        # A new vault is indexed before the first answer; until then the user reads what is waited for.
        if activity := self._background.activity:
            await self._client.update(thought_chunk(f"{activity} …\n"))
        await self._background.wait()
        if is_command:
            await self._command(prompt.text)
        else:
            await self._play(self._talk.say(prompt.text))
        return prompt.text

    async def _command(self, line: str) -> None:
        """Run a slash command, and show what it printed."""
        before = self.choices()
        try:
            await self._run_command(line)
        except (UsageError, ProviderError, VaultError, SessionError) as error:
            self._surface.print(f"{error.message} {error.hint}".strip())
        if printed := self._surface.take():
            await self._client.update(text_chunk(printed))
        if self.choices() != before:
            await self._client.update(*choices.updates_of(self._talk, self._model_name, self._model_names))

    async def _run_command(self, line: str) -> None:
        name, argument = (*line.removeprefix("/").split(maxsplit=1), "", "")[:2]
        if name.casefold() == HELP:
            self._surface.print_markdown(help_text(argument))
            return
        check_offered(line)
        outcome = await run(self._command_context(), line)
        if printed := self._surface.take():
            await self._client.update(text_chunk(f"{printed}\n\n"))
        match outcome:
            case Send():
                await self._play(self._talk.say(outcome.text))
            case Play():
                await self._play(outcome.events)
            case Switch():
                self._reopen(outcome)
                self._surface.print(f"{self._talk.model.shown} answers now, as {self._talk.agent.name}.")
            case Nothing() | Edit() | Leave():
                pass
            case _:
                assert_never(outcome)

    def _command_context(self) -> CommandContext:
        opened = self._opened
        goals = open_goal_run(self._environment, opened, bounds_of(opened.settings))
        goals.way_back = lambda _: "/goal resume continues it."
        return CommandContext(
            conversation=opened.conversation,
            store=opened.store,
            changes=opened.changes,
            surface=self._surface,
            links=opened.document_links,
            items=SessionItems(opened.conversation),
            page_editor=_NoEditor(),
            browser=VaultBrowser(
                library=opened.library,
                view=self._view,
                editor=_NoEditor(),
                open_with=opened.settings.ui.open_with,
                daily_notes=partial(daily_note_settings, opened.paths.vault),
            ),
            now=self._environment.now,
            models=self._models,
            goals=goals,
            mentions=_NoEditor(),
            keys=self._agent_options.keys(opened),
            servers=opened.conversation.servers,
            embedding_progress=opened.library.embedding_progress,
            where_said=partial(sessions_where_said, opened.workspace, opened.store),
        )

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

    async def _play(self, events: AsyncGenerator[Event, None]) -> None:
        """Send the events of a turn as they come. Raises `ProviderError` where the turn failed."""
        updates = TurnUpdates(self._places, self._reviewer)
        async with aclosing(events):
            async for event in events:
                await self._client.update(*updates.of(event))
        self._is_cut_off = updates.is_cut_off
        if (failed := updates.failure) and not self._is_cancelled:
            raise ProviderError(failed.text, hint=failed.hint)

    async def _tell_afterwards(self) -> None:
        """After a turn: changes that were dropped with it, and what the session is called now."""
        if dropped := self._talk.writing.take_dropped():
            await self._client.update(notice_chunk(reviewed(dropped)))
        with suppress(SessionError, StorageError):
            if self._talk.session_id:
                session = self._opened.store.get(self._talk.session_id)
                if session != self._told:
                    self._told = session
                    await self._client.update(
                        schema.SessionInfoUpdate(
                            session_update="session_info_update",
                            title=session.title or None,
                            updated_at=session.updated_at.isoformat(),
                        )
                    )

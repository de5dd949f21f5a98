"""One session of a client: a conversation of the vault, on the thread of its worker."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, suppress
from itertools import count
from pathlib import Path
from typing import Final

from acp import schema
from acp.helpers import update_user_message_text

from zkchat.acp import choices
from zkchat.acp import updates as tool_calls
from zkchat.acp.agent import SessionClient
from zkchat.acp.prompts import Block, PromptReader
from zkchat.acp.reviewer import ClientCallReviewer, ClientChangeReviewer
from zkchat.acp.updates import NotePlaces, TurnUpdates, Update, notice_chunk, plan_of, text_chunk, thought_chunk
from zkchat.core import (
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
    ZkchatError,
    shorten,
)
from zkchat.hosting import (
    BUSY,
    HELP,
    ChatOptions,
    HostedChat,
    HostedInterface,
    MarkdownSurface,
    offered_commands,
)
from zkchat.render import compaction_part, reviewed, sanitize_line, sanitize_text
from zkchat.repl import Switch

_YES: Final = "yes"


class AskingSurface(MarkdownSurface):
    def __init__(self, client: SessionClient) -> None:
        super().__init__()
        self._client = client
        self._questions = count(1)

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


class AgentSession(HostedChat):
    """All methods but `cancel` run on the thread of the session's worker."""

    def __init__(
        self, environment: Environment, options: ChatOptions, client: SessionClient, loop: asyncio.AbstractEventLoop
    ) -> None:
        super().__init__(environment, options, loop, AskingSurface(client))
        self._client = client
        self._model_names: tuple[str, ...] = ()
        self._is_cut_off = False
        self._told: Session | None = None
        """What the client was told last of the session."""
        self._reviewer: ClientChangeReviewer

    async def open(self, vault: Path, *, stored: bool) -> None:
        """Open the conversation, of a session that is `stored` or of a new one. Raises `ZkchatError`."""
        self._places = NotePlaces(vault)
        self._reviewer = ClientChangeReviewer(self._client, self._places)
        interface = HostedInterface(self._reviewer, ClientCallReviewer(self._client), lambda: self._background)
        self._start(vault, self._client.session_id, interface, stored=stored)
        self._model_names = ("quote", *self._opened.settings.models)

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
        self._is_cut_off = False
        if await self._run(self._answer(blocks)):
            return "cancelled"
        return "max_tokens" if self._is_cut_off else "end_turn"

    async def _answer(self, blocks: Sequence[Block]) -> None:
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
        await self._respond(prompt.text, prompt.images, prompt.notices)

    async def _command(self, line: str) -> None:
        before = self.choices()
        await super()._command(line)
        if self.choices() != before:
            await self._client.update(*choices.updates_of(self._talk, self._model_name, self._model_names))

    async def _show(self, text: str) -> None:
        await self._client.update(text_chunk(text))

    async def _notice(self, text: str, hint: str = "") -> None:
        await self._client.update(notice_chunk(text, hint))

    async def _activity(self, text: str) -> None:
        await self._client.update(thought_chunk(text))

    def _stop_asking(self) -> None:
        self._client.stop_asking()

    async def _play(self, events: AsyncGenerator[Event, None]) -> None:
        """Send the events of a turn as they come. Raises `ProviderError` where the turn failed."""
        updates = TurnUpdates(self._places, self._reviewer)
        async with aclosing(events):
            async for event in events:
                await self._client.update(*updates.of(event))
        self._is_cut_off = updates.is_cut_off
        if (failed := updates.failure) and not self._is_cancelled:
            raise ProviderError(failed.text, hint=failed.hint)

    async def _after_turn(self) -> None:
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

"""One session of a client: a conversation of the vault, on the thread of its worker.

What its user chooses (the model, who answers, whether notes may be changed) and is asked: changes to notes, calls of
MCP servers.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, suppress
from itertools import count
from pathlib import Path
from typing import Final

from acp import schema
from acp.helpers import (
    start_tool_call,
    text_block,
    tool_content,
    tool_diff_content,
    update_tool_call,
    update_user_message_text,
)

from zkchat.acp import updates as tool_calls
from zkchat.acp.agent import MODE, SessionClient
from zkchat.acp.prompts import Block, PromptReader
from zkchat.acp.updates import NotePlaces, TurnUpdates, Update, notice_chunk, plan_of, text_chunk, thought_chunk
from zkchat.chat import CallAnswer, ServerCall
from zkchat.core import (
    TRASH,
    ChangeSet,
    ChangesReviewed,
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
    direct_moves,
    patch_of,
    shorten,
)
from zkchat.hosting import (
    BUSY,
    HELP,
    ChatOptions,
    HostedChat,
    HostedInterface,
    MarkdownSurface,
    cleaned,
    offered_commands,
)
from zkchat.render import compaction_part, named_folders, reviewed, sanitize_line, sanitize_text
from zkchat.repl import Switch
from zkchat.writing import Verdict, folders_of

MODEL: Final = "model"
AGENT: Final = "agent"
ASK: Final = "ask"
WRITE: Final = "write"
_MODES: Final = {
    ASK: ("Ask", "The model reads your notes and cannot change them."),
    WRITE: ("Write", "The model may propose changes to your notes; you are asked about each."),
}

YES: Final = "apply"
ALWAYS: Final = "apply-always"
NO: Final = "reject"
_MAX_PATCH_CHARS: Final = 100_000

Content = schema.ContentToolCallContent | schema.FileEditToolCallContent | schema.TerminalToolCallContent


class ClientChangeReviewer:
    """Implements `writing.review.ChangeReviewer`."""

    def __init__(self, client: SessionClient, places: NotePlaces) -> None:
        self._client = client
        self._places = places
        self._numbers = count(1)
        self._open_call = ""
        """The call that shows changes of which it is not known yet what became of them."""

    def review(
        self, changes: ChangeSet, *, remarks: Sequence[str] = (), may_always: bool = False, is_asked: bool = True
    ) -> Verdict:
        call_id = self._open_call = f"changes-{next(self._numbers)}"
        call = schema.ToolCallUpdate(
            tool_call_id=call_id,
            title=sanitize_line(changes.title),
            kind=_kind(changes),
            status="pending",
            content=[*(_sentence(remark) for remark in remarks), *_contents(changes, self._places)],
            locations=[schema.ToolCallLocation(path=self._places.absolute(write.path)) for write in changes.writes],
        )
        self._client.update_now(schema.ToolCallStart(session_update="tool_call", **dict(call)))
        if not is_asked:
            return Verdict(answer="no", changes=changes)
        always = f"Apply, and do not ask again in {named_folders(folders_of(changes))} in this session"
        chosen = self._client.ask(call, permissions("Apply", "Do not apply", always * may_always))
        if chosen not in {YES, ALWAYS}:
            return Verdict(answer="no" if chosen == NO else "stop", changes=changes)
        return Verdict(answer="yes", changes=changes, always=chosen == ALWAYS and may_always)

    def settled(self, event: ChangesReviewed) -> schema.ToolCallStart | schema.ToolCallProgress:
        """The call that showed the changes, at its end; one of its own for changes that needed no question."""
        status: schema.ToolCallStatus = "completed" if event.decision == "applied" else "failed"
        call_id, self._open_call = self._open_call, ""
        if call_id:
            return update_tool_call(call_id, status=status)
        return start_tool_call(
            f"changes-{next(self._numbers)}",
            sanitize_line(event.title),
            kind="edit",
            status=status,
            content=[_patch(event.diff)],
            locations=[schema.ToolCallLocation(path=self._places.absolute(path)) for path in event.paths],
        )


class ClientCallReviewer:
    """Implements `tools.server_approval.CallReviewer`."""

    def __init__(self, client: SessionClient) -> None:
        self._client = client
        self._numbers = count(1)

    def review(self, call: ServerCall) -> CallAnswer:
        asked = schema.ToolCallUpdate(
            tool_call_id=f"server-call-{next(self._numbers)}",
            title=sanitize_line(call.title),
            kind="other",
            status="pending",
            content=[_sentence(call.warning)] if call.warning else None,
            raw_input=cleaned(dict(call.arguments)),
        )
        names = ("Allow in this session", "Always allow") if call.may_always else ("Allow once", "")
        chosen = self._client.ask(asked, permissions(names[0], "Do not allow", always=names[1]))
        if chosen == ALWAYS and call.may_always:
            return "always"
        return "yes" if chosen == YES else "no"


def permissions(yes: str, no: str, always: str = "") -> list[schema.PermissionOption]:
    """What a question of these answers offers."""
    offered: list[tuple[str, str, schema.PermissionOptionKind]] = [
        (YES, yes, "allow_once"),
        (ALWAYS, always, "allow_always"),
        (NO, no, "reject_once"),
    ]
    return [schema.PermissionOption(option_id=id_, name=name, kind=kind) for id_, name, kind in offered if name]


def _kind(changes: ChangeSet) -> schema.ToolKind:
    if any(move.target.startswith(f"{TRASH}/") for move in changes.moves):
        return "delete"
    return "move" if changes.moves and not changes.writes else "edit"


def _contents(changes: ChangeSet, places: NotePlaces) -> Iterator[Content]:
    for move in direct_moves(changes):
        yield _sentence(f"{move.source} → {move.target}")
    for write in changes.writes:
        if len(write.before or b"") + len(write.after) > 400_000:  # of a larger file, the lines that change
            yield _patch(patch_of(ChangeSet(title=changes.title, writes=(write,))))
        else:
            before = None if write.before is None else write.before.decode(errors="replace")
            yield tool_diff_content(places.absolute(write.path), write.after.decode(errors="replace"), before)


def _sentence(text: str) -> schema.ContentToolCallContent:
    return tool_content(text_block(sanitize_line(text)))


def _patch(diff: str) -> schema.ContentToolCallContent:
    text = diff.encode(errors="replace").decode()
    more = "\n…" if len(text) > _MAX_PATCH_CHARS else ""
    return tool_content(text_block(f"````diff\n{sanitize_text(text[:_MAX_PATCH_CHARS])}{more}\n````"))


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
        return self._client.ask(call, permissions("Yes", "No")) == YES


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
        described = [(command.name, command.help, command.arguments) for command in offered_commands()]
        hints = {name: schema.UnstructuredCommandInput(hint=arguments) for name, _, arguments in described if arguments}
        hints[HELP] = schema.UnstructuredCommandInput(hint="[NAME]")
        commands = [
            schema.AvailableCommand(
                name=name, description=about, input=schema.AvailableCommandInput(hints[name]) if name in hints else None
            )
            for name, about, *_ in (*described, (HELP, "what the commands do"))
        ]
        await self._client.update(
            schema.AvailableCommandsUpdate(session_update="available_commands_update", available_commands=commands)
        )
        self._background.submit(self._opened.refresher.refresh)
        with suppress(ZkchatError):
            overview = await self._models.survey(self._talk.model)
            self._model_names = tuple(row.name for row in overview.rows)
            if self._options.model is None:
                self._model_name = next((row.name for row in overview.rows if row.is_in_use), self._model_name)
            await self._tell_options()

    async def replay(self) -> None:
        """Send the whole conversation to the client."""
        await self._client.update(*replay(self._talk.messages, self._talk.history.goal, self._places))

    @property
    def _mode(self) -> str:
        return WRITE if self._talk.writing.is_on else ASK

    def choices(self) -> tuple[list[schema.SessionConfigOptionSelect], schema.SessionModeState]:
        """The options with what is chosen now, and the mode once more, for clients that know no options."""
        models = dict.fromkeys([self._model_name, *self._model_names])
        options = [
            _select(MODE, "Mode", self._mode, [_option(id_, *words) for id_, words in _MODES.items()], MODE),
            _select(MODEL, "Model", self._model_name, [_option(name, name) for name in models], MODEL),
        ]
        agents = self._talk.profiles.agents.values()
        if len(agents) > 1:
            named = [_option(agent.name, agent.name, agent.description) for agent in agents]
            options.append(_select(AGENT, "Agent", self._talk.agent.name, named))
        modes = [schema.SessionMode(id=id_, name=name, description=about) for id_, (name, about) in _MODES.items()]
        return options, schema.SessionModeState(current_mode_id=self._mode, available_modes=modes)

    async def _tell_options(self) -> None:
        await self._client.update(
            schema.ConfigOptionUpdate(session_update="config_option_update", config_options=[*self.choices()[0]])
        )

    async def choose(self, what: str, value: str) -> None:
        """Make a choice of the client. Raises `ZkchatError` for one that cannot be made."""
        if self._turn:
            raise UsageError(BUSY)
        if what == MODE and value in {ASK, WRITE}:
            self._talk.writing.allow(value == WRITE)
        elif what == MODEL:
            await self._models.verify(value)
            self._reopen(Switch(session=self._talk.session_id or None, model=value))
        elif what == AGENT:
            self._talk.use_agent(value)
            self._reopen(Switch(session=self._talk.session_id))
        else:
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
            raise UsageError("The message is empty.", hint=" ".join(prompt.notices))
        await self._respond(prompt.text, prompt.images, prompt.notices)

    async def _command(self, line: str) -> None:
        before = self.choices()
        await super()._command(line)
        if self.choices() != before:
            await self._tell_options()
            await self._client.update(
                schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=self._mode)
            )

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


def _option(value: str, name: str, description: str = "") -> schema.SessionConfigSelectOption:
    return schema.SessionConfigSelectOption(
        value=value, name=sanitize_line(name), description=sanitize_line(description) or None
    )


def _select(
    id_: str, name: str, value: str, options: list[schema.SessionConfigSelectOption], category: str | None = None
) -> schema.SessionConfigOptionSelect:
    return schema.SessionConfigOptionSelect.model_validate(
        {"type": "select", "id": id_, "name": name, "category": category, "current_value": value, "options": options}
    )

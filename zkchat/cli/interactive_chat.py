"""`zkchat chat`: one prompt, and the conversations that follow each other at it."""

import asyncio
import shlex
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from datetime import datetime
from functools import partial
from importlib import import_module
from threading import current_thread, main_thread
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat import repl
from zkchat.app import (
    ConversationOptions,
    ModelCatalogue,
    Paths,
    ServerConnections,
    VaultTrust,
    command_context,
    count_files_of_notes,
    known_keys,
    link_style,
    open_said,
    page_item,
    page_text,
    preload_client,
    session_to_continue,
)
from zkchat.chat import PAGE_SIZE
from zkchat.cli.change_review import (
    ActiveConversation,
    TerminalInterface,
    TerminalPlanReviewer,
    open_active_conversation,
)
from zkchat.cli.common import CommandIO
from zkchat.cli.editors import clipboard_image, desktop_opener, edit_document, edit_file, editor_name
from zkchat.cli.key_questions import can_draw_prompt, read_line
from zkchat.cli.note import choose_in_chat
from zkchat.cli.note_lookup import progress, tell_of_vectors
from zkchat.cli.output import (
    PresenterOptions,
    announce_model,
    consoles,
    create_presenter,
    offer_models,
    print_question,
    suggest_next,
    suggest_rows,
    tell_dropped_changes,
)
from zkchat.cli.terminal import echo_off, echo_on
from zkchat.core import (
    NO_THEME,
    ChatMessage,
    ColorChoice,
    Compacted,
    ContextUsage,
    Event,
    ModelInfo,
    Session,
    SessionNotFound,
    StorageError,
    TextDelta,
    ThinkingView,
    TurnFailed,
    TurnFinished,
    UsageError,
    VaultError,
    Warned,
    ZkchatError,
    compaction_of,
    counted,
    parse_theme,
    shorten,
)
from zkchat.index import Library, Progress
from zkchat.notes import summarize_warnings
from zkchat.render import Presenter, sanitize_line, uses_color
from zkchat.repl import (
    QUESTION,
    CommandContext,
    DrawnSurface,
    Edit,
    Further,
    Leave,
    MenuCompleter,
    NameCache,
    PickRow,
    PlainSurface,
    Prompt,
    Surface,
    Switch,
    VaultView,
    ago,
    converse,
    numbered_lines,
    pick,
    session_rows,
    sessions_to_resume,
    status_of,
    where_said,
)

MAX_FILES_COUNTED: Final = 2_000
"""Of a vault that is not indexed yet: some hundredths of a second."""
_MAX_TITLE_LENGTH: Final = 40
_MAX_QUESTION_LINES: Final = 5
"""Lines of a long question that are shown again."""
_MAX_EARLIER_LENGTH: Final = 3_000
"""Characters of the exchange before the last that are shown again; a longer one is not shown."""


def greeting(
    *,
    vault: str,
    notes: int,
    has_more_notes: bool = False,
    model: ModelInfo,
    session: Session | None,
    last: Session | None,
    now: datetime,
) -> list[str]:
    """At most four lines. `session` is the one that is resumed, `last` one that could be.

    With `has_more_notes`, there are more notes than were counted.
    """
    chosen = f"{model.shown} (no model: your notes are quoted)" if model.needs_notes else model.shown
    count = f"{'more than ' * has_more_notes}{counted(notes, 'note')}"
    lines = [sanitize_line(f"zkchat · {vault} · {count} · {chosen}")]
    if session:
        lines.append(
            f"Continuing {_titled(session)}, {counted(session.message_count, 'message')}. /history shows them all."
        )
    elif last:
        lines.append(f"Last time, {ago(now - last.updated_at)}: {_titled(last)}. To continue it: /resume {last.id}")
    return [*lines, "Ask; type [[ for a note, / for a command. /help for help, Ctrl-D to quit."]


def _titled(session: Session) -> str:
    title = sanitize_line(session.title) or "untitled"
    return f"“{shorten(title, _MAX_TITLE_LENGTH)}”"


class Exchange(Struct, frozen=True, kw_only=True):
    """A question and its answer, to be shown again."""

    question: str
    """As it was typed, shortened if it is long."""
    events: list[Event]
    """Those that draw the answer, without thinking and tool calls."""


def last_exchanges(messages: Sequence[ChatMessage], in_force: Collection[str]) -> tuple[int, list[Exchange]]:
    """How many messages are not shown, and the last exchanges: two, or one if the other is long.

    `in_force` are the ids of the compactions that were not taken back; others are not shown.
    """
    shown = [message for message in messages if not compaction_of(message) or message.id in in_force]
    starts = [place for place, message in enumerate(shown) if message.role == "user"][-2:]
    ends = [*starts[1:], len(shown)] if starts else []
    if len(starts) == 2 and sum(len(message.text) for message in shown[slice(*starts)]) > _MAX_EARLIER_LENGTH:
        starts, ends = starts[1:], ends[1:]
    exchanges = [
        Exchange(
            question=_beginning(shown[start].text), events=[*_replay(shown[start + 1 : end], is_last=end == len(shown))]
        )
        for start, end in zip(starts, ends, strict=True)
    ]
    earlier = sum(compaction_of(message) is None for message in shown[: starts[0] if starts else None])
    return earlier, exchanges


def _beginning(text: str) -> str:
    lines = text.splitlines()
    if len(lines) <= _MAX_QUESTION_LINES:
        return text
    return "\n".join([*lines[:_MAX_QUESTION_LINES], f"… and {len(lines) - _MAX_QUESTION_LINES:,} more lines"])


def _replay(answer: Sequence[ChatMessage], *, is_last: bool) -> Iterator[Event]:
    said = [message for message in answer if message.role == "assistant"]
    for message in answer:
        if compaction_of(message):
            yield Compacted(message=message)
        elif message.role == "assistant":
            yield TextDelta(text=message.text)
            if message.status != "complete":
                yield TurnFailed(text=message.error or "This answer was not finished.", hint="/retry asks again.")
            elif is_last and message is said[-1]:
                yield TurnFinished(message=message, usage=ContextUsage())  # the bar below the prompt has the figures


_PLAIN_WIDTH = 100
"""Columns of a list that is not drawn."""


def choose_session(io: CommandIO, words: str, *, plain: bool) -> str | None:
    """The id of the chosen session; None if the user leaves the list, which words search to begin with.

    Where no list can be drawn, print a numbered one, and raise `UsageError` with how to name a session.
    """
    with io.sessions() as store:
        sessions = sessions_to_resume(store)
        if not sessions:
            raise SessionNotFound("There are no sessions in this vault yet.", hint="Start one: zkchat")
        is_drawn = can_draw_prompt(io.environment) and not plain
        rows = session_rows(sessions, now=io.environment.now(), with_ids=not is_drawn)
        if not is_drawn:
            for line in numbered_lines(rows, _PLAIN_WIDTH):
                io.out(line)
            raise UsageError(
                "Choosing from the list needs an interactive terminal.",
                hint=f"Give its title or its id: zkchat --session {sessions[0].id}",
            )
        with open_said(io.workspace(), store) as said:
            chosen = asyncio.run(pick(QUESTION, rows, where_said(sessions, said), typed=words))
    if chosen is None:
        io.note("No session was chosen. To start a new one: zkchat")
        return None
    return sessions[chosen].id


_FIRST_TURN: Final = (
    "zkchat.chat.evidence_lookup",
    "zkchat.answers.dated_evidence",
    "zkchat.repl.commands.table",
    "zkchat.render.presenters.screen",
    "tiktoken",
)
"""What the first turn imports: a few tenths of a second that are over while the user types."""


class ThinkingToggle:
    """How thinking is shown in this chat: as the settings say, until the user changes it."""

    def __init__(self, setting: ThinkingView) -> None:
        self.view: ThinkingView = setting
        self._off: ThinkingView = "folded" if setting == "shown" else setting
        self._announced = setting

    def switch(self) -> None:
        """Show thinking, or fold it again, without a word; for the time of a turn."""
        self.view = self._off if self.view == "shown" else "shown"

    def toggle(self, messages: Sequence[ChatMessage], surface: Surface) -> None:
        """Show it from now on, and that of the last answer at once; or fold it again."""
        self.switch()
        # What the model thought for the last question, also between its calls of tools.
        asked = next((place for place, message in reversed([*enumerate(messages)]) if message.role == "user"), 0)
        answers = [message for message in messages[asked:] if message.role == "assistant"]
        thoughts = [thought for message in answers if (thought := message.thinking.strip())]
        if self.view == "shown" and (thought := "\n\n".join(thoughts)):
            surface.print_dimmed(f"Thinking of the last answer:\n{thought}\n")
        self.announce(surface)

    def announce(self, surface: Surface) -> None:
        """Say how thinking is shown, where that changed since it was said."""
        if self.view != self._announced:
            self._announced = self.view
            surface.print_dimmed(
                "Thinking is now shown; Ctrl-T hides it."
                if self.view == "shown"
                else f"Thinking is now {self.view}; Ctrl-T shows it."
            )


class InteractiveChat:
    """One `zkchat chat`, from the greeting to the end.

    Implements what the parts of `repl` ask of the chat around them: `loop.Chat`, `prompt.PromptHost`,
    `completion.CompletionSource` and `surface.Questioner`.
    """

    def __init__(
        self, io: CommandIO, options: ConversationOptions, view: PresenterOptions, *, first_message: str = ""
    ) -> None:
        self.io = io
        self._environment = io.environment
        is_drawn = can_draw_prompt(io.environment) and not view.plain
        self._view = replace(view, stops_by="Esc") if is_drawn else view
        self._servers = ServerConnections(at_once=not is_drawn)
        interface = TerminalInterface(io, plain=view.plain, color=lambda: self.color, indexing=self.indexing_progress)
        self._options = replace(options, user_interface=interface, servers=self._servers)
        self._name_cache = NameCache()
        self._models = ModelCatalogue(lambda: self._active.opened.workspace)
        self._vault_view = VaultView()
        self._is_prompting = False
        self._first_message = first_message.strip()
        self._replaced: str | None = None
        """The id of the message whose place is taken by what is sent from the prompt."""
        self._active = open_active_conversation(io, self._options, self.activity_changed)
        self._thinking = ThinkingToggle(self._active.opened.settings.ui.thinking)
        self._prompt: Prompt | None = None
        if is_drawn:
            ui = self._active.opened.settings.ui
            self._prompt = Prompt(
                self,
                completer=MenuCompleter(self._name_cache, self),
                history_file=self._environment.data_dir / "history",
                keys=known_keys(self._environment, self._active.opened.settings),
                vi=ui.keys == "vi",
                color=parse_theme(ui.theme)[0] != NO_THEME and uses_color(self._environment.variables, ui.color),
            )

    @property
    def is_plain(self) -> bool:
        return self._view.plain

    @property
    def color(self) -> ColorChoice:
        return self._active.opened.settings.ui.colors

    def run(self) -> None:
        with self._servers, closing(self):
            if self._prompt is None:
                # Refresh before the greeting, where nothing can be done while the user types.
                try:
                    self._active.refresh()
                except (StorageError, VaultError) as error:
                    self.io.fail(error)
            self._greet(self._active)
            with echo_off(self._environment.stdin) if self._prompt else nullcontext():
                if self._prompt and not self._first_message:  # whose prompt is over before it reads a key
                    self._prompt.take_early_keys()
                self._converse()

    def close(self) -> None:
        self._active.close(self.io)

    def _greet(self, active: ActiveConversation) -> None:
        """Print what the user should know of a conversation before its prompt. Nothing is indexed for it."""
        opened, last = active.opened, None
        notes, is_all = 0, True
        try:
            notes = opened.library.note_count()
            if not notes:
                notes, is_all = count_files_of_notes(opened.workspace, MAX_FILES_COUNTED)
        except (StorageError, VaultError) as error:  # such a vault does not end the chat
            self.io.fail(error)
        announce_model(self.io, opened)
        with suppress(StorageError):
            last = None if active.session else session_to_continue(opened.store)
        lines = greeting(
            vault=opened.paths.vault.name,
            notes=notes,
            has_more_notes=not is_all,
            model=opened.conversation.model,
            session=active.session,
            last=last,
            now=self._environment.now(),
        )
        for line in lines:
            self.io.note(line)
        offer_models(self.io, opened)
        self._print_state(active)

    def _print_state(self, active: ActiveConversation, *, is_new: bool = True) -> None:
        """Print warnings, and the last exchange unless it is on the screen."""
        talk = active.opened.conversation
        for warning in active.opened.warnings:
            self.io.note(f"{warning.text} {warning.hint}".strip())
        if talk.is_private:
            self.io.note("This conversation is private: nothing from it is remembered in other conversations.")
        if not (is_new and self._environment.stdin_is_tty):
            return
        earlier, exchanges = last_exchanges(talk.messages, {marker.id for marker in talk.window.compactions})
        if earlier:
            self.io.out(f"\n… {counted(earlier, 'earlier message')}; /history shows all")
        for exchange in exchanges:
            print_question(self.io, active.opened, self._view, exchange.question)
            presenter = create_presenter(self._environment, active.opened, self._view)
            for event in exchange.events:
                presenter.show(event)
            presenter.close()
        if exchanges:
            self.io.out("")

    def _converse(self) -> None:
        while True:
            end = asyncio.run(converse(self))
            if isinstance(end, Leave):
                self._active.proposals.propose()
                if self._active.is_used and self._active.session_id and self._environment.stdin_is_tty:
                    place = f" --vault {shlex.quote(str(vault))}" if (vault := self._options.vault) else ""
                    self.io.note(f"To continue later: zkchat{place} -c", as_it_is=True)  # to be copied
                return
            self._switch(end)

    def _switch(self, to: Switch) -> None:
        """Open another conversation and close this one; where it cannot be opened, stay in this one."""
        before = self._active
        is_same = to.session is not None and to.session == before.session_id
        try:
            options = self._options_for(to, is_same=is_same)
            following = open_active_conversation(self.io, options, self.activity_changed)
        except ZkchatError as error:
            self.io.fail(error)
            return
        self._options = replace(self._options, model=to.model or self._options.model)
        self._active = following
        if is_same:
            following.proposals.seen = before.proposals.seen
            following.is_used = before.is_used
            following.opened.conversation.writing.keep_accepted_folders(before.opened.conversation.writing)
        else:
            before.proposals.propose()
        before.close(self.io)
        opened, model = following.opened, following.opened.conversation.model
        if to.model:  # a model that was chosen is kept at once
            opened.conversation.keep_model()
            self.io.note(f"{model.shown} answers now.")
        elif model.name != before.opened.conversation.model.name:
            self.io.note(opened.chosen or f"{model.shown} answers now.")
        elif to.session and to.session != before.session_id:
            announce_model(self.io, opened)
        self._print_state(following, is_new=not is_same)

    def _options_for(self, to: Switch, *, is_same: bool) -> ConversationOptions:
        """With these the other conversation is opened; the model may change notes there where it may here."""
        before, chosen = self._active, self._options
        writing = replace(chosen.writing, enabled=before.opened.conversation.writing.is_on)
        options = replace(chosen, session=to.session, continue_last=False, writing=writing)
        if to.session:  # it has its own agent and its own model
            return replace(options, agent=None, model=to.model or (before.named_model if is_same else None))
        return replace(options, model=to.model or chosen.model)

    @property
    def activity(self) -> str:
        return self._active.background.activity

    def command_context(self) -> CommandContext:
        opened = self._active.opened
        opened.live.catch_up()
        reviewer = TerminalPlanReviewer(self.io, plain=self.is_plain) if self._environment.stdin_is_tty else None
        return command_context(
            self._environment,
            opened,
            self._surface(),
            self._vault_view,
            self._models,
            plan_reviewer=reviewer,
            editing=(editor_name(self._environment.variables), partial(edit_document, self.io, opened.paths.vault)),
            edit_page=partial(_edit_page, self.io, opened.paths),
            link_style=partial(link_style, opened.paths.vault),
            choose_mentions=partial(choose_in_chat, self.io, self.color, plain=self.is_plain),
            clipboard_image=partial(clipboard_image, self._environment.variables),
        )

    def _surface(self) -> Surface:
        desktop = desktop_opener(self._environment)
        if self.is_plain or not self._environment.stdout_is_tty:
            return PlainSurface(self._environment.stdout, self, desktop)
        console, _ = consoles(self._environment, self.color, self._active.opened.settings.ui.width)
        return DrawnSurface(console, self, desktop, self._active.opened.document_links)

    @property
    def is_saved(self) -> bool:
        return self._active.opened.conversation.is_saved

    def say(self, text: str, *, replaces: str | None) -> AsyncGenerator[Event, None]:
        return self._active.opened.conversation.say(text, replaces=replaces)

    def new_presenter(self) -> Presenter:
        return create_presenter(
            self._environment, self._active.opened, replace(self._view, thinking=lambda: self._thinking.view)
        )

    def listening(self, stop: Callable[[], object]) -> AbstractContextManager[None]:
        return self._prompt.listening(self._thinking.switch, stop) if self._prompt else nullcontext()

    def hold_typed(self) -> None:
        if self._prompt:
            self._prompt.hold_typed()

    def toggle_thinking(self) -> None:
        opened = self._active.opened
        self._thinking.toggle(opened.conversation.messages, self._surface())

    @property
    def session_id(self) -> str:
        return self._active.session_id

    @property
    def library(self) -> Library:
        return self._active.opened.library

    @property
    def agent_names(self) -> list[str]:
        return [agent.name for agent in self._active.opened.conversation.profiles.agents.values()]

    @property
    def resources(self) -> list[tuple[str, str]]:
        servers = self._active.opened.conversation.servers
        return [*servers.mentions()] if servers else []

    def complete_command(self, line: str) -> list[tuple[str, str]]:
        return repl.described_completions(self.command_context(), line)

    def text_changed(self) -> None:
        if self._active.is_refreshed:  # the first refresh may take long, and is to be seen
            self.library.prefetch()

    def text_accepted(self, text: str) -> None:
        """Store a message as it leaves the prompt. Commands are not messages."""
        if (message := text.strip()) and not message.startswith("/"):
            self._active.opened.conversation.keep(message, replaces=self._replaced)

    def text_dropped(self) -> None:
        self._replaced = None

    async def read(self, edit: Edit | None) -> str:
        first, self._first_message = self._first_message, ""
        if self._prompt is None:
            if first and self._environment.stdin_is_tty:
                self.io.note(f"you › {first}")  # where the user would have typed it
            return first or read_line(self.io, "you › ")
        self._is_prompting = True
        self._replaced = edit.replaces if edit else None
        try:
            return await self._prompt.read(first or (edit.text if edit else ""), accept=bool(first))
        finally:
            self._is_prompting = False

    async def ask(self, question: str) -> str:
        return read_line(self.io, question) if self._prompt is None else await self._prompt.ask(question)

    @property
    def can_pick(self) -> bool:
        return self._prompt is not None

    async def pick(self, title: str, rows: Sequence[PickRow], further: Further) -> int | None:
        return await self._prompt.pick(title, rows, further) if self._prompt else None

    def status_line(self, width: int) -> str:
        active = self._active
        return status_of(
            active.opened.conversation,
            width,
            vault=active.opened.paths.vault.name,
            session=active.session,
            activity=active.activity,
            is_measured=active.opened.conversation.is_measurable,
        )

    def activity_changed(self) -> None:
        if self._prompt and self._is_prompting:
            self._prompt.redraw()

    def prompt_painted(self) -> None:
        """Start the background work of a conversation once the user sees the prompt."""
        active = self._active
        if active.is_begun:
            return
        active.is_begun = True
        active.background.submit(self._refresh_name_cache)
        active.background.submit(active.refresh)
        active.background.submit(self._refresh_name_cache)
        active.background.submit(partial(_preload_libraries, active.opened.conversation.model.provider))
        active.background.submit(self._servers.start)
        active.watch_vectors(self.activity_changed)
        if active.session:
            active.measuring = asyncio.ensure_future(self._prepare_measuring(active))

    async def _prepare_measuring(self, active: ActiveConversation) -> None:
        await active.prepare_measuring()
        self.activity_changed()

    async def wait_until_ready(self) -> Sequence[Warned]:
        await self._active.background.wait()
        odd_notes, self._active.odd_notes = self._active.odd_notes, []
        return [Warned(text=sentence) for sentence in summarize_warnings(odd_notes)]

    def after_turn(self) -> None:
        active, opened = self._active, self._active.opened
        tell_dropped_changes(self.io, opened)
        tell_of_vectors(self.io, self.library)
        active.look_up_session()
        active.is_used = True
        self._thinking.announce(self._surface())
        if active.has_new_answer():
            suggest_next(self.io, opened, "/more", most=PAGE_SIZE)
            suggest_rows(self.io, opened)
        active.proposals.after_turn()
        if self._prompt:
            self.io.note("")  # the next question stands apart
            active.background.submit(self._refresh_name_cache)

    def _refresh_name_cache(self) -> None:
        opened = self._active.opened
        self._name_cache.refresh(opened.library, opened.conversation.messages)
        if self._prompt and self._is_prompting:
            self._prompt.offer_again()

    def indexing_progress(self) -> AbstractContextManager[Progress]:
        """Show progress on a line of its own; of the background's in the bar, or in the turn that waits for it."""
        if current_thread() is main_thread():
            return progress(self._environment, "Indexing notes", plain=self.is_plain)
        return self._active.background.progress("indexing notes")


def _preload_libraries(provider: str) -> None:
    """Import what the first turn needs, before the user waits for it."""
    for name in _FIRST_TURN:
        import_module(name)
    preload_client(provider)


def _edit_page(io: CommandIO, paths: Paths, page: str, is_new: bool) -> bool:
    """Editing approves the page of the vault, unless it still holds what was there unapproved before."""
    vault = paths.vault
    before = None if is_new else page_text(vault, page)
    with echo_on(io.environment.stdin):
        edit_file(io, str(vault / page))
    after = page_text(vault, page)
    if after is None:
        return False
    previous = None if before is None else page_item(page, before)
    return VaultTrust(paths).approve_own(previous, page_item(page, after))

"""`zkchat chat`: one prompt, and the conversations that follow each other at it."""

import asyncio
import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from textwrap import fill
from typing import TYPE_CHECKING, Final

from zkchat.chat.further_passages import PAGE_SIZE
from zkchat.cli.common import CommandIO, known_keys
from zkchat.cli.consent import MemoryProposals, TerminalInterface
from zkchat.cli.output import PresenterOptions, announce_model, consoles, create_presenter, suggest_next
from zkchat.cli.programs import SystemDesktop, edit_file
from zkchat.cli.progress import progress
from zkchat.compose import conversation
from zkchat.compose.providers import key_variables, preload_client
from zkchat.errors import ProviderError, SessionError, StorageError, VaultError, ZkchatError
from zkchat.model.note import without_suffix
from zkchat.model.text import counted
from zkchat.render.sanitize import sanitize_text
from zkchat.repl.background import Background
from zkchat.repl.command_context import CommandContext, Leave, Switch
from zkchat.repl.greeting import greeting, last_exchanges
from zkchat.repl.loop import converse
from zkchat.repl.name_cache import NameCache
from zkchat.repl.terminal_modes import echo_off, echo_on

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from zkchat.compose.paths import Paths
    from zkchat.environment import Environment
    from zkchat.model.events import Event
    from zkchat.model.note import NoteWarning
    from zkchat.model.session import Session
    from zkchat.ports import SessionStore
    from zkchat.render.presenters.base import Presenter
    from zkchat.repl.command_context import Surface
    from zkchat.repl.prompt import Prompt
    from zkchat.vault.indexing.indexer import Progress
    from zkchat.vault.library import Library


_SWITCH_INTERVAL: Final = 0.0001
"""Seconds after which a thread that computes lets another one go on, while a message is stored."""


class PromptIO(CommandIO):
    """Echoes keys while it asks; otherwise the terminal of a chat does not."""

    def confirm(self, question: str) -> bool:
        if not self.environment.stdin_is_tty:
            return False
        with echo_on(self.environment.stdin):
            return super().confirm(question)


@dataclass(kw_only=True)
class _ActiveConversation:
    """An open conversation with its background work and its resources."""

    opened: conversation.OpenConversation
    background: Background
    resources: ExitStack
    proposals: MemoryProposals
    named_model: str | None = None
    """The model that the user named for it, on the command line or by `/model`."""
    session: "Session | None" = None
    """As it was after the last turn."""
    is_begun: bool = False
    """Whether the background work was started."""
    measuring: "asyncio.Future[None] | None" = None
    """The task that prepares measuring the context; the loop alone would not keep it."""
    odd_notes: list["NoteWarning"] = field(default_factory=list)
    """Warnings about notes that were not printed yet."""

    def refresh(self) -> None:
        self.odd_notes += self.opened.refresher.refresh().warnings

    @property
    def session_id(self) -> str:
        return self.opened.conversation.session_id

    def look_up_session(self) -> None:
        with suppress(SessionError, StorageError):
            self.session = self.opened.store.get(self.session_id) if self.session_id else None


class _ChatInterface(TerminalInterface):
    """Shows the progress of the indexing in the status bar as well."""

    def __init__(self, chat: "InteractiveChat") -> None:
        super().__init__(chat.io)
        self._chat = chat

    def indexing_progress(self) -> "AbstractContextManager[Progress]":
        return self._chat.indexing_progress()


class InteractiveChat:
    """One `zkchat chat`, from the greeting to the end.

    Implements what the parts of `repl` ask of the chat around them: `loop.Chat`, `prompt.PromptHost`,
    `completion.CompletionSource`, `surface.Questioner` and `background.ProgressObserver`.
    """

    def __init__(self, io: CommandIO, options: conversation.ConversationOptions, view: PresenterOptions) -> None:
        self.io = io
        self._environment = io.environment
        self._options = replace(options, user_interface=_ChatInterface(self))
        self._view = view
        self._name_cache = NameCache()
        self._is_prompting = False
        self._active = self._enter(self._options)
        self._prompt = self._make_prompt() if can_draw_prompt(io.environment) and not view.plain else None

    def run(self) -> None:
        try:
            self._greet()
            with echo_off(self._environment.stdin) if self._prompt else nullcontext():
                self._converse()
        finally:
            self._close(self._active)

    def _close(self, active: _ActiveConversation) -> None:
        """End a conversation; a warning says where entries that a full disk refused are lost."""
        if warning := active.opened.conversation.save_rest():
            self.io.note(f"{warning.text} {warning.hint}".strip())
        active.resources.close()

    def _converse(self) -> None:
        while True:
            end = asyncio.run(converse(self))
            if isinstance(end, Leave):
                self._active.proposals.propose()
                return
            self._switch(end)

    def _enter(self, options: conversation.ConversationOptions) -> _ActiveConversation:
        with ExitStack() as stack:
            opened = stack.enter_context(conversation.open_conversation(self._environment, options))
            background = stack.enter_context(Background(self))
            learns = opened.settings.memory.learn == "ask"
            active = _ActiveConversation(
                opened=opened,
                background=background,
                proposals=MemoryProposals(self.io, opened.conversation, enabled=learns),
                resources=stack.pop_all(),
                named_model=options.model,
            )
            active.look_up_session()
            return active
        raise AssertionError("nothing above swallows an exception")

    def _switch(self, to: Switch) -> None:
        """Open another conversation and close this one; where it cannot be opened, stay in this one."""
        before = self._active
        is_same = to.session is not None and to.session == before.session_id
        options = replace(self._options, session=to.session, continue_last=False, model=to.model)
        if to.session:  # it has its own agent and its own model
            options = replace(options, agent=None, model=to.model or (before.named_model if is_same else None))
        else:
            options = replace(options, model=to.model or self._options.model)
        try:
            following = self._enter(options)
        except ZkchatError as error:
            self.io.fail(error)
            return
        self._options = replace(self._options, model=to.model or self._options.model)
        self._active = following
        if is_same:
            following.proposals.seen = before.proposals.seen
        else:
            before.proposals.propose()
        self._close(before)
        self._announce_switch(before, following, to)
        self._print_state(following, is_new=not is_same)

    def _announce_switch(self, before: _ActiveConversation, following: _ActiveConversation, to: Switch) -> None:
        """Say which model answers from now on, where it is another one; a model that was chosen is kept at once."""
        opened, name = following.opened, following.opened.conversation.model.name
        if to.model:
            opened.conversation.keep_model()
            self.io.note(f"{name} answers from now on.")
        elif name != before.opened.conversation.model.name:
            self.io.note(opened.chosen or f"{name} answers from now on.")
        elif to.session and to.session != before.session_id:
            announce_model(self.io, opened)

    def _greet(self) -> None:
        active, opened = self._active, self._active.opened
        notes = self._count_notes()
        announce_model(self.io, opened)
        lines = greeting(
            vault=opened.paths.vault.name,
            notes=notes,
            model=opened.conversation.model,
            session=active.session,
            last=None if active.session else last_session(opened.store),
            now=self._environment.now(),
        )
        for line in lines:
            self.io.note(fill(line, self._prompt.width) if self._prompt else line)
        self._print_state(active)

    def _count_notes(self) -> int:
        """The number of notes. A vault that was indexed before is refreshed later, while the user types.

        A vault that cannot be indexed does not end the chat.
        """
        opened = self._active.opened
        try:
            if self._prompt is None or not opened.library.note_count():
                self._active.refresh()
            return opened.library.note_count()
        except (StorageError, VaultError) as error:
            self.io.fail(error)
            return 0

    def _print_state(self, active: _ActiveConversation, *, is_new: bool = True) -> None:
        """Print warnings, and the last exchange unless it is on the screen."""
        for warning in active.opened.warnings:
            self.io.note(f"{warning.text} {warning.hint}".strip())
        if active.opened.conversation.is_private:
            self.io.note("This conversation is private: nothing of it is remembered in others.")
        if is_new and self._environment.stdin_is_tty:
            self._print_last_exchanges(active)

    def _print_last_exchanges(self, active: _ActiveConversation) -> None:
        talk = active.opened.conversation
        earlier, exchanges = last_exchanges(talk.messages, {marker.id for marker in talk.window.compactions})
        if earlier:
            self.io.out(f"\n… {counted(earlier, 'earlier message')}, /history")
        for exchange in exchanges:
            self.io.out(f"\nyou › {exchange.question}\n")
            presenter = create_presenter(self._environment, active.opened, self._view)
            for event in exchange.events:
                presenter.show(event)
            presenter.close()

    def command_context(self) -> CommandContext:
        from zkchat.chat.session_items import SessionItems

        opened = self._active.opened
        return CommandContext(
            conversation=opened.conversation,
            store=opened.store,
            notes=opened.new_notes,
            surface=self._surface(opened),
            links=opened.document_links,
            items=SessionItems(opened.conversation),
            page_editor=VaultPageEditor(self.io, opened.paths),
            models=("quote", *opened.settings.models),
            keys=keys_of(self._environment, opened),
        )

    @property
    def is_saved(self) -> bool:
        return self._active.opened.conversation.is_saved

    def say(self, text: str) -> "AsyncGenerator[Event, None]":
        return self._active.opened.conversation.say(text)

    def new_presenter(self) -> "Presenter":
        return create_presenter(self._environment, self._active.opened, self._view)

    def _surface(self, opened: conversation.OpenConversation) -> "Surface":
        from zkchat.repl.surface import DrawnSurface, PlainSurface

        desktop = SystemDesktop(self._environment)
        if self._view.plain or not self._environment.stdout_is_tty:
            return PlainSurface(self._environment.stdout, self, desktop)
        console, _ = consoles(self._environment, opened.settings.ui.color)
        return DrawnSurface(console, self, desktop, opened.document_links)

    def _make_prompt(self) -> "Prompt":
        from zkchat.render.terminal import uses_color
        from zkchat.repl.completion import MenuCompleter, Suggestions
        from zkchat.repl.prompt import Prompt

        ui = self._active.opened.settings.ui
        return Prompt(
            self,
            completer=MenuCompleter(Suggestions(self._name_cache, self)),
            history_file=self._environment.data_dir / "history",
            keys=keys_of(self._environment, self._active.opened),
            vi=ui.keys == "vi",
            color=uses_color(self._environment.variables, ui.color),
        )

    @property
    def session_id(self) -> str:
        return self._active.session_id

    @property
    def library(self) -> "Library":
        return self._active.opened.library

    @property
    def agent_names(self) -> list[str]:
        return [agent.name for agent in self._active.opened.conversation.profiles.agents.values()]

    def complete_command(self, line: str) -> list[tuple[str, str]]:
        from zkchat.repl.commands import table

        return table.described_completions(self.command_context(), line)

    def text_changed(self) -> None:
        self.library.prefetch()

    def text_accepted(self, text: str) -> None:
        """Store a message as it leaves the prompt. Commands are not messages."""
        if (message := text.strip()) and not message.startswith("/"):
            with without_delays():
                self._active.opened.conversation.keep(message)

    async def read(self, initial: str) -> str:
        if self._prompt is None:
            return self._read_line("you › ")
        self._is_prompting = True
        try:
            return await self._prompt.read(initial)
        finally:
            self._is_prompting = False

    async def ask(self, question: str) -> str:
        return self._read_line(question) if self._prompt is None else await self._prompt.ask(question)

    def _read_line(self, prompt: str) -> str:
        """Read a line without editing; a terminal shows the prompt."""
        environment = self._environment
        if environment.stdin_is_tty:
            environment.stderr.write(sanitize_text(prompt))
            environment.stderr.flush()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the loop's own would not be heard here
        try:
            line = environment.stdin.readline()
        except KeyboardInterrupt:
            if environment.stdin_is_tty:
                raise
            raise EOFError from None
        if not line:
            if environment.stdin_is_tty:
                self.io.note("")  # Ctrl-D does not end the line of the prompt
            raise EOFError
        return line

    def status_line(self, width: int) -> str:
        from zkchat.repl.status_bar import status_line, status_of

        active = self._active
        status = status_of(
            active.opened.conversation,
            vault=active.opened.paths.vault.name,
            session=active.session,
            activity=active.background.activity,
            is_measured=active.opened.conversation.is_measurable,
        )
        return status_line(status, width)

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
        active.background.submit(partial(preload_libraries, active.opened.conversation.model.provider))
        if active.session:
            active.measuring = asyncio.ensure_future(self._prepare_measuring(active))

    async def _prepare_measuring(self, active: _ActiveConversation) -> None:
        """Learn the model's window and load its tokenizer, so that the bar can show how full the context is."""
        talk = active.opened.conversation
        if talk.model.context_limit is None:
            with suppress(ProviderError):
                await talk.connect()
        active.background.submit(talk.load_tokenizer)
        await active.background.wait()
        self.activity_changed()

    async def wait_until_ready(self) -> None:
        active = self._active
        await active.background.wait()
        for odd in active.odd_notes:
            self.io.note(f"warning: {odd.path}: {odd.text}")
        active.odd_notes.clear()

    def after_turn(self) -> None:
        self._active.look_up_session()
        self._suggest_dropping()
        suggest_next(self.io, self._active.opened, "/more", most=PAGE_SIZE)
        self._active.proposals.after_turn()
        self._active.opened.conversation.describe_soon()
        if self._prompt:
            self._active.background.submit(self._refresh_name_cache)

    def _suggest_dropping(self) -> None:
        for item in self._active.opened.conversation.newly_unused():
            what = f"[[{without_suffix(item.name)}]]" if item.type == "reference" else f"{item.type} {item.name}"
            self.io.note(f"No answer of the last ten used {item.name}. /drop {what} frees {item.tokens:,} tokens.")

    def _refresh_name_cache(self) -> None:
        opened = self._active.opened
        self._name_cache.refresh(opened.library, opened.conversation.messages)

    @contextmanager
    def indexing_progress(self) -> "Iterator[Progress]":
        """Show progress in the bar while the user types, on a line of its own while the user waits."""
        with (
            self._active.background.progress("indexing") as in_bar,
            progress(self._environment, "Indexing notes") as on_line,
        ):

            def step(done: int, total: int) -> None:
                in_bar(done, total)
                if not self._is_prompting:
                    on_line(done, total)

            yield step


class VaultPageEditor:
    """Implements `repl.command_context.PageEditor`."""

    def __init__(self, io: CommandIO, paths: "Paths") -> None:
        self._io = io
        self._paths = paths

    def edit(self, page: str, *, is_new: bool) -> bool:
        """Editing approves the page, unless it still holds what was there unapproved before."""
        from zkchat.compose.trust import VaultTrust, page_item, page_text

        vault = self._paths.vault
        before = None if is_new else page_text(vault, page)
        with echo_on(self._io.environment.stdin):
            edit_file(self._io, str(vault / page))
        after = page_text(vault, page)
        if after is None:
            return False
        previous = None if before is None else page_item(page, before)
        return VaultTrust(self._paths).approve_own(previous, page_item(page, after))


def can_draw_prompt(environment: "Environment") -> bool:
    """Whether the terminal can be drawn on while the user types."""
    from zkchat.render.terminal import can_move_cursor

    is_terminal = environment.stdin_is_tty and environment.stdout_is_tty
    return is_terminal and can_move_cursor(environment.variables) and not environment.variables.get("CI")


@contextmanager
def without_delays() -> Iterator[None]:
    """Run the block without garbage collection, and with a short switch interval, to be hardly delayed by indexing."""
    interval, is_collecting = sys.getswitchinterval(), gc.isenabled()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    gc.disable()
    try:
        yield
    finally:
        if is_collecting:
            gc.enable()
        sys.setswitchinterval(interval)


def last_session(store: "SessionStore") -> "Session | None":
    try:
        return next((session for session in store.sessions() if session.message_count), None)
    except StorageError:
        return None


def keys_of(environment: "Environment", opened: conversation.OpenConversation) -> tuple[str, ...]:
    """The API keys of this user, also those in variables that the settings name."""
    return known_keys(environment, *key_variables(opened.settings))


def preload_libraries(provider: str) -> None:
    """Import what the first turn needs, before the user waits for it."""
    names = (
        "zkchat.repl.commands.table",
        "zkchat.render.presenters.screen",
        "zkchat.render.markdown.renderer",
        "tiktoken",
    )
    for name in names:
        import_module(name)
    preload_client(provider)

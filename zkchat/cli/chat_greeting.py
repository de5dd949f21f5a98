"""What a chat prints as it enters a conversation (greeting, model, warnings, last exchanges) and as it is left."""

import shlex
from pathlib import Path
from textwrap import fill
from typing import Final

from zkchat.cli.active_conversation import ActiveConversation
from zkchat.cli.common import CommandIO
from zkchat.cli.output import PresenterOptions, announce_model, create_presenter, offer_models, print_question
from zkchat.compose.library import count_files_of_notes
from zkchat.errors import StorageError, VaultError
from zkchat.model.session import Session
from zkchat.model.text import counted
from zkchat.ports.sessions import SessionStore
from zkchat.repl.command_context import Switch
from zkchat.repl.greeting import greeting, last_exchanges
from zkchat.repl.session_rows import sessions_to_resume

MAX_FILES_COUNTED: Final = 2_000
"""Of a vault that is not indexed yet: some hundredths of a second."""


class ChatGreeting:
    """Prints what the user should know of a conversation before its prompt."""

    def __init__(self, io: CommandIO, view: PresenterOptions) -> None:
        self._io = io
        self._view = view

    def greet(self, active: ActiveConversation, *, width: int | None) -> None:
        """Greet at the beginning of a chat; lines are wrapped at the width, if there is one."""
        notes, is_all = self._count_notes(active)
        opened = active.opened
        announce_model(self._io, opened)
        lines = greeting(
            vault=opened.paths.vault.name,
            notes=notes,
            has_more_notes=not is_all,
            model=opened.conversation.model,
            session=active.session,
            last=None if active.session else last_session(opened.store),
            now=self._io.environment.now(),
        )
        for line in lines:
            self._io.note(fill(line, width) if width else line)
        offer_models(self._io, opened)
        self.print_state(active)

    def _count_notes(self, active: ActiveConversation) -> tuple[int, bool]:
        """How many notes there are, and whether that is all. Nothing is indexed for it.

        A vault that cannot be looked at does not end the chat.
        """
        try:
            count = active.opened.library.note_count()
            return (count, True) if count else count_files_of_notes(active.opened.workspace, MAX_FILES_COUNTED)
        except (StorageError, VaultError) as error:
            self._io.fail(error)
            return 0, True

    def print_state(self, active: ActiveConversation, *, is_new: bool = True) -> None:
        """Print warnings, and the last exchange unless it is on the screen."""
        for warning in active.opened.warnings:
            self._io.note_wrapped(f"{warning.text} {warning.hint}".strip())
        if active.opened.conversation.is_private:
            self._io.note("This conversation is private: nothing of it is remembered in others.")
        if is_new and self._io.environment.stdin_is_tty:
            self._print_last_exchanges(active)

    def _print_last_exchanges(self, active: ActiveConversation) -> None:
        talk = active.opened.conversation
        earlier, exchanges = last_exchanges(talk.messages, {marker.id for marker in talk.window.compactions})
        if earlier:
            self._io.out(f"\n… {counted(earlier, 'earlier message')}, /history")
        for exchange in exchanges:
            print_question(self._io, active.opened, self._view, exchange.question)
            presenter = create_presenter(self._io.environment, active.opened, self._view)
            for event in exchange.events:
                presenter.show(event)
            presenter.close()
        if exchanges:
            self._io.out("")

    def tell_way_back(self, active: ActiveConversation, vault: Path | None) -> None:
        """Tell whoever sits at a terminal how to return to a session in which something was said."""
        if active.is_used and active.session_id and self._io.environment.stdin_is_tty:
            self._io.note(_way_back(active.session_id, vault))

    def announce_switch(self, before: ActiveConversation, following: ActiveConversation, to: Switch) -> None:
        """Say which model answers from now on, where it is another one; a model that was chosen is kept at once."""
        opened, name = following.opened, following.opened.conversation.model.name
        if to.model:
            opened.conversation.keep_model()
            self._io.note(f"{name} answers from now on.")
        elif name != before.opened.conversation.model.name:
            self._io.note(opened.chosen or f"{name} answers from now on.")
        elif to.session and to.session != before.session_id:
            announce_model(self._io, opened)


def _way_back(session_id: str, vault: Path | None) -> str:
    place = f" --vault {shlex.quote(str(vault))}" if vault else ""
    return f"Resume: zkchat chat{place} --session {session_id}"


def last_session(store: SessionStore) -> Session | None:
    try:
        return next(iter(sessions_to_resume(store)), None)
    except StorageError:
        return None

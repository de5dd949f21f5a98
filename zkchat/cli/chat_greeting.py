"""What a chat prints as it enters a conversation (greeting, model, warnings, last exchanges) and as it is left."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from textwrap import fill
from typing import Final

from msgspec import Struct

from zkchat.cli.active_conversation import ActiveConversation
from zkchat.cli.common import CommandIO
from zkchat.cli.output import PresenterOptions, announce_model, create_presenter, offer_models, print_question
from zkchat.compose.library import count_files_of_notes
from zkchat.errors import StorageError, VaultError
from zkchat.model.events import Compacted, Event, TextDelta, TurnFailed, TurnFinished
from zkchat.model.message import ChatMessage
from zkchat.model.prompt import ModelInfo
from zkchat.model.session import Session
from zkchat.model.text import counted, shorten
from zkchat.model.thread import compaction_of
from zkchat.model.usage import ContextUsage
from zkchat.ports.sessions import SessionStore
from zkchat.render.sanitize import sanitize_line
from zkchat.repl.command_context import Switch
from zkchat.repl.session_rows import ago, sessions_to_resume

MAX_FILES_COUNTED: Final = 2_000
"""Of a vault that is not indexed yet: some hundredths of a second."""
_HELP: Final = "Ask; [[ names a note, / a command. /help for help, Ctrl-D to leave."
_MAX_TITLE_LENGTH: Final = 40
_MAX_QUESTION_LINES: Final = 5
"""Lines of a long question that are shown again."""
_MAX_EARLIER_LENGTH: Final = 3_000
"""Characters of the exchange before the last that are shown again; a longer one is not shown."""


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
    chosen = f"{model.name} (no model: your notes are quoted)" if model.needs_notes else model.name
    count = f"{'more than ' * has_more_notes}{counted(notes, 'note')}"
    lines = [sanitize_line(f"zkchat · {vault} · {count} · {chosen}")]
    if session:
        lines.append(
            f"Going on in {_titled(session)}, {counted(session.message_count, 'message')}. /history shows them all."
        )
    elif last:
        lines.append(f"Last time, {ago(now - last.updated_at)}: {_titled(last)}. To go on there: /resume {last.id}")
    return [*lines, _HELP]


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
            question=_beginning(shown[start].text),
            events=[*_replay(shown[start + 1 : end], is_last=end == len(shown))],
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

"""The session that a command is about: the one that was named, or the last one used."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from zkchat.chat.conversation import Conversation
from zkchat.cli.common import CommandIO
from zkchat.cli.consent import TerminalInterface
from zkchat.compose import stores
from zkchat.compose.conversation import OpenConversation, open_conversation
from zkchat.compose.conversation_options import ConversationOptions
from zkchat.errors import SessionNotFound
from zkchat.model.message import ChatMessage
from zkchat.model.session import Session
from zkchat.model.session_history import History
from zkchat.model.text import shorten
from zkchat.ports.sessions import SessionStore

OptionalSessionArgument = Annotated[
    str | None,
    typer.Argument(metavar="SESSION", help="Its id, the beginning of its id, or its title; else the last one used."),
]
MAX_LINE_LENGTH = 100


def first_line(message: ChatMessage) -> str:
    """A message on one line, shortened."""
    words = " ".join(message.text.split()) or f"({', '.join(part.kind for part in message.parts) or 'nothing'})"
    return shorten(words, MAX_LINE_LENGTH)


def find_session_or_last(store: SessionStore, name: str | None) -> Session:
    if name is not None:
        return store.find(name)
    sessions = store.sessions()
    if not sessions:
        raise SessionNotFound("There are no sessions in this vault yet.", hint="Start one: zkchat chat")
    return sessions[0]


@contextmanager
def open_history(io: CommandIO, vault: Path | None, session: str | None) -> Iterator[tuple[Session, History]]:
    with stores.open_sessions(io.environment, vault, io) as store:
        found = find_session_or_last(store, session)
        yield found, History(store.entries(found.id))


def model_line(conversation: Conversation) -> str:
    """The model that answers in a session, and its window."""
    unknown = ", not reached: as it was last" if conversation.connection_problem else ""
    return f"Model {conversation.model.name}, window {conversation.requests.budget.window:,} tokens{unknown}."


def model_record(conversation: Conversation) -> dict[str, object]:
    """The same for scripts, with why the model could not be reached."""
    return {
        "model": conversation.model.name,
        "window": conversation.requests.budget.window,
        "trouble": conversation.connection_problem.text if conversation.connection_problem else "",
    }


def print_problem(io: CommandIO, conversation: Conversation, *, unless: str = "") -> None:
    """Say that the model cannot be reached, `unless` that was said."""
    problem = conversation.connection_problem
    if problem and problem.text not in unless:
        io.note(f"warning: {problem.text} {problem.hint}".strip())


@contextmanager
def open_session_conversation(
    io: CommandIO, vault: Path | None, session: str | None, model: str | None
) -> Iterator[OpenConversation]:
    with stores.open_sessions(io.environment, vault, io) as store:
        found = find_session_or_last(store, session)
    options = ConversationOptions(vault=vault, model=model, session=found.id, user_interface=TerminalInterface(io))
    with open_conversation(io.environment, options) as opened:
        for warning in opened.warnings:
            io.note_wrapped(f"{warning.text} {warning.hint}".strip())
        yield opened

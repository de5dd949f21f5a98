"""One session for a command: the one that was named, or the last one used."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat.cli.common import Process
from zkchat.cli.consent import TerminalInterface
from zkchat.cli.context_transfer import session_or_last

if TYPE_CHECKING:
    from zkchat.compose.conversation import OpenConversation
    from zkchat.model.message import ChatMessage
    from zkchat.model.session import History, Session

_LONGEST_LINE = 100


def first_line(message: "ChatMessage") -> str:
    """A message on one line."""
    words = " ".join(message.text.split()) or f"({', '.join(part.kind for part in message.parts) or 'nothing'})"
    return words if len(words) <= _LONGEST_LINE else words[: _LONGEST_LINE - 1] + "…"


@contextmanager
def history_of(here: Process, vault: Path | None, session: str | None) -> "Iterator[tuple[Session, History]]":
    from zkchat.compose import stores
    from zkchat.model.session import History

    with stores.open_sessions(here.environment, vault, here) as store:
        found = session_or_last(store, session)
        yield found, History(store.entries(found.id))


@contextmanager
def conversation_of(
    here: Process, vault: Path | None, session: str | None, model: str | None
) -> "Iterator[OpenConversation]":
    from zkchat.compose import conversation as composition
    from zkchat.compose import stores

    with stores.open_sessions(here.environment, vault, here) as store:
        found = session_or_last(store, session)
    options = composition.ConversationOptions(
        vault=vault, model=model, session=found.id, user_interface=TerminalInterface(here)
    )
    with composition.open_conversation(here.environment, options) as opened:
        for warning in opened.warnings:
            here.note(f"{warning.text} {warning.hint}".strip())
        yield opened

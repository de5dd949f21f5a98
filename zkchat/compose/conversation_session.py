"""The session of a conversation: found or begun, read whole, with the agent that answers and what is asked at once."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat.compose.conversation_options import ConversationOptions
from zkchat.compose.images import named_images
from zkchat.compose.profiles import ProfileStore
from zkchat.compose.stores import open_session_store
from zkchat.compose.workspace import Workspace
from zkchat.errors import StorageDamaged, StorageError, StorageTooNew

if TYPE_CHECKING:
    from zkchat.agents.profiles import Profiles
    from zkchat.chat.journal import Asked, Journal
    from zkchat.model.entries import AgentEntry, ItemsEntry, ListingEntry
    from zkchat.model.events import Warned
    from zkchat.model.profile import Agent
    from zkchat.model.session import Session
    from zkchat.ports.sessions import SessionStore


class ConversationSession(Struct, frozen=True, kw_only=True):
    """The session of a conversation before its model is looked for."""

    journal: "Journal"
    profiles: "Profiles"
    agent: "Agent | None"
    """Who was asked for; None where there is no such agent any more."""
    choices: "Sequence[AgentEntry | ItemsEntry | ListingEntry]"
    """What the user chose and is to be stored with the first message."""
    asked: "Asked | None"
    """The question that came along, stored with the choices."""
    notices: tuple[str, ...]
    left_open: "Sequence[Warned]"
    """What a process that was killed has left."""


def open_conversation_session(
    stack: ExitStack, workspace: Workspace, options: ConversationOptions
) -> ConversationSession:
    """Open the session that the user wants to go on in, or a new one."""
    journal, notices = _open_journal(stack, workspace, options)
    left_open = journal.recover_from_crash()
    profiles = ProfileStore(workspace.paths).load()
    agent = _find_agent(profiles, options, journal)
    choices = _new_choices(journal, options, agent)
    asked = _ask(journal, workspace, options, choices) if options.question else None
    return ConversationSession(
        journal=journal,
        profiles=profiles,
        agent=agent,
        choices=() if asked else choices,
        asked=asked,
        notices=notices,
        left_open=left_open,
    )


def _open_journal(
    stack: ExitStack, workspace: Workspace, options: ConversationOptions
) -> tuple["Journal", tuple[str, ...]]:
    """The session to go on in, read whole. Damage that shows only then has the store recovered once more."""
    from zkchat.chat.journal import Journal

    for is_last in (False, True):
        with ExitStack() as trial:
            try:
                store, notices = _open_store_or_hold_back(trial, workspace)
                session, environment = _find_session(store, options), workspace.environment
                journal = Journal(store, session, environment.now, environment.new_id, id_of_new=options.id_of_new)
            except StorageDamaged:
                if is_last:
                    raise
                continue
            stack.push(trial.pop_all())
            stack.callback(journal.save_rest)
            return journal, notices
    raise AssertionError("the last trial returns or raises")


def _open_store_or_hold_back(stack: ExitStack, workspace: Workspace) -> tuple["SessionStore", tuple[str, ...]]:
    """The session store; where it cannot be opened, one that holds entries back until it can."""
    from zkchat.storage.lazy_sessions import UnavailableSessions

    try:
        return stack.enter_context(open_session_store(workspace))
    except StorageTooNew:
        raise
    except StorageError as error:
        late = stack.enter_context(ExitStack())
        return UnavailableSessions(error, lambda: late.enter_context(open_session_store(workspace))[0]), ()


def _find_session(store: "SessionStore", options: ConversationOptions) -> "Session | None":
    if options.session is not None:
        return store.find(options.session)
    return next(filter(_holds_a_conversation, store.sessions()), None) if options.continue_last else None


def _holds_a_conversation(session: "Session") -> bool:
    """Not so a single question of `zkchat ask` that got no answer: there is nothing to go on with."""
    return session.listed or session.message_count > 1


def _find_agent(profiles: "Profiles", options: ConversationOptions, journal: "Journal") -> "Agent | None":
    """The agent that was asked for now, or else in the session before; one that is gone since is passed over."""
    if options.agent:
        return profiles.agent(options.agent)
    return profiles.agents.get(journal.history.agent.casefold())


def _new_choices(
    journal: "Journal", options: ConversationOptions, agent: "Agent | None"
) -> list["AgentEntry | ItemsEntry | ListingEntry"]:
    """The entries for what the user chose when opening the session and it did not hold yet."""
    from zkchat.model.entries import AgentEntry, ItemsEntry, ListingEntry

    choices: list[AgentEntry | ItemsEntry | ListingEntry] = []
    if options.one_shot and journal.session is None:
        choices.append(ListingEntry(listed=False))
    elif journal.session and not journal.session.listed:
        choices.append(ListingEntry(listed=True))
    if agent and agent.name != journal.history.agent:
        journal.history.agent = agent.name
        choices.append(AgentEntry(name=agent.name))
    if options.private and not journal.history.is_private:
        choices.append(ItemsEntry(private=True))
    return choices


def _ask(
    journal: "Journal",
    workspace: Workspace,
    options: ConversationOptions,
    choices: "Sequence[AgentEntry | ItemsEntry | ListingEntry]",
) -> "Asked":
    """Store the question that came along, with its images. Raises `UsageError` for a file that is none."""
    images = named_images(workspace.environment, workspace.paths.vault, options.images)
    return journal.ask(options.question, choices, images=images)

"""One conversation: opened from its vault, its session, its model and its agent, closed at the end."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat.compose.conversation_options import ConversationOptions
from zkchat.compose.conversation_session import ConversationSession, open_conversation_session
from zkchat.compose.index_refresher import NoteIndexRefresher
from zkchat.compose.library import open_note_library
from zkchat.compose.live_settings import LiveSettings
from zkchat.compose.paths import Paths
from zkchat.compose.providers import guarded_provider
from zkchat.compose.session_model import SessionModelInUse, find_session_model, open_model
from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.compose.writing import open_change_store
from zkchat.environment import Environment
from zkchat.errors import ConfigError

if TYPE_CHECKING:
    from zkchat.chat.conversation import Conversation
    from zkchat.chat.journal import Asked
    from zkchat.compose.document_links import VaultDocumentLinks
    from zkchat.config.schema import Settings
    from zkchat.model.events import Warned
    from zkchat.model.profile import Agent, ProfileProblem
    from zkchat.ports.changes import ChangeStore
    from zkchat.ports.sessions import SessionStore
    from zkchat.vault.library import Library


MAX_PROBLEMS_SHOWN = 5
"""Mistakes in the files of agents and rules that a conversation begins with."""


class OpenConversation(Struct, frozen=True, kw_only=True):
    """A conversation ready for its first turn, and what the user should know before it."""

    conversation: "Conversation"
    store: "SessionStore"
    """All sessions of the vault, this one among them."""
    library: "Library"
    changes: "ChangeStore"
    """The files of the vault, and the journal of what zkchat changed in them."""
    refresher: NoteIndexRefresher
    workspace: Workspace
    live: LiveSettings
    """The settings as they are now."""
    chosen: str
    """Why it is this model, where the user has not said."""
    offer: str
    """What could be set up, with its command, where there is no model."""
    warnings: tuple["Warned", ...]
    asked: "Asked | None" = None
    """The question that came along, stored."""

    @property
    def paths(self) -> Paths:
        return self.workspace.paths

    @property
    def settings(self) -> "Settings":
        return self.workspace.settings

    @property
    def document_links(self) -> "VaultDocumentLinks":
        """Links to the documents of an answer."""
        from zkchat.compose.document_links import VaultDocumentLinks

        return VaultDocumentLinks(self.paths.vault, self.conversation.library, self.settings.ui.open_with)


@contextmanager
def open_conversation(environment: Environment, options: ConversationOptions) -> Iterator[OpenConversation]:
    """Open a conversation and all that it needs; everything is closed at the end."""
    from zkchat.chat.conversation import Conversation
    from zkchat.compose.turn import build_background_summaries
    from zkchat.compose.vault_turn import OpenedParts, open_turn
    from zkchat.model.events import Warned

    workspace = load_workspace(environment, options.vault, model=options.model)
    with ExitStack() as stack:
        session = open_conversation_session(stack, workspace, options)
        workspace, model, unmet = _choose_model(workspace, options, session)
        live = LiveSettings(workspace)
        provider = guarded_provider(model, live)
        library, about_cache = stack.enter_context(open_note_library(workspace, live))
        opened = OpenedParts(
            live=live,
            options=options,
            session=session,
            provider=provider,
            library=library,
            index=NoteIndexRefresher(library, provider, live, options),
            changes=stack.enter_context(open_change_store(workspace, library)),
        )
        turn, about_stores = open_turn(stack, opened)
        background = build_background_summaries(turn, opened.settings)
        conversation = Conversation(turn, session.choices, background, model.entry)
        about_files = (*workspace.loaded.warnings, *session.notices, *_first_problems(session.profiles.problems))
        notices = (*model.warnings, *about_cache, *about_files, *about_stores, *_cannot_write(conversation, options))
        yield OpenConversation(
            conversation=conversation,
            store=session.journal.store,
            library=library,
            changes=opened.changes,
            refresher=opened.index,
            workspace=workspace,
            live=live,
            chosen=model.chosen,
            offer=model.offer,
            warnings=(*(Warned(text=text) for text in notices), *unmet, *session.left_open),
            asked=session.asked,
        )


def _cannot_write(conversation: "Conversation", options: ConversationOptions) -> tuple[str, ...]:
    """A sentence where the user wants changes proposed, and the model can propose none."""
    if not options.writing.enabled or conversation.writing.proposals is not None:
        return ()
    return (f"{conversation.model.name} calls no tools, so that it proposes no changes of notes.",)


def _first_problems(problems: "Sequence[ProfileProblem]") -> list[str]:
    """The first few problems; a vault may bring any number of files with mistakes."""
    shown = [str(problem) for problem in problems[:MAX_PROBLEMS_SHOWN]]
    more = len(problems) - len(shown)
    return [*shown, f"… and {more} more: zkchat agent list and zkchat rules list name them."] if more else shown


def _unavailable_agent(session: ConversationSession) -> tuple["Warned", ...]:
    """A warning where the session's agent is switched off, or not approved, so that another one answers."""
    from zkchat.model.events import Warned

    name, profiles = session.journal.history.agent, session.profiles
    unavailable = None if name.casefold() in profiles.agents else profiles.unavailable("agent", name)
    return (
        (Warned(text=f"{unavailable.reason}, so another one answers.", hint=unavailable.hint),) if unavailable else ()
    )


def _choose_model(
    workspace: Workspace, options: ConversationOptions, session: ConversationSession
) -> tuple[Workspace, SessionModelInUse, tuple["Warned", ...]]:
    """The settings as the session and its agent change them, the model that answers, and what the user should know."""
    agent = session.agent
    is_told = bool(options.model or (options.agent and agent and agent.model))
    wanted = find_session_model(workspace, session.journal.history, agent, is_told=is_told)
    set_before, name = workspace.settings.model, options.model or wanted.name
    if wanted.kept:
        workspace = workspace.changed_by(None, name)
    workspace, unmet = _apply_agent(workspace, name, agent) if agent else (workspace, _unavailable_agent(session))
    return workspace, open_model(workspace, wanted, set_before), (*wanted.warnings, *unmet)


def _apply_agent(workspace: Workspace, model: str | None, agent: "Agent") -> tuple[Workspace, tuple["Warned", ...]]:
    """The settings as the agent changes them, and a warning where they cannot be changed so."""
    from zkchat.model.events import Warned

    try:
        return workspace.changed_by(agent, model), ()
    except ConfigError as error:
        unused = Warned(text=f"The settings of the agent {agent.name} are left out. {error.message}", hint=agent.path)
        return workspace, (unused,)

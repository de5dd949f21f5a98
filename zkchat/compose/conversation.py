"""One conversation: opened from its vault, its session, its model and its agent, closed at the end."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.compose.images import named_images
from zkchat.compose.library import local_folders_of, open_note_library
from zkchat.compose.paths import Paths
from zkchat.compose.profiles import ProfileStore
from zkchat.compose.server_connections import ServerConnections
from zkchat.compose.session_model import SessionModelInUse, find_session_model, open_model
from zkchat.compose.stores import open_session_store
from zkchat.compose.user_interface import UNATTENDED, UserInterface
from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.compose.writing import open_change_store
from zkchat.compose.writing_options import WritingOptions
from zkchat.environment import Environment
from zkchat.errors import ConfigError, StorageDamaged, StorageError, StorageTooNew

if TYPE_CHECKING:
    from zkchat.agents.profiles import Profiles
    from zkchat.chat.conversation import Conversation
    from zkchat.chat.journal import Asked, Journal
    from zkchat.compose.document_links import VaultDocumentLinks
    from zkchat.config.schema import Settings
    from zkchat.model.entries import AgentEntry, ItemsEntry, ListingEntry
    from zkchat.model.events import Warned
    from zkchat.model.profile import Agent, ProfileProblem
    from zkchat.model.session import Session
    from zkchat.ports.changes import ChangeStore
    from zkchat.ports.models import ModelProvider
    from zkchat.ports.sessions import SessionStore
    from zkchat.vault.indexing.indexer import Refreshed
    from zkchat.vault.library import Library
    from zkchat.vault.privacy.local_folders import LocalFolder


MAX_REFRESH_SECONDS = 0.04
"""That a turn of a chat waits for the index; what takes longer goes on beside it."""
MAX_PROBLEMS_SHOWN = 5
"""Mistakes in the files of agents and rules that a conversation begins with."""


class ConversationOptions(Struct, frozen=True, kw_only=True):
    """What the user chose when opening a conversation."""

    vault: Path | None = None
    model: str | None = None
    session: str | None = None
    id_of_new: str = ""
    """The id that a new session gets, where somebody was told it before there is anything to store."""
    continue_last: bool = False
    one_shot: bool = False
    """Whether a new session is for one question, which lists leave out until somebody goes on with it."""
    user_interface: UserInterface = UNATTENDED
    bounded_refresh: bool = False
    """Whether a turn goes on with what is known of the notes, where looking at all of them takes too long."""
    private: bool = False
    """Whether nothing of this conversation is to be remembered."""
    strict: bool = False
    """Whether answers may rest on nothing but the notes."""
    quoted_passages: int | None = None
    """Passages that an answer without a model quotes at most; None for the usual number."""
    agent: str | None = None
    """Who answers, unless a message speaks to another agent."""
    writing: WritingOptions = field(default_factory=WritingOptions)
    servers: ServerConnections | None = None
    """The MCP servers of the process; None where none is used."""
    question: str = ""
    """What is asked at once: it is stored before a model or a note is looked for."""
    images: tuple[Path, ...] = ()
    """Files that go along with it."""


class OpenConversation(Struct, frozen=True, kw_only=True):
    """A conversation ready for its first turn, and what the user should know before it."""

    conversation: "Conversation"
    store: "SessionStore"
    """All sessions of the vault, this one among them."""
    library: "Library"
    changes: "ChangeStore"
    """The files of the vault, and the journal of what zkchat changed in them."""
    refresher: "NoteIndexRefresher"
    workspace: Workspace
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


class NoteIndexRefresher:
    """Implements `chat.turn.IndexRefresher`; also checks the folders of `privacy.local_only`, once."""

    def __init__(
        self,
        library: "Library",
        provider: "ModelProvider",
        local_folders: "Sequence[LocalFolder]",
        options: ConversationOptions,
    ) -> None:
        self._library = library
        self._provider = provider
        self._unchecked = [*local_folders]
        self._user_interface = options.user_interface
        self._bounded = options.bounded_refresh

    def refresh(self) -> "Refreshed":
        library = self._library
        refreshed = self._refreshed()
        if self._bounded:
            library.extract_in_background()
        else:
            from zkchat.compose.library import extract_for_search

            refreshed = replace(refreshed, warnings=(*refreshed.warnings, *extract_for_search(library)))
        if self._bounded or self._provider.info.calls_tools:
            library.embed_in_background()
        else:  # it is handed evidence at once
            from zkchat.compose.library import embed_for_search

            embed_for_search(library)
        if self._unchecked and not library.is_empty():
            from zkchat.vault.privacy.local_folders import unmatched

            odd = unmatched(self._unchecked, [row.path for row in library.indexed()])
            refreshed = replace(refreshed, warnings=(*refreshed.warnings, *odd))
            self._unchecked.clear()
        return refreshed

    def _refreshed(self) -> "Refreshed":
        from zkchat.vault.indexing.indexer import Refreshed

        if self._bounded and not self._library.is_empty():
            return self._library.refresh_within(MAX_REFRESH_SECONDS) or Refreshed()
        with self._user_interface.indexing_progress() as progress:
            return self._library.refresh(progress)


@contextmanager
def open_conversation(environment: Environment, options: ConversationOptions) -> Iterator[OpenConversation]:
    """Open a conversation and all that it needs; everything is closed at the end."""
    from zkchat.chat.conversation import Conversation
    from zkchat.compose.turn import OpenedParts, TurnSettings, build_background_summaries, open_turn
    from zkchat.model.events import Warned

    workspace = load_workspace(environment, options.vault, model=options.model)
    with ExitStack() as stack:
        journal, recovered = _open_journal(stack, workspace, options)
        left_open = journal.recover_from_crash()
        profiles = ProfileStore(workspace.paths).load()
        agent = _find_agent(profiles, options, journal)
        choices = _new_choices(journal, options, agent)
        asked = _ask(journal, workspace, options, choices) if options.question else None
        workspace, model, unmet = _choose_model(workspace, options, journal, profiles, agent)
        provider = model.provider
        library, cache_notices = stack.enter_context(open_note_library(workspace))
        refresher = NoteIndexRefresher(library, provider, local_folders_of(workspace), options)
        settings = TurnSettings.from_settings(workspace.settings, options, private=journal.history.is_private)
        changes = stack.enter_context(open_change_store(workspace, library))
        parts = OpenedParts(
            workspace=workspace,
            journal=journal,
            library=library,
            index=refresher,
            provider=provider,
            profiles=profiles,
            user_interface=options.user_interface,
            settings=settings,
            changes=changes,
            writing=options.writing,
            servers=options.servers,
        )
        turn, trouble = open_turn(stack, parts)
        background = build_background_summaries(turn, settings)
        conversation = Conversation(turn, () if asked else choices, background, model.entry)
        about_files = (*workspace.loaded.warnings, *recovered, *_first_problems(profiles.problems), *trouble)
        notices = (*model.warnings, *cache_notices, *about_files, *_cannot_write(conversation, options))
        yield OpenConversation(
            conversation=conversation,
            store=journal.store,
            library=library,
            changes=changes,
            refresher=refresher,
            workspace=workspace,
            chosen=model.chosen,
            offer=model.offer,
            warnings=(*(Warned(text=text) for text in notices), *unmet, *left_open),
            asked=asked,
        )


def _ask(
    journal: "Journal",
    workspace: Workspace,
    options: ConversationOptions,
    choices: "Sequence[AgentEntry | ItemsEntry | ListingEntry]",
) -> "Asked":
    """Store the question that came along, with its images. Raises `UsageError` for a file that is none."""
    images = named_images(workspace.environment, workspace.paths.vault, options.images)
    return journal.ask(options.question, choices, images=images)


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


def _find_agent(profiles: "Profiles", options: ConversationOptions, journal: "Journal") -> "Agent | None":
    """The agent that was asked for now, or else in the session before; one that is gone since is passed over."""
    if options.agent:
        return profiles.agent(options.agent)
    return profiles.agents.get(journal.history.agent.casefold())


def _unavailable_agent(profiles: "Profiles", journal: "Journal") -> tuple["Warned", ...]:
    """A warning where the session's agent is switched off, or not approved, so that another one answers."""
    from zkchat.model.events import Warned

    name = journal.history.agent
    unavailable = None if name.casefold() in profiles.agents else profiles.unavailable("agent", name)
    return (
        (Warned(text=f"{unavailable.reason}, so another one answers.", hint=unavailable.hint),) if unavailable else ()
    )


def _choose_model(
    workspace: Workspace, options: ConversationOptions, journal: "Journal", profiles: "Profiles", agent: "Agent | None"
) -> tuple[Workspace, SessionModelInUse, tuple["Warned", ...]]:
    """The settings as the session and its agent change them, the model that answers, and what the user should know."""
    is_told = bool(options.model or (options.agent and agent and agent.model))
    session = find_session_model(workspace, journal.history, agent, is_told=is_told)
    set_before, name = workspace.settings.model, options.model or session.name
    if session.kept:
        workspace = workspace.changed_by(None, name)
    workspace, unmet = (
        _apply_agent(workspace, name, agent) if agent else (workspace, _unavailable_agent(profiles, journal))
    )
    return workspace, open_model(workspace, session, set_before), (*session.warnings, *unmet)


def _apply_agent(workspace: Workspace, model: str | None, agent: "Agent") -> tuple[Workspace, tuple["Warned", ...]]:
    """The settings as the agent changes them, and a warning where they cannot be changed so."""
    from zkchat.model.events import Warned

    try:
        return workspace.changed_by(agent, model), ()
    except ConfigError as error:
        unused = Warned(text=f"The settings of the agent {agent.name} are left out. {error.message}", hint=agent.path)
        return workspace, (unused,)


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
    return next(iter(store.sessions()), None) if options.continue_last else None

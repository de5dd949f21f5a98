"""One conversation: opened from its vault, its session, its model and its agent, closed at the end."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from msgspec import Struct

from zkchat.agents.profiles import Profiles
from zkchat.chat.conversation import Conversation
from zkchat.chat.core import ConversationCore
from zkchat.chat.journal import Asked, Journal
from zkchat.compose.conversation_core import background_summaries, open_for_answers, turn_settings
from zkchat.compose.conversation_options import ConversationOptions
from zkchat.compose.document_links import VaultDocumentLinks
from zkchat.compose.fresh_index import NoteIndexRefresher
from zkchat.compose.images import named_images, read_image_file
from zkchat.compose.library import open_note_library
from zkchat.compose.live_settings import LiveSettings
from zkchat.compose.paths import Paths
from zkchat.compose.profiles import ProfileStore
from zkchat.compose.providers import guarded_provider, tokenizer_of
from zkchat.compose.session_model import SessionModelInUse, find_session_model, open_model
from zkchat.compose.stores import open_session_store
from zkchat.compose.trust import VaultTrust
from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.compose.writing import open_change_store
from zkchat.config.schema import Settings
from zkchat.context.relevance import Relevance
from zkchat.environment import Environment
from zkchat.errors import ConfigError, StorageDamaged, StorageError, StorageTooNew
from zkchat.model.entries import AgentEntry, ItemsEntry, ListingEntry
from zkchat.model.events import Warned
from zkchat.model.profile import Agent, ProfileProblem
from zkchat.model.session import Session
from zkchat.ports.changes import ChangeStore
from zkchat.ports.sessions import SessionStore
from zkchat.providers.static_vectors import installed
from zkchat.storage.lazy_sessions import UnavailableSessions
from zkchat.vault.library import Library

MAX_PROBLEMS_SHOWN = 5
"""Mistakes in the files of agents and rules that a conversation begins with."""


class ConversationSession(Struct, frozen=True, kw_only=True):
    """The session of a conversation before its model is looked for."""

    journal: Journal
    profiles: Profiles
    agent: Agent | None
    """Who was asked for; None where there is no such agent any more."""
    choices: Sequence[AgentEntry | ItemsEntry | ListingEntry]
    """What the user chose and is to be stored with the first message."""
    asked: Asked | None
    """The question that came along, stored with the choices."""
    notices: tuple[str, ...]
    left_open: Sequence[Warned]
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
) -> tuple[Journal, tuple[str, ...]]:
    """The session to go on in, read whole. Damage that shows only then has the store recovered once more."""
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


def _open_store_or_hold_back(stack: ExitStack, workspace: Workspace) -> tuple[SessionStore, tuple[str, ...]]:
    """The session store; where it cannot be opened, one that holds entries back until it can."""
    try:
        return stack.enter_context(open_session_store(workspace))
    except StorageTooNew:
        raise
    except StorageError as error:
        late = stack.enter_context(ExitStack())
        return UnavailableSessions(error, lambda: late.enter_context(open_session_store(workspace))[0]), ()


def _find_session(store: SessionStore, options: ConversationOptions) -> Session | None:
    if options.session is not None:
        return store.find(options.session)
    return next(filter(_holds_a_conversation, store.sessions()), None) if options.continue_last else None


def _holds_a_conversation(session: Session) -> bool:
    """Not so a single question of `zkchat ask` that got no answer: there is nothing to go on with."""
    return session.listed or session.message_count > 1


def _find_agent(profiles: Profiles, options: ConversationOptions, journal: Journal) -> Agent | None:
    """The agent that was asked for now, or else in the session before; one that is gone since is passed over."""
    if options.agent:
        return profiles.agent(options.agent)
    return profiles.agents.get(journal.history.agent.casefold())


def _new_choices(
    journal: Journal, options: ConversationOptions, agent: Agent | None
) -> list[AgentEntry | ItemsEntry | ListingEntry]:
    """The entries for what the user chose when opening the session and it did not hold yet."""
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
    journal: Journal,
    workspace: Workspace,
    options: ConversationOptions,
    choices: Sequence[AgentEntry | ItemsEntry | ListingEntry],
) -> Asked:
    """Store the question that came along, with its images. Raises `UsageError` for a file that is none."""
    images = named_images(workspace.environment, workspace.paths.vault, options.images)
    return journal.ask(options.question, choices, images=images)


class OpenConversation(Struct, frozen=True, kw_only=True):
    """A conversation ready for its first turn, and what the user should know before it."""

    conversation: Conversation
    store: SessionStore
    """All sessions of the vault, this one among them."""
    library: Library
    changes: ChangeStore
    """The files of the vault, and the journal of what zkchat changed in them."""
    refresher: NoteIndexRefresher
    workspace: Workspace
    live: LiveSettings
    """The settings as they are now."""
    chosen: str
    """Why it is this model, where the user has not said."""
    offer: str
    """What could be set up, with its command, where there is no model."""
    warnings: tuple[Warned, ...]
    asked: Asked | None = None
    """The question that came along, stored."""

    @property
    def paths(self) -> Paths:
        return self.workspace.paths

    @property
    def settings(self) -> Settings:
        return self.workspace.settings

    @property
    def document_links(self) -> VaultDocumentLinks:
        """Links to the documents of an answer."""
        return VaultDocumentLinks(self.paths.vault, self.conversation.library, self.settings.ui.open_with)


@contextmanager
def open_conversation(environment: Environment, options: ConversationOptions) -> Iterator[OpenConversation]:
    """Open a conversation and all that it needs; everything is closed at the end."""
    workspace = load_workspace(environment, options.vault, model=options.model)
    with ExitStack() as stack:
        session = open_conversation_session(stack, workspace, options)
        workspace, model, unmet = _choose_model(workspace, options, session)
        live = LiveSettings(workspace)
        provider = guarded_provider(model, live)
        library, about_cache = stack.enter_context(open_note_library(workspace, live))
        changes = stack.enter_context(open_change_store(workspace, library))
        index = NoteIndexRefresher(library, provider, live, options)
        tokenizer, prior = tokenizer_of(provider)
        core = ConversationCore(
            journal=session.journal,
            notes=library,
            refresh=index.refresh,
            provider=provider,
            tokenizer=tokenizer,
            prior=prior,
            profiles=session.profiles,
            page_is_approved=VaultTrust(workspace.paths).page_is_approved,
            vault=str(workspace.paths.vault),
            settings=turn_settings(workspace.settings, options, private=session.journal.history.is_private),
            relevance=Relevance(installed()),
            reviewer=options.user_interface.reviewer,
            may_remember=options.user_interface.may_remember,
            live=live,
            read_file=read_image_file,
        )
        core, about_stores = open_for_answers(stack, core, live, options, changes)
        conversation = Conversation(core, session.choices, background_summaries(core), model.entry)
        about_files = (*workspace.loaded.warnings, *session.notices, *_first_problems(session.profiles.problems))
        notices = (*model.warnings, *about_cache, *about_files, *about_stores, *_cannot_write(conversation, options))
        yield OpenConversation(
            conversation=conversation,
            store=session.journal.store,
            library=library,
            changes=changes,
            refresher=index,
            workspace=workspace,
            live=live,
            chosen=model.chosen,
            offer=model.offer,
            warnings=(*(Warned(text=text) for text in notices), *unmet, *session.left_open),
            asked=session.asked,
        )


def _cannot_write(conversation: Conversation, options: ConversationOptions) -> tuple[str, ...]:
    """A sentence where the user wants changes proposed, and the model can propose none."""
    if not options.writing.enabled or conversation.writing.proposals is not None:
        return ()
    return (f"{conversation.model.name} calls no tools, so that it proposes no changes of notes.",)


def _first_problems(problems: Sequence[ProfileProblem]) -> list[str]:
    """The first few problems; a vault may bring any number of files with mistakes."""
    shown = [str(problem) for problem in problems[:MAX_PROBLEMS_SHOWN]]
    more = len(problems) - len(shown)
    return [*shown, f"… and {more} more: zkchat agent list and zkchat rules list name them."] if more else shown


def _unavailable_agent(session: ConversationSession) -> tuple[Warned, ...]:
    """A warning where the session's agent is switched off, or not approved, so that another one answers."""
    name, profiles = session.journal.history.agent, session.profiles
    unavailable = None if name.casefold() in profiles.agents else profiles.unavailable("agent", name)
    return (
        (Warned(text=f"{unavailable.reason}, so another one answers.", hint=unavailable.hint),) if unavailable else ()
    )


def _choose_model(
    workspace: Workspace, options: ConversationOptions, session: ConversationSession
) -> tuple[Workspace, SessionModelInUse, tuple[Warned, ...]]:
    """The settings as the session and its agent change them, the model that answers, and what the user should know."""
    agent = session.agent
    is_told = bool(options.model or (options.agent and agent and agent.model))
    wanted = find_session_model(workspace, session.journal.history, agent, is_told=is_told)
    set_before, name = workspace.settings.model, options.model or wanted.name
    if wanted.kept:
        workspace = workspace.changed_by(None, name)
    workspace, unmet = _apply_agent(workspace, name, agent) if agent else (workspace, _unavailable_agent(session))
    return workspace, open_model(workspace, wanted, set_before), (*wanted.warnings, *unmet)


def _apply_agent(workspace: Workspace, model: str | None, agent: Agent) -> tuple[Workspace, tuple[Warned, ...]]:
    """The settings as the agent changes them, and a warning where they cannot be changed so."""
    try:
        return workspace.changed_by(agent, model), ()
    except ConfigError as error:
        unused = Warned(text=f"The settings of the agent {agent.name} are left out. {error.message}", hint=agent.path)
        return workspace, (unused,)

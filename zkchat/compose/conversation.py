"""The composition root: the one room that knows which adapters there are, and puts the pieces together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat.compose.adapters import (
    load_settings,
    local_folders_of,
    opened_library,
    opened_sessions,
    profile_files,
)
from zkchat.compose.paths import Paths, paths
from zkchat.compose.providers import guarded_provider
from zkchat.environment import Environment
from zkchat.errors import ConfigError, StorageDamaged, StorageError, StorageTooNew

if TYPE_CHECKING:
    from zkchat.agents.profiles import Profiles
    from zkchat.chat.compaction import Reviewer
    from zkchat.chat.conversation import Conversation
    from zkchat.chat.journal import Asked, Journal
    from zkchat.compose.document_links import Addresses
    from zkchat.config.load import Loaded
    from zkchat.config.schema import Settings
    from zkchat.model.events import Warned
    from zkchat.model.profile import Agent, ProfileProblem
    from zkchat.model.session import AgentEntry, ItemsEntry, Session
    from zkchat.ports import ModelProvider, SessionStore
    from zkchat.storage.note_writer import NoteWriter
    from zkchat.vault.indexing.indexer import Progress, Refreshed
    from zkchat.vault.library import Library
    from zkchat.vault.privacy.local_folders import LocalFolder


_FRESH_WITHIN = 0.04
"""Seconds that a turn of a chat waits for the index; what takes longer goes on beside it."""
_PROBLEMS_TOLD = 5
"""Mistakes in the files of agents and rules that a conversation begins with."""


@contextmanager
def open_sessions(
    environment: Environment, vault: Path | None, *, tell: Callable[[str], None] = lambda _: None
) -> Iterator["SessionStore"]:
    """The session store of a vault, for commands that need nothing else. `tell` hears of a rescue, and of settings that
    are left out."""
    where = paths(environment, vault)
    loaded = load_settings(environment, where)
    with opened_sessions(environment, where, loaded.settings) as (store, notices):
        for notice in (*loaded.every_warning, *notices):
            tell(notice)
        yield store


@contextmanager
def open_library(
    environment: Environment, vault: Path | None, *, tell: Callable[[str], None] = lambda _: None
) -> Iterator[tuple[Paths, "Library"]]:
    """The notes of a vault, for commands that need nothing else. `tell` hears of settings that are left out."""
    where = paths(environment, vault)
    loaded = load_settings(environment, where)
    with opened_library(environment, where, loaded.settings, tell) as library:
        for warning in loaded.every_warning:
            tell(warning)
        yield where, library


@contextmanager
def _unseen() -> "Iterator[Progress]":
    yield lambda _done, _total: None


def _nobody_to_ask(_text: str) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class ConversationOptions:
    vault: Path | None = None
    model: str | None = None
    session: str | None = None
    continue_last: bool = False
    progress: "Callable[[], AbstractContextManager[Progress]]" = _unseen
    """What shows how far the indexing is, where there is somebody to see it."""
    in_a_hurry: bool = False
    """Whether a turn goes on with what is known of the notes, where looking at all of them takes too long."""
    reviewer: "Reviewer | None" = None
    """Who is asked about compactions, where there is somebody to ask."""
    may_remember: "Callable[[str], bool]" = _nobody_to_ask
    """Shows the user what a model wants to be kept, and tells what they say to it."""
    private: bool = False
    """Whether nothing of this conversation is to be remembered."""
    strict: bool = False
    """Whether answers may rest on nothing but the notes."""
    agent: str | None = None
    """Who answers, unless a message speaks to another agent."""
    question: str = ""
    """What is asked at once: it is stored before a model or a note is looked for."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A conversation ready for its first turn, and what the user should know before it."""

    conversation: "Conversation"
    store: "SessionStore"
    """All sessions of the vault, this one among them."""
    library: "Library"
    refresh: "Callable[[], Refreshed]"
    """Brings the library up to date, with whatever progress was asked for."""
    paths: Paths
    settings: "Settings"
    chosen: str
    """Why it is this model, where the user has not said."""
    warnings: tuple["Warned", ...]
    asked: "Asked | None" = None
    """The question that came along, stored."""

    @property
    def new_notes(self) -> "NoteWriter":
        """The way to write a note that is not there yet."""
        from zkchat.storage.note_writer import NoteWriter

        vault = self.settings.vault
        return NoteWriter(
            self.paths.vault,
            exclude=vault.exclude,
            max_note_bytes=vault.max_note_bytes,
            created=self.library.refresh,
        )

    @property
    def addresses(self) -> "Addresses":
        """Where the documents of an answer open."""
        from zkchat.compose.document_links import Addresses

        return Addresses(self.paths.vault)


@contextmanager
def open_conversation(environment: Environment, options: ConversationOptions) -> Iterator[Opened]:
    """Everything a conversation needs, closed again at the end."""
    from zkchat.agents.profiles import profiles_of
    from zkchat.chat.conversation import Conversation
    from zkchat.compose.turn import Parts, describing_for, put_together
    from zkchat.model.events import Warned

    where = paths(environment, options.vault)
    loaded = load_settings(environment, where, model=options.model)
    with ExitStack() as stack:
        journal, notices = _journal(stack, environment, where, loaded.settings, options)
        left_open = journal.close_what_a_crash_left_open(environment.new_id)
        profiles = profiles_of(profile_files(where))
        agent = _agent(profiles, options, journal)
        choices = _choices(journal, options, agent)
        asked = journal.ask(options.question, environment.new_id(), choices) if options.question else None
        wanted = _as_agent_wants(environment, where, options, agent) if agent else None
        loaded, unmet = wanted or (loaded, _unapproved_agent(profiles, journal))
        told: list[str] = []
        provider, chosen = guarded_provider(environment, loaded, told.append)
        library = stack.enter_context(opened_library(environment, where, loaded.settings, told.append))
        refresh = _refresher(library, provider, options, local_folders_of(environment, where, loaded.settings))
        parts = Parts(
            environment=environment,
            where=where,
            settings=loaded.settings,
            journal=journal,
            library=library,
            provider=provider,
            profiles=profiles,
            refresh=refresh,
            reviewer=options.reviewer,
            may_remember=options.may_remember,
            private=options.private or journal.history.is_private,
            strict=options.strict,
        )
        turn, trouble = put_together(stack, parts)
        conversation = Conversation(turn, () if asked else choices, describing_for(turn, loaded.settings))
        told += (*loaded.warnings, *notices, *_first(profiles.problems), *trouble)
        yield Opened(
            conversation=conversation,
            store=journal.store,
            library=library,
            refresh=refresh,
            paths=where,
            settings=loaded.settings,
            chosen=chosen,
            warnings=(*(Warned(text=text) for text in told), *unmet, *left_open),
            asked=asked,
        )


def _first(problems: "Sequence[ProfileProblem]") -> list[str]:
    """As many as a user reads; a vault may bring any number of files with mistakes."""
    told = [str(problem) for problem in problems[:_PROBLEMS_TOLD]]
    more = len(problems) - len(told)
    return [*told, f"… and {more} more: zkchat agent list and zkchat rules list name them."] if more else told


def _refresher(
    library: "Library", provider: "ModelProvider", options: ConversationOptions, folders: "Sequence[LocalFolder]"
) -> "Callable[[], Refreshed]":
    from dataclasses import replace

    from zkchat.vault.indexing.indexer import Refreshed
    from zkchat.vault.privacy.local_folders import unmatched

    unchecked = [*folders]

    def refresh() -> "Refreshed":
        if options.in_a_hurry and library.note_count():
            refreshed = library.refresh_within(_FRESH_WITHIN) or Refreshed()
        else:
            with options.progress() as step:
                refreshed = library.refresh(step)
        if provider.info.calls_tools:  # others are handed evidence, which is looked up by words alone
            library.embed_soon()
        if unchecked and library.note_count():
            odd = unmatched(unchecked, [note.path for note in library.notes()])
            refreshed = replace(refreshed, warnings=(*refreshed.warnings, *odd))
            unchecked.clear()
        return refreshed

    return refresh


def _agent(profiles: "Profiles", options: ConversationOptions, journal: "Journal") -> "Agent | None":
    """Who was asked for now, or else in the session before; one that is gone since is passed over."""
    if options.agent:
        return profiles.agent(options.agent)
    return profiles.agents.get(journal.history.agent.casefold())


def _unapproved_agent(profiles: "Profiles", journal: "Journal") -> tuple["Warned", ...]:
    """That the session's agent does not answer, because it came with the vault and is not approved."""
    from zkchat.agents.profiles import came_with_vault
    from zkchat.model.events import Warned
    from zkchat.model.trust import HOW_TO_APPROVE

    name = journal.history.agent
    if name.casefold() in profiles.agents or not profiles.awaiting("agent", name):
        return ()
    return (Warned(text=f"{came_with_vault('agent', name)}, so another one answers.", hint=HOW_TO_APPROVE),)


def _as_agent_wants(
    environment: Environment, where: Paths, options: ConversationOptions, agent: "Agent"
) -> tuple["Loaded", tuple["Warned", ...]]:
    """The settings as the agent changes them, and whether they cannot be changed so."""
    from zkchat.model.events import Warned

    try:
        return load_settings(environment, where, model=options.model, agent=agent), ()
    except ConfigError as error:
        loaded = load_settings(environment, where, model=options.model)
        unused = Warned(text=f"The settings of the agent {agent.name} are left out. {error.message}", hint=agent.path)
        return loaded, (unused,)


def _choices(
    journal: "Journal", options: ConversationOptions, agent: "Agent | None"
) -> list["AgentEntry | ItemsEntry"]:
    """What is new to the session of all that the user said when opening it."""
    from zkchat.model.session import AgentEntry, ItemsEntry

    choices: list[AgentEntry | ItemsEntry] = []
    if agent and agent.name != journal.history.agent:
        journal.history.agent = agent.name
        choices.append(AgentEntry(name=agent.name))
    if options.private and not journal.history.is_private:
        choices.append(ItemsEntry(private=True))
    return choices


def _journal(
    stack: ExitStack, environment: Environment, where: Paths, settings: "Settings", options: ConversationOptions
) -> tuple["Journal", tuple[str, ...]]:
    """The session to go on in, read whole. Damage that shows only then has the store opened, and rescued, once more."""
    from zkchat.chat.journal import Journal

    for is_last in (False, True):
        with ExitStack() as trial:
            try:
                store, notices = _store_or_none(trial, environment, where, settings)
                journal = Journal(store, _session(store, options), environment.now)
            except StorageDamaged:
                if is_last:
                    raise
                continue
            stack.push(trial.pop_all())
            stack.callback(journal.save_rest)
            return journal, notices
    raise AssertionError("the last trial returns or raises")


def _store_or_none(
    stack: ExitStack, environment: Environment, where: Paths, settings: "Settings"
) -> tuple["SessionStore", tuple[str, ...]]:
    """A conversation goes on without its store, until there is room for one; the first turn says that."""
    from zkchat.storage.sessions import UnavailableSessions

    try:
        return stack.enter_context(opened_sessions(environment, where, settings))
    except StorageTooNew:
        raise
    except StorageError as error:
        late = stack.enter_context(ExitStack())
        return UnavailableSessions(
            error, lambda: late.enter_context(opened_sessions(environment, where, settings))[0]
        ), ()


def _session(store: "SessionStore", options: ConversationOptions) -> "Session | None":
    if options.session is not None:
        return store.find(options.session)
    return next(iter(store.sessions()), None) if options.continue_last else None

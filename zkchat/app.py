"""The composition root: the one room that knows which adapters there are, and puts the pieces together."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat.environment import Environment, let_idle_threads_sleep
from zkchat.errors import StorageDamaged, StorageError, StorageTooNew
from zkchat.places import Paths, paths

if TYPE_CHECKING:
    from zkchat.chat.conversation import Conversation
    from zkchat.chat.journal import Journal
    from zkchat.config.load import Loaded
    from zkchat.config.schema import Settings
    from zkchat.context.budget import Shares
    from zkchat.model.events import Warned
    from zkchat.model.reference import DocumentReference
    from zkchat.model.session import Session
    from zkchat.ports import ModelProvider, SessionStore, Tokenizer
    from zkchat.storage.locations import Locations
    from zkchat.storage.sessions import SqliteSessions
    from zkchat.vault.indexer import Progress, Refreshed
    from zkchat.vault.library import Library

_MOST_PROCESSES = 4
"""That share a long indexing; more of them wait for the one that writes."""


def load_settings(environment: Environment, where: Paths, *, model: str | None = None) -> "Loaded":
    from zkchat.config.load import load
    from zkchat.config.trust import TrustStore

    store = TrustStore(where.trust)
    return load(
        where.user_config,
        where.vault_config,
        environment.variables,
        {"model": model},
        lambda digest: store.is_trusted(where.vault_key, digest),
    )


def create_provider(environment: Environment, settings: "Settings") -> tuple["ModelProvider", str]:
    """The model that is set, or else the first that is there, with the sentence that says which and why."""
    from zkchat.providers.registry import Sources, choose, create

    sources = Sources(
        ollama_host=settings.ollama.host,
        ollama_key=environment.variables.get("OLLAMA_API_KEY", ""),
        openai_base_url=settings.openai.base_url,
        openai_key=environment.variables.get(settings.openai.api_key_env, ""),
        openai_key_variable=settings.openai.api_key_env,
        folder=environment.cwd,
        home=environment.home,
        cache=environment.cache_dir,
        window=settings.context.max_tokens,
    )
    choice = None if settings.model else choose(sources)
    name = choice.model if choice else settings.model
    if name.startswith("local:"):
        let_idle_threads_sleep()
    return create(name, sources), choice.sentence if choice else ""


def _tokenizer(provider: "ModelProvider") -> "Tokenizer":
    """The model's own where it runs in this process, else the encoding that counts for it."""
    from zkchat.context.tokens import tokenizer_for

    if provider.info.provider == "local":
        from zkchat.providers.llama_cpp import LlamaCpp

        assert isinstance(provider, LlamaCpp)
        return provider.tokenizer
    return tokenizer_for(provider.info.tokenizer)


@contextmanager
def open_sessions(
    environment: Environment, vault: Path | None, *, tell: Callable[[str], None] = lambda _: None
) -> Iterator["SqliteSessions"]:
    """The session store of a vault, for commands that need nothing else. `tell` hears of a rescue."""
    where = paths(environment, vault)
    with _sessions(environment, where, load_settings(environment, where).settings) as (store, notices):
        for notice in notices:
            tell(notice)
        yield store


@contextmanager
def open_library(environment: Environment, vault: Path | None) -> Iterator[tuple[Paths, "Library"]]:
    """The notes of a vault, for commands that need nothing else."""
    where = paths(environment, vault)
    with _library(environment, where, load_settings(environment, where).settings) as library:
        yield where, library


@contextmanager
def _unseen() -> "Iterator[Progress]":
    yield lambda _done, _total: None


@dataclass(frozen=True, kw_only=True)
class ConversationOptions:
    vault: Path | None = None
    model: str | None = None
    session: str | None = None
    continue_last: bool = False
    progress: "Callable[[], AbstractContextManager[Progress]]" = _unseen
    """What shows how far the indexing is, where there is somebody to see it."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A conversation ready for its first turn, and what the user should know before it."""

    conversation: "Conversation"
    library: "Library"
    refresh: "Callable[[], Refreshed]"
    """Brings the library up to date, with whatever progress was asked for."""
    paths: Paths
    settings: "Settings"
    chosen: str
    """Why it is this model, where the user has not said."""
    warnings: tuple["Warned", ...]

    @property
    def greeting(self) -> list[str]:
        model = self.conversation.model
        chosen = f"{model.name} (no model: your notes are quoted)" if model.provider == "quote" else model.name
        return [
            f"zkchat · {self.paths.vault.name} · {self.library.note_count():,} notes · {chosen}",
            "Ask, with [[wikilinks]] if you like. /help for help, Ctrl-D to leave.",
        ]

    def address_of(self, reference: "DocumentReference") -> str | None:
        """Where a click on a reference leads: into Obsidian if the vault is used with it, else to the file."""
        from urllib.parse import quote

        if reference.relative_path is None:
            return None
        file = self.paths.vault / reference.relative_path
        if (self.paths.vault / ".obsidian").is_dir():
            return f"obsidian://open?path={quote(str(file), safe='')}"
        return file.as_uri()


@contextmanager
def open_conversation(environment: Environment, options: ConversationOptions) -> Iterator[Opened]:
    """Everything a conversation needs, closed again at the end."""
    from zkchat.chat.conversation import Conversation
    from zkchat.chat.turn import Turn
    from zkchat.model.events import Warned
    from zkchat.tools.explore import explore_tools
    from zkchat.tools.registry import Toolbox

    where = paths(environment, options.vault)
    loaded = load_settings(environment, where, model=options.model)
    provider, chosen = create_provider(environment, loaded.settings)
    with ExitStack() as stack:
        journal, notices = _journal(stack, environment, where, loaded.settings, options)
        library = stack.enter_context(_library(environment, where, loaded.settings))

        def refresh() -> "Refreshed":
            with options.progress() as step:
                refreshed = library.refresh(step)
            if provider.info.calls_tools:  # others are handed evidence, which is looked up by words alone
                library.embed_soon()
            return refreshed

        turn = Turn(
            journal=journal,
            vault=str(where.vault),
            library=library,
            refresh=refresh,
            provider=provider,
            tokenizer=_tokenizer(provider),
            tools=Toolbox(explore_tools(library, environment.now)),
            shares=_shares(loaded.settings),
            now=environment.now,
            new_id=environment.new_id,
        )
        conversation = Conversation(turn)
        unsaved = conversation.resume() if journal.session else None
        told = [Warned(text=text) for text in (*loaded.warnings, *notices)]
        yield Opened(
            conversation=conversation,
            library=library,
            refresh=refresh,
            paths=where,
            settings=loaded.settings,
            chosen=chosen,
            warnings=(*told, unsaved) if unsaved else tuple(told),
        )


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
            return journal, notices
    raise AssertionError("the last trial returns or raises")


def _store_or_none(
    stack: ExitStack, environment: Environment, where: Paths, settings: "Settings"
) -> tuple["SessionStore", tuple[str, ...]]:
    """A conversation goes on without its store; the first turn says that it is not saved."""
    from zkchat.storage.unsaved import UnsavedSessions

    try:
        return stack.enter_context(_sessions(environment, where, settings))
    except StorageTooNew:
        raise
    except StorageError as error:
        return UnsavedSessions(error), ()


def _session(store: "SessionStore", options: ConversationOptions) -> "Session | None":
    if options.session is not None:
        return store.find(options.session)
    return next(iter(store.sessions()), None) if options.continue_last else None


def _shares(settings: "Settings") -> "Shares":
    from zkchat.context.budget import Shares

    context = settings.context
    return Shares(
        max_tokens=context.max_tokens,
        reserve=context.reserve_tokens,
        system=context.system_share,
        tools=context.tools_share,
        messages=context.messages_share,
        threshold=context.threshold,
    )


@contextmanager
def _sessions(
    environment: Environment, where: Paths, settings: "Settings"
) -> Iterator[tuple["SqliteSessions", tuple[str, ...]]]:
    from zkchat.storage.rescue import open_sessions as open_store

    opened = open_store(
        _locations(environment, where, settings).sessions, now=environment.now, new_id=environment.new_id
    )
    with opened.store as store:
        yield store, opened.notices


@contextmanager
def _library(environment: Environment, where: Paths, settings: "Settings") -> Iterator["Library"]:
    from contextlib import closing

    from zkchat.providers.static_vectors import installed
    from zkchat.storage.note_index import SqliteNoteIndex
    from zkchat.storage.processes import ProcessWorkers
    from zkchat.storage.vault_files import VaultFiles
    from zkchat.vault.library import Library
    from zkchat.vault.meaning import Meaning

    workers = ProcessWorkers(min(_MOST_PROCESSES, os.cpu_count() or 1))
    files = VaultFiles(where.vault, exclude=settings.vault.exclude, max_note_bytes=settings.vault.max_note_bytes)
    with (
        closing(SqliteNoteIndex(_locations(environment, where, settings).index)) as index,
        closing(Library(files, index, Meaning(index.vectors, installed()), workers=workers)) as library,
    ):
        yield library


def _locations(environment: Environment, where: Paths, settings: "Settings") -> "Locations":
    from zkchat.storage.locations import claim

    return claim(
        where.vault,
        data_dir=where.data,
        cache_dir=where.cache,
        new_id=environment.new_id,
        in_vault=settings.storage.location == "vault",
    )

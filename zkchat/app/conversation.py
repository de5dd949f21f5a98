"""One conversation: opened from its vault, session, model and agent, closed at the end; goal runs over it."""

from base64 import b64decode, b64encode
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat import chat
from zkchat.app.conversation_core import ConversationOptions, open_for_answers, turn_settings
from zkchat.app.document_links import VaultDocumentLinks
from zkchat.app.library import NoteIndexRefresher, open_note_library
from zkchat.app.models import (
    LiveSettings,
    ModelInUse,
    create_provider,
    guarded_provider,
    provider_context,
    tokenizer_of,
)
from zkchat.app.paths import Paths
from zkchat.app.settings import known_keys
from zkchat.app.stores import open_said, open_session_store
from zkchat.app.trust import ProfileStore, VaultTrust, page_item
from zkchat.app.workspace import FileReviewer, Workspace, load_workspace
from zkchat.app.writing import daily_note_settings, open_change_store
from zkchat.chat import (
    Asked,
    Conversation,
    ConversationCore,
    GoalBounds,
    GoalRun,
    Journal,
    PlanReviewer,
    Profiles,
    ReadOutside,
    Relevance,
    nothing_outside,
)
from zkchat.config import Settings
from zkchat.core import (
    PROVIDERS,
    Agent,
    AgentEntry,
    ChangeStore,
    ConfigError,
    Environment,
    GoalEntry,
    History,
    ImagePart,
    ImageUnusable,
    ItemsEntry,
    ListingEntry,
    ModelEntry,
    ModelInfo,
    NoteNotFound,
    NoteUnreadable,
    OutsideVault,
    Session,
    SessionStore,
    StorageDamaged,
    StorageError,
    StorageTooNew,
    UsageError,
    Warned,
    ZkchatError,
    messages_of,
    read_bounded,
    resolve_link,
)
from zkchat.index import Library
from zkchat.models import ResumedProvider, create, descriptor_of, installed
from zkchat.notes import MAX_FILE_BYTES, digest_of, encode_image, inspect_image
from zkchat.sessions import UnavailableSessions

if TYPE_CHECKING:
    from zkchat.app.conversation_core import ModelCatalogue
    from zkchat.repl import CommandContext, Surface, VaultView


def open_goal_run(
    environment: Environment, opened: "OpenConversation", bounds: GoalBounds, plan_reviewer: PlanReviewer | None = None
) -> GoalRun:
    """A goal run in this conversation; without a reviewer, the model's plan is worked on as it is."""
    conversation = opened.conversation
    return chat.GoalRun(
        conversation=conversation,
        now=environment.now,
        new_id=environment.new_id,
        bounds=bounds,
        plan_reviewer=plan_reviewer,
        check=chat.GoalChecker(conversation, opened.library).check,
    )


def command_context(
    environment: Environment,
    opened: "OpenConversation",
    surface: "Surface",
    view: "VaultView",
    models: "ModelCatalogue",
    *,
    plan_reviewer: PlanReviewer | None = None,
    editing: tuple[str, Callable[[str, int | None], bool]] = ("", lambda _path, _line: False),
    **of_terminal: Any,
) -> "CommandContext":
    """What slash commands of this conversation work on, and what of the terminal only a chat there has: `editing` is
    the name of the user's editor, and what opens a document in it."""
    from zkchat.repl import CommandContext, VaultBrowser  # which bring the libraries of a prompt

    goals = open_goal_run(environment, opened, bounds_of(opened.settings), plan_reviewer)
    goals.way_back = lambda _: "/goal resume continues it."
    return CommandContext(
        conversation=opened.conversation,
        store=opened.store,
        changes=opened.changes,
        surface=surface,
        links=opened.document_links,
        items=chat.SessionItems(opened.conversation),
        browser=VaultBrowser(
            library=opened.library,
            view=view,
            editor=editing[0],
            edit=editing[1],
            open_with=opened.settings.ui.open_with,
            daily_notes=partial(daily_note_settings, opened.paths.vault),
        ),
        now=environment.now,
        models=models,
        goals=goals,
        servers=opened.conversation.servers,
        embedding_progress=opened.library.embedding_progress,
        said=partial(open_said, opened.workspace, opened.store),
        keys=known_keys(environment, opened.settings),
        **of_terminal,
    )


def bounds_of(
    settings: Settings, steps: int | None = None, tokens: int | None = None, minutes: float | None = None
) -> GoalBounds:
    """The bounds that the user named, else those of the settings."""
    if minutes is not None and not minutes > 0:  # nor NaN
        raise UsageError("A goal needs some time.", hint="Give more than 0 minutes: --minutes 5")
    goal = settings.goal
    return chat.GoalBounds(steps=steps or goal.steps, tokens=tokens or goal.tokens, minutes=minutes or goal.minutes)


def session_with_open_goal(store: SessionStore) -> str | None:
    """The id of the session, of those used last, whose goal can be gone on with."""
    for session in store.sessions()[:50]:
        goals = [entry.body.goal for entry in store.entries(session.id) if isinstance(entry.body, GoalEntry)]
        if goals and goals[-1].can_go_on:
            return session.id
    return None


MAX_INLINE_SIDE: Final = 1568
"""Pixels of the longer side of an image that is stored with its message."""


def read_named_file(path: str, most: int) -> bytes:
    """What a file holds that the user named. Raises `NoteNotFound` or `NoteUnreadable`."""
    try:
        return read_bounded(Path(path), max_bytes=most)
    except FileNotFoundError as error:
        raise NoteNotFound(f"There is no file {path}.") from error
    except OSError as error:
        raise NoteUnreadable(f"{path} cannot be read: {error.strerror}.") from error


def outside_reader(workspace: Workspace, may_send: FileReviewer | None) -> ReadOutside:
    """Reads the text of files outside the vault, each after one yes of the user for a model."""
    if may_send is None:
        return nothing_outside
    home, vault = workspace.environment.home, workspace.paths.vault.resolve()
    agreed: set[tuple[Path, str]] = set()

    def read(typed: str, model: ModelInfo) -> str | None:
        file = resolve_link(home / typed[2:] if typed.startswith("~/") else Path(typed))
        if file.is_relative_to(vault):  # whose rules of privacy go by its path there
            inside = file.relative_to(vault).as_posix()
            raise OutsideVault(f"{typed} is in the vault.", hint=f"Use its path there: @{inside}")
        data = read_named_file(str(file), workspace.settings.vault.max_note_bytes)
        encoding = "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8"
        if encoding == "utf-8" and b"\0" in data:
            raise NoteUnreadable(f"{typed} is not a text file.")
        place = "on this machine" if model.on_this_machine else "on another machine"
        if (file, model.name) not in agreed and not may_send(file, f"{model.name}, which runs {place}"):
            return None
        agreed.add((file, model.name))
        return data.removeprefix(BOM_UTF8).decode(encoding, errors="replace")

    return read


def named_images(environment: Environment, vault: Path, files: Sequence[Path]) -> tuple[ImagePart, ...]:
    """The images for a message; one of the vault as if it were mentioned. Raises `UsageError` for what is no image."""
    if not files:
        return ()
    vault = vault.resolve()
    parts: list[ImagePart] = []
    for file in dict.fromkeys(files):
        whole = environment.cwd / file.expanduser()
        try:
            data = read_named_file(str(whole), MAX_FILE_BYTES)
            header = inspect_image(data, file.name)
        except NoteNotFound as error:
            raise UsageError(f"--image: There is no file {file}.") from error
        except ZkchatError as error:
            raise UsageError(f"--image: {error.message}", hint=error.hint) from error
        inside = whole.resolve().is_relative_to(vault)
        parts.append(
            ImagePart(
                name=whole.resolve().relative_to(vault).as_posix() if inside else file.name,
                media_type=f"image/{header.format}",
                file="" if inside else str(whole),
                digest=digest_of(data),
                size=len(data),
                width=header.width,
                height=header.height,
            )
        )
    return tuple(parts)


def inline_image(name: str, data: str) -> ImagePart:
    """An image without a file, in base 64, made smaller: it is stored with its message. Raises `ImageUnusable`."""
    if len(data) > MAX_FILE_BYTES * 4 // 3:
        raise ImageUnusable(f"{name} is larger than {MAX_FILE_BYTES:,} bytes.")
    try:
        content = b64decode(data, validate=True)
    except ValueError as error:
        raise ImageUnusable(f"{name} is not an image.") from error
    encoded = encode_image(content, (MAX_INLINE_SIDE, MAX_INLINE_SIDE), name)
    return ImagePart(
        name=name,
        media_type=encoded.media_type,
        data=b64encode(encoded.data).decode("ascii"),
        width=encoded.width,
        height=encoded.height,
    )


_NO_CHOICE: Final = frozenset({"quote", "scripted:scripted"})
"""That there was no model, or a script whose file nobody kept, binds no session."""


class SessionModel(Struct, frozen=True, kw_only=True):
    """What a session says of the model that answers in it from now on."""

    kept: ModelEntry | None = None
    """None where the user says it, by a flag, a variable, an agent or the settings."""
    must_run_here: bool = False
    """Whether nothing is sent to it unless it runs on this machine."""
    told: bool = False
    """Whether the user chose the model for this session now."""
    warnings: tuple[Warned, ...] = ()


def find_session_model(workspace: Workspace, history: History, agent: Agent | None, *, is_told: bool) -> SessionModel:
    """The model of the session, unless the user names one now. Raises `ConfigError` where there is none such any more.

    `is_told` says that a flag names the model. A variable does too, and an agent that was chosen since with its model.
    """
    if is_told or workspace.loaded.origins["model"].layer == "variable":
        return SessionModel(told=True)
    if history.is_agent_newer and agent and agent.model:
        return SessionModel(told=True)
    kept = history.model
    if kept is None or (kept.name in _NO_CHOICE and not kept.chosen):
        return SessionModel()
    settings = workspace.settings
    is_own = kept.name == settings.model or kept.name in settings.models
    if not is_own and kept.name.partition(":")[0] not in PROVIDERS:
        meant = f" ({kept.model})" if kept.model != kept.name else ""
        way_out = f"--model {kept.model} continues with it" if meant else "--model NAME continues with another"
        raise ConfigError(
            f"The model of this session, {kept.name}{meant}, is no longer in your settings.",
            hint=f"{way_out}; `zkchat models` lists the available ones.",
        )
    if settings.storage.location == "vault" and not is_own:
        return _untrusted(workspace, kept)
    ran_here = kept.on_this_machine
    if ran_here is None:  # sessions of older versions say so by what was local in them
        ran_here = any(message.local for message in history.messages.values())
    return SessionModel(kept=kept, must_run_here=ran_here)


def _untrusted(workspace: Workspace, kept: ModelEntry) -> SessionModel:
    """A session in the vault may have been written by anybody: it leads to no server elsewhere and to no file."""
    context = provider_context(workspace)
    descriptor = descriptor_of(kept.name.partition(":")[0])
    if descriptor.in_process:
        is_allowed = not descriptor.takes_id or kept.name.partition(":")[2] in (
            offered.id for offered in descriptor.offered_models(context)
        )
    else:
        info = create(kept.name, context).info
        is_allowed = info.on_this_machine or not info.is_located
    if is_allowed:
        return SessionModel(kept=kept, must_run_here=True)
    text = f"This session is stored in the vault and asks for the model {kept.name}, which is not in your settings."
    return SessionModel(warnings=(Warned(text=text, hint=f"The model is not used. To use it: --model {kept.name}"),))


def open_model(workspace: Workspace, session: SessionModel, set_before: str) -> ModelInUse:
    """The model that answers; `set_before` is the one that the settings name. Raises `ConfigError`."""
    kept = session.kept
    if kept is None:
        return create_provider(workspace)
    try:
        model = create_provider(workspace)
    except ConfigError as error:
        message = f"The model of this session, {kept.name}, cannot be used. {error.message}"
        hint = f"{error.hint} To continue with another: --model NAME, or /model NAME in a chat."
        raise ConfigError(message, hint=hint.strip()) from error
    provider = model.provider
    if not descriptor_of(provider.info.provider).in_process:
        provider = ResumedProvider(provider, window=kept.window, must_run_here=session.must_run_here)
    name, window = kept.name, f" (window {kept.window:,} tokens)" if kept.window else ""
    if provider.info.name != kept.model:
        name = f"{name} (was {kept.model}, is now {provider.info.name})"
    elif kept.name != kept.model:
        name = f"{name} = {kept.model}"
    others = f" To use the one in your settings: --model {set_before}" if set_before not in {"", kept.name} else ""
    said = f"This session continues with its own model, {name}{window}.{others}"
    return replace(model, provider=provider, chosen="" if provider.info.needs_notes else said)


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
    """Open the session that the user wants to go on in, or a new one. Raises `UsageError` for what is no image."""
    journal, notices = _open_journal(stack, workspace, options)
    left_open = journal.recover_from_crash()
    profiles = ProfileStore(workspace.paths).load()
    # One that was chosen in the session before and is gone since is passed over.
    before = profiles.agents.get(journal.history.agent.casefold())
    agent = profiles.agent(options.agent) if options.agent else before
    choices = _new_choices(journal, options, agent)
    asked = None
    if options.question:
        images = named_images(workspace.environment, workspace.paths.vault, options.images)
        asked = journal.ask(options.question, choices, images=images)
    # A vault may bring any number of files with mistakes.
    problems = [str(problem) for problem in profiles.problems[:MAX_PROBLEMS_SHOWN]]
    if (more := len(profiles.problems) - len(problems)) > 0:
        problems.append(f"… and {more} more: zkchat config agents list and zkchat memory rules list show them.")
    return ConversationSession(
        journal=journal,
        profiles=profiles,
        agent=agent,
        choices=() if asked else choices,
        asked=asked,
        notices=(*notices, *problems),
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
                named = store.find(options.session) if options.session is not None else None
                session = session_to_continue(store) if options.continue_last and not named else named
                environment = workspace.environment
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


def session_to_continue(store: SessionStore) -> Session | None:
    """The one that `-c` goes on with, and that a chat names as it begins."""
    for session in store.sessions():
        if session.listed and session.message_count:
            return session
        # There is nothing to go on with in a question that got no answer, nor in a summary of the day.
        messages = messages_of(store.entries(session.id)).values() if session.message_count > 1 else ()
        if messages and not any(each.brief and each.brief.purpose == "daily brief" for each in messages):
            return session
    return None


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
        return VaultDocumentLinks(self.paths.vault, self.conversation.library, self.settings.ui.open_with)


@contextmanager
def open_conversation(environment: Environment, options: ConversationOptions) -> Iterator[OpenConversation]:
    """Open a conversation and all that it needs; everything is closed at the end."""
    workspace = load_workspace(environment, options.vault, model=options.model)
    with ExitStack() as stack:
        session = open_conversation_session(stack, workspace, options)
        with options.user_interface.waiting("Looking for the model"):
            workspace, model, entry, unmet = _choose_model(workspace, options, session)
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
            page_is_approved=lambda name, text: VaultTrust(workspace.paths).is_approved(page_item(name, text)),
            vault=str(workspace.paths.vault),
            settings=turn_settings(workspace.loaded, options, model.name, session.journal.history),
            relevance=Relevance(installed()),
            reviewer=options.user_interface.reviewer,
            may_remember=options.user_interface.may_remember,
            live=live,
            read_file=read_named_file,
            read_outside=outside_reader(workspace, options.user_interface.file_reviewer),
        )
        core, about_stores = open_for_answers(stack, core, live, options, changes)
        conversation = Conversation(core, session.choices, entry)
        about_files = (*workspace.loaded.warnings, *session.notices)
        notices = [*model.warnings, *about_cache, *about_files, *about_stores]
        if options.writing.enabled and conversation.writing.proposals is None:
            notices.append(f"{conversation.model.shown} cannot change notes. Choose another: /model or --model NAME")
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


def _choose_model(
    workspace: Workspace, options: ConversationOptions, session: ConversationSession
) -> tuple[Workspace, ModelInUse, ModelEntry, tuple[Warned, ...]]:
    """The settings as the session and its agent change them, the model that answers, what the session keeps of it, and
    what the user should know."""
    agent = session.agent
    is_told = bool(options.model or (options.agent and agent and agent.model))
    wanted = find_session_model(workspace, session.journal.history, agent, is_told=is_told)
    kept, set_before = wanted.kept, workspace.settings.model
    name = options.model or (kept.name if kept else None)
    if kept:
        workspace = workspace.changed_by(None, name)
    unmet: tuple[Warned, ...] = ()
    if agent:
        try:
            workspace = workspace.changed_by(agent, name)
        except ConfigError as error:
            said = f"The settings of the agent {agent.name} are ignored. {error.message}"
            unmet = (Warned(text=said, hint=agent.path),)
    elif (gone := session.journal.history.agent).casefold() not in session.profiles.agents:
        off = session.profiles.unavailable("agent", gone)
        unmet = (Warned(text=f"{off.reason}, so another agent answers.", hint=off.hint),) if off else ()
    model = open_model(workspace, wanted, set_before)
    entry = ModelEntry(name=model.name, chosen=wanted.told or bool(kept and kept.chosen))
    return workspace, model, entry, (*wanted.warnings, *unmet)

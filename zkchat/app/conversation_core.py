"""What a conversation owns, opened over the files of a vault as far as its model has a use for it."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.app.mcp_servers import ServerConnections
from zkchat.app.models import LiveSettings, survey_models, verify_model
from zkchat.app.settings import BASE_URL, SettingsEditor
from zkchat.app.stores import open_memory, open_message_search
from zkchat.app.workspace import UNATTENDED, UserInterface, Workspace
from zkchat.chat import (
    AnswerLimits,
    ConversationCore,
    Memory,
    Policy,
    Retention,
    SelectionLimits,
    ServerAccess,
    Shares,
    TurnSettings,
)
from zkchat.config import Loaded, StoredApprovals
from zkchat.core import (
    DEFAULT_LIMIT,
    ChangeStore,
    History,
    ModelInfo,
    ModelOverview,
    ModelRow,
    ProviderError,
    StorageError,
    without_password,
)

FRESH_SECONDS: Final = 60.0
"""How long the names of a list are completed before the servers are asked again."""


class WritingOptions(Struct, frozen=True, kw_only=True):
    """What the user chose about writing when opening a conversation."""

    enabled: bool | None = None
    """Whether the model may propose changes; None for what the settings say."""
    assumes_yes: bool = False
    """Whether the user has said yes to its proposals beforehand."""
    proposes_only: bool = False
    """Whether its proposals are only shown, whatever the settings say."""


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


class ModelCatalogue:
    """Implements `repl.command_context.ModelCatalogue`. Names are kept from the last list."""

    def __init__(self, workspace: Callable[[], Workspace]) -> None:
        """`workspace` returns that of the present conversation."""
        self._workspace = workspace
        self.told: set[str] = set()
        """Problems of servers that were already shown: each is told once."""
        self._names: tuple[str, ...] = ()
        self._asked_at = -FRESH_SECONDS

    @property
    def names(self) -> Sequence[str]:
        """Those known so far. Asks nobody itself: a thread renews them, for the next time."""
        if time.monotonic() - self._asked_at >= FRESH_SECONDS:
            self._asked_at = time.monotonic()
            threading.Thread(target=self._renew, daemon=True).start()
        return self._names or ("quote", *self._workspace().settings.models)

    def _renew(self) -> None:
        with suppress(Exception):  # names are a convenience, and the chat may be ending
            asyncio.run(self.survey(None))

    async def survey(self, in_use: ModelInfo | None) -> ModelOverview:
        overview = await survey_models(self._workspace(), in_use)
        self._names = tuple(row.name for row in overview.rows)
        self._asked_at = time.monotonic()
        return overview

    async def verify(self, name: str) -> ModelInfo:
        return await verify_model(self._workspace(), name)

    async def of_server(self, address: str) -> ModelRow:
        from zkchat.app.setup import WITHOUT_KEY, with_settings  # which brings a library for TOML

        here = self._workspace()
        environment = with_settings(here.environment, {BASE_URL: address, **WITHOUT_KEY})
        overview = await survey_models(replace(here, environment=environment).changed_by(None, None))
        for row in overview.rows:
            if row.name.startswith("openai:") and not row.problem:
                return row
        problem = next((each.problem for each in overview.listings if each.source == without_password(address)), "")
        raise ProviderError(f"{without_password(address)} lists no models. {problem}".rstrip())

    def keep_server(self, address: str) -> None:
        SettingsEditor(self._workspace().paths, "user").set(BASE_URL, address)


def turn_settings(loaded: Loaded, options: ConversationOptions, model: str, history: History) -> TurnSettings:
    """What the settings and the user say about turns that the model of this name answers."""
    settings = loaded.settings
    context, limits = settings.context, settings.limits
    named = settings.models.get(model)
    own = named.strategy if named and loaded.origins["context.strategy"].layer not in {"variable", "flag"} else None
    return TurnSettings(
        shares=Shares(
            max_tokens=context.max_tokens,
            reserve=context.reserve_tokens,
            system=context.system_share,
            tools=context.tools_share,
            messages=context.messages_share,
            memory=context.memory_share,
            threshold=context.threshold,
        ),
        policy=Policy(
            auto=context.auto_compact,
            strategy=own or context.strategy,
            keep=Retention(recent=context.keep_recent, least=context.keep_min),
            confirm=context.confirm_compaction,
            detail=context.summary_detail,
            review=context.review_summary,
        ),
        limits=AnswerLimits(characters=limits.max_answer_chars, time=timedelta(seconds=limits.max_answer_seconds)),
        selection=SelectionLimits(threshold=context.items_minimum, most=context.items_limit),
        recall=context.recall,
        memory=settings.memory.enabled,
        look_again=settings.references.look_again,
        check_answers=settings.references.check_answers,
        private=history.is_private or options.private,
        strict=options.strict,
        quoted_passages=options.quoted_passages or DEFAULT_LIMIT,
        max_images=settings.images.max_count,
        image_detail=settings.images.detail,
    )


def open_for_answers(
    stack: ExitStack, core: ConversationCore, live: LiveSettings, options: ConversationOptions, changes: ChangeStore
) -> tuple[ConversationCore, tuple[str, ...]]:
    """The same with all that a model uses which does not only quote, and what the user should know of it."""
    if core.info.needs_notes:
        return core, ()
    from zkchat.app.writing import ProposalParts

    workspace = live.workspace
    memory: Memory | None = None
    about_memory: tuple[str, ...] = ()
    if core.settings.memory:
        try:
            _, memory, about_memory = stack.enter_context(open_memory(workspace))
        except StorageError as error:  # a conversation goes on without it
            about_memory = (f"Memory is not available right now. {error.message}",)
    servers, about_servers = _open_servers(live, options)
    writing = ProposalParts(changes, workspace, core.provider, options.user_interface, options.writing, live.local_only)
    agent = core.agent_for()
    if "agent" in (*agent.references.values(), *map(agent.rule_mode, core.profiles.rules.values())):
        stack.callback(core.relevance.preload())  # the first question will need it
    opened = replace(
        core,
        facts=memory,
        search=stack.enter_context(open_message_search(workspace)),
        staged=writing.staged,
        make_proposals=writing.proposals,
        servers=servers,
    )
    return opened, (*about_memory, *about_servers)


def _open_servers(live: LiveSettings, options: ConversationOptions) -> tuple[ServerAccess | None, tuple[str, ...]]:
    """The MCP servers, and what the user should know of their definitions."""
    if options.servers is None:
        return None, ()
    workspace = live.workspace
    servers, warnings = options.servers.open(workspace)
    if servers is None:
        return None, warnings
    allowed = [*workspace.settings.mcp.allow]

    def allow_anew(now: Workspace) -> str:
        allowed[:] = now.settings.mcp.allow
        return ""

    live.follow(options.servers.withdraw_changed)
    live.follow(allow_anew)
    access = ServerAccess(
        servers=servers,
        waits=options.servers.waits,
        approvals=StoredApprovals(workspace.paths.data / "mcp-approvals.json", workspace.paths.vault_key),
        reviewer=options.user_interface.call_reviewer,
        allowed=allowed,
    )
    return access, warnings

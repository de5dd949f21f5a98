"""What a conversation owns, opened over the files of a vault as far as its model has a use for it."""

from contextlib import ExitStack
from datetime import timedelta

from msgspec.structs import replace

from zkchat.chat.background_summaries import BackgroundSummaries
from zkchat.chat.core import AnswerLimits, ConversationCore, Policy, TurnSettings
from zkchat.chat.server_access import ServerAccess
from zkchat.compose.conversation_options import ConversationOptions
from zkchat.compose.live_settings import LiveSettings
from zkchat.compose.providers import may_answer_anytime
from zkchat.compose.stores import open_memory, open_message_search, open_summary_cache
from zkchat.compose.workspace import Workspace
from zkchat.config.call_approvals import StoredApprovals
from zkchat.config.schema import Settings
from zkchat.context.budget import Shares
from zkchat.context.strategies import Retention
from zkchat.errors import StorageError
from zkchat.memory.facts import Memory
from zkchat.model.evidence import DEFAULT_LIMIT
from zkchat.ports.changes import ChangeStore


def turn_settings(settings: Settings, options: ConversationOptions, *, private: bool) -> TurnSettings:
    """What the settings and the user say about turns."""
    context, limits = settings.context, settings.limits
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
            strategy=context.strategy,
            keep=Retention(recent=context.keep_recent, least=context.keep_min),
            confirm=context.confirm_compaction,
            review=context.review_summary,
        ),
        limits=AnswerLimits(characters=limits.max_answer_chars, time=timedelta(seconds=limits.max_answer_seconds)),
        recall=context.recall,
        memory=settings.memory.enabled,
        look_again=settings.references.look_again,
        check_answers=settings.references.check_answers,
        model_summaries=settings.references.model_summaries,
        private=private or options.private,
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
    from zkchat.compose.proposals import proposals_over

    workspace = live.workspace
    memory, about_memory = _open_memory(stack, workspace) if core.settings.memory else (None, ())
    servers, about_servers = _open_servers(live, options)
    keeps_summaries = core.settings.model_summaries != "never"
    writing = proposals_over(
        changes, workspace, core.provider, options.user_interface, options.writing, live.local_only
    )
    if _selects_by_relevance(core):  # the first question will need it
        stack.callback(core.relevance.preload())
    opened = replace(
        core,
        facts=memory,
        search=stack.enter_context(open_message_search(workspace)),
        summary_cache=stack.enter_context(open_summary_cache(workspace)) if keeps_summaries else None,
        staged=writing.staged,
        make_proposals=writing.proposals,
        servers=servers,
    )
    return opened, (*about_memory, *about_servers)


def _open_memory(stack: ExitStack, workspace: Workspace) -> tuple[Memory | None, tuple[str, ...]]:
    """What is remembered across sessions; a conversation goes on without it."""
    try:
        _, memory, notices = stack.enter_context(open_memory(workspace))
    except StorageError as error:
        return None, (f"Nothing is remembered now. {error.message}",)
    return memory, notices


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


def _selects_by_relevance(core: ConversationCore) -> bool:
    agent = core.agent_for()
    modes = [*agent.references.values(), *(agent.rule_mode(rule) for rule in core.profiles.rules.values())]
    return "agent" in modes


def background_summaries(core: ConversationCore) -> BackgroundSummaries:
    """What goes on between the turns of a chat."""
    mode = core.settings.model_summaries
    if mode == "local" and not may_answer_anytime(core.provider):
        mode = "never"
    return BackgroundSummaries(
        summaries=core.summaries,
        library=core.library,
        provider=core.provider,
        shares=core.settings.shares,
        mode=mode,
    )

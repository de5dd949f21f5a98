"""The wiring of a turn, from values and ports alone: nothing is opened here."""

from zkchat.chat.answer_check import AnswerCheck
from zkchat.chat.augmentation import Augmentation
from zkchat.chat.background_summaries import BackgroundSummaries
from zkchat.chat.compaction import Compactor
from zkchat.chat.document_summaries import Summaries
from zkchat.chat.request import RequestBuilder
from zkchat.chat.request_plan import RequestPlanner
from zkchat.chat.second_look import SecondLook
from zkchat.chat.tool_loop import ToolLoop
from zkchat.chat.turn import Turn
from zkchat.compose.model_view import ModelView, view_of_model
from zkchat.compose.providers import may_answer_anytime
from zkchat.compose.turn_parts import TurnParts
from zkchat.compose.turn_settings import TurnSettings
from zkchat.compose.turn_tools import turn_tools
from zkchat.context.selection import Selector
from zkchat.tools.names import CORE_TOOLS


def build_turn(parts: TurnParts) -> Turn:
    """A turn over these parts, whose journal is told what stays on this machine."""
    view, settings = view_of_model(parts), parts.settings
    parts.journal.privacy = view.privacy
    requests = _request_builder(parts, view)
    summaries = Summaries(view.library, parts.summary_cache)
    loop = _tool_loop(parts, view, requests, summaries)
    second_look = SecondLook(library=view.library, loop=loop, is_wanted=settings.look_again)
    return Turn(
        journal=parts.journal,
        vault=parts.vault,
        library=view.library,
        index=parts.index,
        provider=parts.provider,
        privacy=view.privacy,
        requests=requests,
        loop=loop,
        augmentation=_augmentation(parts, view, requests, second_look),
        second_look=second_look,
        answer_check=AnswerCheck(loop=loop, is_wanted=settings.check_answers),
        summaries=summaries,
        tokenizer=parts.tokenizer,
        images=view.images,
        proposals=view.proposals,
        servers=parts.servers.access if parts.servers else None,
        strict=settings.strict,
        live=parts.live,
    )


def _request_builder(parts: TurnParts, view: ModelView) -> RequestBuilder:
    return RequestBuilder(
        planner=_request_planner(parts, view),
        compactor=_compactor(parts, view),
        images=view.images,
        prior=parts.prior,
    )


def _request_planner(parts: TurnParts, view: ModelView) -> RequestPlanner:
    settings = parts.settings
    return RequestPlanner(
        journal=parts.journal,
        provider=parts.provider,
        tokenizer=parts.tokenizer,
        library=view.library,
        privacy=view.privacy,
        shares=settings.shares,
        tools=turn_tools(parts, view),
        long_messages=view.long_messages,
        core=CORE_TOOLS,
        profiles=parts.profiles,
        selector=Selector(parts.relevance, parts.tokenizer),
        approvals=parts.approvals,
        memory=view.memory,
        remembers=settings.memory,
        recall=view.recall if settings.recall else None,
        proposals=view.proposals,
        readings=view.readings,
        strict=settings.strict,
    )


def _compactor(parts: TurnParts, view: ModelView) -> Compactor:
    return Compactor(
        journal=parts.journal,
        provider=parts.provider,
        tokenizer=parts.tokenizer,
        policy=parts.settings.policy,
        privacy=view.privacy,
        reviewer=parts.user_interface.reviewer,
    )


def _tool_loop(parts: TurnParts, view: ModelView, requests: RequestBuilder, summaries: Summaries) -> ToolLoop:
    return ToolLoop(
        provider=parts.provider,
        requests=requests,
        tools=requests.planner.tools,
        tokenizer=parts.tokenizer,
        journal=parts.journal,
        library=view.library,
        summaries=summaries,
        images=view.images,
        limits=parts.settings.limits,
        readings=view.readings,
    )


def _augmentation(parts: TurnParts, view: ModelView, requests: RequestBuilder, second_look: SecondLook) -> Augmentation:
    return Augmentation(
        library=view.library,
        provider=parts.provider,
        requests=requests,
        second_look=second_look,
        tokenizer=parts.tokenizer,
        images=view.images,
        strict=parts.settings.strict,
        quoted_passages=parts.settings.quoted_passages,
    )


def build_background_summaries(turn: Turn, settings: TurnSettings) -> BackgroundSummaries:
    """What goes on between the turns of a chat."""
    mode = settings.model_summaries
    if mode == "local" and not may_answer_anytime(turn.provider):
        mode = "never"
    return BackgroundSummaries(
        summaries=turn.summaries,
        library=turn.library,
        provider=turn.provider,
        shares=settings.shares,
        mode=mode,
    )

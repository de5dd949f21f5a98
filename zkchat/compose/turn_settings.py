"""What the settings say about a turn."""

from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import Struct, field

from zkchat.chat.background_summaries import SummaryMode
from zkchat.chat.compaction import Policy
from zkchat.chat.images import MAX_IMAGES
from zkchat.chat.tool_loop import DEFAULT_LIMITS, AnswerLimits
from zkchat.compose.conversation_options import ConversationOptions
from zkchat.context.budget import Shares
from zkchat.context.strategies import Retention
from zkchat.model.evidence import DEFAULT_LIMIT
from zkchat.model.images import ImageDetail

if TYPE_CHECKING:
    from zkchat.config.schema import Settings


class TurnSettings(Struct, frozen=True, kw_only=True):
    """What the settings say about a turn."""

    shares: Shares = field(default_factory=Shares)
    policy: Policy = field(default_factory=Policy)
    limits: AnswerLimits = DEFAULT_LIMITS
    recall: bool = True
    """Whether archived messages come back by themselves; a tool finds them in any case."""
    memory: bool = True
    """Whether anything of memory is used: the vault's page, facts, and the tools over them."""
    look_again: bool = True
    check_answers: bool = True
    model_summaries: SummaryMode = "local"
    private: bool = False
    strict: bool = False
    quoted_passages: int = DEFAULT_LIMIT
    """Passages that an answer without a model quotes at most."""
    max_images: int = MAX_IMAGES
    """Images that go along with one message at most."""
    image_detail: ImageDetail = "high"

    @classmethod
    def from_settings(cls, settings: "Settings", options: ConversationOptions, *, private: bool) -> "TurnSettings":
        context, limits = settings.context, settings.limits
        return cls(
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

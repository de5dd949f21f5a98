"""What messages cost: the tokens of the requests behind them and of the answers. Pure."""

from collections.abc import Iterable

from zkchat.model.message import ChatMessage
from zkchat.model.session import compaction_of


def tokens_of(messages: Iterable[ChatMessage]) -> int:
    """Tokens of all requests and answers, as the model's server counted them, else as we did."""
    return sum(map(_tokens, messages))


def _tokens(message: ChatMessage) -> int:
    if part := compaction_of(message):
        # The request for a summary held what it replaced; its own usage is not kept.
        return max(0, part.tokens_before - part.tokens_after) if part.made_by else 0
    if message.role != "assistant" or message.request_context is None:
        return 0
    if message.usage and message.usage.prompt_tokens:
        return message.usage.prompt_tokens + message.usage.completion_tokens
    usage = message.request_context.usage
    answer = message.token_count + message.tool_tokens + message.thinking_tokens
    return (usage.total if usage else 0) + answer

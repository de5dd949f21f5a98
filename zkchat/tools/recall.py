"""The tool that finds what was said earlier in the conversation and is no longer in the prompt."""

from collections.abc import Callable, Sequence
from typing import Annotated

from zkchat.context.condensing import condense_text
from zkchat.context.formatting import format_quote
from zkchat.context.recall.search import FoundMessage
from zkchat.model.text import counted
from zkchat.ports.tools import Tool, ToolOutcome
from zkchat.tools.argument_kinds import Text
from zkchat.tools.arguments import Limit
from zkchat.tools.registry import function_tool

PAGE_CHARS = 8000
"""Characters given at once, shared by the messages that were found."""


def recall_tools(find: Callable[[str, int], Sequence[FoundMessage]]) -> list[Tool]:
    """`find` looks through the messages that may be shown: for these words, so many at most, the best first."""

    def search_conversation(
        *,
        query: Annotated[str, Text(description="Words, a name or a date", min_length=1, also=("q", "text", "search"))],
        limit: Limit = 5,
    ) -> ToolOutcome:
        """Find what was said earlier in this conversation but is not shown."""
        found = find(query, limit)
        if not found:
            return ToolOutcome(text="Nothing that was said earlier matches.", summary="none")
        share = PAGE_CHARS // len(found)
        texts = [format_quote(message, condense_text(message.text, share, len, question=query)) for message, _ in found]
        return ToolOutcome(text="\n\n".join(texts), summary=counted(len(found), "message"))

    return [function_tool(search_conversation)]

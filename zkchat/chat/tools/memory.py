"""Tools that remember facts and look into earlier conversations."""

from collections.abc import Callable, Sequence
from typing import Annotated

from zkchat.chat.context.condensing import condense_text
from zkchat.chat.context.formatting import format_quote
from zkchat.chat.memory import MAX_FACT_CHARS, Memory, format_fact
from zkchat.chat.tools.registry import PAGE_CHARS, Limit, Text, failure, function_tool
from zkchat.core import ChatMessage, IndexedMessage, Tool, ToolOutcome, counted


def recall_tools(find: Callable[[str, int], Sequence[tuple[ChatMessage | IndexedMessage, float]]]) -> list[Tool]:
    """`find` looks through the messages that may be shown: for these words, so many at most, the best first."""

    def search_conversation(
        *,
        query: Annotated[str, Text(description="Words, a name or a date", min_length=1, also=("q", "text", "search"))],
        limit: Limit = 5,
    ) -> ToolOutcome:
        """Find what was said or read earlier here but is not shown."""
        found = find(query, limit)
        if not found:
            return ToolOutcome(text="Nothing that was said or read earlier matches.", summary="none")
        share = PAGE_CHARS // len(found)
        texts = [format_quote(message, condense_text(message.text, share, len, question=query)) for message, _ in found]
        return ToolOutcome(text="\n\n".join(texts), summary=counted(len(found), "message"))

    return [function_tool(search_conversation)]


def memory_tools(
    memory: Memory,
    may_remember: Callable[[str], bool] | None,
    session_id: Callable[[], str],
    agent: Callable[[], str | None] = lambda: None,
) -> list[Tool]:
    """`may_remember` shows the user what is to be kept, and may refuse; without it no tool keeps anything. `agent`
    names the one that uses them."""

    def remember(
        *,
        information: Annotated[
            str,
            Text(
                description="One sentence",
                min_length=1,
                max_length=MAX_FACT_CHARS,
                also=("text", "fact", "content", "memory"),
            ),
        ],
    ) -> ToolOutcome:
        """Keep a fact about the user that later conversations need; they are asked first."""
        text = " ".join(information.split())
        if may_remember is None or not may_remember(text):
            return failure("The user does not want this to be remembered. Do not try again.")
        remembered = memory.remember(text, "model", session_id())
        return ToolOutcome(text=remembered.sentence, summary="remembered" if remembered.is_new else "known already")

    def recall(*, query: Annotated[str, Text(min_length=1, also=("q", "text", "search"))]) -> ToolOutcome:
        """Find facts kept in earlier conversations, where they help."""
        found = memory.search(query, most=10, agent=agent())
        if not found:
            return ToolOutcome(text="Nothing about that was kept.", summary="nothing found")
        facts = "\n".join(format_fact(fact) for fact, _ in found)
        return ToolOutcome(text=facts, summary=counted(len(found), "fact"))

    return [*([function_tool(remember)] if may_remember else []), function_tool(recall)]

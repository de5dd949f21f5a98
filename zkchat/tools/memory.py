"""Tools over what is kept across sessions. Nothing is kept without the user's consent."""

from collections.abc import Callable
from typing import Annotated, Protocol

from zkchat.memory.facts import MAX_FACT_CHARS, Memory, format_fact
from zkchat.model.text import counted
from zkchat.ports.tools import Tool, ToolOutcome
from zkchat.tools.argument_kinds import Text
from zkchat.tools.registry import function_tool
from zkchat.tools.toolbox import failure

MAX_RECALLED = 10


class CurrentSession(Protocol):
    @property
    def session_id(self) -> str: ...


def memory_tools(memory: Memory, may_remember: Callable[[str], bool] | None, session: CurrentSession) -> list[Tool]:
    """`may_remember` shows the user what is to be kept, and may refuse; without it no tool keeps anything."""

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
        remembered = memory.remember(text, "model", session.session_id)
        return ToolOutcome(text=remembered.sentence, summary="remembered" if remembered.is_new else "known already")

    def recall(*, query: Annotated[str, Text(min_length=1, also=("q", "text", "search"))]) -> ToolOutcome:
        """Find facts kept in earlier conversations, where they help."""
        found = memory.search(query, most=MAX_RECALLED)
        if not found:
            return ToolOutcome(text="Nothing about that was kept.", summary="nothing found")
        facts = "\n".join(format_fact(fact) for fact, _ in found)
        return ToolOutcome(text=facts, summary=counted(len(found), "fact"))

    return [*([function_tool(remember)] if may_remember else []), function_tool(recall)]

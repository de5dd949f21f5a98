"""Tools over what is kept across sessions. Nothing is kept without the user's consent."""

from collections.abc import Callable
from typing import Annotated, Protocol

from zkchat.memory.facts import MAX_FACT_CHARS, Memory, format_fact
from zkchat.ports.tools import Tool, ToolOutcome
from zkchat.tools.argument_kinds import Text
from zkchat.tools.arguments import Arguments
from zkchat.tools.registry import FunctionTool
from zkchat.tools.toolbox import failure

MAX_RECALLED = 10


class Remember(Arguments, frozen=True, kw_only=True):
    information: Annotated[
        str,
        Text(
            description="One sentence",
            min_length=1,
            max_length=MAX_FACT_CHARS,
            also=("text", "fact", "content", "memory"),
        ),
    ]


class Recall(Arguments, frozen=True, kw_only=True):
    query: Annotated[
        str,
        Text(
            min_length=1,
            also=("q", "text", "search"),
        ),
    ]


class CurrentSession(Protocol):
    @property
    def session_id(self) -> str: ...


def memory_tools(memory: Memory, may_remember: Callable[[str], bool] | None, session: CurrentSession) -> list[Tool]:
    """`may_remember` shows the user what is to be kept, and may refuse; without it no tool keeps anything."""
    tools = _MemoryTools(memory, may_remember or _refused, session)
    recall = FunctionTool("recall", "Find facts kept in earlier conversations, where they help.", Recall, tools.recall)
    if may_remember is None:
        return [recall]
    about = "Keep a fact about the user that later conversations need; they are asked first."
    return [FunctionTool("remember", about, Remember, tools.remember), recall]


def _refused(_text: str) -> bool:
    return False


class _MemoryTools:
    def __init__(self, memory: Memory, may_remember: Callable[[str], bool], session: CurrentSession) -> None:
        self._memory = memory
        self._may_remember = may_remember
        self._session = session

    def remember(self, wanted: Remember) -> ToolOutcome:
        text = " ".join(wanted.information.split())
        if not self._may_remember(text):
            return failure("The user does not want this to be remembered. Do not try again.")
        remembered = self._memory.remember(text, "model", self._session.session_id)
        return ToolOutcome(text=remembered.sentence, summary="remembered" if remembered.is_new else "known already")

    def recall(self, wanted: Recall) -> ToolOutcome:
        found = self._memory.search(wanted.query, most=MAX_RECALLED)
        if not found:
            return ToolOutcome(text="Nothing about that was kept.", summary="nothing found")
        return ToolOutcome(
            text="\n".join(format_fact(fact) for fact, _ in found),
            summary=f"{len(found)} fact{'s' * (len(found) != 1)}",
        )

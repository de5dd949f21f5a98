"""What is asked in one turn, all that grows while it is answered, and what is said of an answer without words."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field

from zkchat.chat.event_stream import Emit
from zkchat.chat.journal import Draft
from zkchat.chat.quotations import GivenText
from zkchat.chat.references import ReferenceList
from zkchat.context.assembly import AssembledRequest
from zkchat.context.prompt_items import RequestPlan
from zkchat.model.events import ReferenceFound, Warned
from zkchat.model.message import ChatMessage
from zkchat.model.parts import ToolCallPart
from zkchat.model.prompt import Finish
from zkchat.model.references import DocumentReference

MAX_FAILED_ROUNDS: Final = 2
"""After so many rounds in a row in which no call worked, the model is asked for its answer without tools."""
MORE_ROOM: Final = "raise context.max_tokens or context.reserve_tokens"
OTHERWISE: Final = "Ask again in other words, or choose another model."


class Exchange(Struct):
    """What is asked in one turn, and everything that grows while it is answered."""

    plan: RequestPlan
    assembled: AssembledRequest
    """The request of the current step, and its record."""
    result_budget: int
    """Tokens that tool results may still take."""
    is_grounded: bool = True
    """Whether the request holds anything that notes say."""
    references: ReferenceList = field(default_factory=ReferenceList)
    draft: Draft | None = None
    calls: list[ToolCallPart] = field(default_factory=list)
    finish: Finish | None = None
    made: set[tuple[str, str]] = field(default_factory=set)
    """Name and arguments of every call so far."""
    answered: set[tuple[str, str]] = field(default_factory=set)
    """Those whose results still hold."""
    staging: set[tuple[str, str]] = field(default_factory=set)
    """Those that staged a change."""
    rounds: int = 0
    """Rounds of tool calls so far."""
    failed_rounds: int = 0
    errors: set[str] = field(default_factory=set)
    """What the failed calls were told."""
    warnings: set[str] = field(default_factory=set)
    """What the user was told of calls."""
    may_fail: int = MAX_FAILED_ROUNDS
    """Rounds in a row in which all calls may fail."""
    lost_tools: str = ""
    """Why the model has to answer without its tools, as what it did; empty where it may call them."""
    passages: list[GivenText] = field(default_factory=list)
    """What evidence and tools brought of notes in this turn."""

    @property
    def abstained(self) -> bool:
        """Whether the answer is that there is none."""
        return self.finish is not None and self.finish.reason == "abstained"

    def use(self, assembled: AssembledRequest) -> None:
        """Go on with this request; what it leaves free is there for the results of tools."""
        self.assembled = assembled
        self.result_budget = assembled.usage.available


async def report_references(exchange: Exchange, references: Sequence[DocumentReference], emit: Emit) -> None:
    """Take what was found into the exchange, and tell of it, except of what is only listed."""
    for reference in references:
        exchange.references.add(reference)
        if reference.relative_path and reference.included and reference.snippet:
            exchange.passages.append(GivenText(reference.relative_path, reference.snippet))
        if not reference.is_only_listed:
            await emit(ReferenceFound(reference=reference))


def empty_answer_warning(exchange: Exchange, answer: ChatMessage, name: str) -> Warned | None:
    """One sentence on an answer that holds no words, or for which the model lost its tools; None on any other."""
    if not answer.text.strip():
        text, hint = _no_words(exchange, answer)
    elif exchange.lost_tools:
        text, hint = (
            f"{exchange.lost_tools}, so it answered without them.",
            f"It may have missed something. {OTHERWISE}",
        )
    else:
        return None
    return Warned(text=f"{name} {text}", hint=hint)


def _no_words(exchange: Exchange, answer: ChatMessage) -> tuple[str, str]:
    has_thought = bool(answer.thinking.strip())
    if exchange.finish and exchange.finish.reason == "length":
        return "ran out of room before it answered.", f"Ask for something shorter, or {MORE_ROOM}."
    if exchange.calls:
        return "kept calling tools and answered nothing.", f"What they found is kept. {OTHERWISE}"
    if has_thought:
        return "thought and then answered nothing.", f"Its thinking is kept: ui.thinking shows it. {OTHERWISE}"
    if exchange.rounds:
        return "used its tools and then answered nothing.", f"What they found is kept. {OTHERWISE}"
    return "answered nothing.", OTHERWISE

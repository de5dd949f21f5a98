"""What the user is told of an answer without words, and of a model that would not stop calling tools."""

from typing import Final

from zkchat.chat.exchange import Exchange
from zkchat.chat.tool_loop import MORE_ROOM
from zkchat.model.events import Warned
from zkchat.model.message import ChatMessage

OTHERWISE: Final = "Ask again in other words, or choose another model."


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

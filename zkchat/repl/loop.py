"""The plain chat loop: a line, a turn, a line. Ctrl-C stops an answer, Ctrl-D leaves."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress

from zkchat.chat.conversation import Conversation
from zkchat.model.events import Event

HELP = """\
Write a question; [[wikilinks]] name notes of your vault.
/help  this text        /quit  leave (or Ctrl-D)        Ctrl-C  stop an answer; what came is kept"""


async def converse(
    conversation: Conversation,
    *,
    read: Callable[[], Awaitable[str]],
    tell: Callable[[str], None],
    show_turn: Callable[[], Callable[[Event], None]],
) -> None:
    """Until the user leaves. `read` raises EOFError at the end; `show_turn` gives each turn its own presenter."""
    while True:
        try:
            text = (await read()).strip()
        except EOFError:
            return
        except KeyboardInterrupt:
            tell("(Ctrl-D leaves.)")
            continue
        if text in {"/quit", "/exit", "/q"}:
            return
        if text.startswith("/"):
            tell(HELP if text == "/help" else f"There is no command {text.split()[0]}. /help lists what there is.")
        elif text:
            await _turn(conversation, text, show_turn())


async def _turn(conversation: Conversation, text: str, show: Callable[[Event], None]) -> None:
    task = asyncio.ensure_future(_play(conversation, text, show))
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # Windows: there Ctrl-C ends the program, with the answer kept as far as it came
        loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        with suppress(asyncio.CancelledError):
            await task
    finally:
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)


async def _play(conversation: Conversation, text: str, show: Callable[[Event], None]) -> None:
    async with aclosing(conversation.say(text)) as events:
        async for event in events:
            show(event)

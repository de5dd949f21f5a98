"""The plain chat loop: a line, a turn, a line. Ctrl-C stops an answer, Ctrl-D leaves."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress

from zkchat.chat.conversation import Conversation
from zkchat.render.presenter import Presenter

HELP = """\
Write a question; [[wikilinks]] name notes of your vault.
/help  this text        /quit  leave (or Ctrl-D)        Ctrl-C  stop an answer; what came is kept"""


async def converse(
    conversation: Conversation,
    *,
    read: Callable[[], Awaitable[str]],
    tell: Callable[[str], None],
    presenter: Callable[[], Presenter],
) -> None:
    """Until the user leaves. `read` raises EOFError at the end; `presenter` makes a new one for each turn."""
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
            await _turn(conversation, text, presenter())


async def _turn(conversation: Conversation, text: str, presenter: Presenter) -> None:
    task = asyncio.ensure_future(_play(conversation, text, presenter))
    loop = asyncio.get_running_loop()
    with suppress(
        NotImplementedError
    ):  # Windows: there Ctrl-C ends the program, with the answer kept as far as it came
        loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        with suppress(asyncio.CancelledError):
            await task
    finally:
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)


async def _play(conversation: Conversation, text: str, presenter: Presenter) -> None:
    try:
        async with aclosing(conversation.say(text)) as events:
            async for event in events:
                presenter.show(event)
    finally:
        presenter.close()

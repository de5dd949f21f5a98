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
        _on_interrupt(_nothing)
        try:
            text = (await read()).strip()
        except EOFError:
            return
        except KeyboardInterrupt:
            tell("(Ctrl-D leaves.)")
            continue
        finally:
            _on_interrupt(_nothing)  # the prompt had its own
        if text in {"/quit", "/exit", "/q"}:
            return
        if text.startswith("/"):
            tell(HELP if text == "/help" else f"There is no command {text.split()[0]}. /help lists what there is.")
        elif text:
            await _turn(conversation, text, presenter())


async def _turn(conversation: Conversation, text: str, presenter: Presenter) -> None:
    task = asyncio.ensure_future(_play(conversation, text, presenter))
    _on_interrupt(task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def _on_interrupt(act: Callable[[], object]) -> None:
    """What Ctrl-C does from now on. On Windows it ends the program, with the answer kept as far as it came."""
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, act)


def _nothing() -> None:
    """Ctrl-C between a prompt and a turn stops neither."""


async def _play(conversation: Conversation, text: str, presenter: Presenter) -> None:
    try:
        async with aclosing(conversation.say(text)) as events:
            async for event in events:
                presenter.show(event)
    finally:
        presenter.close()

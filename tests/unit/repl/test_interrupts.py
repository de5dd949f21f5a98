import asyncio
import os
import signal

import pytest

from zkchat.repl.loop import until_interrupted


async def told(text: str) -> str:
    return text


def test_work_that_is_not_stopped_gives_its_result() -> None:
    assert asyncio.run(until_interrupted(told("done"))) == "done"


def test_ctrl_c_stops_the_work_and_nothing_else() -> None:
    async def wait() -> tuple[object, str | None]:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
        return await until_interrupted(asyncio.sleep(60, "slept")), await until_interrupted(told("done"))

    assert asyncio.run(wait()) == (None, "done")


def test_the_end_of_the_whole_chat_is_not_taken_for_ctrl_c() -> None:
    async def cancel() -> None:
        chat = asyncio.ensure_future(until_interrupted(asyncio.sleep(60)))
        await asyncio.sleep(0)
        chat.cancel()
        await chat

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())

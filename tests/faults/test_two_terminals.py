"""Two terminals in one vault can be used at the same time."""

import os
import subprocess
import sys

from tests.support.world import World

TURNS = 12
TALK = """
import asyncio, io, sys
from pathlib import Path
from zkchat.app import conversation
from zkchat.app.conversation_core import ConversationOptions
from zkchat.core.environment import Environment
from zkchat.core.events import TurnFinished, Warned

folder, script, turns = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
environment = Environment(
    stdin=io.StringIO(), stdout=io.StringIO(), stderr=io.StringIO(),
    variables={}, cwd=folder / "vault", home=folder / "home",
)
options = ConversationOptions(model=script, continue_last=True)
with conversation.open_conversation(environment, options) as opened:
    async def turn(number):
        async for event in opened.conversation.say(f"Question {number}?"):
            if isinstance(event, Warned):
                print(event.text, file=sys.stderr)
            if isinstance(event, TurnFinished):
                print(event.message.parent_id, event.message.id, flush=True)
    for number in range(turns):
        asyncio.run(turn(number))
"""


def test_two_processes_write_to_one_session_and_nothing_is_lost(world: World) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    answer: list[dict[str, object]] = [{"text": "Seven "}, {"delay": 0.02}, {"text": "hours."}]
    model = world.script(*[answer] * (4 * TURNS))
    world.run("ask", "First?", "--model", model)  # so that both continue the same session
    children = [
        subprocess.Popen(
            [sys.executable, "-c", TALK, str(world.root), model, str(TURNS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(world.home)},
        )
        for _ in range(2)
    ]
    outputs = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0, 0]
    warnings = [line for _, errors in outputs for line in errors.splitlines()]
    assert warnings  # each hears of the other
    assert all(line.startswith("This session was continued in another terminal") for line in warnings), warnings
    shown = {id_ for output, _ in outputs for id_ in output.split()}
    assert len(shown) == 2 * 2 * TURNS
    (session,) = world.run("sessions", "list", "--all", "--json").json
    assert session["message_count"] == 2 + len(shown)

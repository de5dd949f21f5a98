"""/goal: begun, gone on with, and shown."""

import asyncio

from msgspec.structs import replace

from tests.support.command_harness import CommandHarness
from zkchat.core.events import Event, Goal, Warned
from zkchat.repl.command_context import Play
from zkchat.repl.commands.table import completions, run


def played(harness: CommandHarness, line: str) -> list[Event]:
    async def play() -> list[Event]:
        outcome = await run(harness.context, line)
        assert isinstance(outcome, Play)
        return [event async for event in outcome.events]

    return asyncio.run(play())


def test_a_goal_is_begun_and_gone_on_with() -> None:
    harness = CommandHarness()
    assert played(harness, "/goal Compare [[A]] and [[B]]") == [Warned(text="began Compare [[A]] and [[B]]")]
    assert played(harness, "/goal Resume") == [Warned(text="went on")]
    assert completions(harness.context, "/goal re") == ["resume"]


def test_the_checklist_is_shown_with_how_to_go_on() -> None:
    harness = CommandHarness()
    goal = Goal(id="g", text="Compare").with_plan(("One.", "Two."), "m1").with_step(1, "blocked", reason="no note")
    harness.goals.goal = replace(goal, state="stopped", reason="The time is up: 5 minutes.")
    asyncio.run(run(harness.context, "/goal"))
    assert harness.surface.text.splitlines() == [
        "Compare",
        "☒ 1. One. — no note",
        "☐ 2. Two.",
        "Stopped: The time is up: 5 minutes. (1 of 2 steps, 0 tokens, 0 s)",
        "/goal resume goes on with it.",
    ]


def test_without_a_goal_there_is_nothing_to_show() -> None:
    harness = CommandHarness()
    asyncio.run(run(harness.context, "/goal"))
    assert harness.surface.text.startswith("There is no goal in this session. /goal and")

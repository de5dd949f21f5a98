"""The bell that tells of the end of a long answer."""

from typing import Any

from tests.support.world import World

BELL = "\a"
SLOW: list[dict[str, Any]] = [{"delay": 1.2}, {"text": "Seven hours."}]


def test_the_terminal_rings_when_a_long_answer_is_done(world: World) -> None:
    world.configure("[ui]\nbell = 1\n")
    assert world.run("ask", "how long?", "--model", world.script(SLOW), terminal=True).out.count(BELL) == 1
    assert world.run("ask", "how long?", "--model", world.script(SLOW), "--plain", terminal=True).out.count(BELL) == 1


def test_a_long_answer_that_fails_rings_too(world: World) -> None:
    world.configure("[ui]\nbell = 1\n")
    model = world.script([{"delay": 1.2}, {"error": "It is away."}])
    assert BELL in world.run("ask", "how long?", "--model", model, terminal=True).out


def test_a_quick_answer_a_pipe_and_no_bell_are_silent(world: World) -> None:
    quick = world.run("ask", "how long?", "--model", world.script([{"text": "Seven hours."}]), terminal=True)
    world.configure("[ui]\nbell = 1\n")
    pipe = world.run("ask", "how long?", "--model", world.script(SLOW))
    as_json = world.run("ask", "how long?", "--model", world.script(SLOW), "--json", terminal=True)
    world.configure("[ui]\nbell = 0\n")
    off = world.run("ask", "how long?", "--model", world.script(SLOW), terminal=True)
    for said in (quick, pipe, as_json, off):
        assert said.code == 0
        assert BELL not in said.out + said.err


def test_a_goal_rings_at_its_end_and_not_at_each_step(world: World) -> None:
    world.configure("[ui]\nbell = 1\n")
    model = world.script(
        [{"delay": 1.2}, {"text": "1. Look up sleep.\n2. Write it down.\n"}],
        [{"text": "Seven hours."}],
        [{"text": "Done."}],
        [{"text": "Seven hours of sleep."}],
    )
    said = world.run("ask", "--goal", "tell how long to sleep", "--yes", "--model", model, terminal=True)
    assert said.out.count(BELL) == 1, said

"""The bell that tells of the end of a long answer."""

from functools import partial
from itertools import count

import pytest

from tests.support.world import World
from zkchat.render.presenters.plain import BellPresenter

BELL = "\a"
SAID = [{"text": "Seven hours."}]


@pytest.fixture
def long(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Whoever looks at the clock of the bell finds it a second later."""
    clock = partial(next, count())
    monkeypatch.setattr("zkchat.render.BellPresenter", partial(BellPresenter, clock=clock))
    world.configure("[ui]\nbell = 1\n")
    return world


def test_the_terminal_rings_when_a_long_answer_is_done_or_failed(long: World) -> None:
    for answer, options in ((SAID, []), (SAID, ["--plain"]), ([{"error": "It is away."}], [])):
        said = long.run("ask", "how long?", "--model", long.script(answer), *options, terminal=True)
        assert said.out.count(BELL) == 1


def test_a_quick_answer_is_silent(world: World) -> None:
    assert BELL not in world.run("ask", "how long?", "--model", world.script(SAID), terminal=True).out


def test_a_pipe_and_no_bell_are_silent(long: World) -> None:
    pipe = long.run("ask", "how long?", "--model", long.script(SAID))
    as_json = long.run("ask", "how long?", "--model", long.script(SAID), "--json", terminal=True)
    long.configure("[ui]\nbell = 0\n")
    off = long.run("ask", "how long?", "--model", long.script(SAID), terminal=True)
    for said in (pipe, as_json, off):
        assert (said.code, BELL in said.out + said.err) == (0, False)


def test_a_goal_rings_at_its_end_and_not_at_each_step(long: World) -> None:
    plan = [{"text": "1. Look up sleep.\n2. Write it down.\n"}]
    model = long.script(plan, SAID, [{"text": "Done."}], SAID)
    said = long.run("ask", "--goal", "tell how long to sleep", "--yes", "--model", model, terminal=True)
    assert said.out.count(BELL) == 1, said

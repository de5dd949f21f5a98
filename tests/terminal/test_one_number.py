"""The bar below the prompt and `zkchat context stats` agree, whatever was changed between two questions."""

import re
from collections.abc import Iterator

import pytest

from tests.support.ptys import Terminal
from tests.support.world import World

FACT = "Adults need seven to nine hours of sleep. "
BAR = re.compile(r"context ≈ (\d+) % of ([\d,]+)")


@pytest.fixture
def model(world: World) -> str:
    world.note("Sleep.md", f"# Sleep\n\n{FACT * 40}\n")
    answers = [[{"text": f"Answer {number}. {FACT * 30}"}] for number in range(6)]
    return world.script(*answers, context_limit=9000, calls_tools=False)


@pytest.fixture
def terminal(world: World, model: str) -> Iterator[Terminal]:
    terminal = Terminal(world, "--model", model, width=100, height=40)
    terminal.wait_for_prompt()
    yield terminal
    terminal.close()


def bar_of(terminal: Terminal) -> tuple[int, int]:
    """The percentage and the window that the bar below the prompt shows last."""
    terminal.wait_until(lambda: terminal.is_at_prompt and bool(BAR.search(terminal.rows[-1])), "a figure in the bar")
    found = BAR.search(terminal.rows[-1])
    assert found
    return int(found[1]), int(found[2].replace(",", ""))


def measured(world: World, *model: str) -> tuple[int, int]:
    usage = world.run("context", "stats", "--json", *model).json["usage"]
    return 100 * usage["total"] // usage["window"], usage["window"]


def test_after_every_command_the_bar_shows_what_the_next_request_will_hold(
    world: World, terminal: Terminal, model: str
) -> None:
    def typed(line: str, expected: str) -> tuple[int, int]:
        terminal.type(f"{line} \r")
        terminal.wait_for(expected)
        terminal.wait_for_prompt()
        shown = bar_of(terminal)
        assert shown == measured(world, "--model", model), line
        return shown

    for number in range(2):
        typed(f"What is sleep, number {number}?", f"Answer {number}.")
    full = typed("What is sleep at last?", "Answer 2.")
    assert typed("/add [[Sleep]]", "sent with every message from now on") > full
    assert typed("/drop [[Sleep]]", "is not sent from now on") == full
    assert typed("/pin 1", "is pinned") == full
    assert typed("/branch 2", "continues after message 2") < full
    assert typed("/branch b1", "continues after message 6") == full
    terminal.type("/model quote\r")
    terminal.wait_for("quote answers now.")
    terminal.wait_for_prompt()
    assert "context" not in terminal.rows[-1]  # it has none
    terminal.type("/quit\r")
    assert terminal.finish() == 0

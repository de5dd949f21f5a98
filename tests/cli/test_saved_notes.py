"""A note that a chat writes is known in the same chat."""

import io
from dataclasses import replace

from tests.support.world import Terminal, World
from zkchat.cli.main import run


def test_a_note_that_was_just_saved_can_be_asked_about(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    model = world.script([{"text": "Seven hours."}])
    world.variables["TERM"] = "dumb"
    typed = "What is [[Sleep]]?\n/save [[Kept]]\ny\n/why [[Kept]]\n/why [[Lost]]\n"
    environment = replace(world.environment(terminal=True), stdin=Terminal(typed))
    run(("chat", "--model", model), environment)
    assert isinstance(environment.stdout, io.StringIO)
    assert isinstance(environment.stderr, io.StringIO)
    told = environment.stdout.getvalue() + environment.stderr.getvalue()
    assert "Kept.md was not in the request of the last answer" in told
    assert "There is no note [[Lost]]." in told

"""Whatever a server sends, Ctrl-C brings the prompt back. A flood that cannot be stopped goes on for minutes."""

import pytest

from tests.faults.fault_server import FaultServer
from tests.providers.loopback import serving
from tests.support.ptys import Terminal
from tests.support.world import World

server = serving(FaultServer)


@pytest.mark.parametrize("fault", ["endless", "large-list", "large-line", "large-code"])
def test_ctrl_c_stops_a_flood_and_the_prompt_is_back(world: World, server: FaultServer, fault: str) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    world.variables["ZKCHAT_OLLAMA__HOST"] = server.address
    with Terminal(world, "--model", f"ollama:{fault}") as terminal:
        terminal.wait_for_prompt()
        terminal.type("How long?\r")
        terminal.wait_until(lambda: terminal.text.count("word") > 20, "an answer")
        terminal.type("\x03")
        terminal.wait_for("(Stopped. What arrived is kept.)")
        terminal.type("And now")
        terminal.wait_for("you › And now")

"""A file outside the vault, a theme and footnotes, at a real terminal."""

import pytest

from tests.support.ptys import Terminal
from tests.support.world import World

pytestmark = pytest.mark.outside


def test_a_file_outside_is_asked_about_with_one_key_and_esc_is_a_no(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    world.configure('[ui]\npanel = "footnotes"\ntheme = "light"\n')
    (world.home / "todo.txt").write_text("Buy nails.\n")
    model = world.script([{"text": "No list.\n"}], [{"text": "Nails, and [[Sleep]].\n"}])
    with Terminal(world, "--model", model, width=140, height=40) as chat:
        chat.wait_for_prompt()
        chat.type("What is on @~/todo.txt?\r")
        chat.wait_for("todo.txt is outside the vault.", "Send it to scripted:scripted, which runs on this machine?")
        chat.type("\x1b")
        chat.wait_for("~/todo.txt is not sent.", "No list.")
        chat.wait_for_prompt()
        chat.type("And on @~/todo.txt, and in [[Sleep]]?\r")
        chat.wait_until(lambda: chat.text.count("Send it to scripted") == 2, "the question once more")
        chat.type("y")
        chat.wait_for(
            "Read from this computer and sent with your message: ~/todo.txt", "[1] Sleep.md", "Adults need seven hours."
        )
        chat.wait_for_prompt()

"""Long documents are described while the user types, and nobody waits for it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from tests.support.ptys import Terminal
from tests.support.world import World

LONG = "Sourdough rises slowly because wild yeast needs time. " * 6
SENTENCE = "Sourdough needs time because wild yeast rises slowly."
ASKED, READ = "What of [[Bread]]?", [{"text": "See [[Bread]]."}]

Begin = Callable[..., Terminal]


@pytest.fixture
def begin(world: World) -> Iterator[Begin]:
    """Opens a chat with a model that gives these answers."""
    world.note("Bread.md", f"# Bread\n\n{LONG}\n")
    world.variables["ZKCHAT_REFERENCES__MODEL_SUMMARIES"] = "always"
    world.variables["ZKCHAT_UI__PANEL"] = "full"
    with ExitStack() as stack:

        def chat(*answers: list[dict[str, Any]]) -> Terminal:
            terminal = stack.enter_context(closing(Terminal(world, "--model", world.script(*answers), height=40)))
            terminal.wait_for_prompt()
            return terminal

        yield chat


def ask(chat: Terminal) -> None:
    panels = chat.text.count("Referenced Documents")
    chat.type(f"{ASKED}\r")
    chat.wait_until(lambda: chat.text.count("Referenced Documents") > panels, "another panel")
    chat.wait_for_prompt()


def test_the_sentence_is_in_the_panel_of_the_next_answer(begin: Begin) -> None:
    chat = begin(READ, [{"text": SENTENCE}], READ)
    ask(chat)
    assert SENTENCE not in chat.text
    ask(chat)
    assert SENTENCE in chat.text


def test_who_leaves_does_not_wait_for_it(begin: Begin) -> None:
    chat = begin(READ, [{"delay": 60}, {"text": SENTENCE}])
    ask(chat)
    chat.type("\x04")
    assert chat.finish() == 0

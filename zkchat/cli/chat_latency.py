"""What keeps a chat from waiting: imports ahead of the first turn, and a message stored without delays."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Final

from zkchat.cli.collection import without_collection
from zkchat.compose.providers import preload_client

_SWITCH_INTERVAL: Final = 0.0001
"""Seconds after which a thread that computes lets another one go on, while a message is stored."""


@contextmanager
def without_delays() -> Iterator[None]:
    """Run the block without garbage collection, and with a short switch interval, to be hardly delayed by indexing."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        with without_collection():
            yield
    finally:
        sys.setswitchinterval(interval)


def preload_libraries(provider: str) -> None:
    """Import what the first turn needs, before the user waits for it."""
    names = (
        "zkchat.chat.vault_answers",
        "zkchat.vault.dated_evidence",
        "zkchat.repl.commands.table",
        "zkchat.render.presenters.screen",
        "zkchat.render.markdown.renderer",
        "tiktoken",
    )
    for name in names:
        import_module(name)
    preload_client(provider)

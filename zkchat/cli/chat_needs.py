"""What a chat needs beside its conversation: questions at the prompt, the last session, the desktop, the libraries."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Final

from zkchat.cli.common import Process, known_keys
from zkchat.compose import conversation
from zkchat.errors import StorageError
from zkchat.providers.libraries import load
from zkchat.repl.terminal_modes import keys_seen
from zkchat.subprocesses import program, run_program

if TYPE_CHECKING:
    from zkchat.compose.paths import Paths
    from zkchat.environment import Environment
    from zkchat.model.session import Session
    from zkchat.ports import SessionStore


_SHORT_INTERVAL: Final = 0.0001
"""Seconds after which a thread that computes lets another one go on."""


class AtThePrompt(Process):
    """A process whose keys are not seen while it works, but when it asks."""

    def confirm(self, question: str) -> bool:
        if not self.environment.stdin_is_tty:
            return False
        with keys_seen(self.environment.stdin):
            return super().confirm(question)


def edit_page(here: Process, where: "Paths", page: str, is_new: bool) -> bool:
    """Let the user edit the vault's page, which approves it unless it holds what was there unapproved before."""
    from zkchat.cli.opening import edit
    from zkchat.compose.trust import VaultTrust, page_item, page_text

    before = None if is_new else page_text(where.vault, page)
    with keys_seen(here.environment.stdin):
        edit(here, str(where.vault / page))
    after = page_text(where.vault, page)
    if after is None:
        return False
    previous = None if before is None else page_item(page, before)
    return VaultTrust(where).approve_own(previous, page_item(page, after))


def can_edit(environment: "Environment") -> bool:
    """Whether the terminal can be drawn on while the user types."""
    from zkchat.render.terminal import can_move_cursor

    is_terminal = environment.stdin_is_tty and environment.stdout_is_tty
    return is_terminal and can_move_cursor(environment.variables) and not environment.variables.get("CI")


@contextmanager
def first_in_line() -> Iterator[None]:
    """What is done within waits as little as possible for threads that index or load something."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SHORT_INTERVAL)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def last_session(store: "SessionStore") -> "Session | None":
    try:
        return next((session for session in store.sessions() if session.message_count), None)
    except StorageError:
        return None


def keys_of(environment: "Environment", opened: conversation.OpenConversation) -> tuple[str, ...]:
    """The keys of this user, also the one in a variable of the user's own choice."""
    return known_keys(environment, opened.settings.openai.api_key_env)


_LIBRARIES: Final = {"ollama": ("ollama",), "openai": ("openai",)}


def load_libraries(provider: str) -> None:
    """What the first turn would otherwise load while the user waits for it."""
    names = (
        "zkchat.repl.commands.table",
        "zkchat.render.presenters.screen",
        "zkchat.render.markdown.renderer",
        "tiktoken",
    )
    for name in names:
        import_module(name)
    for name in _LIBRARIES.get(provider, ()):
        load(name)


def launch(environment: "Environment", address: str) -> bool:
    """Hand an address to the desktop, if there is one to be seen."""
    has_desktop = sys.platform == "darwin" or any(environment.variables.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))
    opener = program("open" if sys.platform == "darwin" else "xdg-open", environment.variables)
    if not (has_desktop and opener):
        return False
    # Some openers stay until the window is closed; nobody here waits for that.
    run = partial(run_program, [opener, address], quietly=True)
    Thread(target=run, name="zkchat-open", daemon=True).start()
    return True

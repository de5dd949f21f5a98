"""What the user chose on the command line of `zkchat acp`."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from zkchat.app import OpenConversation


class AgentOptions(Struct, frozen=True, kw_only=True):
    """For every new session."""

    vault: Path | None = None
    model: str | None = None
    agent: str | None = None
    write: bool = False
    keys: Callable[[OpenConversation], Sequence[str]] = lambda _: ()
    """The API keys of the user, which no export may hold."""

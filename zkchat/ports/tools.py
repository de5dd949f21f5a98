"""Tools that a model may call."""

from typing import Protocol

from msgspec import Struct

from zkchat.model.prompt import ToolSpec
from zkchat.model.references import DocumentReference


class ToolOutcome(Struct, frozen=True, kw_only=True):
    """What a tool gives back: text for the model, and the documents it came from."""

    text: str
    references: tuple[DocumentReference, ...] = ()
    summary: str = ""
    """For the user, in a few words: `4 passages`."""
    warning: str = ""
    """A sentence that the user has to read, once in a turn."""
    failed: bool = False
    may_repeat: bool = False
    """Whether the same call may be made again, and be answered otherwise."""
    stages_change: bool = False
    """Whether a change of notes was staged, so that earlier calls may be answered otherwise now."""


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec: ...

    async def call(self, arguments: str) -> ToolOutcome:
        """Run with JSON arguments as the model wrote them. Bad arguments give a failed outcome, not an exception."""

"""What the user chose about changes of notes when opening a conversation."""

from msgspec import Struct


class WritingOptions(Struct, frozen=True, kw_only=True):
    """What the user chose about writing when opening a conversation."""

    enabled: bool | None = None
    """Whether the model may propose changes; None for what the settings say."""
    assumes_yes: bool = False
    """Whether the user has said yes to its proposals beforehand."""
    proposes_only: bool = False
    """Whether its proposals are only shown, whatever the settings say."""

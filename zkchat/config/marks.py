"""What is said of a setting beside its type, as metadata of `Annotated`: these marks, and bounds as msgspec's `Meta`.

A plain text is what the setting is for.
"""

from collections.abc import Callable

from msgspec import Struct


class Harmless(Struct, frozen=True):
    """Marks a setting that a vault's own file may hold unasked.

    All others, those of the future too, count there only after the user's approval.
    """


class Expects(Struct, frozen=True):
    """What a value must be, in words, where type and bounds do not say it."""

    words: str


class Accumulates(Struct, frozen=True):
    """Marks a list to which each layer adds, so that none can take away what another names."""


class UserOnly(Struct, frozen=True):
    """Marks a setting that never counts in a vault's own file, approved or not."""


class Redacted(Struct, frozen=True):
    """Marks a setting whose wrong values are never shown: somebody may have put a key there."""


class Validated(Struct, frozen=True):
    """What a text must pass, where type and bounds do not say it all."""

    validate: Callable[[str], object]
    """Raises ValueError."""

"""Warnings that a user reads once in a conversation, however often there is a reason for them."""

from collections.abc import Iterable

from zkchat.model.events import Warned


class ReportedWarnings:
    """The warnings that were reported so far, by their texts."""

    def __init__(self) -> None:
        self._texts: set[str] = set()

    def is_new(self, text: str) -> bool:
        """Whether this is the first time that it is reported; from now on it is known."""
        is_new = text not in self._texts
        self._texts.add(text)
        return is_new

    def new_ones(self, warnings: Iterable[Warned]) -> list[Warned]:
        return [warning for warning in warnings if self.is_new(warning.text)]

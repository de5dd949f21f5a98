"""Counting tokens."""

from typing import Protocol


class Tokenizer(Protocol):
    @property
    def exact(self) -> bool:
        """Whether counts are a tokenizer's own, or an estimate."""

    @property
    def problem(self) -> str:
        """Why counts are estimates although they should not be, as a sentence; known once something was counted."""

    def count(self, text: str) -> int: ...

"""The bounds of a goal run: steps, tokens and time. Pure."""

from datetime import timedelta
from typing import Final

from msgspec import Struct

from zkchat.model.choices import DEFAULT_GOAL_MINUTES, DEFAULT_GOAL_STEPS, DEFAULT_GOAL_TOKENS

MAX_MINUTES: Final = 365 * 24 * 60
"""More is no bound, and more than a clock can count."""


class GoalBounds(Struct, frozen=True, kw_only=True):
    steps: int = DEFAULT_GOAL_STEPS
    """Of the plan; what the model plans beyond them is left out."""
    tokens: int = DEFAULT_GOAL_TOKENS
    """Of all requests and answers together."""
    minutes: float = DEFAULT_GOAL_MINUTES

    @property
    def time(self) -> timedelta:
        return timedelta(minutes=min(self.minutes, MAX_MINUTES))

    def reason_to_stop(self, *, tokens: int, elapsed: timedelta, next_request: int = 0) -> str:
        """Why a run that used so much may not make a request of so many tokens, as a sentence; empty where it may."""
        if elapsed >= self.time:
            return f"The time is up: {self.minutes:g} minutes."
        if tokens + next_request > self.tokens:
            used = f"{tokens:,} of {self.tokens:,} tokens are used"
            needs = (
                f", and the next request takes about {next_request:,}" if next_request and tokens < self.tokens else ""
            )
            return f"The tokens are used up: {used}{needs}."
        return ""

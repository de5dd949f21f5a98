"""How the window is shared out (SPEC 3.3). Pure."""

from dataclasses import dataclass

from zkchat.errors import ConfigError
from zkchat.model.context import BudgetUse, ContextUsage
from zkchat.model.prompt import ModelInfo

LARGEST_BY_DEFAULT = 32_768
"""A model on this machine gets no larger window unasked: its server sets memory aside for all of it."""
DEFAULT_WINDOW = 8192
"""For a model that does not say how much it takes, and a user who did not set it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What the settings say about the window."""

    max_tokens: int | None = None
    reserve: int = 512
    system: float = 0.10
    tools: float = 0.30
    messages: float = 0.60
    threshold: float = 0.85


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens for one request. `reserve` is kept free for the answer."""

    window: int
    reserve: int
    system: int
    tools: int
    messages: int
    threshold: float

    def left_for_messages(self, *, system: int, tools: int) -> int:
        """What messages may use: what the fixed parts leave of the window, beyond their own share if need be."""
        left = self.window - self.reserve - system - tools
        if left <= 0:
            raise ConfigError(
                f"A window of {self.window:,} tokens is too small: the instructions take {system:,}, the tools "
                f"{tools:,}, and {self.reserve:,} are kept for the answer.",
                hint="Raise context.max_tokens, lower context.reserve_tokens, or choose a model with a larger window.",
            )
        return left


def budget_for(info: ModelInfo, shares: Shares) -> Budget:
    """The smaller of what the model takes and what the user allows."""
    allowed = shares.max_tokens or (LARGEST_BY_DEFAULT if info.on_this_machine and info.context_limit else None)
    known = [limit for limit in (info.context_limit, allowed) if limit]
    window = min(known, default=DEFAULT_WINDOW)
    usable = max(0, window - shares.reserve)
    return Budget(
        window=window,
        reserve=shares.reserve,
        system=int(usable * shares.system),
        tools=int(usable * shares.tools),
        messages=int(usable * shares.messages),
        threshold=shares.threshold,
    )


def usage_of(budget: Budget, *, system: int, tools: int, messages: int, references: int, exact: bool) -> ContextUsage:
    """The honest picture of one request."""
    return ContextUsage(
        system=system,
        tools=tools,
        messages=messages,
        references=references,
        window=budget.window,
        reserve=budget.reserve,
        threshold=budget.threshold,
        estimated=not exact,
        budgets={
            "system": BudgetUse(used=system, limit=budget.system),
            "tools": BudgetUse(used=tools, limit=budget.tools),
            "messages": BudgetUse(used=messages + references, limit=budget.messages),
        },
    )

"""Tokens: what fills the window of a model, and what its provider reported."""

from msgspec import field

from zkchat.model.values import Value


class TokenUsage(Value, frozen=True, kw_only=True):
    """What a provider reported for one request."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    thinking_tokens: int = 0
    cached_tokens: int = 0


class BudgetUse(Value, frozen=True, kw_only=True):
    """One share of the window."""

    computed = ("percent",)

    used: int = 0
    limit: int = 0

    @property
    def percent(self) -> float:
        return 100.0 * self.used / self.limit if self.limit else 0.0


class ContextUsage(Value, frozen=True, kw_only=True):
    """What fills the window, part by part. `estimated` says that no exact tokenizer counted it."""

    computed = ("total", "available")

    system: int = 0
    tools: int = 0
    messages: int = 0
    memory: int = 0
    references: int = 0
    images: int = 0
    window: int = 0
    reserve: int = 0
    threshold: float = 0.85
    estimated: bool = False
    counted: int = 0
    """Our own count of the whole request; the other figures are what the model's server is expected to count."""
    token_features: dict[str, int] = field(default_factory=dict, name="traits")
    """What decides how many tokens another tokenizer makes of it."""
    budgets: dict[str, BudgetUse] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.system + self.tools + self.messages + self.memory + self.references + self.images

    @property
    def available(self) -> int:
        return max(0, self.window - self.reserve - self.total)

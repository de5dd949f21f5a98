"""Why each thing was sent, and what it cost (SPEC 3.4 and 5)."""

from typing import Final, Literal

from pydantic import (
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    computed_field,
    field_serializer,
)

from zkchat.model.value import Value

Include = Literal["always", "manual", "agent"]
ItemType = Literal["system", "rule", "reference", "tool", "memory", "summary", "recall", "evidence", "message"]

BRIEFLY: Final = "briefly"
"""The context in which records are written for a store: without what is as usual in their items."""


class RequestItem(Value):
    """One thing that went into a request, by name; the request is built from these."""

    type: ItemType
    name: str
    server: str = ""
    include: Include = "always"
    score: float | None = None
    tokens: int = 0
    digest: str = ""
    """Of the content as it was sent: the session keeps that text under it, and a later change can be noticed."""
    reason: str = ""
    passing: bool = False
    """Sent with the current message only, and not again with the next."""
    part_of: str = ""
    """The id of the message that brings it along, where it is not sent by itself."""


class LeftOut(Value):
    """Something that was considered and not sent."""

    item: RequestItem
    why: Literal["budget", "score", "removed", "private", "missing", "unapproved"]


class TokenUsage(Value):
    """What a provider reported for one request."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    thinking_tokens: int = 0
    cached_tokens: int = 0


class BudgetUse(Value):
    """One share of the window."""

    used: int = 0
    limit: int = 0

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot stack decorators on a property
    @property
    def percent(self) -> float:
        return 100.0 * self.used / self.limit if self.limit else 0.0


class ContextUsage(Value):
    """What fills the window, part by part. `estimated` says that no exact tokenizer counted it."""

    system: int = 0
    tools: int = 0
    messages: int = 0
    memory: int = 0
    references: int = 0
    window: int = 0
    reserve: int = 0
    threshold: float = 0.85
    estimated: bool = False
    counted: int = 0
    """Our own count of the whole request; the other figures are what the model's server is expected to count."""
    traits: dict[str, int] = Field(default_factory=dict)
    """What of it decides how many tokens another tokenizer makes of it: digits, foreign lines, other scripts."""
    budgets: dict[str, BudgetUse] = Field(default_factory=dict)

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot stack decorators on a property
    @property
    def total(self) -> int:
        return self.system + self.tools + self.messages + self.memory + self.references

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot stack decorators on a property
    @property
    def available(self) -> int:
        return max(0, self.window - self.reserve - self.total)


class RequestContext(Value):
    """The record on an assistant message of everything its request held."""

    agent: str = "default"
    can_read: bool = False
    """Whether the model was told that it can read documents by itself."""
    items: tuple[RequestItem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    usage: ContextUsage | None = None

    @field_serializer("items", mode="wrap")
    def _written(
        self, items: tuple[RequestItem, ...], write: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> object:
        """There is one for every message before the answer, so what goes without saying adds up."""
        if info.context == BRIEFLY:
            return _ITEMS.dump_python(items, mode="json", exclude_defaults=True)
        return write(items)


_ITEMS: Final = TypeAdapter(tuple[RequestItem, ...])

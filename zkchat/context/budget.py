"""How the tokens of the window are budgeted, and how many turns are left in it. Pure."""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from zkchat.errors import ConfigError
from zkchat.model.prompt import ModelInfo
from zkchat.model.usage import BudgetUse, ContextUsage

MAX_DEFAULT_WINDOW = 32_768
"""For a model on this machine whose window nobody declared: its server sets memory aside for all of it."""
DEFAULT_WINDOW = 8192
"""For a model that does not say how much it takes, and a user who did not set it."""
MIN_CONVERSATION = 512
"""Tokens that instructions and tools must leave for a question, what is found on it, and an answer to go on from."""
PACE_TURNS = 8
"""Turns from which the pace of a conversation is estimated."""


class Shares(Struct, frozen=True, kw_only=True):
    """What the settings say about the window."""

    max_tokens: int | None = None
    reserve: int = 512
    system: float = 0.10
    tools: float = 0.30
    messages: float = 0.60
    memory: float = 0.20
    """For what is remembered and recalled; it comes out of the messages' share."""
    threshold: float = 0.85


class TokenCounts(Struct, frozen=True, kw_only=True):
    """Tokens of a request by category, as we count them."""

    system: int = 0
    tools: int = 0
    messages: int = 0
    memory: int = 0
    references: int = 0
    images: int = 0

    @property
    def total(self) -> int:
        return self.system + self.tools + self.messages + self.memory + self.references + self.images


class Budget(Struct, frozen=True, kw_only=True):
    """Tokens for one request. `reserve` is kept free for the answer."""

    window: int
    reserve: int
    system: int
    tools: int
    messages: int
    memory: float
    threshold: float

    def tightened(self, share: float) -> "Budget":
        """The same window with so much less of it for the prompt."""
        return replace(self, reserve=self.window - int(share * self.cap))

    @property
    def cap(self) -> int:
        """What no prompt may exceed."""
        return self.window - self.reserve

    @property
    def trigger(self) -> int:
        """The total above which older messages are compacted."""
        return min(self.cap, int(self.threshold * self.window))

    def messages_limit(self, *, system: int, tools: int) -> int:
        """The share of messages, and what system and tools leave unused of theirs."""
        spare = max(0, self.system - system) + max(0, self.tools - tools)
        return max(0, min(self.messages + spare, self.cap - system - tools))

    def tools_limit(self, *, system: int, core: int) -> int:
        """What tools may take: their share, less what the instructions take beyond theirs.

        The core tools are in whenever they fit into the share and leave room for a conversation; else there are none.
        """
        if core > self.tools or self.cap - system - core < MIN_CONVERSATION:
            return 0
        return max(core, self.tools - max(0, system - self.system))

    @property
    def memory_limit(self) -> int:
        """How much what is remembered and recalled may take."""
        return int(self.memory * self.window)

    def left_for_messages(self, *, system: int, tools: int) -> int:
        """What messages may use: what the fixed parts leave of the window, beyond their own share if need be."""
        left = self.cap - system - tools
        if left <= 0:
            raise ConfigError(
                f"A window of {self.window:,} tokens is too small: the instructions take {system:,}, the tools "
                f"{tools:,}, and {self.reserve:,} are kept for the answer.",
                hint="Raise context.max_tokens, lower context.reserve_tokens, or choose a model with a larger window.",
            )
        return left


def budget_for(info: ModelInfo, shares: Shares) -> Budget:
    """The smaller of what the model takes and what the user allows."""
    is_bounded = info.on_this_machine and info.context_limit and not info.is_limit_declared
    allowed = shares.max_tokens or (MAX_DEFAULT_WINDOW if is_bounded else None)
    known = [limit for limit in (info.context_limit, allowed) if limit]
    window = min(known, default=DEFAULT_WINDOW)
    usable = max(0, window - shares.reserve)
    return Budget(
        window=window,
        reserve=shares.reserve,
        system=int(usable * shares.system),
        tools=int(usable * shares.tools),
        messages=int(usable * shares.messages),
        memory=shares.memory,
        threshold=shares.threshold,
    )


def usage_of(budget: Budget, counts: TokenCounts, *, expected: int, exact: bool) -> ContextUsage:
    """Our counts of one request, scaled to what the model's server is expected to count."""
    scale = expected / counts.total if counts.total else 1.0
    parts = (counts.system, counts.tools, counts.memory, counts.references, counts.images)
    system, tools, memory, references, images = (round(scale * part) for part in parts)
    messages = max(0, expected - system - tools - memory - references - images)
    limit = budget.messages_limit(system=system, tools=tools)
    return ContextUsage(
        system=system,
        tools=tools,
        messages=messages,
        memory=memory,
        references=references,
        images=images,
        window=budget.window,
        reserve=budget.reserve,
        threshold=budget.threshold,
        estimated=not exact,
        counted=counts.total,
        budgets={
            "system": BudgetUse(used=system, limit=budget.system),
            "tools": BudgetUse(used=tools, limit=budget.tools),
            "messages": BudgetUse(used=messages + references + images + memory, limit=limit),
            "memory": BudgetUse(used=memory, limit=budget.memory_limit),
        },
    )


def is_full(usage: ContextUsage, budget: Budget) -> bool:
    """Whether older messages should leave the prompt."""
    messages = usage.budgets["messages"]
    return usage.total > budget.trigger or messages.used > messages.limit


def turns_left(usages: Sequence[ContextUsage]) -> int | None:
    """From what filled the context turn by turn, the last one last; None while there is no pace to speak of."""
    recent = usages[-PACE_TURNS:]
    steps = [later.total - earlier.total for earlier, later in pairwise(recent) if later.total > earlier.total]
    if not steps:
        return None
    last = recent[-1]
    limit = min(last.window - last.reserve, int(last.threshold * last.window))
    return max(0, int((limit - last.total) / (sum(steps) / len(steps))))

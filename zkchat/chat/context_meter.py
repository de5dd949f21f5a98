"""What fills the context of a conversation, measured once for each change."""

from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from zkchat.chat.turn import Turn
from zkchat.context.assembly import AssembledRequest
from zkchat.errors import ProviderError, ZkchatError
from zkchat.model.events import Warned
from zkchat.model.prompt import ModelInfo, ToolSpec
from zkchat.model.usage import BudgetUse, ContextUsage

_UNREAD_BY_QUOTING: Final = ("messages", "references", "images", "memory")
"""What a model that only quotes notes does not read: it reads questions, and nothing that was said before."""
_BUDGETS_UNREAD_BY_QUOTING: Final = ("messages", "memory")


class _State(NamedTuple):
    """What the usage of the context depends on."""

    entries: int
    model: ModelInfo
    may_write: bool
    tools: tuple[ToolSpec, ...]
    """Those of servers come and go."""


class ContextMeter:
    def __init__(self, turn: Turn, may_write: Callable[[], bool]) -> None:
        """`may_write`: whether the model may propose changes of notes now, which takes tools."""
        self._turn = turn
        self._may_write = may_write
        self.connection_problem: Warned | None = None
        """Why the model's server could not be asked for its window, when it was asked last."""
        self._is_tokenizer_loaded = False
        self._measured: tuple[_State, ContextUsage] | None = None

    @property
    def usage(self) -> ContextUsage | None:
        """What fills the context now: the next request, before its question. None before anything was said or chosen.

        The model's server is not asked for its window.
        """
        if not self._turn.journal.history.entries:
            return None
        state = self._state
        if self._measured is None or self._measured[0] != state:
            try:
                self._measured = state, self._usage_of(self._assemble())
            except ZkchatError:  # the next turn reports it
                return None
        return self._measured[1]

    async def measure(self) -> AssembledRequest:
        """The request as it would be now, without a new question; the model's server is asked for its window."""
        self.connection_problem = None
        try:
            await self._turn.provider.connect()
        except ProviderError as error:  # the window is then the one that is known, or set, or the usual
            self.connection_problem = Warned(text=error.message, hint=error.hint)
        assembled = self._assemble()
        self._measured = self._state, self._usage_of(assembled)
        return assembled

    def load_tokenizer(self) -> None:
        """Load what counts tokens, which takes a while the first time. May run on another thread."""
        self._turn.tokenizer.count("")
        self._is_tokenizer_loaded = True

    @property
    def is_measurable(self) -> bool:
        """Whether `usage` can be had without a delay."""
        return self._is_tokenizer_loaded or self._measured is not None

    @property
    def _state(self) -> _State:
        turn = self._turn
        entries, tools = len(turn.journal.history.entries), turn.requests.planner.tools.specs
        return _State(entries, turn.provider.info, self._may_write(), tools)

    def _assemble(self) -> AssembledRequest:
        requests = self._turn.requests
        return requests.assemble(requests.planner.plan(self._turn.agent_for()))

    def _usage_of(self, assembled: AssembledRequest) -> ContextUsage:
        usage = assembled.usage
        if not self._turn.provider.info.needs_notes:
            return usage
        unused = {name: BudgetUse(limit=usage.budgets[name].limit) for name in _BUDGETS_UNREAD_BY_QUOTING}
        return replace(usage, **dict.fromkeys(_UNREAD_BY_QUOTING, 0), budgets=usage.budgets | unused)

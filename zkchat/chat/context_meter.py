"""What fills the context of a conversation, measured once for each change."""

from typing import Final, NamedTuple

from msgspec.structs import replace

from zkchat.chat.core import ConversationCore
from zkchat.chat.request import RequestBuilder
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
    def __init__(self, core: ConversationCore, requests: RequestBuilder) -> None:
        self._core = core
        self._requests = requests
        self.connection_problem: Warned | None = None
        """Why the model's server could not be asked for its window, when it was asked last."""
        self._is_tokenizer_loaded = False
        self._measured: tuple[_State, ContextUsage] | None = None

    @property
    def usage(self) -> ContextUsage | None:
        """What fills the context now: the next request, before its question. None before anything was said or chosen.

        The model's server is not asked for its window.
        """
        if not self._core.history.entries:
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
            await self._core.provider.connect()
        except ProviderError as error:  # the window is then the one that is known, or set, or the usual
            self.connection_problem = Warned(text=error.message, hint=error.hint)
        assembled = self._assemble()
        self._measured = self._state, self._usage_of(assembled)
        return assembled

    def load_tokenizer(self) -> None:
        """Load what counts tokens, which takes a while the first time. May run on another thread."""
        self._core.tokenizer.count("")
        self._is_tokenizer_loaded = True

    @property
    def is_measurable(self) -> bool:
        """Whether `usage` can be had without a delay."""
        return self._is_tokenizer_loaded or self._measured is not None

    @property
    def _state(self) -> _State:
        core = self._core
        return _State(len(core.history.entries), core.info, core.may_write, self._requests.planner.tools.specs)

    def _assemble(self) -> AssembledRequest:
        return self._requests.assemble(self._requests.planner.plan(self._core.agent_for()))

    def _usage_of(self, assembled: AssembledRequest) -> ContextUsage:
        usage = assembled.usage
        if not self._core.info.needs_notes:
            return usage
        unused = {name: BudgetUse(limit=usage.budgets[name].limit) for name in _BUDGETS_UNREAD_BY_QUOTING}
        return replace(usage, **dict.fromkeys(_UNREAD_BY_QUOTING, 0), budgets=usage.budgets | unused)

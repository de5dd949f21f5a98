"""A provider that goes on with a session in which it answered before: it stays where it ran, or says so."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from zkchat.errors import PromptTooLong, ProviderError
from zkchat.model.prompt import ModelChunk, ModelInfo, ModelRequest
from zkchat.ports.models import ModelProvider

WAY_OUT = "It is the model of this session: --model NAME, in a chat /model NAME, goes on with another."


class ResumedProvider:
    """Wraps another `ports.models.ModelProvider`."""

    def __init__(self, provider: ModelProvider, *, window: int | None, must_run_here: bool) -> None:
        """`window` counts until the server is reached. With `must_run_here` a model elsewhere is sent nothing."""
        self._provider = provider
        self._window = window
        self._must_run_here = must_run_here

    @property
    def info(self) -> ModelInfo:
        info = self._provider.info
        if info.context_limit or self._window is None:
            return info
        return replace(info, context_limit=self._window)

    async def connect(self) -> None:
        """Raises `ProviderError` where the server does not answer, or the model no longer runs on this machine."""
        try:
            await self._provider.connect()
        except ProviderError as error:
            raise _with_way_out(error) from error
        self._window = None
        self._check_place()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        if self._must_run_here and not self._provider.info.is_located:
            await self.connect()
        self._check_place()
        has_begun = False
        try:
            async with aclosing(self._provider.stream(request)) as chunks:
                async for chunk in chunks:
                    has_begun = True
                    yield chunk
        except ProviderError as error:
            if has_begun or isinstance(error, PromptTooLong):
                raise
            raise _with_way_out(error) from error

    def _check_place(self) -> None:
        info = self._provider.info
        if self._must_run_here and not info.on_this_machine:
            raise ProviderError(
                f"{info.name} is not on this machine, where the model of this session ran: nothing is sent to it.",
                hint=f"To go on with it where it is now: --model {info.name}, in a chat /model {info.name}.",
            )


def _with_way_out(error: ProviderError) -> ProviderError:
    return type(error)(error.message, hint=f"{error.hint} {WAY_OUT}".strip())

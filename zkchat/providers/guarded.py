"""A provider that is used only if it runs on this machine, because it is unknown which notes may leave it."""

from collections.abc import AsyncGenerator

from zkchat.errors import ConfigError
from zkchat.model.prompt import ModelChunk, ModelInfo, ModelRequest
from zkchat.ports.models import ModelProvider


class GuardedProvider:
    """Wraps another `ports.models.ModelProvider`."""

    def __init__(self, provider: ModelProvider, reason: str) -> None:
        self._provider = provider
        self._reason = reason

    @property
    def info(self) -> ModelInfo:
        return self._provider.info

    async def connect(self) -> None:
        await self._provider.connect()

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        if not self.info.on_this_machine:
            raise ConfigError(
                f"{self._reason} It may say which notes stay on this machine, so nothing is sent to {self.info.name}.",
                hint="Mend the file or move it away, or choose a model on this machine, such as --model quote.",
            )
        return self._provider.stream(request)

"""A provider that is sent what the settings allow now: nothing where they do not say which notes may leave."""

from collections.abc import AsyncGenerator
from typing import Protocol

from msgspec.structs import replace

from zkchat.errors import ConfigError
from zkchat.model.prompt import ModelChunk, ModelInfo, ModelRequest
from zkchat.ports.models import ModelProvider


class SendingRules(Protocol):
    """What the settings say of one model."""

    def catch_up(self) -> int:
        """Let the settings count as they are now; the number is another one once they have changed."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether they declare that the model runs on another machine."""

    def check(self, info: ModelInfo) -> None:
        """Raises `ConfigError` where nothing may be sent to the model."""


class GuardedProvider:
    """Wraps another `ports.models.ModelProvider`."""

    def __init__(self, provider: ModelProvider, rules: SendingRules) -> None:
        self._provider = provider
        self._rules = rules
        self._version: int | None = None
        """Of the settings with which the turn began; None before the first."""

    @property
    def info(self) -> ModelInfo:
        info = self._provider.info
        return replace(info, on_this_machine=False, is_located=True) if self._rules.is_elsewhere else info

    async def connect(self) -> None:
        self._version = self._rules.catch_up()
        await self._provider.connect()

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Raises `ConfigError` where nothing may be sent, or a request was made by settings that changed meanwhile."""
        version = self._rules.catch_up()
        self._rules.check(self.info)
        if self._version not in {None, version}:
            raise ConfigError(
                "The settings changed while this was answered, so no more is sent.", hint="Ask again; in a chat: /retry"
            )
        return self._provider.stream(request)

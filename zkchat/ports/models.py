"""Models that answer."""

from collections.abc import AsyncGenerator
from typing import Protocol

from zkchat.model.prompt import ModelChunk, ModelInfo, ModelRequest


class ModelProvider(Protocol):
    """A model that answers. Foreign exceptions never pass: they become `ProviderError`."""

    @property
    def info(self) -> ModelInfo:
        """What is known so far; all there is to know after `connect`."""

    async def connect(self) -> None:
        """Learn what only the model's server knows. May be called before every turn; asks once."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """The answer as it arrives, ended by `Finish`. Closing the iterator cancels the request."""


class LocatedModel(Protocol):
    """A model of which it matters only where it runs, such as a `ModelProvider`."""

    @property
    def info(self) -> ModelInfo: ...

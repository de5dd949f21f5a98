"""What the settings say of a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """It counts for more than what the server says."""

    context_limit: int | None = None
    temperature: float | None = None
    """Where a request does not ask for another."""
    calls_tools: bool | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    """Sent along with every request as they are."""
    remote: bool = False
    """Whether it runs on another machine, whatever its address says: a tunnel or a proxy leads there."""


DEFAULT_MODEL_SETTINGS = ModelSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    """A model that the user has given a name of their own."""

    provider: str
    id: str
    settings: ModelSettings = DEFAULT_MODEL_SETTINGS

    @property
    def model(self) -> str:
        """What it is called without that name."""
        return f"{self.provider}:{self.id}"

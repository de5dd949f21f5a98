"""The providers that there are, by name, and what they say of themselves and of their models.

`zkchat.providers.NAME` exports the descriptor of each.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from zkchat.model.prompt import ModelInfo

ProviderName = Literal["ollama", "openai", "local"]
"""Those that a `[models.NAME]` table of the settings may name, in the order in which a model is looked for."""

PROVIDERS: Final[tuple[str, ...]] = (*get_args(ProviderName), "quote", "scripted")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelListing:
    """The models of one server or folder, or the problem with it."""

    source: str
    models: tuple["ModelInfo", ...] = ()
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStatus:
    """Whether a provider could be used, for `zkchat doctor`."""

    subject: str
    is_available: bool
    text: str

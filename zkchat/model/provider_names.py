"""The providers that there are, by name. `zkchat.providers.NAME` exports the descriptor of each."""

from typing import Final, Literal, get_args

ProviderName = Literal["ollama", "openai", "local"]
"""Those that a `[models.NAME]` table of the settings may name, in the order in which a model is looked for."""

PROVIDERS: Final[tuple[str, ...]] = (*get_args(ProviderName), "quote", "scripted")

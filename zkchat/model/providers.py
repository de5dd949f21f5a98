"""The providers that there are, by name, and what they say of themselves and of their models.

`zkchat.providers.NAME` exports the descriptor of each.
"""

from typing import Final, Literal, get_args

from msgspec import Struct

from zkchat.model.prompt import ModelInfo

ProviderName = Literal["ollama", "openai", "local"]
"""Those that a `[models.NAME]` table of the settings may name, in the order in which a model is looked for."""

PROVIDERS: Final[tuple[str, ...]] = (*get_args(ProviderName), "quote", "scripted")


class ModelListing(Struct, frozen=True, kw_only=True):
    """The models of one server or folder, or the problem with it."""

    source: str
    host: str = ""
    """The name of the server's host; empty for models in this process."""
    models: tuple[ModelInfo, ...] = ()
    embedding_models: tuple[str, ...] = ()
    """Names that `embeddings.model` takes: these answer nothing, but make vectors for the search."""
    problem: str = ""
    hint: str = ""


class ModelRow(Struct, frozen=True, kw_only=True):
    """A model as the list of models shows it."""

    name: str
    """What the user types to choose it."""
    model: str = ""
    """`PROVIDER:ID`, where the name is one of the user's own."""
    window: int | None = None
    calls_tools: bool | None = None
    """None where nothing is known of it."""
    sees_images: bool | None = None
    is_small: bool = False
    on_this_machine: bool | None = None
    place: str = ""
    """Where it runs: this machine, or the host of its server; empty where that is not known."""
    is_in_use: bool = False
    problem: str = ""
    """Why it cannot be used now, in a few words; empty if it can."""


class ModelOverview(Struct, frozen=True, kw_only=True):
    """The models that there are, and the one in use."""

    in_use: str
    why: str = ""
    """Why it is that one."""
    offer: str = ""
    """What could be set up, where there is no model."""
    embeddings: str = ""
    """The embedding model that is set; empty for none."""
    rows: tuple[ModelRow, ...] = ()
    """The one in use first."""
    listings: tuple[ModelListing, ...] = ()
    """Where they come from; also servers that do not answer."""

    @property
    def embedding_models(self) -> tuple[str, ...]:
        """Those that the servers have."""
        return tuple(name for listing in self.listings for name in listing.embedding_models)


class ProviderStatus(Struct, frozen=True, kw_only=True):
    """Whether a provider could be used, for `zkchat doctor`."""

    subject: str
    is_available: bool
    text: str


class HostedService(Struct, frozen=True):
    """A service that speaks OpenAI's protocol: offered where the user has a key, and used only if the user says so."""

    name: str
    key_variable: str
    base_url: str

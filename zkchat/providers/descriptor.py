"""The descriptor of a provider: all that the rest of zkchat knows of it, as one value that its module exports.

`zkchat.providers.NAME` exports it as `PROVIDER`. Heavy libraries are imported inside functions: descriptors are
imported to list names, and wherever a model is looked for.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from zkchat.model.providers import ModelListing, ProviderStatus
from zkchat.ports.models import ModelProvider
from zkchat.ports.tokenizer import Tokenizer


class ModelSettings(Struct, frozen=True, kw_only=True):
    """What the settings say of a model. It overrides what its server says."""

    context_limit: int | None = None
    temperature: float | None = None
    """Used where a request does not give one."""
    calls_tools: bool | None = None
    sees_images: bool | None = None
    options: Mapping[str, object] = {}
    """Sent with every request as they are."""
    local: bool = True
    """False where it runs on another machine, whatever its address says: a tunnel or a proxy leads there."""


DEFAULT_MODEL_SETTINGS = ModelSettings()


class NamedModel(Struct, frozen=True, kw_only=True):
    """A model by provider and id, with its settings; the user may have given it a name of their own."""

    provider: str
    id: str
    settings: ModelSettings = DEFAULT_MODEL_SETTINGS

    @property
    def model(self) -> str:
        """Its full name: `PROVIDER:ID`."""
        return f"{self.provider}:{self.id}"


class ProviderContext(Struct, frozen=True, kw_only=True):
    """What providers may use of the settings and of the process."""

    settings: Mapping[str, Mapping[str, Any]]
    """The settings sections of providers: a provider's section has the provider's name.

    In each, `local` is false where its models run on another machine, and `api_key_env` names the variable of its key.
    """
    set_by_user: frozenset[str] = frozenset()
    """Dotted keys of the settings that the user set, rather than a vault."""
    variables: Mapping[str, str] = {}
    folder: Path
    """Where relative paths in a model's name start."""
    home: Path
    cache: Path
    """Where downloaded models are kept."""
    window: int | None = None
    """The user's limit on the context window; a model in this process reserves no memory beyond it."""
    models: Mapping[str, NamedModel] = {}
    """Those that the user has named."""

    def __repr__(self) -> str:
        """Without what may hold keys."""
        return f"ProviderContext(folder={self.folder!r}, models={[*self.models]!r})"


class ServerKey(Struct, frozen=True):
    """The key that is sent to a server, empty for none, and a warning about it."""

    value: str = ""
    warning: str = ""

    def __repr__(self) -> str:
        """Without the key itself."""
        return f"ServerKey(warning={self.warning!r})"


class OfferedModel(Struct, frozen=True):
    """A model that a provider offers."""

    id: str
    is_small: bool = False
    """Whether it is so small that it is used only where the user names it."""


class Choice(Struct, frozen=True, kw_only=True):
    """The model to use where none is set."""

    model: str
    why: str
    offer: str = ""
    """What could be set up, with its command; set where there is no model to use."""

    @property
    def sentence(self) -> str:
        if self.offer:
            kept = "`zkchat config set model quote` keeps it so, without this notice."
            return f"No model is set up, so zkchat quotes your notes. {self.offer} {kept}"
        return (
            f"No model is set, so zkchat uses {self.model}: {self.why}. "
            f"`zkchat config set model {self.model}` keeps it, `zkchat setup` chooses another."
        )


class ProviderDescriptor(Struct, frozen=True, kw_only=True):
    """One provider. Only `create` is required; the defaults suit a model that runs in this process and has no key."""

    name: str
    """The part of a model's name before the colon, the name of its module, and of its section in the settings."""
    usage: str
    """How its models are named, for hints: "`ollama:NAME`"."""
    takes_id: bool = True
    """Whether a model's name goes on after the provider's: `quote` is all of it."""
    in_process: bool = False
    """Whether its models run in this process, rather than in a server that reports its own token counts."""
    library: str = ""
    """The library to import ahead of the first request, which takes a moment."""
    address_setting: str = ""
    """The dotted key of its server's address; empty if it has no server."""
    answers_anytime: bool = True
    """Whether it may be asked between turns: a script would give away its next answer."""

    @abstractmethod
    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        """Create the model, without connecting to a server. Raises `ConfigError`."""

    def settings(self, context: ProviderContext) -> Mapping[str, Any]:
        """Its section of the settings."""
        return context.settings.get(self.name, {})

    def key(self, context: ProviderContext) -> ServerKey:
        """The key for its server, if there is one and it may go there."""
        return ServerKey()

    def address(self, context: ProviderContext) -> str:
        """The address that must accept a connection before `offered_models` is called; empty if there is none."""
        return ""

    def offered_models(self, context: ProviderContext) -> Sequence[OfferedModel]:
        """Its models, quickly, the preferred one first. Raises `ProviderError`."""
        return ()

    def choose(self, names: Sequence[str], context: ProviderContext) -> Choice | None:
        """The model to use where none is set; `names` are the ids that it offers, without those of small models."""
        return None

    def suggestion(self, context: ProviderContext, *, answers: bool, has_models: bool) -> str:
        """What the user could do to get a model of it, as a sentence with the command; empty for nothing."""
        return ""

    async def list_models(self, context: ProviderContext) -> ModelListing | None:
        """All its models with what is known of them, for `zkchat models`; None if it has no list."""
        return None

    def listed_ids(self, id_: str) -> Sequence[str]:
        """The ids by which `list_models` may name the model `id_`."""
        return (id_,)

    def status(self, context: ProviderContext) -> ProviderStatus | None:
        """Whether it could be used, for `zkchat doctor`; None if there is nothing to check."""
        return None

    async def verify(self, model: ModelProvider, context: ProviderContext) -> None:
        """Raise `ZkchatError` unless the model would answer, as far as a cheap request can tell."""
        if not self.in_process:
            await model.connect()

    async def check(self, model: ModelProvider, context: ProviderContext) -> str:
        """Verify the model that is in use, and describe it for `zkchat doctor`. Raises `ZkchatError`."""
        await self.verify(model, context)
        info = model.info
        window = f"{info.context_limit:,} tokens" if info.context_limit else "window unknown"
        tools = "tools" if info.calls_tools else "no tools"
        tools += ", sees images" if info.sees_images else ""
        place = "on this machine" if info.on_this_machine else "elsewhere, so local notes are withheld"
        return f"{info.name} (ready; {window}, {tools}, {place})"

    def tokenizer(self, model: ModelProvider) -> Tokenizer | None:
        """The model's own tokenizer; None if `ModelInfo.tokenizer` names the encoding, if anything does."""
        return None

"""The model of a conversation: chosen by the settings, created with its key, and counted by its tokenizer."""

from collections.abc import Mapping
from importlib import import_module

from msgspec import Struct
from msgspec.structs import asdict

from zkchat.compose.live_settings import LiveSettings
from zkchat.compose.workspace import Workspace
from zkchat.config.schema import Settings
from zkchat.context.tokens import FALLBACK_ENCODING, CachedTokenizer, tokenizer_for
from zkchat.errors import ConfigError
from zkchat.model.prompt import ModelInfo
from zkchat.model.providers import PROVIDERS
from zkchat.ports.models import ModelProvider
from zkchat.ports.tokenizer import Tokenizer
from zkchat.providers.descriptor import ModelSettings, NamedModel, ProviderContext
from zkchat.providers.detect import choose
from zkchat.providers.guarded import GuardedProvider
from zkchat.providers.registry import create, descriptor_of, find, resolve_name

_FOREIGN_TOKENIZER_FACTOR = 1.2
"""Tokens of an unknown tokenizer for each of ours, rather high than low."""


class ModelInUse(Struct, frozen=True, kw_only=True):
    """The model of a conversation, and what the user should know of it."""

    provider: ModelProvider
    name: str
    """As it is set, or else as zkchat found it."""
    chosen: str = ""
    """The sentence that says which model was chosen and why, where none is set."""
    offer: str = ""
    """What could be set up, with its command, where there is no model."""
    warnings: tuple[str, ...] = ()
    """About the key that goes to its server."""


def provider_context(workspace: Workspace) -> ProviderContext:
    """What providers may use of the settings and of the process."""
    environment, settings = workspace.environment, workspace.settings
    return ProviderContext(
        settings=provider_sections(settings),
        set_by_user=frozenset(
            key for key, origin in workspace.loaded.origins.items() if origin.layer in {"user", "variable", "flag"}
        ),
        variables=environment.variables,
        folder=environment.cwd,
        home=environment.home,
        cache=environment.cache_dir,
        window=settings.context.max_tokens,
        models={
            name: NamedModel(
                provider=model.provider,
                id=model.id,
                settings=ModelSettings(
                    context_limit=model.context_limit,
                    temperature=model.temperature,
                    calls_tools=model.calls_tools,
                    sees_images=model.sees_images,
                    options=model.options,
                    local=model.local,
                ),
            )
            for name, model in settings.models.items()
        },
    )


def provider_sections(settings: Settings) -> Mapping[str, Mapping[str, object]]:
    """The sections of the settings that have the name of a provider."""
    return {name: asdict(getattr(settings, name)) for name in PROVIDERS if hasattr(settings, name)}


def key_variables(settings: Settings) -> tuple[str, ...]:
    """The environment variables that hold keys, as far as the settings name them."""
    sections = (*provider_sections(settings).values(), asdict(settings.embeddings))
    return tuple(str(section["api_key_env"]) for section in sections if section.get("api_key_env"))


def create_provider(workspace: Workspace) -> ModelInUse:
    """Create the model that is set, or else the first that is there. Raises `ConfigError`."""
    context = provider_context(workspace)
    name, chosen, offer = workspace.settings.model, "", ""
    if not name:
        choice = choose(context)
        name, chosen, offer = choice.model, choice.sentence, choice.offer
    provider = create(name, context)
    warning = descriptor_of(provider.info.provider).key(context).warning
    warnings = (warning,) if warning else ()
    return ModelInUse(provider=provider, name=name, chosen=chosen, offer=offer, warnings=warnings)


def check_model_name(workspace: Workspace, name: str) -> None:
    """Raises `ConfigError` where the name can mean no model. Whether there is such a model is not asked."""
    find(name, provider_context(workspace))


class ModelRules(Struct):
    """Implements `providers.guarded.SendingRules` for the model of a conversation, by the settings as they are now."""

    live: LiveSettings
    name: str
    """Of the model, as it is set."""
    is_elsewhere: bool = False

    def apply(self, workspace: Workspace) -> str:
        """Let other settings count. What was once declared to run elsewhere does until zkchat is started again."""
        self.is_elsewhere |= not resolve_name(self.name, provider_context(workspace)).settings.local
        return ""

    def catch_up(self) -> int:
        self.live.catch_up()
        return self.live.version

    def check(self, info: ModelInfo) -> None:
        self.live.check_trust()
        reason = self.live.workspace.loaded.privacy_unknown
        if reason and not info.on_this_machine:
            raise ConfigError(
                f"{reason} It may say which notes stay on this machine, so nothing is sent to {info.name}.",
                hint="Mend the file or move it away, or choose a model on this machine, such as --model quote.",
            )


def guarded_provider(model: ModelInUse, live: LiveSettings) -> ModelProvider:
    """The model, sent what the settings allow while it is in use. One that runs in this process is as it was."""
    if descriptor_of(model.provider.info.provider).in_process:
        return model.provider
    rules = ModelRules(live, model.name)
    live.follow(rules.apply)
    return GuardedProvider(model.provider, rules)


def tokenizer_of(provider: ModelProvider) -> tuple[Tokenizer, float]:
    """The model's own tokenizer, or the encoding that counts for it, or else one that comes near.

    And the factor for its counts until the model's server has reported its own.
    """
    info = provider.info
    descriptor = descriptor_of(info.provider)
    if own := descriptor.tokenizer(provider):
        return CachedTokenizer(own), 1.0
    tokenizer = tokenizer_for(info.tokenizer, otherwise="" if descriptor.in_process else FALLBACK_ENCODING)
    is_known = descriptor.in_process or tokenizer.exact
    return CachedTokenizer(tokenizer), 1.0 if is_known else _FOREIGN_TOKENIZER_FACTOR


def may_answer_anytime(provider: ModelProvider) -> bool:
    """Whether the model may be asked for something between the turns of a conversation."""
    return descriptor_of(provider.info.provider).answers_anytime


def preload_client(provider: str) -> None:
    """Import the client library of a provider, so that the first request need not wait for it."""
    if library := descriptor_of(provider).library:
        import_module(library)

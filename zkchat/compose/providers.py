"""The model of a conversation: chosen by the settings, created with its key, and counted by its tokenizer."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from zkchat.environment import Environment, let_idle_threads_sleep

if TYPE_CHECKING:
    from zkchat.config.load import Loaded
    from zkchat.ports import ModelProvider, Tokenizer
    from zkchat.providers.keys import ServerKey
    from zkchat.providers.registry import Sources

_FOREIGN_TOKENIZER = 1.2
"""Tokens of another model's tokenizer for each of ours, rather high than low."""


def guarded_provider(
    environment: Environment, loaded: "Loaded", tell: Callable[[str], None]
) -> tuple["ModelProvider", str]:
    """As `create_provider`; where the vault's settings could not be read, one elsewhere is sent nothing."""
    from zkchat.providers.guarded import GuardedProvider

    provider, chosen = create_provider(environment, loaded, tell)
    runs_here = provider.info.on_this_machine or provider.info.provider == "local"
    if not loaded.privacy_unknown or runs_here:
        return provider, chosen
    return GuardedProvider(provider, loaded.privacy_unknown), chosen


def key_for_ollama(environment: Environment, loaded: "Loaded") -> "ServerKey":
    """The key for the server of the settings, where it may go there: a vault's choice of the server is not enough."""
    from zkchat.providers.keys import OLLAMA_VARIABLE, ollama_key

    is_users_choice = loaded.origins["ollama.host"].layer in {"user", "variable", "flag"}
    key = environment.variables.get(OLLAMA_VARIABLE, "")
    return ollama_key(key, loaded.settings.ollama.host, is_users_choice=is_users_choice)


def create_provider(
    environment: Environment, loaded: "Loaded", tell: Callable[[str], None]
) -> tuple["ModelProvider", str]:
    """The model that is set, or else the first that is there, with the sentence that says which and why.

    `tell` hears what is to be known of the key that goes to its server.
    """
    from zkchat.providers.registry import choose, create, named

    sources, keys = _sources(environment, loaded)
    choice = None if loaded.settings.model else choose(sources)
    name = choice.model if choice else loaded.settings.model
    provider = named(name, sources).provider
    if provider == "local":
        let_idle_threads_sleep()
    if provider in keys and keys[provider].warning:
        tell(keys[provider].warning)
    return create(name, sources), choice.sentence if choice else ""


def _sources(environment: Environment, loaded: "Loaded") -> "tuple[Sources, dict[str, ServerKey]]":
    """Where models come from, and the keys for those of servers."""
    from zkchat.providers.descriptor import ModelSettings, NamedModel
    from zkchat.providers.keys import openai_key
    from zkchat.providers.registry import Sources

    settings = loaded.settings
    variable = settings.openai.api_key_env
    keys = {
        "ollama": key_for_ollama(environment, loaded),
        "openai": openai_key(environment.variables.get(variable, ""), settings.openai.base_url, variable),
    }
    sources = Sources(
        ollama_host=settings.ollama.host,
        ollama_key=keys["ollama"].value,
        openai_base_url=settings.openai.base_url,
        openai_key=keys["openai"].value,
        openai_key_variable=variable,
        remote=frozenset(
            name
            for name, is_remote in (("ollama", settings.ollama.remote), ("openai", settings.openai.remote))
            if is_remote
        ),
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
                    options=model.options,
                    remote=model.remote,
                ),
            )
            for name, model in settings.models.items()
        },
    )
    return sources, keys


def tokenizer_of(provider: "ModelProvider") -> tuple["Tokenizer", float]:
    """The model's own where it runs in this process, else the encoding that counts for it, or one that comes near.

    And what its counts are to be multiplied by until the model's server has said how it counts.
    """
    from zkchat.context.tokens import FALLBACK_ENCODING, CachedTokenizer, tokenizer_for

    info = provider.info
    if info.provider == "local":
        from zkchat.providers.local import LlamaCpp

        assert isinstance(provider, LlamaCpp)
        return CachedTokenizer(provider.tokenizer), 1.0
    has_server = not info.needs_notes and info.provider != "scripted"
    tokenizer = tokenizer_for(info.tokenizer, otherwise=FALLBACK_ENCODING if has_server else "")
    return CachedTokenizer(tokenizer), _FOREIGN_TOKENIZER if has_server and not tokenizer.exact else 1.0


def preload_client(provider: str) -> None:
    """Import the client library that the first turn would otherwise import while the user waits."""
    from zkchat.providers.libraries import load

    if provider in {"ollama", "openai"}:
        load(provider)

"""The model of a conversation: chosen by the settings, created with its key, and counted by its tokenizer."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zkchat.errors import UsageError
from zkchat.model.providers import PROVIDERS, ModelListing, ProviderStatus

if TYPE_CHECKING:
    from pathlib import Path

    from zkchat.compose.workspace import Workspace
    from zkchat.config.schema import Settings
    from zkchat.environment import Environment
    from zkchat.model.prompt import ModelInfo
    from zkchat.ports import ModelProvider, Tokenizer
    from zkchat.providers.descriptor import NamedModel, ProviderContext, ProviderDescriptor
    from zkchat.providers.weights import Progress

_FOREIGN_TOKENIZER_FACTOR = 1.2
"""Tokens of an unknown tokenizer for each of ours, rather high than low."""


@dataclass(frozen=True, kw_only=True)
class ModelInUse:
    """The model of a conversation, and what the user should know of it."""

    provider: "ModelProvider"
    name: str
    """As it is set, or else as zkchat found it."""
    chosen: str = ""
    """The sentence that says which model was chosen and why, where none is set."""
    offer: str = ""
    """What could be set up, with its command, where there is no model."""
    warnings: tuple[str, ...] = ()
    """About the key that goes to its server."""


def provider_context(workspace: "Workspace") -> "ProviderContext":
    """What providers may use of the settings and of the process."""
    from zkchat.providers.descriptor import ModelSettings, NamedModel, ProviderContext

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
                    options=model.options,
                    local=model.local,
                ),
            )
            for name, model in settings.models.items()
        },
    )


def provider_sections(settings: "Settings") -> Mapping[str, Mapping[str, object]]:
    """The sections of the settings that have the name of a provider."""
    return {name: dict(getattr(settings, name)) for name in PROVIDERS if hasattr(settings, name)}


def key_variables(settings: "Settings") -> tuple[str, ...]:
    """The environment variables that hold keys, as far as the settings name them."""
    return tuple(
        str(section["api_key_env"]) for section in provider_sections(settings).values() if "api_key_env" in section
    )


def create_provider(workspace: "Workspace") -> ModelInUse:
    """Create the model that is set, or else the first that is there. Raises `ConfigError`."""
    from zkchat.providers.registry import create, descriptor_of

    context = provider_context(workspace)
    name, chosen, offer = workspace.settings.model, "", ""
    if not name:
        from zkchat.providers.detect import choose

        choice = choose(context)
        name, chosen, offer = choice.model, choice.sentence, choice.offer
    provider = create(name, context)
    warning = descriptor_of(provider.info.provider).key(context).warning
    warnings = (warning,) if warning else ()
    return ModelInUse(provider=provider, name=name, chosen=chosen, offer=offer, warnings=warnings)


def guarded_provider(workspace: "Workspace") -> ModelInUse:
    """As `create_provider`; where the vault's settings could not be read, one elsewhere is sent nothing."""
    from zkchat.providers.guarded import GuardedProvider
    from zkchat.providers.registry import descriptor_of

    model = create_provider(workspace)
    info, reason = model.provider.info, workspace.loaded.privacy_unknown
    if not reason or info.on_this_machine or descriptor_of(info.provider).in_process:
        return model
    return replace(model, provider=GuardedProvider(model.provider, reason))


def tokenizer_of(provider: "ModelProvider") -> tuple["Tokenizer", float]:
    """The model's own tokenizer, or the encoding that counts for it, or else one that comes near.

    And the factor for its counts until the model's server has reported its own.
    """
    from zkchat.context.tokens import FALLBACK_ENCODING, CachedTokenizer, tokenizer_for
    from zkchat.providers.registry import descriptor_of

    info = provider.info
    descriptor = descriptor_of(info.provider)
    if own := descriptor.tokenizer(provider):
        return CachedTokenizer(own), 1.0
    tokenizer = tokenizer_for(info.tokenizer, otherwise="" if descriptor.in_process else FALLBACK_ENCODING)
    is_known = descriptor.in_process or tokenizer.exact
    return CachedTokenizer(tokenizer), 1.0 if is_known else _FOREIGN_TOKENIZER_FACTOR


def may_answer_anytime(provider: "ModelProvider") -> bool:
    """Whether the model may be asked for something between the turns of a conversation."""
    from zkchat.providers.registry import descriptor_of

    return descriptor_of(provider.info.provider).answers_anytime


def preload_client(provider: str) -> None:
    """Import the client library of a provider, so that the first request need not wait for it."""
    from zkchat.providers.libraries import load
    from zkchat.providers.registry import descriptor_of

    if library := descriptor_of(provider).library:
        load(library)


def list_models(workspace: "Workspace") -> dict[str, ModelListing]:
    """The models that there are, by provider."""
    import asyncio

    from zkchat.providers.registry import descriptors

    context = provider_context(workspace)

    async def every() -> dict[str, ModelListing]:
        known = [*descriptors()]
        listings = await asyncio.gather(*(descriptor.list_models(context) for descriptor in known))
        return {descriptor.name: found for descriptor, found in zip(known, listings, strict=True) if found}

    return asyncio.run(every())


def name_of_model(workspace: "Workspace", listings: Mapping[str, ModelListing]) -> tuple[str, str]:
    """The name of the model that is set, or else of the first of those listed, and why it is that one."""
    from zkchat.providers.descriptor import OfferedModel, ProviderDescriptor
    from zkchat.providers.detect import first_choice

    def offered_by(descriptor: ProviderDescriptor) -> list[OfferedModel] | None:
        listing = listings.get(descriptor.name, ModelListing(source=descriptor.name))
        if listing.problem:
            return None
        return [OfferedModel(info.id, info.needs_evidence) for info in listing.models]

    if name := workspace.settings.model:
        return name, f"set {workspace.loaded.origins['model'].phrase}"
    choice = first_choice(provider_context(workspace), offered_by)
    return choice.model, choice.why


@dataclass(frozen=True, kw_only=True)
class UserNamedModel:
    """A model that the settings give a name; `listed` is what its provider says of it now."""

    name: str
    model: str
    window: int | None
    calls_tools: bool | None
    on_this_machine: bool | None
    """None if its provider does not list it."""
    listed: "ModelInfo | None"


def user_named_models(workspace: "Workspace", listings: Iterable[ModelListing]) -> list[UserNamedModel]:
    """The models of `[models.NAME]`; what the settings say of one goes before what its provider says."""
    from zkchat.providers.registry import descriptor_of, resolve_name

    context = provider_context(workspace)
    by_name = {info.name: info for listing in listings for info in listing.models}
    found = []
    for name, model in workspace.settings.models.items():
        names = (f"{model.provider}:{id_}" for id_ in descriptor_of(model.provider).listed_ids(model.id))
        listed = next((by_name[each] for each in names if each in by_name), None)
        tools = listed.calls_tools if model.calls_tools is None and listed else model.calls_tools
        found.append(
            UserNamedModel(
                name=name,
                model=f"{model.provider}:{model.id}",
                window=model.context_limit or (listed.context_limit if listed else None),
                calls_tools=tools,
                on_this_machine=_runs_here(resolve_name(name, context), listed),
                listed=listed,
            )
        )
    return found


def _runs_here(model: "NamedModel", listed: "ModelInfo | None") -> bool | None:
    """What the user says of the model goes before what its server's list says."""
    if not model.settings.local:
        return False
    return listed.on_this_machine if listed else None


def check_model(workspace: "Workspace", provider: "ModelProvider") -> str:
    """Check a model, and describe it: its server is asked, because a name alone says nothing. Raises `ZkchatError`."""
    import asyncio

    from zkchat.providers.registry import descriptor_of

    return asyncio.run(descriptor_of(provider.info.provider).check(provider, provider_context(workspace)))


def provider_statuses(workspace: "Workspace") -> Iterator[ProviderStatus]:
    """Whether each provider could be used, where there is something to check."""
    from zkchat.providers.registry import descriptors

    context = provider_context(workspace)
    for descriptor in descriptors():
        if status := descriptor.status(context):
            facts = _server_facts(workspace, descriptor)
            yield replace(status, text=f"{status.text} ({facts})") if facts else status


def _server_facts(workspace: "Workspace", descriptor: "ProviderDescriptor") -> str:
    """Where the address of a provider's server comes from, and whether the user says that it only forwards."""
    loaded, key = workspace.loaded, descriptor.address_setting
    if not key:
        return ""
    facts = [f"{key} {loaded.origins[key].phrase}"]
    if variable := loaded.overruled.get(key):
        facts.append(f"the variable {variable} does not count")
    if not descriptor.settings(provider_context(workspace))["local"]:
        setting = f"{descriptor.name}.local"
        facts.append(f"not local: {setting} is false {loaded.origins[setting].phrase}")
    return "; ".join(facts)


def pull_model(environment: "Environment", name: str, progress: "Progress") -> "Path":
    """Fetch a small model into the cache folder, and return its path."""
    from zkchat.providers import weights

    known = weights.KNOWN.get(name)
    if known is None:
        raise UsageError(
            f"zkchat does not know how to fetch '{name}'.",
            hint=f"It knows: {', '.join(weights.KNOWN)}. Any other GGUF file can be used by its path: local:FILE.gguf",
        )
    return weights.pull(known, environment.cache_dir, progress, variables=environment.variables)

"""From the name of a model to its provider."""

from collections.abc import Iterator
from difflib import get_close_matches
from importlib import import_module

from msgspec.structs import replace

from zkchat.errors import ConfigError
from zkchat.model.providers import PROVIDERS
from zkchat.ports.models import ModelProvider
from zkchat.providers.descriptor import NamedModel, ProviderContext, ProviderDescriptor


def descriptor_of(name: str) -> ProviderDescriptor:
    """The descriptor of a registered provider. Only its own module is imported."""
    assert name in PROVIDERS, name
    descriptor = import_module(f"zkchat.providers.{name}").PROVIDER
    assert isinstance(descriptor, ProviderDescriptor)
    return descriptor


def descriptors() -> Iterator[ProviderDescriptor]:
    """Every provider, in the order in which a model is looked for; each is imported when it is reached."""
    return map(descriptor_of, PROVIDERS)


def resolve_name(name: str, context: ProviderContext) -> NamedModel:
    """What a name means: one of the user's own, else `PROVIDER` or `PROVIDER:ID`.

    It runs elsewhere if the user says so of its provider, or of the same model under any name.
    """
    provider, _, id_ = name.partition(":")
    found = context.models.get(name) or NamedModel(provider=provider, id=id_)
    same = (each for each in context.models.values() if each.model == found.model)
    is_local = context.settings.get(found.provider, {}).get("local") is not False
    may_be_here = is_local and all(each.settings.local for each in same)
    return found if may_be_here else replace(found, settings=replace(found.settings, local=False))


def create(name: str, context: ProviderContext) -> ModelProvider:
    """Create the model of that name. Raises `ConfigError` where there is none."""
    descriptor, model = find(name, context)
    return descriptor.create(model, context)


def find(name: str, context: ProviderContext) -> tuple[ProviderDescriptor, NamedModel]:
    """Who would run a model of that name. Raises `ConfigError` where the name can mean none."""
    model = resolve_name(name, context)
    if model.provider in PROVIDERS:
        descriptor = descriptor_of(model.provider)
        if descriptor.takes_id == bool(model.id):
            return descriptor, model
    close = get_close_matches(name, context.models, n=1)
    *most, last = (descriptor.usage for descriptor in descriptors())
    way_out = f"Did you mean '{close[0]}'?" if close else f"Use {', '.join(most)}, or {last}."
    raise ConfigError(f"There is no model '{name}'.", hint=f"{way_out} `zkchat models` shows what there is.")

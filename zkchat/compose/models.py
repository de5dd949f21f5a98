"""The models that there are: listed, checked before they are used, and fetched."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from zkchat.compose.providers import create_provider, provider_context
from zkchat.compose.workspace import Workspace
from zkchat.environment import Environment
from zkchat.errors import UsageError
from zkchat.model.prompt import ModelInfo
from zkchat.model.providers import PROVIDERS, ModelListing, ModelOverview, ModelRow, ProviderStatus
from zkchat.ports.models import ModelProvider
from zkchat.providers.descriptor import Choice, OfferedModel, ProviderDescriptor
from zkchat.providers.detect import first_choice
from zkchat.providers.locality import is_loopback
from zkchat.providers.registry import descriptor_of, descriptors, resolve_name

if TYPE_CHECKING:
    from zkchat.providers.weights import Progress

THIS_MACHINE = "this machine"
ELSEWHERE = "elsewhere"
"""Of models that a server on this machine only forwards."""
NOT_REACHABLE = "not reachable"
NOT_USABLE = "not usable now"
NOT_LISTED = "not listed by its server"
QUOTE = ModelRow(name="quote", calls_tools=False, place=THIS_MACHINE, on_this_machine=True)


async def survey_models(workspace: Workspace, in_use: ModelInfo | None = None) -> ModelOverview:
    """List the models that there are: every server is asked at once, and none for more than a few seconds.

    `in_use` is the model that answers now; without it, that is the one that the settings choose.
    """
    import asyncio

    context = provider_context(workspace)
    known = [*descriptors()]
    found = await asyncio.gather(*(descriptor.list_models(context) for descriptor in known))
    listings = {descriptor.name: listing for descriptor, listing in zip(known, found, strict=True) if listing}
    choice = None if in_use else _choose(workspace, listings)
    name, why = (in_use.name, "") if in_use else _name_of(workspace, choice)
    listed = [_row(info, listing) for listing in listings.values() for info in listing.models]
    rows = [*_named_rows(workspace, listings), *listed, QUOTE]
    used = _listed_names(name)
    marked = [replace(row, is_in_use=row.name in used) for row in rows]
    if not any(row.is_in_use for row in marked):
        marked.append(_unlisted_row(name, in_use, listings))
    return ModelOverview(
        in_use=name,
        why=why,
        offer=choice.offer if choice else "",
        embeddings=workspace.settings.embeddings.model,
        rows=tuple(sorted(marked, key=lambda row: not row.is_in_use)),
        listings=tuple(listings.values()),
    )


def _listed_names(name: str) -> set[str]:
    """The names by which a model may be listed."""
    provider, _, id_ = name.partition(":")
    if not id_ or provider not in PROVIDERS:
        return {name}
    return {name, *(f"{provider}:{each}" for each in descriptor_of(provider).listed_ids(id_))}


def _choose(workspace: Workspace, listings: Mapping[str, ModelListing]) -> Choice | None:
    """The model to use where none is set, of those that are listed."""

    def offered_by(descriptor: ProviderDescriptor) -> list[OfferedModel] | None:
        listing = listings.get(descriptor.name, ModelListing(source=descriptor.name))
        if listing.problem:
            return None
        return [OfferedModel(info.id, info.needs_evidence) for info in listing.models]

    return None if workspace.settings.model else first_choice(provider_context(workspace), offered_by)


def _name_of(workspace: Workspace, choice: Choice | None) -> tuple[str, str]:
    """The name of the model in use, and why it is that one."""
    if choice is None:
        return workspace.settings.model, f"set {workspace.loaded.origins['model'].phrase}"
    return choice.model, choice.why


def _row(info: ModelInfo, listing: ModelListing) -> ModelRow:
    return ModelRow(
        name=info.name,
        window=info.context_limit,
        calls_tools=info.calls_tools,
        sees_images=info.sees_images,
        is_small=info.needs_evidence,
        on_this_machine=info.on_this_machine,
        place=_place(listing, on_this_machine=info.on_this_machine),
        problem=NOT_USABLE if listing.problem else "",
    )


def _place(listing: ModelListing, *, on_this_machine: bool | None) -> str:
    if on_this_machine:
        return THIS_MACHINE
    if on_this_machine is None:
        return ""
    return ELSEWHERE if not listing.host or is_loopback(f"http://{listing.host}") else listing.host


def _named_rows(workspace: Workspace, listings: Mapping[str, ModelListing]) -> Iterator[ModelRow]:
    """The models of `[models.NAME]`; what the settings say of one goes before what its provider says."""
    context = provider_context(workspace)
    for name, model in workspace.settings.models.items():
        listing = listings.get(model.provider, ModelListing(source=model.provider))
        ids = descriptor_of(model.provider).listed_ids(model.id)
        listed = next((info for id_ in ids for info in listing.models if info.id == id_), None)
        is_declared_elsewhere = not resolve_name(name, context).settings.local
        on_this_machine = False if is_declared_elsewhere else listed.on_this_machine if listed else None
        tools = listed.calls_tools if model.calls_tools is None and listed else model.calls_tools
        yield ModelRow(
            name=name,
            model=f"{model.provider}:{model.id}",
            window=model.context_limit or (listed.context_limit if listed else None),
            calls_tools=tools,
            sees_images=listed.sees_images if model.sees_images is None and listed else model.sees_images,
            is_small=bool(listed and listed.needs_evidence and not tools),
            on_this_machine=on_this_machine,
            place=_place(listing, on_this_machine=on_this_machine),
            problem=_problem(listing, is_listed=listed is not None),
        )


def _problem(listing: ModelListing, *, is_listed: bool) -> str:
    if listing.problem:
        return NOT_REACHABLE
    return "" if is_listed else NOT_LISTED


def _unlisted_row(name: str, info: ModelInfo | None, listings: Mapping[str, ModelListing]) -> ModelRow:
    """The model in use, where no list holds it: a file, a script, one of a server that does not answer."""
    listing = listings.get(name.partition(":")[0])
    row = _row(info, replace(listing or ModelListing(source=""), problem="")) if info else ModelRow(name=name)
    return replace(row, is_in_use=True, problem=_problem(listing, is_listed=False) if listing and not info else "")


async def verify_model(workspace: Workspace, name: str) -> ModelInfo:
    """Check that a model answers: it is there, and its server takes the key. Raises `ZkchatError`.

    Its server is asked as little as proves it.
    """
    chosen = workspace.changed_by(None, name)
    provider = create_provider(chosen).provider
    await descriptor_of(provider.info.provider).verify(provider, provider_context(chosen))
    return provider.info


def check_model(workspace: Workspace, provider: ModelProvider) -> str:
    """Check a model, and describe it: its server is asked, because a name alone says nothing. Raises `ZkchatError`."""
    import asyncio

    return asyncio.run(descriptor_of(provider.info.provider).check(provider, provider_context(workspace)))


def provider_statuses(workspace: Workspace) -> Iterator[ProviderStatus]:
    """Whether each provider could be used, where there is something to check."""
    context = provider_context(workspace)
    for descriptor in descriptors():
        if status := descriptor.status(context):
            facts = _server_facts(workspace, descriptor)
            yield replace(status, text=f"{status.text} ({facts})") if facts else status


def _server_facts(workspace: Workspace, descriptor: ProviderDescriptor) -> str:
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


def pull_model(environment: Environment, name: str, progress: "Progress") -> Path:
    """Fetch a small model into the cache folder, and return its path."""
    from zkchat.providers import weights

    known = weights.KNOWN.get(name)
    if known is None:
        raise UsageError(
            f"zkchat does not know how to fetch '{name}'.",
            hint=f"It knows: {', '.join(weights.KNOWN)}. Any other GGUF file can be used by its path: local:FILE.gguf",
        )
    return weights.pull(known, environment.cache_dir, progress, variables=environment.variables)

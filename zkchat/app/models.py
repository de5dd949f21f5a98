"""The models that there are, the one of a conversation, and those that a chat may switch to."""

import asyncio
from collections.abc import Callable, Container, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, replace

from zkchat.app.trust import VaultTrust
from zkchat.app.workspace import Workspace, local_globs, settings_stamp
from zkchat.chat import FALLBACK_ENCODING, CachedTokenizer, tokenizer_for
from zkchat.config import Settings
from zkchat.core import (
    PROVIDERS,
    ConfigError,
    Environment,
    ModelInfo,
    ModelListing,
    ModelOverview,
    ModelProvider,
    ModelRow,
    ProviderStatus,
    Tokenizer,
    UsageError,
    debug,
)
from zkchat.models import (
    Choice,
    GuardedProvider,
    ModelSettings,
    NamedModel,
    OfferedModel,
    Progress,
    ProviderContext,
    ProviderDescriptor,
    Weights,
    choose,
    descriptor_of,
    descriptors,
    find,
    first_choice,
    is_loopback,
    resolve_name,
)


class LiveSettings:
    """Used by one thread at a time; `local_only` may be read by any."""

    def __init__(self, workspace: Workspace) -> None:
        """`workspace`: with the settings that something is opened with."""
        self.workspace = workspace
        """With the settings as they were found last."""
        self.local_only = local_globs(workspace)
        """The patterns of notes that stay here by their folder. Always this list: what changes in it counts at once."""
        self.version = 0
        """Another one once something has changed."""
        self.problem = ""
        """Why the settings cannot be used as they are now; those from before count then, and all notes are local."""
        self.is_taken_back = False
        """Whether something is no longer approved that was when all of this was opened."""
        self._stamp = workspace.stamp
        self._files = workspace.paths.user_config, workspace.paths.vault_config
        self._present = {file for file in self._files if workspace.stamp.get(file)}
        """The files of settings that were there at some time."""
        self._approved = VaultTrust(workspace.paths).approved()
        self._followers: list[Callable[[Workspace], str]] = []
        self._notices: list[str] = []

    def follow(self, apply: Callable[[Workspace], str]) -> None:
        """Have `apply` called with other settings. What it returns is told to the user."""
        self._followers.append(apply)

    def catch_up(self) -> None:
        """Let the settings count as they are now. That they cannot be used raises nothing: it is a notice."""
        stamp = settings_stamp(self.workspace.paths)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        before, was_taken_back = self.workspace, self.is_taken_back
        self.is_taken_back = VaultTrust(before.paths).takes_back(self._approved)
        self._read_again()
        old, new = before.loaded, self.workspace.loaded
        # Whether anything differs but how the terminal looks.
        differs = old.privacy_unknown != new.privacy_unknown or old.settings != replace(
            new.settings, ui=old.settings.ui
        )
        if differs or was_taken_back != self.is_taken_back:
            self.version += 1
            self.local_only[:] = local_globs(self.workspace)
            self._notices += filter(None, [apply(self.workspace) for apply in self._followers])

    def take_notices(self) -> tuple[str, ...]:
        """What the user has not been told yet."""
        notices = tuple(self._notices)
        self._notices.clear()
        return notices

    def check_trust(self) -> None:
        """Raises `ConfigError` where an approval was taken back: what was opened may rest on it."""
        if self.is_taken_back:
            raise ConfigError(
                "You revoked an approval for this vault, so nothing more is sent to a model.",
                hint="Restart zkchat, or choose the model again: /model NAME",
            )

    def _read_again(self) -> None:
        """Where the settings cannot be used, those from before count, and it is not known which notes are local."""
        before, self.problem = self.workspace, ""
        try:
            self.workspace = before.read_again()
            unknown = self.workspace.loaded.privacy_unknown or self._missing()
        except ConfigError as error:
            unknown = self.problem = error.message
        if unknown:
            loaded = replace(self.workspace.loaded, privacy_unknown=unknown)
            self.workspace = replace(self.workspace, loaded=loaded)
        if unknown != before.loaded.privacy_unknown and unknown:
            self._notices.append(f"{unknown} Until that is fixed, every note is treated as private.")

    def _missing(self) -> str:
        """A sentence where a file of settings is gone that was there: some editors take it away while they save it."""
        now = {file for file in self._files if self._stamp.get(file)}
        gone = [file for file in self._files if file in self._present - now]
        self._present |= now
        return f"The settings file {gone[0]} is gone: put it back, even empty, or restart zkchat." if gone else ""


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
    environment, settings, origins = workspace.environment, workspace.settings, workspace.loaded.origins
    return ProviderContext(
        settings=provider_sections(settings),
        set_by_user=frozenset(key for key, origin in origins.items() if origin.layer in {"user", "variable", "flag"}),
        set_by_vault=frozenset(key for key, origin in origins.items() if origin.layer == "vault"),
        variables=environment.variables,
        folder=environment.cwd,
        home=environment.home,
        cache=environment.cache_dir,
        window=settings.context.max_tokens,
        models={name: _named_model(workspace, name) for name in settings.models},
    )


def _named_model(workspace: Workspace, name: str) -> NamedModel:
    model = workspace.settings.models[name]
    said = {field: getattr(model, field) for field in ModelSettings.__struct_fields__}
    section = getattr(workspace.settings, model.provider, None)
    if model.base_url and section and workspace.loaded.origins[f"models.{name}.local"].layer == "default":
        said["local"] = type(section)().local  # what is usual for servers of that kind
    return NamedModel(provider=model.provider, id=model.id, table=f"models.{name}", settings=ModelSettings(**said))


def provider_sections(settings: Settings) -> Mapping[str, Mapping[str, object]]:
    return {name: asdict(getattr(settings, name)) for name in PROVIDERS if hasattr(settings, name)}


def create_provider(workspace: Workspace) -> ModelInUse:
    """Create the model that is set, or else the first that is there. Raises `ConfigError`."""
    context = provider_context(workspace)
    name, chosen, offer = workspace.settings.model, "", ""
    if not name:
        choice = choose(context)
        name, chosen, offer = choice.model, choice.sentence, choice.offer
    origin = workspace.loaded.origins["model"]
    try:
        descriptor, model, context = find(name, context)
    except ConfigError as error:
        named = "" if origin.layer == "flag" else f" It is the setting 'model' {origin.phrase}."
        raise ConfigError(f"{error.message}{named}", hint=error.hint) from None
    provider = descriptor.create(model, context)
    why = chosen or f"set {origin.phrase}"
    debug(
        "model",
        name=name,
        model=model.model,
        why=why,
        address=descriptor.server_address(context),
        local=model.settings.local,
    )
    warning = descriptor.key(context).warning
    warnings = (warning,) if warning else ()
    return ModelInUse(provider=provider, name=name, chosen=chosen, offer=offer, warnings=warnings)


def check_model_name(workspace: Workspace, name: str) -> None:
    """Raises `ConfigError` where the name can mean no model, or its service has no key. No server is asked."""
    descriptor, _, context = find(name, provider_context(workspace))
    variable = descriptor.variable(context)
    if variable and not descriptor.server_address(context) and not descriptor.key(context).value:
        raise ConfigError(f"There is no key for {name} yet.", hint=f"Put it into the variable {variable}.")


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
                f"{reason} The file may say which notes are private, so nothing is sent to {info.shown}.",
                hint="Fix the file or move it away, or choose a model on this machine, such as --model quote.",
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
    return CachedTokenizer(tokenizer), 1.0 if is_known else 1.2  # of its tokens for each of ours, rather high than low


def preload_client(provider: str) -> None:
    """Import the client library of a provider, so that the first request need not wait for it."""
    if library := descriptor_of(provider).library:
        import_module(library)


THIS_MACHINE = "this machine"
ELSEWHERE = "elsewhere"
"""Of models that a server on this machine only forwards."""
QUOTE = ModelRow(name="quote", calls_tools=False, place=THIS_MACHINE, on_this_machine=True)


async def survey_models(workspace: Workspace, in_use: ModelInfo | None = None) -> ModelOverview:
    """List the models that there are: every server is asked at once, and none for more than a few seconds.

    `in_use` is the model that answers now; without it, that is the one that the settings choose.
    """
    context = provider_context(workspace)
    own = {name: server for name in context.models if (server := _own_server(name, context))}
    known = {**{each.name: (each, context) for each in descriptors()}, **own}

    async def listed_by(descriptor: ProviderDescriptor, seen: ProviderContext | ConfigError) -> ModelListing | None:
        if isinstance(seen, ConfigError):
            return ModelListing(source=descriptor.name, problem=seen.message, hint=seen.hint)
        return await descriptor.list_models(seen)

    found = await asyncio.gather(*(listed_by(*each) for each in known.values()))
    every = {name: listing for name, listing in zip(known, found, strict=True) if listing}
    chosen = _chosen(workspace) | {in_use.provider if in_use else ""}
    listings = {name: listing for name, listing in every.items() if name not in own}
    if any(each.models for each in every.values()):
        listings = {
            name: replace(each, is_untold=bool(each.host) and name not in chosen) for name, each in listings.items()
        }
    choice = None if in_use else _choose(workspace, listings)
    if in_use:
        named = context.models.get(workspace.settings.model)
        name, why = workspace.settings.model if named and named.model == in_use.name else in_use.name, ""
    elif choice:
        name, why = choice.model, choice.why
    else:
        name, why = workspace.settings.model, f"set {workspace.loaded.origins['model'].phrase}"
    used, listed = _listed_names(name), (_row(info, each) for each in listings.values() for info in each.models)
    rows = [*_named_rows(workspace, every, own), *listed, QUOTE]
    marked = [replace(row, is_in_use=row.name in used) for row in rows]
    if not any(row.is_in_use for row in marked):  # a file, a script, one of a server that does not answer
        there = listings.get(name.partition(":")[0])
        row = _row(in_use, replace(there or ModelListing(source=""), problem="")) if in_use else ModelRow(name=name)
        problem = _problem(there, is_listed=False) if there and not in_use else ""
        marked.append(replace(row, is_in_use=True, problem=problem))
    away = (replace(each, models=()) for name, each in every.items() if name in own and each.problem)
    return ModelOverview(
        in_use=name,
        why=why,
        offer=choice.offer if choice else "",
        embeddings=workspace.settings.embeddings.model,
        rows=tuple(sorted(marked, key=lambda row: not row.is_in_use)),
        listings=(*listings.values(), *dict.fromkeys(away)),
    )


def _chosen(workspace: Workspace) -> set[str]:
    """The providers of which the user has set something, or whose model is set."""
    origins = workspace.loaded.origins.items()
    return {
        workspace.settings.model.partition(":")[0],
        *(key.partition(".")[0] for key, origin in origins if origin.layer != "default"),
    }


def _own_server(name: str, context: ProviderContext) -> tuple[ProviderDescriptor, ProviderContext | ConfigError] | None:
    """Who asks the server of a model that has one of its own, and by what settings, or why it cannot be asked."""
    model = resolve_name(name, context)
    descriptor = descriptor_of(model.provider)
    try:
        seen = descriptor.context_for(model, context)
    except ConfigError as error:
        return descriptor, error
    return None if seen is context else (descriptor, seen)


def _listed_names(name: str) -> set[str]:
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
        return [OfferedModel(info.id, info.is_tiny) for info in listing.models]

    return None if workspace.settings.model else first_choice(provider_context(workspace), offered_by)


def _row(info: ModelInfo, listing: ModelListing) -> ModelRow:
    return ModelRow(
        name=info.name,
        window=info.context_limit,
        calls_tools=info.calls_tools,
        sees_images=info.sees_images,
        is_small=info.needs_evidence,
        on_this_machine=info.on_this_machine,
        place=_place(listing, on_this_machine=info.on_this_machine),
        problem="not usable now" if listing.problem else "",
    )


def _place(listing: ModelListing, *, on_this_machine: bool | None) -> str:
    if on_this_machine:
        return THIS_MACHINE
    if on_this_machine is None:
        return ""
    return ELSEWHERE if not listing.host or is_loopback(f"http://{listing.host}") else listing.host


def _named_rows(workspace: Workspace, listings: Mapping[str, ModelListing], own: Container[str]) -> Iterator[ModelRow]:
    """The models of `[models.NAME]`; what the settings say of one goes before what its provider says."""
    context = provider_context(workspace)
    for name, model in workspace.settings.models.items():
        listing = listings.get(name if name in own else model.provider, ModelListing(source=model.provider))
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
        return "not reachable"
    return "" if is_listed else "not listed by its server"


async def verify_model(workspace: Workspace, name: str) -> ModelInfo:
    """Check that a model answers: it is there, and its server takes the key. Raises `ZkchatError`.

    Its server is asked as little as proves it.
    """
    descriptor, model, context = find(name, provider_context(workspace.changed_by(None, name)))
    provider = descriptor.create(model, context)
    await descriptor.verify(provider, context)
    return provider.info


def check_model(workspace: Workspace, model: ModelInUse) -> str:
    """Check a model, and describe it: its server is asked, because a name alone says nothing. Raises `ZkchatError`."""
    descriptor, _, context = find(model.name, provider_context(workspace))
    return asyncio.run(descriptor.check(model.provider, context))


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
        facts.append(f"the variable {variable} is ignored")
    if not descriptor.settings(provider_context(workspace))["local"]:
        setting = f"{descriptor.name}.local"
        facts.append(f"counts as another machine, because {setting} is false {loaded.origins[setting].phrase}")
    return "; ".join(facts)


def pull_model(environment: Environment, weights: Weights, progress: Progress) -> Path:
    """Fetch a model into the cache folder, and return its path."""
    from zkchat.models import gguf

    return gguf.pull(weights, environment.cache_dir, progress, variables=environment.variables)


def weights_of(name: str) -> Weights:
    """What `pull_model` fetches. Raises `UsageError` for what is not known."""
    from zkchat.models import gguf

    known = gguf.KNOWN.get(name)
    if known is None:
        raise UsageError(
            f"zkchat cannot fetch '{name}'.",
            hint=f"It can fetch: {', '.join(gguf.KNOWN)}. Any other GGUF file can be used by its path: local:FILE.gguf",
        )
    return known

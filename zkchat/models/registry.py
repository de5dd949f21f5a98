"""From the name of a model to its provider: found, detected, guarded, or resumed in a session."""

import re
import socket
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import aclosing
from difflib import get_close_matches
from importlib import import_module
from ipaddress import IPv4Network, ip_address
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    PROVIDERS,
    REFERENCE,
    ConfigError,
    HostedService,
    ModelChunk,
    ModelInfo,
    ModelListing,
    ModelProvider,
    ModelRequest,
    PromptTooLong,
    ProviderError,
    ProviderStatus,
    Tokenizer,
    TokenUsage,
    without_password,
)
from zkchat.subprocesses import DaemonThreads


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
    base_url: str = ""
    """Of its own server; empty for that of its provider."""
    api_key_env: str = ""
    headers: Mapping[str, str] = {}
    """For its server, with `${VARIABLE}` for what comes from a variable."""
    connect_timeout: float | None = None
    timeout: float | None = None
    """Seconds until the answer begins."""
    chunk_timeout: float | None = None
    price_input: float | None = None
    """In dollars for a million tokens, as are the next two."""
    price_cached: float | None = None
    price_output: float | None = None

    def priced(self, usage: TokenUsage | None) -> TokenUsage | None:
        """With what the request cost, where there is a price; else as the server said it."""
        if usage is None or (self.price_input is None and self.price_output is None):
            return usage
        whole = self.price_input or 0.0
        cached = whole if self.price_cached is None else self.price_cached
        read = max(0, usage.prompt_tokens - usage.cached_tokens) * whole + usage.cached_tokens * cached
        return replace(usage, cost=(read + usage.completion_tokens * (self.price_output or 0.0)) / 1_000_000)


DEFAULT_MODEL_SETTINGS = ModelSettings()


class NamedModel(Struct, frozen=True, kw_only=True):
    """A model by provider and id, with its settings; the user may have given it a name of their own."""

    provider: str
    id: str
    settings: ModelSettings = DEFAULT_MODEL_SETTINGS
    table: str = ""
    """Where the settings describe it: `models.NAME`, or `embeddings`."""

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
    set_by_vault: frozenset[str] = frozenset()
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
    id: str
    is_tiny: bool = False
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
            return f"No model is set up, so zkchat quotes your notes. {self.offer}"
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
    service: tuple[str, str] = ("", "")
    """The host of the service itself, and the variable in which everybody has its key."""

    @abstractmethod
    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        """Create the model, without connecting to a server. Raises `ConfigError`."""

    def settings(self, context: ProviderContext) -> Mapping[str, Any]:
        """Its section of the settings."""
        return context.settings.get(self.name, {})

    def variable(self, context: ProviderContext) -> str:
        """The variable that holds the key for its server."""
        return str(self.settings(context).get("api_key_env", self.service[1]))

    def key(self, context: ProviderContext) -> ServerKey:
        """The key for its server, if there is one and it may go there."""
        variable = self.variable(context)
        return server_key(context.variables.get(variable, "").strip(), self.server_address(context), variable)

    def key_variable(self, context: ProviderContext, base_url: str, variable: str) -> str:
        """The variable whose key goes to a server of one's own, for which one may be named; empty for none.

        A key is for the server that it was set up for: the provider's goes to no other.
        """
        host, usual = self.service
        if variable or not base_url or same_server(base_url, self.server_address(context) or f"https://{host}"):
            return variable or self.variable(context)
        name = urlsplit(base_url).hostname or ""
        return usual if name == host or name.endswith(f".{host}") else ""

    def server_address(self, context: ProviderContext) -> str:
        """Of the provider's own server; empty if it has none, or for the service itself."""
        return str(self.settings(context).get(self.address_setting.partition(".")[2], ""))

    def context_for(self, model: NamedModel, context: ProviderContext) -> ProviderContext:
        """The same context where the provider's section says what counts for this model: what is said of the model
        itself goes first. To a server that a vault names go neither its key nor its headers. Raises `ConfigError`."""
        own = model.settings
        if not self.address_setting or not (own.base_url or own.api_key_env or own.headers):
            return context
        setting = f"{model.table}.base_url" if own.base_url else self.address_setting
        is_trusted = setting not in context.set_by_vault
        choice = {self.address_setting} if setting in context.set_by_user else set()
        section = {
            **self.settings(context),
            self.address_setting.partition(".")[2]: own.base_url or self.server_address(context),
            "api_key_env": self.key_variable(context, own.base_url, own.api_key_env) if is_trusted else "",
            "headers": expanded_headers(model, context.variables) if is_trusted else {},
            "local": own.local,
            "address_setting": setting,
        }
        return replace(
            context,
            settings={**context.settings, self.name: section},
            set_by_user=context.set_by_user - {self.address_setting} | choice,
        )

    def hints(self, context: ProviderContext) -> tuple[str, str]:
        """The setting of its server's address, and what to do where the server refuses the key."""
        section = self.settings(context)
        setting, variable = section.get("address_setting", self.address_setting), section.get("api_key_env")
        if variable or "address_setting" not in section:
            return setting, f"Put a valid key into the environment variable {variable or self.service[1]}."
        named = f"{setting.removesuffix('base_url')}api_key_env"
        return setting, f"Put your key into an environment variable, and the variable's name into the setting {named}."

    def address(self, context: ProviderContext) -> str:
        """The address that must accept a connection before `offered_models` is called; empty if there is none, and for
        the service itself, which may lie behind a proxy: whether it accepts connections says nothing."""
        return self.server_address(context)

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
        """Whether it could be used, for `zkchat config doctor`; None if there is nothing to check."""
        return None

    async def verify(self, model: ModelProvider, context: ProviderContext) -> None:
        """Raise `ZkchatError` unless the model would answer, as far as a cheap request can tell."""
        if not self.in_process:
            await model.connect()

    async def check(self, model: ModelProvider, context: ProviderContext) -> str:
        """Verify the model that is in use, and describe it for `zkchat config doctor`. Raises `ZkchatError`."""
        await self.verify(model, context)
        info = model.info
        window = f"{info.context_limit:,} tokens" if info.context_limit else "window unknown"
        tools = "tools" if info.calls_tools else "no tools"
        tools += ", sees images" if info.sees_images else ""
        place = "on this machine" if info.on_this_machine else "elsewhere: private notes are not sent"
        return f"{info.name} (ready; {window}, {tools}, {place})"

    def tokenizer(self, model: ModelProvider) -> Tokenizer | None:
        """The model's own tokenizer; None if `ModelInfo.tokenizer` names the encoding, if anything does."""
        return None


_LOOPBACK: Final = IPv4Network("127.0.0.0/8")
_WORD: Final = re.compile(r"[^\W_]+")


def is_loopback(address: str) -> bool:
    """Whether a URL leads to this machine itself: 127.0.0.0/8, ::1, or `localhost`, and no other name."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    if host in {"localhost", "::1"}:
        return True
    try:
        return ip_address(host) in _LOOPBACK
    except ValueError:
        return False


def server_key(key: str, base_url: str, variable: str) -> ServerKey:
    """The key goes where the settings say; over plain HTTP to another machine only with a warning."""
    if not key or not base_url.lower().startswith("http:") or is_loopback(base_url):
        return ServerKey(key)
    return ServerKey(
        key,
        f"The key in {variable} and your notes go to {display_address(base_url)} without TLS: anybody on the way "
        "can read them. Use an address with https:// if the server has one.",
    )


def same_server(one: str, other: str) -> bool:
    """Whether two addresses lead to one server, whatever their paths: all names of this machine are one."""

    def place(address: str) -> tuple[str, int | None]:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        return "" if is_loopback(address) else (parts.hostname or "").removesuffix("."), port

    return bool(one and other) and place(one) == place(other)


def expanded_headers(model: NamedModel, variables: Mapping[str, str]) -> dict[str, str]:
    """The headers of a model with the values of variables. Raises `ConfigError` where one is missing."""
    headers = model.settings.headers
    used = [found for text in headers.values() for found in REFERENCE.finditer(text)]
    if missing := [each["name"] for each in used if each["default"] is None and not variables.get(each["name"])]:
        raise ConfigError(
            f"'{model.table}.headers' needs the variable {missing[0]}, which is not set.",
            hint="Set the variable, or change the setting.",
        )

    def value(text: str) -> str:
        return REFERENCE.sub(lambda found: variables.get(found["name"]) or found["default"] or "", text).strip()

    return {name: value(text) for name, text in headers.items()}


def may_run_here(address: str, model: str, *, local: bool) -> bool:
    """Whether the model may run on this machine, as far as is known without asking its server. Ollama's names for those
    that it forwards say so: `gpt-oss:120b-cloud`, `kimi-k2:cloud`."""
    return local and is_loopback(address) and "cloud" not in _WORD.findall(model.casefold())


def is_forwarded(facts: object) -> bool:
    """Whether the answer of `/api/show` says that the model runs on another host."""
    return isinstance(facts, Mapping) and bool(facts.get("remote_host") or facts.get("remote_model"))


def ollama_address(base_url: str) -> str:
    """Where an Ollama that is spoken to by OpenAI's protocol at this address speaks its own."""
    return base_url.rstrip("/").removesuffix("/v1")


def display_address(address: str) -> str:
    """An address without the password that may stand in it."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def is_reachable(url: str) -> bool:
    parts = urlsplit(url if "//" in url else f"//{url}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "127.0.0.1", port), timeout=PROBE_TIMEOUT):
            return True
    except (OSError, ValueError):
        return False


def descriptor_of(name: str) -> ProviderDescriptor:
    """The descriptor of a registered provider. Only its own module is imported."""
    assert name in PROVIDERS, name
    descriptor = import_module(f"zkchat.models.{name}").PROVIDER
    assert isinstance(descriptor, ProviderDescriptor)
    return descriptor


def descriptors() -> Iterator[ProviderDescriptor]:
    """Every provider, in the order in which a model is looked for; each is imported when it is reached."""
    return map(descriptor_of, PROVIDERS)


def resolve_name(name: str, context: ProviderContext) -> NamedModel:
    """What a name means: one of the user's own, else `PROVIDER` or `PROVIDER:ID`.

    It runs elsewhere if the user says so of its server, or of the same model of that server under any name.
    """
    provider, _, id_ = name.partition(":")
    found = context.models.get(name) or NamedModel(provider=provider, id=id_)
    if found.provider not in PROVIDERS:
        return found
    of_provider = descriptor_of(found.provider).server_address(context)

    def server(model: NamedModel) -> str:
        own = model.settings.base_url
        return "" if not own or same_server(own, of_provider) else own

    here = server(found)
    same = (each for each in context.models.values() if each.model == found.model)
    said = [each.settings.local for each in same if server(each) == here or same_server(server(each), here)]
    if not here:
        said.append(context.settings.get(found.provider, {}).get("local") is not False)
    may_be_here = all(said)
    return found if may_be_here else replace(found, settings=replace(found.settings, local=False))


def create(name: str, context: ProviderContext) -> ModelProvider:
    """Create the model of that name. Raises `ConfigError` where there is none."""
    descriptor, model, context = find(name, context)
    return descriptor.create(model, context)


_FAMILIES: Final = {"gpt-": "openai:", "o3": "openai:", "o4": "openai:", "claude-": "anthropic:"}


def find(name: str, context: ProviderContext) -> tuple[ProviderDescriptor, NamedModel, ProviderContext]:
    """Who would run a model of that name, and by what settings. Raises `ConfigError` where the name can mean none."""
    model = resolve_name(name, context)
    if model.provider in PROVIDERS:
        descriptor = descriptor_of(model.provider)
        if descriptor.takes_id == bool(model.id):
            return descriptor, model, descriptor.context_for(model, context)
    if "://" in name:
        hint = f"To use the models of that server: zkchat config set openai.base_url {without_password(name)}"
        raise ConfigError(f"{without_password(name)} is an address, not a model.", hint=hint)
    close = get_close_matches(name, context.models, n=1)
    *most, last = (descriptor.usage for descriptor in descriptors())
    meant = close[0] if close else f"ollama:{name}" if ":" in name and model.provider not in PROVIDERS else ""
    meant = next((provider + name for start, provider in _FAMILIES.items() if name.startswith(start)), meant)
    way_out = f"Did you mean '{meant}'?" if meant else f"Use {', '.join(most)}, or {last}."
    raise ConfigError(f"There is no model '{name}'.", hint=f"{way_out} `zkchat models` lists the available ones.")


PROBE_TIMEOUT = 1.0
"""Seconds that a server may take to accept a connection: where none is, that is said at once, on a busy machine too."""
SETUP_HELPS: Final = "; `zkchat setup` helps"
"""The end of the sentence, left out by the setup itself."""
HOW_TO_GET_ONE: Final = (
    "For answers that a model writes, start Ollama (https://ollama.com) and run `ollama pull qwen3:4b`, set the "
    "address of your own server (`zkchat config set openai.base_url ADDRESS`), or put a key into the variable "
    f"OPENAI_API_KEY{SETUP_HELPS}."
)


def choose(context: ProviderContext) -> Choice:
    """The model to use. Servers are probed at once, and only one that answers is asked for its models."""
    addresses = {descriptor.name: descriptor.address(context) for descriptor in descriptors()}
    reached = reachable(filter(None, addresses.values()), is_reachable)

    def offered_by(descriptor: ProviderDescriptor) -> Sequence[OfferedModel] | None:
        address = addresses[descriptor.name]
        if address and address not in reached:
            return None
        try:
            return descriptor.offered_models(context)
        except ProviderError:
            return None  # whatever listens there, it is no server that we can talk to

    return first_choice(context, offered_by)


def first_choice(
    context: ProviderContext, offered_by: Callable[[ProviderDescriptor], Sequence[OfferedModel] | None]
) -> Choice:
    """The choice of the first provider that has one; small models are only offered.

    `offered_by` gives the models of a provider, or None where its server does not answer.
    """
    suggestions, small = [], []
    for descriptor in descriptors():
        offered = offered_by(descriptor)
        small += [f"{descriptor.name}:{model.id}" for model in offered or () if model.is_tiny]
        choice = descriptor.choose([model.id for model in offered or () if not model.is_tiny], context)
        if choice and choice.model == "quote":
            if small:
                more = f" (and {len(small) - 1} more)" if len(small) > 1 else ""
                use_it = f"`zkchat config set model {small[0]}` uses it anyway."
                suggestions.append(f"{small[0]}{more} is there, but too small to rely on; {use_it}")
            return replace(choice, offer=" ".join(filter(None, suggestions)) or HOW_TO_GET_ONE)
        if choice:
            return choice
        answers = offered is not None
        suggestions.append(descriptor.suggestion(context, answers=answers, has_models=bool(offered)))
    raise AssertionError("the provider `quote` can always be chosen")


def reachable(addresses: Iterable[str], probe: Callable[[str], bool]) -> set[str]:
    """Those that answer, all probed at once. A name that takes long to look up is not waited for."""
    probes = {address: DaemonThreads().submit(probe, address) for address in addresses}
    done, _ = wait(probes.values(), PROBE_TIMEOUT)
    return {address for address, probed in probes.items() if probed in done and probed.result()}


class SendingRules(Protocol):
    """What the settings say of one model."""

    def catch_up(self) -> int:
        """Let the settings count as they are now; the number is another one once they have changed."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether they declare that the model runs on another machine."""

    def check(self, info: ModelInfo) -> None:
        """Raises `ConfigError` where nothing may be sent to the model."""


class GuardedProvider:
    """Wraps another `ModelProvider`."""

    def __init__(self, provider: ModelProvider, rules: SendingRules) -> None:
        self._provider = provider
        self._rules = rules
        self._version: int | None = None
        """Of the settings with which the turn began; None before the first."""

    @property
    def info(self) -> ModelInfo:
        info = self._provider.info
        return replace(info, on_this_machine=False, is_located=True) if self._rules.is_elsewhere else info

    async def connect(self) -> None:
        self._version = self._rules.catch_up()
        await self._provider.connect()

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Raises `ConfigError` where nothing may be sent, or a request was made by settings that changed meanwhile."""
        version = self._rules.catch_up()
        self._rules.check(self.info)
        if self._version not in {None, version}:
            raise ConfigError(
                "The settings changed during this answer, so nothing more is sent.", hint="Ask again; in a chat: /retry"
            )
        return self._provider.stream(request)


WAY_OUT = "This session uses that model. To continue with another: --model NAME, in a chat /model NAME."


class ResumedProvider:
    """Wraps another `ModelProvider`."""

    def __init__(self, provider: ModelProvider, *, window: int | None, must_run_here: bool) -> None:
        """`window` counts until the server is reached. With `must_run_here` a model elsewhere is sent nothing."""
        self._provider = provider
        self._window = window
        self._must_run_here = must_run_here

    @property
    def info(self) -> ModelInfo:
        info = self._provider.info
        if info.context_limit or self._window is None:
            return info
        return replace(info, context_limit=self._window)

    async def connect(self) -> None:
        """Raises `ProviderError` where the server does not answer, or the model no longer runs on this machine."""
        try:
            await self._provider.connect()
        except ProviderError as error:
            raise _with_way_out(error) from error
        self._window = None
        self._check_place()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        if self._must_run_here and not self._provider.info.is_located:
            await self.connect()
        self._check_place()
        has_begun = False
        try:
            async with aclosing(self._provider.stream(request)) as chunks:
                async for chunk in chunks:
                    has_begun = True
                    yield chunk
        except ProviderError as error:
            if has_begun or isinstance(error, PromptTooLong):
                raise
            raise _with_way_out(error) from error

    def _check_place(self) -> None:
        info = self._provider.info
        if self._must_run_here and not info.on_this_machine:
            raise ProviderError(
                f"This session's model ran on this machine. {info.name} does not, so nothing is sent to it.",
                hint=f"To continue with it anyway: --model {info.name}, in a chat /model {info.name}.",
            )


def _with_way_out(error: ProviderError) -> ProviderError:
    return type(error)(error.message, hint=f"{error.hint} {WAY_OUT}".strip())


SERVICES: Final = (
    HostedService("OpenRouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
    HostedService("Anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1"),
    HostedService("Gemini", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai"),
    HostedService("Mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1"),
    HostedService("Groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1"),
    HostedService("DeepSeek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
    HostedService("Together", "TOGETHER_API_KEY", "https://api.together.xyz/v1"),
    HostedService("xAI", "XAI_API_KEY", "https://api.x.ai/v1"),
)


def services_with_key(variables: Mapping[str, str]) -> list[HostedService]:
    """Those for which the environment holds a key."""
    return [service for service in SERVICES if variables.get(service.key_variable, "").strip()]


SMALL_MODEL_SIZE = 3_000_000_000
"""Parameters, or bytes of a file, below which a model is handed what the notes say (benchmarks/models)."""
TINY_MODEL_SIZE = 1_200_000_000
"""Below which it gets no tools, and is used only where the user names it: TinyLlama, of 1.1 billion, loops."""
MAX_ANSWER_TOKENS = 256
"""Limit for a small model, unless set otherwise: it does not know when to end."""
MAX_CALL_TOKENS = 768
"""The same where it has tools: a call may hold the text of a note."""

_LIMIT_OPTIONS = frozenset({"max_tokens", "max_completion_tokens", "num_predict", "n_predict"})
"""The options by which servers limit the length of an answer."""
_UNITS = {"K": 1_000, "M": 1_000_000, "B": 1_000_000_000, "T": 1_000_000_000_000}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMBT])", re.IGNORECASE)
_SIZE_IN_NAME = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d+)?)([mb])(?![^\W_])", re.IGNORECASE)
_MIN_SIZE_IN_NAME = 20_000_000
"""Parameters: less in a name is the length of a context, such as `1m`."""


def adapt_to_size(info: ModelInfo, size: object, settings: ModelSettings) -> ModelInfo:
    """Mark a small model as one that needs evidence, unless the settings give it tools; a tiny one gets none."""
    if not isinstance(size, int) or not 0 < size < SMALL_MODEL_SIZE or settings.calls_tools is True:
        return info
    tiny = is_tiny(size)
    return replace(info, needs_evidence=True, is_tiny=tiny, calls_tools=info.calls_tools and not tiny)


def is_tiny(size: int | None) -> bool:
    """Whether a model of that many parameters, or bytes, is tiny; None is an unknown size."""
    return size is not None and 0 < size < TINY_MODEL_SIZE


def parse_size(text: object) -> int | None:
    """Parse a number of parameters such as `494.03M` or `8B`."""
    found = _SIZE.fullmatch(text.strip()) if isinstance(text, str) else None
    return round(float(found[1]) * _UNITS[found[2].upper()]) if found else None


def size_in_name(name: str) -> int | None:
    """The number of parameters that a model's name tells: 600 million of `qwen3:0.6b`."""
    sizes = (round(float(found[1]) * _UNITS[found[2].upper()]) for found in _SIZE_IN_NAME.finditer(name))
    return max((size for size in sizes if size >= _MIN_SIZE_IN_NAME), default=None)


def sampling_for(
    request: ModelRequest, settings: ModelSettings, *, conservative: bool
) -> tuple[float | None, int | None]:
    """Temperature and limit of the answer, None for the server's default: the request's, else the settings'.

    `conservative` defaults to temperature 0 and a limited length.
    """
    temperature = settings.temperature if request.temperature is None else request.temperature
    max_tokens = request.max_answer_tokens
    if conservative and temperature is None and "temperature" not in settings.options:
        temperature = 0.0
    if conservative and max_tokens is None and _LIMIT_OPTIONS.isdisjoint(settings.options):
        max_tokens = MAX_CALL_TOKENS if request.tools else MAX_ANSWER_TOKENS
    return temperature, max_tokens

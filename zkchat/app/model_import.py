"""Models from the settings of other assistants: read in the forms that are common, and never with a key."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct, field

from zkchat.app.paths import Paths
from zkchat.app.settings import LOCK_SECONDS
from zkchat.config import (
    InvalidSettings,
    is_model_name,
    make_settings,
    parse_object,
    read_file,
    read_table,
    set_entries,
)
from zkchat.core import UsageError, locked, resolve_link
from zkchat.models import SERVICES

_MAX_BYTES: Final = 4_000_000
Table = Mapping[str, object]

_ADDRESS: Final = ("base_url", "baseURL", "baseUrl", "apiBase", "api_base", "api_url", "api_base_url")
_KEY: Final = ("api_key", "apiKey", "api_key_env", "apiKeyEnv", "api_key_name", "env")
_HEADERS: Final = ("headers", "extra_headers", "requestOptions", "options")
_KIND: Final = ("type", "npm", "api", "provider")
_ID: Final = ("model_name", "model", "id", "name")
_NAME: Final = ("display_name", "displayName", "title", "model_id", "name")
_NUMBERS: Final[Mapping[str, Sequence[str]]] = {
    "context_limit": ("context_window", "contextWindow", "contextLength", "limit.context"),
    "temperature": ("temperature", "completionOptions.temperature", "defaultCompletionOptions.temperature"),
    "price_input": ("cost_per_1m_in", "cost.input"),
    "price_output": ("cost_per_1m_out", "cost.output"),
    "price_cached": ("cost_per_1m_in_cached", "cost.cacheRead", "cost.cache_read"),
}
_FLAGS: Final[Mapping[str, Sequence[str]]] = {
    "calls_tools": ("capabilities.tools", "supports_tools", "tool_call"),
    "sees_images": ("capabilities.images", "supports_images", "supports_attachments", "vision"),
}
_VARIABLE: Final = re.compile(r"\{env:(\w+)\}|\$\{?(\w+)\}?|\$\(echo \$(\w+)\)|env:(\w+)")
_VARIABLE_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]*_[A-Z0-9_]+")
_OTHER_PROTOCOLS: Final = ("azure", "bedrock", "cohere", "gemini", "google", "vertex")
"""Kinds of servers whose protocol zkchat does not speak."""
_HARMLESS: Final = frozenset({"anthropic-beta", "anthropic-version", "http-referer", "openai-beta", "x-title"})
"""Headers whose values are no keys."""
_USUAL: Final = {
    **{service.name.casefold(): service.base_url for service in SERVICES if service.name != "Anthropic"},
    "lmstudio": "http://127.0.0.1:1234/v1",
    "lm-studio": "http://127.0.0.1:1234/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}
"""Addresses of servers that others name without one."""
_HOST_OF_KEY: Final = {
    "OPENAI_API_KEY": "api.openai.com",
    **{service.key_variable: urlsplit(service.base_url).hostname for service in SERVICES},
}
"""Variables that everybody has for one service: a file sends none of them elsewhere."""


class FoundModel(Struct, kw_only=True):
    name: str
    table: dict[str, object] = field(default_factory=dict)
    """What is written as `[models.NAME]`."""
    left: list[str] = field(default_factory=list)
    """What is not taken of it."""
    why_not: str = ""
    """Why nothing of it is taken."""


def import_models(paths: Paths, file: Path, *, dry_run: bool = False) -> list[FoundModel]:
    """Write the models of another assistant's file to the user's settings. Raises `UsageError` where it has none.

    A name that is there already keeps its model.
    """
    settings = resolve_link(paths.user_config)
    present = read_table(settings).get("models", {})
    seen: set[str] = set()
    found = [_read(name, provider, model, seen) for name, provider, model in _entries(_parse(file))][:500]
    for model in found:
        if isinstance(present, Mapping) and model.name in present:
            model.why_not = "your settings have a model of this name"
    if not found:
        raise UsageError(
            f"zkchat found no models in {file}.",
            hint="zkchat reads settings of opencode, Crush, Zed, Continue, Obsidian Copilot, OpenClaw and llm.",
        )
    tables = {model.name: model.table for model in found if not model.why_not}
    if tables and not dry_run:
        with locked(paths.settings_lock, seconds=LOCK_SECONDS):
            set_entries(settings, "models", tables)
    return found


def _parse(file: Path) -> object:
    text = read_file(file, max_bytes=_MAX_BYTES)
    if text is None:
        raise UsageError(f"There is no file {file}.")
    if file.suffix in {".yaml", ".yml"}:
        import yaml

        try:
            return yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise UsageError(f"{file} is not valid YAML.") from error
    return parse_object(file, text, has_comments=True)


def _entries(data: object) -> Iterator[tuple[str, Table, Table]]:
    """Each model with the name of its provider and what is said of that."""
    match data:
        case list():  # of llm
            yield from (("", {"type": "openai"}, model) for model in data if isinstance(model, Mapping))
        case {"language_models": Mapping() as kinds}:  # of Zed
            for kind, section in kinds.items():
                providers = section if kind.endswith("_compatible") else {kind: section}
                yield from _of_providers({name: {"type": kind, **_table(each)} for name, each in providers.items()})
        case {"providers": Mapping() as providers} | {"provider": Mapping() as providers}:  # of Crush, of opencode
            yield from _of_providers(providers)
        case {"models": Mapping() as within}:  # of OpenClaw
            yield from _entries(within)
        case {"models": list() as models} | {"activeModels": list() as models}:  # of Continue, of Obsidian Copilot
            yield from ((str(model.get("provider", "")), {}, model) for model in models if isinstance(model, Mapping))


def _of_providers(providers: Table) -> Iterator[tuple[str, Table, Table]]:
    for name, provider in providers.items():
        section = _table(provider)
        models = section.get("models") or section.get("available_models") or ()
        if isinstance(models, Mapping):
            models = [{"id": id_, **_table(model)} for id_, model in models.items()]
        listed = models if isinstance(models, list) else ()
        yield from ((name, section, model) for model in listed if isinstance(model, Mapping))


def _read(provider: str, section: Table, model: Table, seen: set[str]) -> FoundModel:
    id_ = _first(_ID, model)
    name = _name(_first(_NAME, model) or id_, provider, seen)
    found = FoundModel(name=name or id_ or "?")
    if not name or not id_ or id_ == "AUTODETECT":
        found.why_not = "it has no usable name"
    elif model.get("enabled") is False or section.get("enabled") is False or section.get("disable") is True:
        found.why_not = "it is switched off in that file"
    elif model.get("isEmbeddingModel") or model.get("roles") == ["embed"]:
        found.why_not = "it is for the search, not for answers: choose it with zkchat config set embeddings.model NAME"
    else:
        _fill(found, provider, section, model, id_)
        seen.add(name)
    return found


def _name(wanted: str, provider: str, seen: set[str]) -> str:
    """One that a model may have; with the provider's where two models of the file have the same."""
    plain = " ".join(wanted.replace('"', "").replace("\\", "/").split()).strip("' ")[:60]
    tried = (plain, plain.replace(":", " "), f"{plain} ({provider})"[:80], f"{plain} model")
    usable = [name for name in tried if is_model_name(name)]
    return next((name for name in usable if name not in seen), "")


def _fill(found: FoundModel, provider: str, section: Table, model: Table, id_: str) -> None:
    kind = f"{_first(_KIND, model)} {_first(_KIND, section)} {provider}".casefold()
    usual = next((address for name, address in _USUAL.items() if name in kind), "")
    address = (_first(_ADDRESS, model, section, _table(section.get("options"))) or usual).rstrip("/")
    ours = "anthropic" if "anthropic" in kind else "openai"
    if "ollama" in kind and not address.endswith("/v1"):
        ours = "ollama"
    if any(name in kind for name in _OTHER_PROTOCOLS) and "compatible" not in kind and not address.endswith("/openai"):
        found.why_not = "zkchat does not speak the protocol of its server"
    elif "@" in urlsplit(address).netloc:
        found.why_not = "its address holds a password"
    elif ours == "openai" and not address and "openai" not in kind:
        found.why_not = "it has no address"
    found.table = {"provider": ours, "id": id_, **({"base_url": address} if address else {})}
    _take_key(found, address, _first_value(_KEY, model, section, _table(section.get("options"))))
    _take_headers(found, address, _merged_headers(section) | _merged_headers(model))
    of_zed = {"context_limit": ("max_tokens",)} if "available_models" in section else {}
    known: dict[str, Sequence[str]] = {**_NUMBERS, **_FLAGS, **of_zed}
    for setting, names in known.items():
        value = next((value for name in names if (value := _at(model, name)) is not None), None)
        if isinstance(value, bool) if setting in _FLAGS else value:
            found.table[setting] = value
    used = {*_ID, *_NAME, *_ADDRESS, *_KEY, *_HEADERS, *_KIND, "enabled", "roles"}
    used |= {name.partition(".")[0] for names in known.values() for name in names}
    found.left += sorted({*model} - used)
    _drop_wrong(found)


def _take_key(found: FoundModel, address: str, key: object) -> None:
    """The name of the variable, where there is one; a key itself is never taken."""
    text = str(key[0] if isinstance(key, list) and key else key or "")
    variable = next(filter(None, match.groups()), "") if (match := _VARIABLE.fullmatch(text)) else ""
    variable = variable or (text if _VARIABLE_NAME.fullmatch(text) else "")
    if not text:
        return
    if not variable:
        found.left.append("its key (put it into an environment variable, and that variable's name into api_key_env)")
    elif not _may_go(variable, address):
        found.left.append(f"the key in {variable}, which is only sent to {_HOST_OF_KEY[variable]}")
    else:
        found.table["api_key_env"] = variable


def _may_go(variable: str, address: str) -> bool:
    host = _HOST_OF_KEY.get(variable)
    return host is None or not address or urlsplit(address).hostname == host


def _merged_headers(record: Table) -> dict[str, str]:
    places = (record, _table(record.get("options")), _table(record.get("requestOptions")))
    found = (_table(place.get(name)) for place in places for name in ("headers", "extra_headers"))
    return {name: str(value) for headers in found for name, value in headers.items()}


def _take_headers(found: FoundModel, address: str, headers: Mapping[str, str]) -> None:
    taken: dict[str, str] = {}
    for name, text in headers.items():
        value = _VARIABLE.sub(lambda match: f"${{{next(filter(None, match.groups()))}}}", text)
        variables = [next(filter(None, match.groups())) for match in _VARIABLE.finditer(text)]
        trial = FoundModel(name="x", table={"provider": "openai", "id": "x", "headers": {name: value}})
        _drop_wrong(trial)
        is_harmless = name.lower() in _HARMLESS or bool(variables)  # any other value may be a key
        if trial.left or not is_harmless or not all(_may_go(variable, address) for variable in variables):
            found.left.append(f"the header {name}")
        else:
            taken[name] = value
    if taken:
        found.table["headers"] = taken


def _drop_wrong(found: FoundModel) -> None:
    """Leave out what the settings cannot hold."""
    for _ in range(len(found.table)):
        try:
            make_settings({"models": {"x": found.table}})
        except InvalidSettings as error:
            wrong = {problem.key.rpartition(".")[2] for problem in error.problems}
            found.why_not = found.why_not or ("its address cannot be used" if "base_url" in wrong else "")
            found.left += sorted(wrong)
            found.table = {name: value for name, value in found.table.items() if name not in wrong}


def _table(value: object) -> Table:
    return value if isinstance(value, Mapping) else {}


def _at(record: Table, path: str) -> object:
    found: object = record
    for name in path.split("."):
        found = _table(found).get(name)
    return found


def _first_value(names: Sequence[str], *records: Table) -> object:
    return next((record[name] for record in records for name in names if record.get(name)), None)


def _first(names: Sequence[str], *records: Table) -> str:
    found = _first_value(names, *records)
    return found.strip() if isinstance(found, str) else ""

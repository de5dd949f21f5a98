"""From a model's name to the provider that runs it: one row each."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from threading import Thread

from zkchat.errors import ConfigError, ProviderError
from zkchat.ports import ModelProvider
from zkchat.providers.descriptor import NamedModel
from zkchat.providers.detect import Choice, Server, Surroundings, detect
from zkchat.providers.libraries import load

_CLIENTS = frozenset({"ollama", "openai"})
"""Providers whose client library has their name, and takes half a second to import."""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where models come from: servers with their keys, and folders with files."""

    ollama_host: str
    ollama_key: str = field(default="", repr=False)
    openai_base_url: str = ""
    openai_key: str = field(default="", repr=False)
    openai_key_variable: str = "OPENAI_API_KEY"
    folder: Path
    """Where relative paths in a model's name start."""
    home: Path
    cache: Path
    """Where zkchat keeps the models it fetched."""
    window: int | None = None
    """What the user allows; a model in this process sets no memory aside for more."""
    models: Mapping[str, NamedModel] = field(default_factory=dict)
    """Those that the user has named."""
    remote: frozenset[str] = frozenset()
    """Providers of which the user says that their models run on another machine."""


def choose(sources: Sources) -> Choice:
    """The model to use when none is set (SPEC 8.2). Quick where nothing answers."""
    from zkchat.providers.gguf import model_files
    from zkchat.providers.transport import is_reachable

    around = Surroundings(
        ollama_host=sources.ollama_host,
        openai_base_url=sources.openai_base_url,
        openai_key=bool(sources.openai_key),
        local=_usable([path.stem for path in model_files(sources.cache)]),
    )
    return detect(around, reach=is_reachable, offered=lambda server: _offered(server, sources))


def warm(provider: str) -> Thread | None:
    """Begin to import what a provider talks through, so that the first question need not wait for it."""
    if provider not in _CLIENTS:
        return None
    thread = Thread(target=load, args=(provider,), name=f"zkchat-{provider}", daemon=True)
    thread.start()
    return thread


def _usable(files: list[str]) -> list[str]:
    if not files:
        return []  # looking for the package that runs them takes longer than all the rest
    from zkchat.providers.llama_engine import is_installed

    return files if is_installed() else []


def _offered(server: Server, sources: Sources) -> Sequence[str]:
    from zkchat.providers.listing import names_of_ollama, of_openai

    async def names() -> list[str]:
        if server == "ollama":
            return await names_of_ollama(sources.ollama_host, api_key=sources.ollama_key)
        offered = await of_openai(
            sources.openai_base_url, api_key=sources.openai_key, key_variable=sources.openai_key_variable
        )
        return [info.id for info in offered]

    try:
        return asyncio.run(names())
    except ProviderError:
        return []  # whatever listens there, it is no server we can talk to


def named(name: str, sources: Sources) -> NamedModel:
    """What a name means: one of the user's own, else `PROVIDER` or `PROVIDER:ID`.

    It runs elsewhere if the user says so of its provider, or of the same model under any name.
    """
    provider, _, id_ = name.partition(":")
    found = sources.models.get(name) or NamedModel(provider=provider, id=id_)
    same = (each for each in sources.models.values() if each.model == found.model)
    is_remote = found.provider in sources.remote or any(each.settings.remote for each in same)
    return replace(found, settings=replace(found.settings, remote=True)) if is_remote else found


def create(name: str, sources: Sources) -> ModelProvider:
    """The model of that name. Raises `ConfigError` where there is none."""
    wanted = named(name, sources)
    id_, settings = wanted.id, wanted.settings
    match wanted.provider:
        case "ollama" if id_:
            from zkchat.providers.ollama import Ollama

            return Ollama(id_, host=sources.ollama_host, api_key=sources.ollama_key, settings=settings)
        case "openai" if id_:
            from zkchat.providers.openai import OpenAI

            return OpenAI(
                id_,
                base_url=sources.openai_base_url,
                api_key=sources.openai_key,
                key_variable=sources.openai_key_variable,
                settings=settings,
            )
        case "local" if id_:
            from zkchat.providers.gguf import find_model_file
            from zkchat.providers.local import LlamaCpp

            path = find_model_file(id_, folder=sources.folder, home=sources.home, cache=sources.cache)
            windows = [window for window in (settings.context_limit, sources.window) if window]
            return LlamaCpp(path, name=id_, settings=replace(settings, context_limit=min(windows, default=None)))
        case "quote" if not id_:
            from zkchat.providers.quote import Quote

            return Quote()
        case "scripted" if id_:
            from zkchat.providers.scripted import Scripted, read_script

            return Scripted(read_script(sources.folder / id_))
        case _:
            close = get_close_matches(name, sources.models, n=1)
            raise ConfigError(
                f"There is no model '{name}'.",
                hint=f"Did you mean '{close[0]}'? `zkchat models` shows what there is."
                if close
                else "Use `ollama:NAME`, `openai:NAME`, `local:NAME`, `local:FILE.gguf`, `quote` (no model: sentences "
                "of your notes), or `scripted:FILE` (plays a file). `zkchat models` shows what there is.",
            )

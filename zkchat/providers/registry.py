"""From a model's name to the provider that runs it: one row each."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zkchat.errors import ConfigError, ProviderError
from zkchat.ports import ModelProvider
from zkchat.providers.detect import Choice, Server, Surroundings, detect


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


def choose(sources: Sources) -> Choice:
    """The model to use when none is set (SPEC 8.2). Quick where nothing answers."""
    from zkchat.providers.gguf import kept
    from zkchat.providers.reach import answers

    around = Surroundings(
        ollama_host=sources.ollama_host,
        openai_base_url=sources.openai_base_url,
        openai_key=bool(sources.openai_key),
        local=_usable([path.stem for path in kept(sources.cache)]),
    )
    return detect(around, reach=answers, offered=lambda server: _offered(server, sources))


def _usable(files: list[str]) -> list[str]:
    if not files:
        return []  # looking for the package that runs them takes longer than all the rest
    from zkchat.providers.llama_engine import is_installed

    return files if is_installed() else []


def _offered(server: Server, sources: Sources) -> Sequence[str]:
    from zkchat.providers.offers import names_of_ollama, of_openai

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


def create(name: str, sources: Sources) -> ModelProvider:
    """The model called `PROVIDER` or `PROVIDER:ID`."""
    provider, _, id_ = name.partition(":")
    match provider:
        case "ollama" if id_:
            from zkchat.providers.ollama import Ollama

            return Ollama(id_, host=sources.ollama_host, api_key=sources.ollama_key)
        case "openai" if id_:
            from zkchat.providers.openai import OpenAI

            return OpenAI(
                id_,
                base_url=sources.openai_base_url,
                api_key=sources.openai_key,
                key_variable=sources.openai_key_variable,
            )
        case "local" if id_:
            from zkchat.providers.gguf import find
            from zkchat.providers.llama_cpp import LlamaCpp
            from zkchat.providers.wire import Declared

            path = find(id_, folder=sources.folder, home=sources.home, cache=sources.cache)
            return LlamaCpp(path, name=id_, declared=Declared(context_limit=sources.window))
        case "quote" if not id_:
            from zkchat.providers.quote import Quote

            return Quote()
        case "scripted" if id_:
            from zkchat.providers.scripted import Scripted, read_script

            return Scripted(read_script(sources.folder / id_))
        case _:
            raise ConfigError(
                f"There is no model '{name}'.",
                hint="Use `ollama:NAME`, `openai:NAME`, `local:NAME`, `local:FILE.gguf`, `quote` (no model: sentences "
                "of your notes), or `scripted:FILE` (plays a file). `zkchat models` shows what there is.",
            )

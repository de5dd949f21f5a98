"""From a model's name to the provider that runs it: one row each."""

from dataclasses import dataclass, field
from pathlib import Path

from zkchat.errors import ConfigError
from zkchat.ports import ModelProvider


@dataclass(frozen=True, kw_only=True)
class Servers:
    """Where models are served, and with which key."""

    ollama_host: str
    ollama_key: str = field(default="", repr=False)
    openai_base_url: str = ""
    openai_key: str = field(default="", repr=False)
    openai_key_variable: str = "OPENAI_API_KEY"


def create(name: str, *, folder: Path, servers: Servers) -> ModelProvider:
    """The model called `PROVIDER` or `PROVIDER:ID`. Relative paths in a name start at `folder`."""
    provider, _, id_ = name.partition(":")
    match provider:
        case "ollama" if id_:
            from zkchat.providers.ollama import Ollama

            return Ollama(id_, host=servers.ollama_host, api_key=servers.ollama_key)
        case "openai" if id_:
            from zkchat.providers.openai import OpenAI

            return OpenAI(
                id_,
                base_url=servers.openai_base_url,
                api_key=servers.openai_key,
                key_variable=servers.openai_key_variable,
            )
        case "quote" if not id_:
            from zkchat.providers.quote import Quote

            return Quote()
        case "scripted" if id_:
            from zkchat.providers.scripted import Scripted, read_script

            return Scripted(read_script(folder / id_))
        case _:
            raise ConfigError(
                f"There is no model '{name}'.",
                hint="Use `ollama:NAME`, `openai:NAME`, `quote` (no model: sentences of your notes), "
                "or `scripted:FILE` (plays a file).",
            )

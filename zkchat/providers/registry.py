"""From a model's name to the provider that runs it: one row each."""

from pathlib import Path

from zkchat.errors import ConfigError
from zkchat.ports import ModelProvider

DEFAULT = "quote"


def create(name: str, *, folder: Path) -> ModelProvider:
    """The model called `PROVIDER` or `PROVIDER:ID`. Relative paths in a name start at `folder`."""
    provider, _, id_ = name.partition(":")
    match provider:
        case "quote" if not id_:
            from zkchat.providers.quote import Quote

            return Quote()
        case "scripted" if id_:
            from zkchat.providers.scripted import Scripted, read_script

            return Scripted(read_script(folder / id_))
        case _:
            raise ConfigError(
                f"There is no model '{name}'.",
                hint="Use `quote` (no model: sentences of your notes), or `scripted:FILE` (plays a file).",
            )

"""The provider `local`: models in GGUF files, run in this process by llama.cpp (extra `zkchat[local]`)."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from zkchat.core import ConfigError, ModelInfo, ModelListing, ModelProvider, Tokenizer, install_command
from zkchat.models.gguf import find_model_file, model_files, models_folder, read_header, read_size
from zkchat.models.llama_cpp import LlamaCpp, is_installed
from zkchat.models.registry import Choice, NamedModel, OfferedModel, ProviderContext, ProviderDescriptor, is_small


class LocalDescriptor(ProviderDescriptor, frozen=True):
    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        path = find_model_file(model.id, folder=context.folder, home=context.home, cache=context.cache)
        windows = [window for window in (model.settings.context_limit, context.window) if window]
        settings = replace(model.settings, context_limit=min(windows, default=None))
        return LlamaCpp(path, name=model.id, settings=settings)

    def offered_models(self, context: ProviderContext) -> Sequence[OfferedModel]:
        files = model_files(context.cache)
        if not files:
            return ()  # looking for the package that runs them takes longer than all the rest
        return [OfferedModel(path.stem, is_small(read_size(path))) for path in files] if is_installed() else ()

    def choose(self, names: Sequence[str], context: ProviderContext) -> Choice | None:
        return Choice(model=f"local:{names[0]}", why="it is on this machine") if names else None

    async def list_models(self, context: ProviderContext) -> ModelListing:
        source, models = f"Files in {models_folder(context.cache)}", tuple(list_models(context.cache))
        if not models:
            return ModelListing(source=source, hint="Fetch a small one: zkchat models pull smollm2")
        if not is_installed():
            return ModelListing(
                source=source,
                models=models,
                problem="They need the package xllamacpp, which is not installed.",
                hint=f"Install it: {install_command('local')}",
            )
        return ModelListing(source=source, models=models)

    def tokenizer(self, model: ModelProvider) -> Tokenizer:
        assert isinstance(model, LlamaCpp)
        return model.tokenizer


PROVIDER: Final = LocalDescriptor(name="local", usage="`local:NAME`, `local:FILE.gguf`", in_process=True)


def list_models(cache: Path) -> list[ModelInfo]:
    """The models in the cache folder: fetched ones, and those that the user put there. Other files are left out."""
    found = []
    for path in model_files(cache):
        with suppress(ConfigError):
            header = read_header(path)
            found.append(
                ModelInfo(
                    provider="local",
                    id=path.stem,
                    context_limit=header.window,
                    calls_tools=header.calls_tools,
                    needs_evidence=is_small(header.size),
                    on_this_machine=True,
                )
            )
    return found

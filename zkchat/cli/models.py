"""`zkchat models`: which model is used, which others there are, and how to get a small one."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from zkchat.cli.common import JsonOption, Process, VaultOption, process
from zkchat.cli.progress import progress
from zkchat.errors import ProviderError, UsageError

if TYPE_CHECKING:
    from zkchat.config.load import Loaded
    from zkchat.config.schema import Model, Settings
    from zkchat.environment import Environment
    from zkchat.model.prompt import ModelInfo

MOST_SHOWN = 20
"""Models of one place: some servers offer hundreds. `--json` gives all of them."""

Provider = Literal["ollama", "openai", "local"]

app = typer.Typer(help="List the models there are, and fetch a small one.", invoke_without_command=True)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where models may be: a server, or a folder."""

    name: str
    models: tuple["ModelInfo", ...] = ()
    trouble: str = ""
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class Named:
    """A model that has a name of the user's own; `offered` is what its place says of it now."""

    name: str
    settings: "Model"
    offered: "ModelInfo | None"

    @property
    def model(self) -> str:
        return f"{self.settings.provider}:{self.settings.id}"

    @property
    def window(self) -> int | None:
        return self.settings.context_limit or (self.offered.context_limit if self.offered else None)

    @property
    def tools(self) -> bool | None:
        said = self.settings.calls_tools
        return self.offered.calls_tools if said is None and self.offered else said


@app.callback()
def models(context: typer.Context, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show the model in use and the others there are, with their windows and whether they can use tools."""
    if context.invoked_subcommand:
        return
    from zkchat.compose.workspace import load_workspace

    here = process()
    loaded = load_workspace(here.environment, vault).loaded
    places = _places(here.environment, loaded)
    named = _named(loaded.settings, places)
    chosen, why = _chosen(here.environment, loaded, places)
    if json_output:
        here.json(
            {
                "model": chosen,
                "why": why,
                "named": [
                    {"name": one.name, "model": one.model, "window": one.window, "tools": one.tools} for one in named
                ],
                "places": [_described(place) for place in places.values()],
            }
        )
        return
    here.out(f"In use: {chosen} ({why})")
    _print_named(here, named)
    for place in places.values():
        _print(here, place)
    here.out("\nChoose another with `zkchat config set model NAME`, or for once with `--model NAME`.")


@app.command()
def pull(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The model to fetch: smollm2.", show_default=False)],
    json_output: JsonOption = False,
) -> None:
    """Fetch a small model that runs on this machine, check it, and keep it in your cache folder."""
    from zkchat.providers import weights

    here = process()
    known = weights.KNOWN.get(name)
    if known is None:
        raise UsageError(
            f"zkchat does not know how to fetch '{name}'.",
            hint=f"It knows: {', '.join(weights.KNOWN)}. Any other GGUF file can be used by its path: local:FILE.gguf",
        )
    with progress(here.environment, f"Fetching {name}") as told:
        path = weights.pull(known, here.environment.cache_dir, told, variables=here.environment.variables)
    if json_output:
        here.json({"model": f"local:{name}", "path": path})
        return
    here.out(f"{name} is there and sound: {path}")
    here.out(f'Try it: zkchat ask "What do my notes say about sleep?" --model local:{name}')


def _places(environment: "Environment", loaded: "Loaded") -> dict[Provider, Place]:
    import asyncio

    async def servers() -> tuple[Place, Place]:
        return await asyncio.gather(_ollama(environment, loaded), _openai(environment, loaded.settings))

    ollama, openai = asyncio.run(servers())
    return {"ollama": ollama, "openai": openai, "local": _files(environment)}


async def _ollama(environment: "Environment", loaded: "Loaded") -> Place:
    from zkchat.compose import providers
    from zkchat.model.secrets import without_password
    from zkchat.providers.listing import of_ollama

    host, key = loaded.settings.ollama.host, providers.key_for_ollama(environment, loaded).value
    offered = of_ollama(host, api_key=key, remote=loaded.settings.ollama.remote)
    return await _asked(f"Ollama at {without_password(host)}", offered)


async def _openai(environment: "Environment", settings: "Settings") -> Place:
    from zkchat.model.secrets import without_password
    from zkchat.providers.listing import of_openai

    base_url, variable = settings.openai.base_url, settings.openai.api_key_env
    name, key = without_password(base_url) or "OpenAI", environment.variables.get(variable, "")
    if not base_url and not key:
        return Place(name=name, trouble=f"There is no key in the variable {variable}.")
    offered = of_openai(base_url, api_key=key, key_variable=variable, remote=settings.openai.remote)
    return await _asked(name, offered)


async def _asked(name: str, offered: Awaitable[list["ModelInfo"]]) -> Place:
    try:
        return Place(name=name, models=tuple(await offered))
    except ProviderError as error:
        return Place(name=name, trouble=error.message, hint=error.hint)


def _files(environment: "Environment") -> Place:
    from zkchat.providers.gguf import models_folder
    from zkchat.providers.listing import of_folder
    from zkchat.providers.llama_engine import is_installed

    name, found = f"Files in {models_folder(environment.cache_dir)}", of_folder(environment.cache_dir)
    if found and not is_installed():
        return Place(
            name=name,
            models=tuple(found),
            trouble="They need the package xllamacpp, which is not installed.",
            hint="Install it: pip install 'zkchat[local]'",
        )
    return Place(name=name, models=tuple(found), hint="" if found else "Fetch a small one: zkchat models pull smollm2")


def _named(settings: "Settings", places: dict[Provider, Place]) -> list[Named]:
    offered = {info.name: info for place in places.values() for info in place.models}
    found = []
    for name, model in settings.models.items():
        full = f"{model.provider}:{model.id}"
        info = offered.get(full) or offered.get(f"{full}:latest")  # as Ollama lists what has no tag
        found.append(Named(name=name, settings=model, offered=info))
    return found


def _chosen(environment: "Environment", loaded: "Loaded", places: dict[Provider, Place]) -> tuple[str, str]:
    """The model in use, and why it is that one."""
    from zkchat.providers.detect import Surroundings, detect

    settings = loaded.settings
    if settings.model:
        return settings.model, f"set {loaded.origins['model'].place}"
    names = {provider: [info.id for info in place.models] for provider, place in places.items()}
    choice = detect(
        Surroundings(
            ollama_host=settings.ollama.host,
            openai_base_url=settings.openai.base_url,
            openai_key=bool(environment.variables.get(settings.openai.api_key_env)),
            local=[] if places["local"].trouble else names["local"],
        ),
        reach=lambda _address: True,  # those that do not answer offer nothing
        offered=lambda server: names[server],
    )
    return choice.model, choice.why


def _described(place: Place) -> dict[str, object]:
    return {
        "place": place.name,
        "trouble": place.trouble,
        "hint": place.hint,
        "models": [
            {
                "name": info.name,
                "window": info.context_limit,
                "tools": info.calls_tools,
                "on_this_machine": info.on_this_machine,
            }
            for info in place.models
        ],
    }


def _print_named(here: Process, named: list[Named]) -> None:
    if named:
        here.out("\nNames of your own")
    width = max((len(f"{one.name} = {one.model}") for one in named), default=0)
    for one in named:
        tools = "" if one.tools is None else _tools(one.tools)
        absent = "" if one.offered else "not among those below"
        facts = ", ".join(filter(None, (tools, absent)))
        here.out(f"  {f'{one.name} = {one.model}':<{width}}  {_window(one.window):>16}  {facts}")


def _window(tokens: int | None) -> str:
    return f"{tokens:,} tokens" if tokens else "window unknown"


def _tools(calls_tools: bool) -> str:
    return "tools" if calls_tools else "no tools, so zkchat searches for it"


def _print(here: Process, place: Place) -> None:
    here.out(f"\n{place.name}")
    width = max((len(info.name) for info in place.models[:MOST_SHOWN]), default=0)
    for info in place.models[:MOST_SHOWN]:
        here.out(f"  {info.name:<{width}}  {_window(info.context_limit):>16}  {_tools(info.calls_tools)}")
    if len(place.models) > MOST_SHOWN:
        here.out(f"  … and {len(place.models) - MOST_SHOWN:,} more: zkchat models --json")
    if not place.models and not place.trouble:
        here.out("  no models")
    for line in (place.trouble, f"→ {place.hint}" if place.hint else ""):
        if line:
            here.out(f"  {line}")

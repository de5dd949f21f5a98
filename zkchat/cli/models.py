"""`zkchat models`: which model is used, which others there are, and how to get a small one."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from zkchat.cli.common import CommandIO, JsonOption, SettingsVaultOption, current_io
from zkchat.cli.progress import progress

if TYPE_CHECKING:
    from zkchat.compose.providers import UserNamedModel
    from zkchat.model.providers import ModelListing

MAX_SHOWN = 20
"""Models of one listing: some servers offer hundreds. `--json` gives all of them."""

app = typer.Typer(help="List the models there are, and fetch a small one.", invoke_without_command=True)


@app.callback()
def models(context: typer.Context, vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """Show the model in use and the others there are, with their windows and whether they can use tools."""
    if context.invoked_subcommand:
        return
    from zkchat.compose.providers import list_models, name_of_model, user_named_models
    from zkchat.compose.workspace import load_workspace

    io = current_io()
    workspace = load_workspace(io.environment, vault, needs_vault=False)
    listings = list_models(workspace)
    named = user_named_models(workspace, listings.values())
    chosen, why = name_of_model(workspace, listings)
    if json_output:
        io.json(
            {
                "model": chosen,
                "why": why,
                "named": [
                    {
                        "name": one.name,
                        "model": one.model,
                        "window": one.window,
                        "tools": one.calls_tools,
                        "on_this_machine": one.on_this_machine,
                    }
                    for one in named
                ],
                "places": [_listing_record(listing) for listing in listings.values()],
            }
        )
        return
    io.out(f"In use: {chosen} ({why})")
    _print_named(io, named)
    for listing in listings.values():
        _print(io, listing)
    io.out("\nChoose another with `zkchat config set model NAME`, or for once with `--model NAME`.")


@app.command()
def pull(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The model to fetch: smollm2.", show_default=False)],
    json_output: JsonOption = False,
) -> None:
    """Fetch a small model that runs on this machine. It is checked, and kept in your cache folder.

    The model in use stays the same: `zkchat config set model local:NAME` changes it.
    """
    from zkchat.compose.providers import pull_model

    io = current_io()
    with progress(io.environment, f"Fetching {name}") as report:
        path = pull_model(io.environment, name, report)
    if json_output:
        io.json({"model": f"local:{name}", "path": path})
        return
    io.out(f"{name} is there and sound: {path}")
    io.out(f'Try it: zkchat ask "What do my notes say about sleep?" --model local:{name}')
    io.out(f"The model in use stays the same. To use this one from now on: zkchat config set model local:{name}")


def _listing_record(listing: "ModelListing") -> dict[str, object]:
    return {
        "place": listing.source,
        "trouble": listing.problem,
        "hint": listing.hint,
        "models": [
            {
                "name": info.name,
                "window": info.context_limit,
                "tools": info.calls_tools,
                "on_this_machine": info.on_this_machine,
            }
            for info in listing.models
        ],
    }


def _print_named(io: CommandIO, named: "list[UserNamedModel]") -> None:
    if named:
        io.out("\nNames of your own")
    width = max((len(f"{one.name} = {one.model}") for one in named), default=0)
    for one in named:
        tools = "" if one.calls_tools is None else _tools(one.calls_tools)
        absent = "" if one.listed else "not among those below"
        facts = ", ".join(filter(None, (tools, _ELSEWHERE if one.on_this_machine is False else "", absent)))
        io.out(f"  {f'{one.name} = {one.model}':<{width}}  {_window(one.window):>16}  {facts}")


_ELSEWHERE: Final = "elsewhere"
"""Of models that do not run on this machine."""


def _window(tokens: int | None) -> str:
    return f"{tokens:,} tokens" if tokens else "window unknown"


def _tools(calls_tools: bool) -> str:
    return "tools" if calls_tools else "no tools, so zkchat searches for it"


def _print(io: CommandIO, listing: "ModelListing") -> None:
    are_elsewhere = bool(listing.models) and not any(info.on_this_machine for info in listing.models)
    io.out(f"\n{listing.source}{f' ({_ELSEWHERE}, so local notes are withheld)' if are_elsewhere else ''}")
    width = max((len(info.name) for info in listing.models[:MAX_SHOWN]), default=0)
    for info in listing.models[:MAX_SHOWN]:
        place = "" if are_elsewhere or info.on_this_machine else f", {_ELSEWHERE}"
        io.out(f"  {info.name:<{width}}  {_window(info.context_limit):>16}  {_tools(info.calls_tools)}{place}")
    if len(listing.models) > MAX_SHOWN:
        io.out(f"  … and {len(listing.models) - MAX_SHOWN:,} more: zkchat models --json")
    if not listing.models and not listing.problem:
        io.out("  no models")
    for line in (listing.problem, f"→ {listing.hint}" if listing.hint else ""):
        if line:
            io.out(f"  {line}")

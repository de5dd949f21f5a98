"""`zkchat models`: which model is used, which others there are, and how to get one."""

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated

import typer

from zkchat.app import find_paths, import_models, pull_model, survey_models, weights_of
from zkchat.cli.common import CommandIO, JsonOption, SettingsVaultOption, argument, current_io, flag, option
from zkchat.cli.note_lookup import progress
from zkchat.core import ModelOverview, install_command
from zkchat.render import embedding_line, fold, model_lines, problem_lines

app = typer.Typer(help="List the available models, and fetch one.", invoke_without_command=True)


DryRunOption = Annotated[bool, flag("--dry-run", "With --import: show what would be taken; write nothing.")]


@app.callback()
def models(
    context: typer.Context,
    vault: SettingsVaultOption = None,
    import_: Annotated[
        Path | None,
        option("--import", "FILE", "Take over the models in another program's settings: JSON, or the YAML of llm."),
    ] = None,
    dry_run: DryRunOption = False,
    json_output: JsonOption = False,
) -> None:
    """Show the model in use and other available ones: their context windows, where they run, and whether they answer.

    All servers are asked at once, for a few seconds at most.

    zkchat models --import ~/.config/opencode/opencode.json
    """
    if context.invoked_subcommand:
        return
    io = current_io(vault)
    if import_:
        _import(io, import_, dry_run=dry_run, as_json=json_output)
        return
    with progress(io.environment, "Asking for models"):
        overview = asyncio.run(survey_models(io.workspace(needs_vault=False)))
    if json_output:
        io.json(_record(overview))
        return
    for line in _lines(overview, get_terminal_size().columns if io.environment.stdout_is_tty else None):
        io.out(line)


@app.command(
    epilog="qwen2.5-coder-1.5b  1,117 MB  Apache-2.0   4 GB of memory, recommended\n"
    "gemma3-270m           253 MB  Gemma terms  2 GB of memory, cannot answer by itself\n"
    "smollm2                98 MB  Apache-2.0   1 GB of memory, the smallest\n"
    "all-minilm-l6-v2       23 MB  Apache-2.0   1 GB of memory, for a better search"
)
def pull(
    name: Annotated[str, argument("NAME", "qwen2.5-coder-1.5b, gemma3-270m, smollm2 or all-minilm-l6-v2.")],
    json_output: JsonOption = False,
) -> None:
    """Fetch a model that runs on this machine.

    It is checked, and kept in your cache folder. If the download stops, the next run continues it. No setting is
    changed: `zkchat config set model local:NAME` makes it the model in use.
    """
    io = current_io()
    weights = weights_of(name)
    io.note(weights.summary)
    with progress(io.environment, f"Fetching {name}") as report:
        path = pull_model(io.environment, weights, report)
    if json_output:
        io.json({"model": f"local:{name}", "path": path})
        return
    io.out(f"{name} is ready: {path}")
    if path.suffix == ".onnx":
        if find_spec("onnxruntime") is None:
            io.out(f"It needs onnxruntime: {install_command('meaning')}")
        io.out(f"To search with it: zkchat config set embeddings.model local:{name}, and then: zkchat config index")
        return
    io.out(f'Try it: zkchat ask "What do my notes say about sleep?" --model local:{name}')
    io.out(f"To use it from now on: zkchat config set model local:{name}")


def _import(io: CommandIO, file: Path, *, dry_run: bool, as_json: bool) -> None:
    paths = find_paths(io.environment, io.vault, needs_vault=False)
    found = import_models(paths, io.environment.cwd / file.expanduser(), dry_run=dry_run)
    taken, left = [each for each in found if not each.why_not], [each for each in found if each.why_not]
    if as_json:
        io.json(
            {
                "file": str(paths.user_config),
                "taken": [{"name": each.name, "settings": each.table, "left": each.left} for each in taken],
                "left": [{"name": each.name, "why": each.why_not} for each in left],
            }
        )
        return
    width = max(len(each.name) for each in found)
    for each in taken:
        facts = ", ".join(f"{key} {value}" for key, value in each.table.items() if key not in {"provider", "id"})
        io.out(f"taken    {each.name:<{width}}  {each.table['provider']}:{each.table['id']}  {facts}".rstrip())
        if each.left:
            io.out(f"         {'':<{width}}  without {', '.join(each.left)}")
    for each in left:
        io.out(f"skipped  {each.name:<{width}}  {each.why_not}")
    io.flush_out()
    io.note(f"{'Nothing was written to' if dry_run or not taken else 'Written to'} {paths.user_config}.")


def _lines(overview: ModelOverview, width: int | None) -> Iterator[str]:
    yield f"In use: {overview.in_use} ({overview.why})\n"
    rows, left_out = fold(overview.rows)
    yield from model_lines(rows, width)
    if left_out:
        yield f"… and {left_out:,} more: zkchat models --json"
    if any(row.on_this_machine is False for row in rows):
        yield "Models on other machines never see your private notes. To learn more: zkchat help privacy"
    if problems := problem_lines(overview.listings):
        yield from ("", *problems)
    yield from (f"\n{line}" for line in (embedding_line(overview), overview.offer) if line)
    yield "\nTo choose another: `zkchat config set model NAME`; for once, `--model NAME`; in a chat, `/model`."


def _record(overview: ModelOverview) -> dict[str, object]:
    return {
        "model": overview.in_use,
        "why": overview.why,
        "offer": overview.offer,
        "embeddings": overview.embeddings,
        "named": [
            {
                "name": row.name,
                "model": row.model,
                "window": row.window,
                "tools": row.calls_tools,
                "sees_images": row.sees_images,
                "on_this_machine": row.on_this_machine,
                "trouble": row.problem,
            }
            for row in overview.rows
            if row.model
        ],
        "places": [
            {
                "place": listing.source,
                "host": listing.host,
                "trouble": listing.problem,
                "hint": listing.hint,
                "models": [
                    {
                        "name": info.name,
                        "window": info.context_limit,
                        "tools": info.calls_tools,
                        "sees_images": info.sees_images,
                        "small": info.needs_evidence,
                        "on_this_machine": info.on_this_machine,
                    }
                    for info in listing.models
                ],
                "embedding_models": list(listing.embedding_models),
            }
            for listing in overview.listings
        ],
    }

"""`zkchat agent`: who answers; listed, shown, made, changed."""

from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli import profiles
from zkchat.cli.common import JsonOption, VaultOption, process
from zkchat.cli.config import Scope
from zkchat.cli.profiles import ScopeOption
from zkchat.cli.programs import edit_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zkchat.model.profile import Agent

app = typer.Typer(help="List, show, make and change agents: who answers you.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The agent's name.", show_default=False)]

_NEW = """\
---
description: What this agent is for, in one line.
# model: ollama:qwen3:8b
# rules:
#   Citation style: always    # always, manual (on /add) or agent (when it is relevant)
# references:
#   "[[Glossary]]": agent
---
You answer questions about the user's own notes.
- Name the note behind each statement as a [[wikilink]]. Never invent a note.
"""


@app.command(name="list")
def list_(vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """List the agents: the vault's, your own, and those that come with zkchat."""
    here = process()
    found = profiles.profile_store(here, vault).load()
    if json_output:
        here.json({"agents": list(found.agents.values()), **profiles.unused_record(found, "agent")})
        return
    width = max(len(agent.name) for agent in found.agents.values())
    for agent in found.agents.values():
        here.out(f"{agent.name:<{width}}  {profiles.describe(agent)}")
    profiles.print_unused(here, found, "agent")


@app.command()
def show(name: NameArgument, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show an agent: its instructions, and what is at hand for it."""
    here = process()
    found = profiles.profile_store(here, vault).load()
    if name.casefold() not in found.agents and (file := found.awaiting("agent", name)):
        profiles.show_unapproved(here, file, json_output=json_output)
        return
    agent = found.agent(name)
    if json_output:
        here.json(agent)
        return
    here.out(f"{agent.name}  {profiles.describe(agent)}")
    for line in _lines(agent):
        here.out(line)
    here.out(f"\n{agent.text}")
    profiles.print_unused(here, found, "agent")


@app.command()
def new(
    name: NameArgument, scope: ScopeOption = Scope.USER, vault: VaultOption = None, json_output: JsonOption = False
) -> None:
    """Make an agent to be filled in; with the name of one that is there, a copy of it.

    zkchat agent new editor --scope vault
    """
    from zkchat.agents.parsing import AGENT_NAME
    from zkchat.agents.profiles import built_in
    from zkchat.errors import UsageError

    here = process()
    if not AGENT_NAME.fullmatch(name):
        raise UsageError(f"'@{name}' cannot be written in a message.", hint="Use letters, digits, - or _.")
    store = profiles.profile_store(here, vault)
    known = store.load().agents.get(name.casefold())
    texts = {file.path: file.text for file in (*built_in(), *store.files())}
    text = texts[known.path] if known else _NEW
    made = profiles.create(here, store, scope, "agent", name, text)
    if json_output:
        here.json({"name": made.name, "origin": made.origin, "path": made.path})
    else:
        here.out(f"Made {made.path}. Change it: zkchat agent edit {name}")


@app.command()
def edit(name: NameArgument, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Open an agent's file in your editor."""
    here = process()
    store = profiles.profile_store(here, vault)
    before = profiles.editable_file(here, store, store.load().agent(name))
    edit_file(here, before.path)
    after = next((file for file in store.files() if file.path == before.path), None)
    if after:
        store.approve_own(after, before)
    found = store.load()
    profiles.print_unused(here, found, "agent")
    if json_output:
        here.json(found.agent(name))


@app.command()
def config(
    name: NameArgument,
    key: Annotated[str, typer.Argument(metavar="KEY", help="For example model, or rules.Tone.", show_default=False)],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.", show_default=False)],
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Change one value of an agent's file; comments stay.

    zkchat agent config research model ollama:qwen3:8b

    zkchat agent config research rules.Tone manual
    """
    from zkchat.agents.editing import with_value
    from zkchat.compose.settings import check_setting

    here = process()
    store = profiles.profile_store(here, vault)
    agent = store.load().agent(name)
    if key.startswith("context."):
        check_setting(key, value)
    file = profiles.editable_file(here, store, agent)
    store.write(file, with_value(file, key, value), file)
    if json_output:
        here.json(store.load().agent(name))
    else:
        here.out(f"Set {key} in {file.path}.")


def _lines(agent: "Agent") -> "Iterator[str]":
    if agent.path and agent.origin != "built-in":
        yield f"file: {agent.path}"
    if agent.model:
        yield f"model: {agent.model}"
    for name, value in agent.context.items():
        yield f"context.{name}: {value}"
    for section in ("rules", "references", "tools", "servers"):
        for name, mode in getattr(agent, section).items():
            yield f"{section}: {name} [{mode}]"

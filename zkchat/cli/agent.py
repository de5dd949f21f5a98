"""`zkchat agent`: who answers; listed, shown, made, changed. `run` has one work on a goal."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from zkchat.app import check_setting, defined_servers, load_workspace
from zkchat.chat import AGENT_NAME, built_in, set_value
from zkchat.cli import goal, rules
from zkchat.cli.common import CommandIO, JsonOption, SettingsVaultOption, current_io
from zkchat.cli.editors import edit_file
from zkchat.cli.rules import ScopeOption
from zkchat.core import Agent, UsageError, ZkchatError

app = typer.Typer(help="List, show, make and change agents: who answers you.", no_args_is_help=True)

app.command(name="run")(goal.run)

AgentArgument = Annotated[
    str, typer.Argument(metavar="AGENT", help="Its name; `zkchat agent list` shows them.", show_default=False)
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What it is to be called.", show_default=False)]

_TEMPLATE = """\
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
def list_(vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """List the agents: the vault's, yours and the built-in ones."""
    io = current_io()
    found = rules.profile_store(io, vault).load()
    if json_output:
        io.json({"agents": list(found.agents.values()), **rules.unused_record(found, "agent")})
        return
    every = sorted((*found.agents.values(), *found.off_agents.values()), key=lambda agent: agent.name.casefold())
    width = max(len(agent.name) for agent in every)
    for agent in every:
        io.out(f"{agent.name:<{width}}  {rules.describe(agent)}")
    rules.print_unused(io, found, "agent")


@app.command()
def show(name: AgentArgument, vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """Show an agent: its instructions, and what is at hand for it."""
    io = current_io()
    found = rules.profile_store(io, vault).load()
    if name.casefold() not in found.agents and (file := found.awaiting("agent", name)):
        rules.show_unapproved(io, file, json_output=json_output)
        return
    agent = found.any_agent(name)
    if json_output:
        io.json(agent)
        return
    io.out(f"{agent.name}  {rules.describe(agent)}")
    for line in _detail_lines(agent):
        io.out(line)
    for line in _server_lines(io, agent, vault):
        io.out(line)
    io.out(f"\n{agent.text}")
    rules.print_unused(io, found, "agent")


@app.command()
def new(
    name: NameArgument, scope: ScopeOption = "user", vault: SettingsVaultOption = None, json_output: JsonOption = False
) -> None:
    """Make an agent to be filled in. With the name of one that is there, it is a copy of that one.

    zkchat agent new editor --scope vault
    """
    io = current_io()
    if not AGENT_NAME.fullmatch(name):
        raise UsageError(f"'@{name}' cannot be written in a message.", hint="Use letters, digits, - or _.")
    store = rules.profile_store(io, vault, scope)
    found = store.load()
    known = found.off_agents.get(name.casefold()) or found.agents.get(name.casefold())
    texts = {file.path: file.text for file in (*built_in(), *store.files())}
    text = texts[known.path] if known else _TEMPLATE
    made = rules.create(io, store, scope, "agent", name, text)
    if json_output:
        io.json({"name": made.name, "origin": made.origin, "path": made.path})
    else:
        io.out(f"Made {made.path}. Change it: zkchat agent edit {name}")


@app.command()
def edit(name: AgentArgument, vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """Open an agent's file in your editor."""
    io = current_io()
    store = rules.profile_store(io, vault)
    before = rules.editable_file(io, store, store.load().any_agent(name))
    edit_file(io, before.path)
    after = next((file for file in store.files() if file.path == before.path), None)
    if after:
        store.approve_own(after, before)
    found = store.load()
    rules.print_unused(io, found, "agent")
    if json_output:
        io.json(found.any_agent(name))


@app.command()
def config(
    name: AgentArgument,
    key: Annotated[
        str, typer.Argument(metavar="PROPERTY", help="For example model, or rules.Tone.", show_default=False)
    ],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.", show_default=False)],
    vault: SettingsVaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Change one value of an agent's file; comments stay.

    zkchat agent config librarian model ollama:qwen3:8b

    zkchat agent config librarian rules.Tone manual

    zkchat agent config writer enabled false
    """
    io = current_io()
    store = rules.profile_store(io, vault)
    agent = store.load().any_agent(name)
    if key.startswith("context."):
        check_setting(key, value)
    file = rules.editable_file(io, store, agent)
    store.write(file, set_value(file, key, value), file)
    if json_output:
        io.json(store.load().any_agent(name))
    else:
        io.out(f"Set {key} in {file.path}.")


def _detail_lines(agent: Agent) -> Iterator[str]:
    if agent.path and agent.origin != "built-in":
        yield f"file: {agent.path}"
    if agent.model:
        yield f"model: {agent.model}"
    for name, value in agent.context.items():
        yield f"context.{name}: {value}"
    for section in ("rules", "references", "tools", "servers"):
        for name, mode in getattr(agent, section).items():
            yield f"{section}: {name} [{mode}]"
    if not agent.memory:
        yield "memory: off"


def _server_lines(io: CommandIO, agent: Agent, vault: Path | None) -> Iterator[str]:
    """The MCP servers that are defined, with the mode of their tools; none of them is connected for it."""
    try:
        found = defined_servers(load_workspace(io.environment, vault, needs_vault=False)).servers
    except ZkchatError:  # what is wrong with the settings is told where they are needed
        return
    for server in found:
        state = server.state.replace("_", " ")
        yield f"MCP server: {server.name} [{agent.tool_mode('', server.name)}] {state}"
    if found:
        yield "(zkchat mcp check lists the tools of servers.)"

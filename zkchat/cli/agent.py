"""`zkchat config agents`: who answers; listed, shown, made, changed. `run` has one work on a goal."""

from collections.abc import Iterator
from itertools import chain
from typing import Annotated

import typer

from zkchat.app import check_setting, defined_servers
from zkchat.chat import AGENT_NAME, built_in, set_value
from zkchat.cli import goal, rules
from zkchat.cli.common import CommandIO, SettingsVaultOption, Told, argument, command
from zkchat.cli.editors import edit_file
from zkchat.cli.rules import ScopeOption
from zkchat.core import Agent, UsageError, ZkchatError

app = typer.Typer(help="List, show, create and change agents: who answers you.", no_args_is_help=True)

app.command(name="run", hidden=True)(goal.run)  # as `zkchat ask --goal` it is documented

AgentArgument = Annotated[str, argument("AGENT", "Its name; `zkchat config agents list` shows them.")]

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


@command(app, "list", vault=SettingsVaultOption)
def list_(io: CommandIO) -> Told:
    """List the agents: the vault's, yours and the built-in ones."""
    found = rules.profile_store(io).load()
    every = sorted((*found.agents.values(), *found.off_agents.values()), key=lambda agent: agent.name.casefold())
    width = max(len(agent.name) for agent in every)
    return Told(
        data={"agents": list(found.agents.values()), **rules.unused_record(found, "agent")},
        lines=[f"{agent.name:<{width}}  {rules.describe(agent)}" for agent in every],
        notes=rules.unused(found, "agent"),
    )


@command(app, vault=SettingsVaultOption)
def show(io: CommandIO, name: AgentArgument) -> Told:
    """Show an agent: its instructions, rules, notes and tools."""
    found = rules.profile_store(io).load()
    if name.casefold() not in found.agents and (file := found.awaiting("agent", name)):
        return rules.unapproved(file)
    agent = found.any_agent(name)
    head = f"{agent.name}  {rules.describe(agent)}"
    lines = chain([head], _detail_lines(agent), _server_lines(io, agent), [f"\n{agent.text}"])
    return Told(data=agent, lines=lines, notes=rules.unused(found, "agent"))


@command(app, vault=SettingsVaultOption)
def new(
    io: CommandIO,
    name: Annotated[str, argument("NAME", "Its name.")],
    scope: ScopeOption = "user",
) -> Told:
    """Create an agent for you to fill in. With the name of an existing one, it is a copy of that one.

    zkchat config agents new editor --scope vault
    """
    if not AGENT_NAME.fullmatch(name):
        raise UsageError(f"'@{name}' cannot be typed in a message.", hint="Use letters, digits, - or _.")
    store = rules.profile_store(io, scope)
    found = store.load()
    known = found.off_agents.get(name.casefold()) or found.agents.get(name.casefold())
    texts = {file.path: file.text for file in (*built_in(), *store.files())}
    made = rules.create(io, store, scope, "agent", name, texts[known.path] if known else _TEMPLATE)
    return Told(
        data={"name": made.name, "origin": made.origin, "path": made.path},
        lines=[f"Created {made.path}. To change it: zkchat config agents edit {name}"],
    )


@command(app, vault=SettingsVaultOption)
def edit(io: CommandIO, name: AgentArgument) -> Told:
    """Open an agent's file in your editor."""
    store = rules.profile_store(io)
    before = rules.editable_file(io, store, store.load().any_agent(name))
    edit_file(io, before.path)
    after = next((file for file in store.files() if file.path == before.path), None)
    if after:
        store.approve_own(after, before)
    found = store.load()
    for note in rules.unused(found, "agent"):
        io.note(note)
    return Told(data=found.agents.get(name.casefold()) or found.off_agents.get(name.casefold()))


@command(app, vault=SettingsVaultOption)
def config(
    io: CommandIO,
    name: AgentArgument,
    key: Annotated[str, argument("PROPERTY", "For example model, or rules.Tone.")],
    value: Annotated[str, argument("VALUE", "The new value.")],
) -> Told:
    """Change one value of an agent's file; comments stay.

    zkchat config agents config librarian model ollama:qwen3:8b

    zkchat config agents config librarian rules.Tone manual

    zkchat config agents config writer enabled false
    """
    store = rules.profile_store(io)
    agent = store.load().any_agent(name)
    if key.startswith("context."):
        check_setting(key, value)
    file = rules.editable_file(io, store, agent)
    store.write(file, set_value(file, key, value), file)
    return Told(data=store.load().any_agent(name), lines=[f"Set {key} in {file.path}."])


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


def _server_lines(io: CommandIO, agent: Agent) -> Iterator[str]:
    """The MCP servers that are defined, with the mode of their tools; none of them is connected for it."""
    try:
        found = defined_servers(io.workspace(needs_vault=False)).servers
    except ZkchatError:  # what is wrong with the settings is told where they are needed
        return
    for server in found:
        state = server.state.replace("_", " ")
        yield f"MCP server: {server.name} [{agent.tool_mode('', server.name)}] {state}"
    if found:
        yield "(zkchat config servers check lists the tools of servers.)"

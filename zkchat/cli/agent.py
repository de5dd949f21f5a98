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
    found = profiles.profiles(here, vault)
    if json_output:
        here.json({"agents": list(found.agents.values()), **profiles.unused(found, "agent")})
        return
    width = max(len(agent.name) for agent in found.agents.values())
    for agent in found.agents.values():
        here.out(f"{agent.name:<{width}}  {profiles.described(agent)}")
    profiles.tell_problems(here, found, "agent")


@app.command()
def show(name: NameArgument, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show an agent: its instructions, and what is at hand for it."""
    here = process()
    found = profiles.profiles(here, vault)
    if name.casefold() not in found.agents and (file := found.awaiting("agent", name)):
        profiles.show_unapproved(here, file, json_output=json_output)
        return
    agent = found.agent(name)
    if json_output:
        here.json(agent)
        return
    here.out(f"{agent.name}  {profiles.described(agent)}")
    for line in _lines(agent):
        here.out(line)
    here.out(f"\n{agent.text}")
    profiles.tell_problems(here, found, "agent")


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
    known = profiles.profiles(here, vault).agents.get(name.casefold())
    texts = {file.path: file.text for file in (*built_in(), *profiles.folders(here, vault).files())}
    text = texts[known.path] if known else _NEW
    made = profiles.write_new(here, vault, scope, "agent", name, text)
    if json_output:
        here.json({"name": made.name, "origin": made.origin, "path": made.path})
    else:
        here.out(f"Made {made.path}. Change it: zkchat agent edit {name}")


@app.command()
def edit(name: NameArgument, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Open an agent's file in your editor."""
    here = process()
    before = profiles.own_file(here, vault, profiles.profiles(here, vault).agent(name))
    edit_file(here, before.path)
    after = next((file for file in profiles.folders(here, vault).files() if file.path == before.path), None)
    if after:
        profiles.approve_own(here, vault, after, before)
    found = profiles.profiles(here, vault)
    profiles.tell_problems(here, found, "agent")
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

    here = process()
    agent = profiles.profiles(here, vault).agent(name)
    if key.startswith("context."):
        _check_setting(key, value)
    file = profiles.own_file(here, vault, agent)
    profiles.save(here, vault, file, with_value(file, key, value), file)
    agent = profiles.profiles(here, vault).agent(name)
    if json_output:
        here.json(agent)
    else:
        here.out(f"Set {key} in {file.path}.")


def _check_setting(key: str, value: str) -> None:
    """Raises `ConfigError` for a setting that there is not, and for a value that it cannot have."""
    from zkchat.config.load import load, unknown
    from zkchat.config.schema import field_of

    if not field_of(key):
        raise unknown(key)
    load(None, None, {}, {key: value}, lambda _: False)


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

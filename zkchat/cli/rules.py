"""`zkchat rules`: what the answers keep to; listed, shown, made."""

from typing import Annotated

import typer

from zkchat.agents.parsing import parse_rule
from zkchat.cli import profiles
from zkchat.cli.common import JsonOption, SettingsVaultOption, current_io
from zkchat.cli.profiles import ScopeOption
from zkchat.model.choices import IncludeMode

app = typer.Typer(help="List, show and make rules for the answers.", no_args_is_help=True)


RuleArgument = Annotated[
    str, typer.Argument(metavar="RULE", help="Its name; `zkchat rules list` shows them.", show_default=False)
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What it is to be called.", show_default=False)]


@app.command(name="list")
def list_(vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """List the rules with their modes: the vault's and your own."""
    io = current_io()
    found = profiles.profile_store(io, vault).load()
    if json_output:
        io.json({"rules": list(found.rules.values()), **profiles.unused_record(found, "rule")})
        return
    every = sorted((*found.rules.values(), *found.off_rules.values()), key=lambda rule: rule.name.casefold())
    if not every and not any(file.kind == "rule" for file in found.unapproved):
        io.note("There are no rules yet. Make one: zkchat rules new 'Citation style'")
    width = max((len(rule.name) for rule in every), default=0)
    for rule in every:
        io.out(f"{rule.name:<{width}}  [{rule.include}]  {profiles.describe(rule)}")
    profiles.print_unused(io, found, "rule")


@app.command()
def show(name: RuleArgument, vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """Show a rule: when it holds, where its file is, and its text."""
    io = current_io()
    found = profiles.profile_store(io, vault).load()
    if name.casefold() not in found.rules and (file := found.awaiting("rule", name)):
        profiles.show_unapproved(io, file, json_output=json_output)
        return
    rule = found.any_rule(name)
    if json_output:
        io.json(rule)
        return
    io.out(f"{rule.name}  [{rule.include}]  {profiles.describe(rule)}")
    io.out(f"file: {rule.path}\n\n{rule.text}")


@app.command()
def new(
    name: NameArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be done.", show_default=False)] = "",
    include: Annotated[
        IncludeMode,
        typer.Option(
            "--include", help="When it goes along: always, on /add in a chat, or when a question calls for it."
        ),
    ] = "always",
    description: Annotated[
        str, typer.Option("--description", metavar="TEXT", help="When it applies; read by `--include agent`.")
    ] = "",
    scope: ScopeOption = "user",
    vault: SettingsVaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Make a rule that answers keep to.

    zkchat rules new "Dates" "Write dates as 2026-03-01." --include agent --description "Dates, times, calendars"
    """
    import yaml

    io = current_io()
    head = yaml.safe_dump({"include": include, "description": description}, allow_unicode=True, sort_keys=False)
    body = " ".join(text.split()) or "Write here what the answers should keep to."
    store = profiles.profile_store(io, vault, scope)
    made = profiles.create(io, store, scope, "rule", name, f"---\n{head}---\n{body}\n")
    if json_output:
        io.json(parse_rule(made))
    else:
        io.out(f"Made {made.path}.")

"""`zkchat rules`: what the answers keep to; listed, shown, made."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from zkchat.app import ProfileStore, find_paths
from zkchat.chat import Profiles, built_in, parse_rule
from zkchat.cli.common import CommandIO, JsonOption, SettingsVaultOption, current_io
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.core import HOW_TO_APPROVE, Agent, IncludeMode, ProfileFile, ProfileKind, Rule, Scope

ScopeOption = Annotated[Scope, typer.Option("--scope", help="Your own folder, or the vault's.")]


def profile_store(io: CommandIO, vault: Path | None, scope: Scope = "user") -> ProfileStore:
    """The files of the user, and those of the vault if there is one; to write into it, there has to be."""
    needs_vault = scope == "vault"
    folder = confirmed_vault(io, vault) if needs_vault else vault
    return ProfileStore(find_paths(io.environment, folder, needs_vault=needs_vault))


def create(io: CommandIO, store: ProfileStore, scope: Scope, kind: ProfileKind, name: str, text: str) -> ProfileFile:
    """Write a file that is not there yet; a notice says where it is shadowed."""
    created = store.create(scope, kind, name, text)
    if any(file.path == created.path for file in store.load().shadowed):
        io.note(_shadowed(created))
    return created


def editable_file(io: CommandIO, store: ProfileStore, agent: Agent) -> ProfileFile:
    """The file to change for an agent; one that came with zkchat is first copied to the user's folder."""
    if agent.origin == "built-in":
        text = next(file.text for file in built_in() if file.name == agent.name)
        copy = create(io, store, "user", "agent", agent.name, text)
        io.note(f"Copied the built-in {agent.name} to {copy.path}.")
        return copy
    return next(file for file in store.files() if file.path == agent.path)


def print_unused(io: CommandIO, found: Profiles, kind: ProfileKind) -> None:
    """Which files are not used, or not as they are, and why, beside the result."""
    for problem in found.problems:
        if problem.kind == kind:
            io.note(f"warning: {problem}")
    for file in found.shadowed:
        if file.kind == kind:
            io.note(_shadowed(file))
    unapproved = [file.name for file in found.unapproved if file.kind == kind]
    if unapproved:
        io.note(f"Not used, as they came with the vault: {', '.join(unapproved)}. {HOW_TO_APPROVE}")


def unused_record(found: Profiles, kind: ProfileKind) -> dict[str, object]:
    """The same for scripts."""
    unapproved = [file for file in found.unapproved if file.kind == kind]
    off: Mapping[str, Agent | Rule] = found.off_agents if kind == "agent" else found.off_rules
    return {
        "off": [*off.values()],
        "problems": found.problems,
        "unapproved": [{"name": file.name, "path": file.path} for file in unapproved],
    }


def show_unapproved(io: CommandIO, file: ProfileFile, *, json_output: bool) -> None:
    """The text of a file of the vault that is not used, for the user to judge."""
    if json_output:
        io.json(file)
        return
    io.out(f"{file.name}  (vault, not approved)\nfile: {file.path}\n\n{file.text}")
    io.note(HOW_TO_APPROVE)


def describe(profile: Agent | Rule) -> str:
    """Where it comes from, whether it is off, and what it is for, after its name."""
    origin = f"({profile.origin}{'' if profile.enabled else ', off'})"
    return "  ".join(filter(None, [origin, profile.description]))


def _shadowed(file: ProfileFile) -> str:
    return f"{file.path} is not used: you have {'an agent' if file.kind == 'agent' else 'a rule'} of that name."


app = typer.Typer(help="List, show and make rules for the answers.", no_args_is_help=True)


RuleArgument = Annotated[
    str, typer.Argument(metavar="RULE", help="Its name; `zkchat rules list` shows them.", show_default=False)
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What it is to be called.", show_default=False)]


@app.command(name="list")
def list_(vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """List the rules with their modes: the vault's and your own."""
    io = current_io()
    found = profile_store(io, vault).load()
    if json_output:
        io.json({"rules": list(found.rules.values()), **unused_record(found, "rule")})
        return
    every = sorted((*found.rules.values(), *found.off_rules.values()), key=lambda rule: rule.name.casefold())
    if not every and not any(file.kind == "rule" for file in found.unapproved):
        io.note("There are no rules yet. Make one: zkchat rules new 'Citation style'")
    width = max((len(rule.name) for rule in every), default=0)
    for rule in every:
        io.out(f"{rule.name:<{width}}  [{rule.include}]  {describe(rule)}")
    print_unused(io, found, "rule")


@app.command()
def show(name: RuleArgument, vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """Show a rule: when it holds, where its file is, and its text."""
    io = current_io()
    found = profile_store(io, vault).load()
    if name.casefold() not in found.rules and (file := found.awaiting("rule", name)):
        show_unapproved(io, file, json_output=json_output)
        return
    rule = found.any_rule(name)
    if json_output:
        io.json(rule)
        return
    io.out(f"{rule.name}  [{rule.include}]  {describe(rule)}")
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
    store = profile_store(io, vault, scope)
    made = create(io, store, scope, "rule", name, f"---\n{head}---\n{body}\n")
    if json_output:
        io.json(parse_rule(made))
    else:
        io.out(f"Made {made.path}.")

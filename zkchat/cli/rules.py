"""`zkchat memory rules`: what the answers keep to; listed, shown, made."""

from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

from zkchat.app import ProfileStore
from zkchat.chat import Profiles, built_in, parse_rule
from zkchat.cli.common import CommandIO, SettingsVaultOption, Told, argument, command, option
from zkchat.cli.vault_consent import scope_paths
from zkchat.core import HOW_TO_APPROVE, Agent, IncludeMode, ProfileFile, ProfileKind, Rule, Scope

ScopeOption = Annotated[Scope, typer.Option("--scope", help="Your own folder, or the vault's.")]


def profile_store(io: CommandIO, scope: Scope = "user") -> ProfileStore:
    """The files of the user, and those of the vault if there is one; to write into it, there has to be."""
    return ProfileStore(scope_paths(io, scope))


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


def unused(found: Profiles, kind: ProfileKind) -> Iterator[str]:
    """Which files are not used, or not as they are, and why."""
    yield from (f"warning: {problem}" for problem in found.problems if problem.kind == kind)
    yield from (_shadowed(file) for file in found.shadowed if file.kind == kind)
    if names := [file.name for file in found.unapproved if file.kind == kind]:
        yield f"Not used, because they came with the vault: {', '.join(names)}. {HOW_TO_APPROVE}"


def listed(io: CommandIO, kind: ProfileKind) -> Told:
    """All agents, or all rules: the vault's, the user's own and those that came with zkchat."""
    found = profile_store(io).load()
    unapproved = [{"name": file.name, "path": file.path} for file in found.unapproved if file.kind == kind]
    known: Mapping[str, Agent | Rule] = found.agents if kind == "agent" else found.rules
    off: Mapping[str, Agent | Rule] = found.off_agents if kind == "agent" else found.off_rules
    every = sorted((*known.values(), *off.values()), key=lambda each: each.name.casefold())
    width = max((len(each.name) for each in every), default=0)
    none = "There are no rules yet. Create one: zkchat memory rules new 'Citation style'"
    data = {f"{kind}s": [*known.values()], "off": [*off.values()], "problems": found.problems, "unapproved": unapproved}
    return Told(
        data=data,
        lines=[f"{each.name:<{width}}  {describe(each)}" for each in every],
        notes=[*([] if every or unapproved else [none]), *unused(found, kind)],
    )


def unapproved(file: ProfileFile) -> Told:
    """The text of a file of the vault that is not used, for the user to judge."""
    lines = [f"{file.name}  (vault, not approved)\nfile: {file.path}\n\n{file.text}"]
    return Told(data=file, lines=lines, notes=[HOW_TO_APPROVE])


def describe(profile: Agent | Rule) -> str:
    """When it is sent, where it comes from, whether it is off, and what it is for, after its name."""
    include = f"[{profile.include}]" if isinstance(profile, Rule) else ""
    origin = f"({profile.origin}{'' if profile.enabled else ', off'})"
    return "  ".join(filter(None, [include, origin, profile.description]))


def _shadowed(file: ProfileFile) -> str:
    return f"{file.path} is not used: your own {'agent' if file.kind == 'agent' else 'rule'} of that name counts."


app = typer.Typer(help="List, show and create rules for answers.", no_args_is_help=True)


@command(app, "list", vault=SettingsVaultOption)
def list_(io: CommandIO) -> Told:
    """List the rules with their modes: the vault's and your own."""
    return listed(io, "rule")


@command(app, vault=SettingsVaultOption)
def show(
    io: CommandIO, name: Annotated[str, argument("RULE", "Its name; `zkchat memory rules list` shows them.")]
) -> Told:
    """Show a rule: when it applies, where its file is, and its text."""
    found = profile_store(io).load()
    if name.casefold() not in found.rules and (file := found.awaiting("rule", name)):
        return unapproved(file)
    rule = found.any_rule(name)
    return Told(data=rule, lines=[f"{rule.name}  {describe(rule)}", f"file: {rule.path}\n\n{rule.text}"])


@command(app, vault=SettingsVaultOption)
def new(
    io: CommandIO,
    name: Annotated[str, argument("NAME", "Its name.")],
    text: Annotated[str, argument("TEXT", "The text of the rule.")] = "",
    include: Annotated[
        IncludeMode,
        typer.Option(
            "--include", help="When the model gets this rule: always, when you /add it, or when it fits a question."
        ),
    ] = "always",
    description: Annotated[str, option("--description", "TEXT", "With --include agent: the questions it is for.")] = "",
    scope: ScopeOption = "user",
) -> Told:
    """Create a rule for answers.

    zkchat memory rules new "Dates" "Write dates as 2026-03-01." --include agent --description "Dates, times, calendars"
    """
    import yaml

    head = yaml.safe_dump({"include": include, "description": description}, allow_unicode=True, sort_keys=False)
    body = " ".join(text.split()) or "Write here the rule that answers should follow."
    made = create(io, profile_store(io, scope), scope, "rule", name, f"---\n{head}---\n{body}\n")
    return Told(data=parse_rule(made), lines=[f"Created {made.path}."])

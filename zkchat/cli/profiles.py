"""What `zkchat agent` and `zkchat rules` share: the files behind both, and how they are reported."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from zkchat.agents.profiles import Profiles, built_in
from zkchat.cli.common import CommandIO
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.compose.paths import find_paths
from zkchat.compose.profiles import ProfileStore
from zkchat.model.choices import Scope
from zkchat.model.profile import Agent, ProfileFile, ProfileKind, Rule
from zkchat.model.trust import HOW_TO_APPROVE

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

"""What the commands over agents, rules and memories share: their files, and the way to change them."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import Process
from zkchat.cli.config import Scope
from zkchat.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from zkchat.agents.profiles import Profiles
    from zkchat.compose.trust import VaultTrust
    from zkchat.model.profile import Agent, ProfileFile, ProfileKind, Rule
    from zkchat.storage.profile_files import ProfileFolders

ScopeOption = Annotated[Scope, typer.Option("--scope", help="Your own folder, or the vault's.")]


def folders(here: Process, vault: "Path | None") -> "ProfileFolders":
    from zkchat.compose.paths import find_paths
    from zkchat.storage.profile_files import ProfileFolders

    where = find_paths(here.environment, vault)
    return ProfileFolders(vault=where.vault, config=where.user_config.parent)


def profiles(here: Process, vault: "Path | None") -> "Profiles":
    from zkchat.agents.profiles import build_profiles

    return build_profiles(_of_vault(here, vault).profiles(folders(here, vault)))


def _of_vault(here: Process, vault: "Path | None") -> "VaultTrust":
    from zkchat.compose.paths import find_paths
    from zkchat.compose.trust import VaultTrust

    return VaultTrust(find_paths(here.environment, vault))


def unused(found: "Profiles", kind: "ProfileKind") -> dict[str, object]:
    """The same for scripts."""
    unapproved = [file for file in found.unapproved if file.kind == kind]
    return {"problems": found.problems, "unapproved": [{"name": file.name, "path": file.path} for file in unapproved]}


def tell_problems(here: Process, found: "Profiles", kind: "ProfileKind") -> None:
    """Which files are not used, and why, beside the result."""
    from zkchat.model.trust import HOW_TO_APPROVE

    for problem in found.problems:
        if problem.kind == kind:
            here.note(f"warning: {problem}")
    for file in found.shadowed:
        if file.kind == kind:
            here.note(_shadowed(file))
    unapproved = [file.name for file in found.unapproved if file.kind == kind]
    if unapproved:
        here.note(f"Not used, as they came with the vault: {', '.join(unapproved)}. {HOW_TO_APPROVE}")


def _shadowed(file: "ProfileFile") -> str:
    return f"{file.path} is not used: you have {'an agent' if file.kind == 'agent' else 'a rule'} of that name."


def save(here: Process, vault: "Path | None", file: "ProfileFile", text: str, before: "ProfileFile | None") -> bool:
    """Write a file of an agent or a rule. The user's own command approves it, unless what was there `before` was not
    approved. Tells whether it is used."""
    from pathlib import Path

    assert file.origin != "built-in"
    folders(here, vault).write(file.origin, Path(file.path), text)
    return approve_own(here, vault, file.model_copy(update={"text": text}), before)


def approve_own(here: Process, vault: "Path | None", after: "ProfileFile", before: "ProfileFile | None") -> bool:
    """Approve a file of the vault that the user just wrote, on the same condition."""
    from zkchat.compose.trust import profile_item

    if after.origin != "vault":
        return True
    return _of_vault(here, vault).approve_own(profile_item(before) if before else None, profile_item(after))


def write_new(
    here: Process, vault: "Path | None", scope: Scope, kind: "ProfileKind", name: str, text: str
) -> "ProfileFile":
    """Make a file that is not there yet."""
    from zkchat.model.profile import ProfileFile

    file = folders(here, vault).place(scope.value, kind, name)
    if os.path.lexists(file):
        raise UsageError(f"{file} is there already.", hint="Open it in your editor, or choose another name.")
    made = ProfileFile(kind=kind, name=name, origin=scope.value, path=str(file), text=text)
    save(here, vault, made, text, None)
    if any(file.path == made.path for file in profiles(here, vault).shadowed):
        here.note(_shadowed(made))
    return made


def show_unapproved(here: Process, file: "ProfileFile", *, json_output: bool) -> None:
    """The text of a file of the vault that is not used, for the user to judge."""
    from zkchat.model.trust import HOW_TO_APPROVE

    if json_output:
        here.json(file)
        return
    here.out(f"{file.name}  (vault, not approved)\nfile: {file.path}\n\n{file.text}")
    here.note(HOW_TO_APPROVE)


def own_file(here: Process, vault: "Path | None", agent: "Agent") -> "ProfileFile":
    """The file to change for an agent; one that came with zkchat is first copied to the user's folder."""
    from zkchat.agents.profiles import built_in

    if agent.origin == "built-in":
        text = next(file.text for file in built_in() if file.name == agent.name)
        copy = write_new(here, vault, Scope.USER, "agent", agent.name, text)
        here.note(f"Copied the built-in {agent.name} to {copy.path}.")
        return copy
    return next(file for file in folders(here, vault).files() if file.path == agent.path)


def described(profile: "Agent | Rule") -> str:
    """Where it comes from and what it is for, after its name."""
    return "  ".join(filter(None, [f"({profile.origin})", profile.description]))

"""What the commands over agents, rules and memories share: their files, and the way to change them."""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import Process
from zkchat.cli.config import Scope
from zkchat.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zkchat.agents.profiles import Profiles
    from zkchat.memory.facts import Memory
    from zkchat.model.memory import DocumentUse
    from zkchat.model.profile import Agent, ProfileFile, ProfileKind, Rule
    from zkchat.ports import SessionStore
    from zkchat.storage.memories import SqliteMemories
    from zkchat.storage.profile_files import ProfileFolders

ScopeOption = Annotated[Scope, typer.Option("--scope", help="Your own folder, or the vault's.")]


def folders(here: Process, vault: "Path | None") -> "ProfileFolders":
    from zkchat.places import paths
    from zkchat.storage.profile_files import ProfileFolders

    where = paths(here.environment, vault)
    return ProfileFolders(vault=where.vault, config=where.user_config.parent)


def profiles(here: Process, vault: "Path | None") -> "Profiles":
    from zkchat.agents.profiles import profiles_of

    return profiles_of(folders(here, vault).files())


def tell_problems(here: Process, found: "Profiles", kind: "ProfileKind") -> None:
    """Which files are not used, and why, beside the result."""
    for problem in found.problems:
        if problem.kind == kind:
            here.note(f"warning: {problem}")


def write_new(
    here: Process, vault: "Path | None", scope: Scope, kind: "ProfileKind", name: str, text: str
) -> "ProfileFile":
    """Make a file that is not there yet."""
    from zkchat.files import write_atomically
    from zkchat.model.profile import ProfileFile

    file = folders(here, vault).place(scope.value, kind, name)
    if file.exists():
        raise UsageError(f"{file} is there already.", hint="Open it in your editor, or choose another name.")
    write_atomically(file, text, mode=0o644)
    return ProfileFile(kind=kind, name=name, origin=scope.value, path=str(file), text=text)


def own_file(here: Process, vault: "Path | None", agent: "Agent") -> "ProfileFile":
    """The file to change for an agent; one that came with zkchat is first copied to the user's folder."""
    from zkchat.agents.profiles import built_in

    if agent.origin == "built-in":
        text = next(file.text for file in built_in() if file.name == agent.name)
        copy = write_new(here, vault, Scope.USER, "agent", agent.name, text)
        here.note(f"Copied the built-in {agent.name} to {copy.path}.")
        return copy
    return next(file for file in folders(here, vault).files() if file.path == agent.path)


def edit(here: Process, path: str) -> None:
    """Open a file in the user's editor and wait until it is closed."""
    import shlex

    from zkchat.safe_start import program, run_program

    variables = here.environment.variables
    editor = variables.get("VISUAL") or variables.get("EDITOR")
    if not editor:
        raise UsageError("No editor is set.", hint=f"Set EDITOR, or open the file yourself: {path}")
    try:
        name, *options = shlex.split(editor)
        found = program(name, variables)
        if found is None:
            raise FileNotFoundError("no such program in an absolute folder")
        code = run_program([found, *options, path])
    except (OSError, ValueError) as error:
        hint = "Set EDITOR to the name of a program that is installed, or to its whole path."
        raise UsageError(f"The editor '{editor}' cannot be started: {error}.", hint=hint) from error
    if code:
        raise ConfigError(f"The editor '{editor}' ended with {code}.", hint=f"The file is {path}.")


def described(profile: "Agent | Rule") -> str:
    """Where it comes from and what it is for, after its name."""
    return "  ".join(filter(None, [f"({profile.origin})", profile.description]))


@contextmanager
def open_memories(here: Process, vault: "Path | None") -> "Iterator[tuple[SqliteMemories, Memory]]":
    """The facts of a vault, and the memory over them."""
    from zkchat import adapters
    from zkchat.places import paths

    where = paths(here.environment, vault)
    settings = adapters.load_settings(here.environment, where).settings
    with adapters.opened_memory(here.environment, where, settings) as (store, memory, notice):
        if notice:
            here.note(f"warning: {notice}")
        yield store, memory


def uses(store: "SessionStore") -> "Iterator[DocumentUse]":
    """What every conversation used, one conversation in memory at a time."""
    from zkchat.memory.documents import uses_in

    for session in store.sessions():
        yield from uses_in(session, store.entries(session.id))

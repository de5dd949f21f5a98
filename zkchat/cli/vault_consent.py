"""The user's consent that a folder is a vault: asked for once, before anything is read of it or written into it."""

from pathlib import Path

from zkchat.app import (
    MAX_NOTES_COUNTED,
    FoundFolder,
    Paths,
    count_notes,
    find_folder,
    find_paths,
    known_vaults,
    unconfirmed,
)
from zkchat.cli.common import CommandIO
from zkchat.core import Scope, StorageError, counted


def confirmed_vault(io: CommandIO) -> Path | None:
    """The vault as it was named, or the current folder once the user has agreed.

    Raises `UnconfirmedVault` where the answer is no, or nobody is there to be asked. `--vault`, `$ZKCHAT_VAULT` and
    `vault.default` say yes, for the home folder aloud.
    """
    vault = io.vault
    found = find_folder(io.environment, vault)
    if found.is_vault and (found.is_confirmed or not found.is_home):
        if vault and not (found.is_marked or found.is_confirmed):
            _remember(io, found)
        return vault
    if io.environment.stdin_is_tty and io.environment.stderr_is_tty:
        folder = f"your home folder {found.path}" if found.is_home else str(found.path)
        count = count_notes(found.path)
        if count.notes > MAX_NOTES_COUNTED:
            content = f"more than {counted(MAX_NOTES_COUNTED, 'note')}"
        else:
            content = f"{'' if count.is_complete else 'at least '}{counted(count.notes, 'note')}"
        if found.is_home:
            content += f" among {'' if count.is_complete else 'more than '}{counted(count.files, 'file')}"
        if not io.confirm(f"Use the notes in {folder} ({content})? No note changes unless you say so."):
            raise unconfirmed(found)
    elif found.is_named:
        io.note(f"You named your home folder {found.path}, so it is used as the vault.")
    else:
        raise unconfirmed(found)
    if problem := _remember(io, found):
        io.note(f"Your answer could not be saved, so you will be asked again. {problem}")
    return found.path


def scope_paths(io: CommandIO, scope: Scope) -> Paths:
    """For files of the user, and of the vault if there is one; to write into it, there has to be."""
    needs_vault = scope == "vault"
    return find_paths(io.environment, confirmed_vault(io) if needs_vault else io.vault, needs_vault=needs_vault)


def _remember(io: CommandIO, found: FoundFolder) -> str:
    """Remember that a folder is a vault; why that was not possible, if it was not."""
    try:
        known_vaults(io.environment).add(found.path)
    except StorageError as error:
        return error.message
    return ""

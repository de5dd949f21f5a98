"""`zkchat verify`: which statements of a text the notes support."""

import os
from pathlib import Path
from typing import Annotated

from zkchat.actions import verified
from zkchat.answers import MAX_CHARACTERS
from zkchat.app import Paths
from zkchat.cli.actions import print_result
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, argument, current_io, flag, unreadable
from zkchat.cli.note_lookup import open_refreshed_workspace
from zkchat.core import UsageError
from zkchat.index import Library

STANDARD_INPUT = "-"


def verify(
    file: Annotated[str | None, argument("FILE", "A text in UTF-8; - for standard input.")] = None,
    problems: Annotated[bool, flag("--problems", "Only what your notes do not support.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> int:
    """Check which statements of a text stand in your notes, and where. No model is asked.

    Each sentence is quoted (it stands there word for word), supported (nearly so, with the same numbers, names and
    negation), contradicted (a note says the same with another number or name, or the opposite) or unsupported. What is
    said in quite other words counts as unsupported. Questions, headings, tables and code are not checked, and a draft
    in the vault does not support itself. The exit code is 0 if all statements stand in your notes, else 7.

    zkchat verify draft.txt

    zkchat verify draft.txt --problems

    zkchat ask "What do my notes say about compost?" | zkchat verify -
    """
    io = current_io(vault)
    if not file:
        raise UsageError("Which text is to be checked?", hint="zkchat verify draft.txt, or - for standard input.")
    text = read_text(io, file)
    with open_refreshed_workspace(io) as (workspace, library):
        found = verified(library, text, without=own_paths(io, workspace.paths, library, file), problems=problems)
        return print_result(io, workspace, library, found, json_output=json_output)


def read_text(io: CommandIO, file: str) -> str:
    """A file that the user names, or standard input, as far as a text may be long. Raises `UsageError`."""
    try:
        if file == STANDARD_INPUT:
            return io.environment.stdin.read(MAX_CHARACTERS + 1)
        with (io.environment.cwd / file).open(encoding="utf-8") as draft:
            return draft.read(MAX_CHARACTERS + 1)
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is no text in UTF-8.", hint="Save it as UTF-8, or as plain text.") from error
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from error


def own_paths(io: CommandIO, paths: Paths, library: Library, file: str) -> set[str]:
    """The paths under which the draft itself is a note of the vault."""
    named = io.environment.cwd.resolve() / file
    places = () if file == STANDARD_INPUT else (Path(os.path.normpath(named)), named.resolve())
    own = {path.relative_to(paths.vault).as_posix() for path in places if path.is_relative_to(paths.vault)}
    links = library.linked_files(row.path for row in library.files()) if own else {}
    return own | {path for path, target in links.items() if target in own}

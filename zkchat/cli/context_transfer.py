"""`zkchat context export` and `import`: sessions out of, and into, a vault."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import CommandIO, JsonOption, VaultOption, YesOption, current_io, known_keys
from zkchat.cli.session_lookup import OptionalSessionArgument, find_session_or_last
from zkchat.errors import SessionError, UsageError
from zkchat.model.text import counted

if TYPE_CHECKING:
    from zkchat.model.message import ChatMessage


class Format(StrEnum):
    JSON = "json"
    MARKDOWN = "markdown"


FormatOption = Annotated[
    Format | None,
    typer.Option("--format", help="Else by the name of the file: .md is Markdown, anything else JSON."),
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Else it goes to standard output.")
]
FileOption = Annotated[
    str, typer.Option("--file", "-f", metavar="FILE", help="What to read; - is standard input.", show_default=False)
]


def export_(
    session: OptionalSessionArgument = None,
    format_: FormatOption = None,
    output: OutputOption = None,
    yes: YesOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Write a session as JSON or as a Markdown note. The JSON is complete; keys are left out.

    zkchat context export --format markdown

    zkchat context export "Sleep and light" --output sleep.json
    """
    from zkchat.compose import stores
    from zkchat.export.notes import as_markdown
    from zkchat.export.session_json import as_json
    from zkchat.model.note import is_note
    from zkchat.model.session import thread_of

    io = current_io()
    keys = known_keys(io.environment)
    with stores.open_sessions(io.environment, vault, io) as store:
        found = find_session_or_last(store, session)
        entries = store.entries(found.id)
    chosen = format_ or (Format.MARKDOWN if output and is_note(output.name) and not json_output else Format.JSON)
    if chosen is Format.MARKDOWN:
        thread = thread_of(entries)
        text = as_markdown(found, thread, keys, local=_stays_here(io, vault, thread))
    else:
        text = as_json(found, entries, keys)
    if output is None:
        io.out(text.removesuffix("\n"))
        return
    file = io.environment.cwd / output
    _write(io, file, text, yes=yes)
    if json_output:
        io.json({"session": found.id, "messages": found.message_count, "file": str(file)})
    else:
        io.note(f"{found.title or found.id} is in {file} now.")


def import_(file: FileOption, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Read a conversation into a new session.

    Understood are the JSON of `zkchat context export`, and lists such as
    [{"role": "user", "content": "…", "name": "…", "timestamp": "…", "id": "…"}].

    zkchat context import --file sleep.json

    other-program | zkchat context import --file -
    """
    from zkchat.compose import stores
    from zkchat.errors import StorageError
    from zkchat.export.session_import import read_session

    io = current_io()
    environment = io.environment
    try:
        imported = read_session(_read_input(io, file), now=environment.now(), new_id=environment.new_id)
    except SessionError as error:
        raise SessionError(f"{file}: {error.message}", hint=error.hint) from error
    with stores.open_sessions(environment, vault, io) as store:
        session = store.create()
        try:
            store.append(session.id, imported.bodies_for(session.id))
        except StorageError:
            store.delete(session.id)
            raise
        session = store.get(session.id)
    if json_output:
        io.json({"session": session.id, "messages": session.message_count})
    else:
        io.out(f"{session.id}  {counted(session.message_count, 'message')}  {session.title or '(untitled)'}")


def _stays_here(io: CommandIO, vault: Path | None, thread: "list[ChatMessage]") -> bool:
    from zkchat.chat.privacy import stays_here
    from zkchat.compose.library import open_library

    with open_library(io.environment, vault) as (_, library):
        return stays_here(thread, library)


def _write(io: CommandIO, file: Path, text: str, *, yes: bool) -> None:
    from zkchat.files import write_atomically

    if file.is_dir():
        raise UsageError(f"{file} is a folder.", hint="Name a file in it.")
    if file.exists() and not yes and not io.confirm(f"{file} is there already. Write over it?"):
        raise UsageError(f"{file} is there already.", hint="Choose another name, or write over it with --yes.")
    write_atomically(file, text, mode=0o600)


def _read_input(io: CommandIO, file: str) -> str:
    if file == "-":
        return io.environment.stdin.read()
    try:
        return (io.environment.cwd / file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SessionError(f"{file} is not text in UTF-8.") from error
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}.") from error

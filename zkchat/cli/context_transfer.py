"""`zkchat context export` and `import`: sessions out of, and into, a vault."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import asdict

from zkchat.app import Stored, known_keys, mark_local, open_library, read_import, read_import_text, store_conversation
from zkchat.chat import stays_here
from zkchat.cli.common import (
    CommandIO,
    JsonOption,
    Told,
    VaultOption,
    YesOption,
    argument,
    current_io,
    flag,
    option,
    told_command,
    unreadable,
)
from zkchat.cli.output import UNDO, write_output
from zkchat.cli.sessions import find_session_or_last
from zkchat.core import History, Session, SessionError, UsageError, counted, is_note, thread_of
from zkchat.sessions import ImportedFile, as_json, as_markdown, export_schema

OptionalSessionArgument = Annotated[
    str | None,
    typer.Argument(metavar="SESSION", help="Its id, the start of its id, or its title. Default: the last one used."),
]


@contextmanager
def open_history(io: CommandIO, session: str | None) -> Iterator[tuple[Session, History]]:
    with io.sessions() as store:
        found = find_session_or_last(store, session)
        yield found, History(store.entries(found.id))


class Format(StrEnum):
    JSON = "json"
    MARKDOWN = "markdown"


def export_(
    session: OptionalSessionArgument = None,
    format_: Annotated[
        Format | None,
        option("--format", None, "The format. Default: by file name; .md is Markdown, anything else JSON."),
    ] = None,
    output: Annotated[
        Path | None, option("--output -o", "FILE", "The file to write. Default: standard output.")
    ] = None,
    yes: YesOption = False,
    schema: Annotated[bool, flag("--schema", "Print the JSON schema of an export instead.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Export a session as JSON or as a Markdown note. The JSON is complete, except for API keys.

    zkchat context export --format markdown

    zkchat context export "Sleep and light" --output sleep.json
    """
    io = current_io(vault)
    if schema:
        io.json(export_schema())
        return
    keys = known_keys(io.environment, io.workspace().settings)
    with io.sessions() as store:
        found = find_session_or_last(store, session)
        entries = store.entries(found.id)
    chosen = format_ or (Format.MARKDOWN if output and is_note(output.name) and not json_output else Format.JSON)
    if chosen is Format.MARKDOWN:
        thread = thread_of(entries)
        with open_library(io.environment, io.vault) as (_, library):
            text = as_markdown(found, thread, keys, local=stays_here(thread, library))
    else:
        text = as_json(found, entries, keys)
    if output is None:
        io.out(text.removesuffix("\n"), as_it_is=True)
        return
    file = io.environment.cwd / output
    if file.is_dir():
        raise UsageError(f"{file} is a folder.", hint="Give a file in it.")
    if file.exists() and not yes and not io.confirm(f"{file} already exists. Overwrite it?"):
        raise UsageError(f"{file} already exists.", hint="Choose another name, or overwrite it with --yes.")
    undo = UNDO if write_output(io, file, text, command="context export") else ""
    if json_output:
        io.json({"session": found.id, "messages": found.message_count, "file": str(file)})
    else:
        io.note(f"Exported {found.title or found.id} to {file}. {undo}".rstrip())


@told_command
def import_(
    io: CommandIO,
    file: Annotated[str, argument("FILE", "The file to import; - for standard input.")] = "",
    file_option: Annotated[str, option("--file -f", "FILE", "The same as the argument FILE.")] = "",
    dry_run: Annotated[bool, flag("--dry-run", "Show what would be imported; change nothing.")] = False,
) -> Told:
    """Import the conversations in a file as sessions.

    It can be the JSON of `zkchat context export`; the exports of ChatGPT and Claude, also in the .zip in which they
    come; zk-chat's chat_sessions.json; llm's logs.db (`llm logs path` says where it is); and messages with a role and a
    content, as the APIs of OpenAI, Anthropic, Ollama and LangChain have them, in JSON or one on each line. The format
    is detected.

    What cannot be taken over, such as audio, is counted and named. A conversation that was imported before is not
    imported twice: it gets the messages that are new.

    zkchat context import sleep.json --dry-run

    other-program | zkchat context import -
    """
    named = file or file_option
    if not named:
        raise UsageError(
            "Which file do you want to import?", hint="zkchat context import conversations.json, or - for stdin."
        )
    found = mark_local(_read_conversations(io, named), io.environment, io.vault)
    with io.sessions() as store:
        stored = [store_conversation(store, each, is_trial=dry_run) for each in found.conversations]
    lines = [
        f"{each.session or '-'}  {counted(each.messages, 'message')}  {each.title or '(untitled)'}" for each in stored
    ]
    sentence = _import_sentence(found, stored, dry_run=dry_run)
    notes = ["\n  ".join([sentence, *found.tally.problems()])] if sentence else []
    return Told(data=_import_record(found, stored, dry_run=dry_run), lines=lines, notes=notes)


def _read_conversations(io: CommandIO, file: str) -> ImportedFile:
    now = io.environment.now()
    try:
        if file == "-":
            return read_import_text(io.environment.stdin.read(), now=now)
        return read_import(io.environment.cwd / file, now=now)
    except SessionError as error:
        raise SessionError(f"{file}: {error.message}", hint=error.hint) from error
    except UnicodeDecodeError as error:
        raise SessionError(f"{file}: The input is not UTF-8 text.", hint="Give the file instead of -.") from error
    except OSError as error:
        raise unreadable(file, error) from error


def _import_record(found: ImportedFile, stored: Sequence[Stored], *, dry_run: bool) -> dict[str, object]:
    return {
        "form": found.form,
        "dry_run": dry_run,
        "session": stored[0].session if len(stored) == 1 else None,
        "conversations": [{**asdict(each), "session": each.session or None, "state": each.state} for each in stored],
        "messages": sum(each.messages for each in stored),
        "added": sum(each.added for each in stored),
        "left_out": found.tally.record(),
    }


def _import_sentence(found: ImportedFile, stored: Sequence[Stored], *, dry_run: bool) -> str:
    """`ChatGPT export: 12 conversations, 431 messages; 3 parts left out: …`; empty if there is nothing to add."""
    known = sum(each.state == "known" for each in stored)
    extended = [each for each in stored if each.state == "extended"]
    added = counted(sum(each.added for each in extended), "message")
    more = [
        *([f"{counted(known, 'conversation')} imported before"] if known else []),
        *([f"{counted(len(extended), 'conversation')} extended by {added}"] if extended else []),
        *found.tally.phrases(),
        *(["nothing was stored, as this is a dry run"] if dry_run else []),
    ]
    if len(stored) == 1 and not more:
        return ""
    messages = counted(sum(each.messages for each in stored), "message")
    return "; ".join([f"{found.form}: {counted(len(stored), 'conversation')}, {messages}", *more]) + "."

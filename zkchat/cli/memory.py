"""`zkchat memory`: what is kept across sessions; added, listed, searched, forgotten."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import CommandIO, JsonOption, VaultOption, YesOption, current_io
from zkchat.cli.refs import GONE, document_uses
from zkchat.compose import stores
from zkchat.compose.library import vault_files
from zkchat.compose.local_notes import local_globs
from zkchat.compose.paths import find_paths
from zkchat.compose.stores import open_memory
from zkchat.compose.workspace import load_workspace
from zkchat.errors import SessionNotFound, UsageError
from zkchat.memory.facts import Memory, OwnUse, list_items
from zkchat.memory.note_usage import NoteUsage
from zkchat.model.memory import Fact
from zkchat.model.note import FileStamp, PrivacyClass
from zkchat.model.text import counted
from zkchat.model.thread import thread_of
from zkchat.model.values import to_plain
from zkchat.vault.privacy.guard import CurrentClasses, local_files

if TYPE_CHECKING:
    from zkchat.compose.stores import FactStore

app = typer.Typer(help="See and change what is kept across conversations.", no_args_is_help=True)

FactArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The fact's id, or the beginning of it.", show_default=False)
]
MAX_MESSAGES_COMPARED = 3
MAX_NOTES_SHOWN = 5


@app.command()
def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A fact, in a sentence.", show_default=False)],
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Keep a fact for later conversations.

    zkchat memory add "My thesis is due on 30 June."
    """
    io = current_io()
    with _open_memory(io, vault) as (_, memory):
        remembered = memory.remember(text)
    if json_output:
        io.json({"fact": remembered.fact, "new": remembered.is_new, "replaced": remembered.replaced})
    else:
        io.out(f"{remembered.sentence} ({remembered.fact.id})")


@app.command(name="list")
def list_(vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """List the facts, the newest first."""
    io = current_io()
    with _open_memory(io, vault) as (store, _):
        facts = sorted(store.facts(), key=lambda fact: fact.at, reverse=True)
    if json_output:
        io.json(facts)
        return
    if not facts:
        io.note("Nothing is remembered yet. Begin: zkchat memory add 'I prefer short answers.'")
    for fact in facts:
        io.out(f"{fact.id}  {fact.at.astimezone():%Y-%m-%d}  {fact.text}")


@app.command()
def show(fact: FactArgument, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show a fact: who said it, when, and how often it was used."""
    io = current_io()
    with _open_memory(io, vault) as (store, _):
        found = store.find(fact)
    if json_output:
        io.json(found)
        return
    io.out(found.text)
    io.out(f"{found.id}, from: {found.source}, {found.at.astimezone():%Y-%m-%d %H:%M}, used {found.uses} times")
    if found.session_id:
        io.out(f"session: {found.session_id}")
    if found.replaces:
        io.out(f"It took the place of: {found.replaces}")


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="WORDS", help="What the facts are about.", show_default=False)],
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Find facts by words and meaning."""
    io = current_io()
    with _open_memory(io, vault) as (_, memory):
        found = memory.search(query)
    _print_scored(io, found, json_output=json_output)


@app.command()
def relevance(
    session: Annotated[
        str | None, typer.Argument(metavar="SESSION", help="Its id or title; else the last.", show_default=False)
    ] = None,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show which facts fit a conversation. Also the notes used most."""
    io = current_io()
    tally = NoteUsage()
    with stores.open_sessions(io.environment, vault, io) as store:
        chosen = store.find(session) if session else next(iter(store.sessions()), None)
        if chosen is None:
            raise SessionNotFound("There are no sessions in this vault yet.", hint="Start one: zkchat chat")
        asked = [message.text for message in thread_of(store.entries(chosen.id)) if message.role == "user"]
        for use in document_uses(store, find_paths(io.environment, vault).vault):
            tally.add(use)
    with _open_memory(io, vault) as (_, memory):
        ranked = memory.ranked("\n".join(asked[-MAX_MESSAGES_COMPARED:]))
    notes = tally.top(MAX_NOTES_SHOWN)
    if json_output:
        io.json({"session": chosen, "facts": _scored_records(ranked), "notes": notes})
        return
    _print_scored(io, ranked, json_output=False)
    for note in notes:
        is_gone = f" ({GONE})" * note.is_gone
        io.out(f"{note.path}{is_gone}: used {counted(note.turns, 'time')} in {counted(note.sessions, 'conversation')}")


@app.command()
def forget(
    fact: FactArgument, yes: YesOption = False, vault: VaultOption = None, json_output: JsonOption = False
) -> None:
    """Forget a fact for good."""
    io = current_io()
    with _open_memory(io, vault) as (store, _):
        found = store.find(fact)
        if not yes and not io.confirm(f"Forget for good: {found.text}?"):
            raise UsageError(f"Nothing was forgotten: {found.text}", hint="To forget without being asked: --yes")
        store.forget(found.id)
    if json_output:
        io.json({"forgotten": found})
    else:
        io.out(f"Forgotten: {found.text}")


@app.command()
def export(vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Print all facts as a Markdown list. `zkchat memory import` reads it again."""
    io = current_io()
    with _open_memory(io, vault) as (store, _):
        facts = store.facts()
    if json_output:
        io.json(facts)
        return
    for fact in facts:
        io.out(f"- {fact.text}")


@app.command(name="import")
def import_(
    path: Annotated[
        str, typer.Argument(metavar="@PATH", help="A file of the vault; without the @, any file.", show_default=False)
    ],
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Remember each list item of a Markdown file as a fact. Facts of a local note are local.

    zkchat memory import @About/me.md
    """
    io = current_io()
    text, privacy = _read_import(io, vault, path)
    if privacy == "never":
        raise UsageError(f"{path} is never to be read.", hint="Its property zkchat says so: zkchat help privacy")
    items = list_items(text)
    if not items:
        raise UsageError(f"There is no list in {path}.", hint="Write each fact on a line that begins with '- '.")
    with _open_memory(io, vault) as (_, memory):
        own = memory.within(OwnUse(local=privacy == "local"))
        remembered = [own.remember(item, "import") for item in items]
    new = sum(each.is_new for each in remembered)
    if json_output:
        io.json({"new": new, "facts": [each.fact for each in remembered]})
        return
    for each in remembered:
        if each.replaced:
            io.note(f"{each.fact.text} {each.sentence.removeprefix('Remembered. ')}")
    io.out(f"Remembered {new} of {len(items)}; the others were known.")


@contextmanager
def _open_memory(io: CommandIO, vault: Path | None) -> Iterator[tuple["FactStore", Memory]]:
    """The facts of a vault, and the memory over them."""
    workspace = load_workspace(io.environment, vault)
    with open_memory(workspace) as (store, memory, notices):
        for warning in (*workspace.loaded.every_warning, *notices):
            io.note(f"warning: {warning}")
        yield store, memory


def _read_import(io: CommandIO, vault: Path | None, path: str) -> tuple[str, PrivacyClass]:
    """The text of the file and its privacy class, which in the vault depends on its folder too."""
    workspace = load_workspace(io.environment, vault)
    files, globs = vault_files(workspace), local_globs(workspace)

    def shared() -> frozenset[object]:
        return local_files(files, [each.path for each in files.scan() if isinstance(each, FileStamp)], globs)[1]

    classes = CurrentClasses(files, globs, shared)
    if path.startswith("@"):
        text = files.read(path[1:])
        return text, classes.of_text(text, normpath(path[1:]))
    file, root = (io.environment.cwd / path).resolve(), workspace.paths.vault.resolve()
    try:
        text = file.read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
        raise UsageError(f"{path} cannot be read: {reason}.", hint="A file of the vault is written @path.") from error
    inside = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name
    return text, classes.of_text(text, inside)


def _scored_records(found: list[tuple[Fact, float]]) -> list[dict[str, object]]:
    return [{"score": round(score, 4), **to_plain(fact)} for fact, score in found]


def _print_scored(io: CommandIO, found: list[tuple[Fact, float]], *, json_output: bool) -> None:
    if json_output:
        io.json(_scored_records(found))
        return
    if not found:
        io.note("Nothing that is remembered is about that.")
    for fact, score in found:
        io.out(f"{score:.2f}  {fact.id}  {fact.text}")

"""`zkchat memory` and `zkchat refs`: facts that are kept, and which conversations used which notes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from zkchat.app import find_paths, load_workspace, local_globs, open_memory, stores, vault_files
from zkchat.chat import Memory, NoteUsage, OwnUse, list_items, note_uses
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, YesOption, current_io
from zkchat.cli.note_lookup import find_note, open_refreshed_library
from zkchat.cli.output import UNDO, Listing, write_output
from zkchat.core import (
    NOTE_SUFFIXES,
    DocumentUse,
    Fact,
    FileStamp,
    NoteNotFound,
    PrivacyClass,
    SessionNotFound,
    SessionStore,
    UsageError,
    counted,
    thread_of,
    to_plain,
)
from zkchat.notes import CurrentClasses, local_files

if TYPE_CHECKING:
    from zkchat.app import FactStore


DEFAULT_TOP = 10
GONE = "not there any more"


def refs(
    note: Annotated[
        str | None, typer.Argument(metavar="NOTE", help="A path, a title or a [[wikilink]].", show_default=False)
    ] = None,
    top: Annotated[bool, typer.Option("--top", help="The notes used most: --top, or --top 20.")] = False,
    graph: Annotated[
        Path | None, typer.Option("--graph", metavar="FILE.html", help="Draw it all as a page.", show_default=False)
    ] = None,
    yes: YesOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show which conversations used a note. Or the notes used most, or a page that draws both.

    zkchat refs "[[Evergreen notes]]"

    zkchat refs --top 20

    zkchat refs --graph refs.html
    """
    io = current_io()
    if [note is not None and not top, top, graph is not None].count(True) != 1:
        raise UsageError(
            "Say what to show.", hint="zkchat refs NOTE, zkchat refs --top, or zkchat refs --graph FILE.html"
        )
    if top:
        _show_top(io, vault, note, json_output=json_output)
    elif graph is not None:
        _write_graph(io, vault, graph, yes=yes, json_output=json_output)
    elif note is not None:
        _show_uses(io, vault, note, json_output=json_output)


def _show_uses(io: CommandIO, vault: Path | None, note: str, *, json_output: bool) -> None:
    with open_refreshed_library(io, vault, warn=False) as (paths, library):
        try:
            path, unknown = find_note(io, paths, library, note), None
        except NoteNotFound as error:  # perhaps it was there when it was used
            path, unknown = note.removeprefix("[[").removesuffix("]]"), error
    with stores.open_sessions(io.environment, vault, io) as store:
        spellings = {path, *(path + suffix for suffix in NOTE_SUFFIXES)}
        found = [use for use in document_uses(store, paths.vault) if use.path in spellings]
    if unknown and not found:
        raise unknown
    found.sort(key=lambda use: use.at, reverse=True)
    if json_output:
        io.json(found)
        return
    if not found:
        io.note(f"No conversation has used {path}.")
    listing = Listing(io, paths)
    for use in found:
        listing.line(f"{use.at.astimezone():%Y-%m-%d %H:%M}  {use.session_title or '(untitled)'}  ({use.session_id})")
        listing.aside(f"{use.why}; message {use.message_id}", indent=2)
    for gone in dict.fromkeys(use.path for use in found if use.is_gone):
        io.note(f"{gone} is {GONE}.")


def _show_top(io: CommandIO, vault: Path | None, most: str | None, *, json_output: bool) -> None:
    if most is not None and not (most.isdecimal() and len(most) < 10 and int(most)):
        raise UsageError(f"{most!r} is no number of notes.", hint="For example: zkchat refs --top 20")
    notes = _tally(io, vault).top(int(most or DEFAULT_TOP))
    if json_output:
        io.json(notes)
        return
    if not notes:
        io.note("No conversation has used a note yet.")
    for note in notes:
        times, talks = counted(note.turns, "time"), counted(note.sessions, "conversation")
        io.out(f"{times:>11} in {talks:<18}  {note.path}" + f" ({GONE})" * note.is_gone)


def _write_graph(io: CommandIO, vault: Path | None, file: Path, *, yes: bool, json_output: bool) -> None:
    from zkchat.render import graph_page

    target = io.environment.cwd / file
    _check_target(target, yes=yes)
    graph = _tally(io, vault).graph()
    page = graph_page(graph, vault=find_paths(io.environment, vault).vault.name)
    is_undoable = write_output(io, vault, target, page, command="refs")
    if json_output:
        io.json({"file": target, "notes": len(graph.notes), "conversations": len(graph.talks)})
    else:
        io.out(f"Drew {counted(len(graph.notes), 'note')} and {counted(len(graph.talks), 'conversation')}: {target}")
        if is_undoable:
            io.note(UNDO)


def _check_target(target: Path, *, yes: bool) -> None:
    """Refuse to overwrite anything but a page that zkchat wrote, unless `yes`, and any file that is no page."""
    from zkchat.render import MARK

    if target.suffix.lower() not in {".html", ".htm"}:
        raise UsageError(f"{target.name} is no name for a page.", hint="For example: zkchat refs --graph refs.html")
    if target.is_file() and not yes:
        with target.open("rb") as page:
            if page.read(len(MARK)) != MARK.encode():
                raise UsageError(f"{target} is there already, and not made by zkchat.", hint="To overwrite it: --yes")


def _tally(io: CommandIO, vault: Path | None) -> NoteUsage:
    tally = NoteUsage()
    with stores.open_sessions(io.environment, vault, io) as store:
        for use in document_uses(store, find_paths(io.environment, vault).vault):
            tally.add(use)
    return tally


def document_uses(store: SessionStore, vault: Path) -> Iterator[DocumentUse]:
    """The documents that each conversation used; one conversation is in memory at a time."""
    for session in store.sessions():
        for use in note_uses(session, store.entries(session.id)):
            yield use if os.path.lexists(vault / use.path) else replace(use, is_gone=True)


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

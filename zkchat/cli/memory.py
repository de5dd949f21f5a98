"""`zkchat memory` and `zkchat refs`: facts that are kept, and which conversations used which notes."""

import json
import os
import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from posixpath import normpath
from typing import Annotated, Final

import typer
from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.app import FactStore, find_paths, local_globs, open_memory, vault_files
from zkchat.chat import Memory, OwnUse, list_items
from zkchat.cli.common import CommandIO, Told, YesOption, argument, command, flag, option, told_command, unreadable
from zkchat.cli.note_lookup import find_note, open_refreshed_workspace
from zkchat.cli.output import UNDO, Listing, write_output
from zkchat.cli.rules import profile_store
from zkchat.cli.sessions import find_session_or_last
from zkchat.core import (
    DEFAULT_AGENT,
    NOTE_SUFFIXES,
    DocumentReference,
    DocumentUse,
    Entry,
    Fact,
    FileStamp,
    History,
    NoteNotFound,
    PrivacyClass,
    Session,
    SessionStore,
    UsageConversation,
    UsageEdge,
    UsageError,
    UsageGraph,
    UsedNote,
    counted,
    local_time,
    messages_of,
    thread_of,
    to_plain,
)
from zkchat.index import Library
from zkchat.notes import CurrentClasses, local_files

GONE = "no longer exists"


@told_command
def refs(
    io: CommandIO,
    note: Annotated[str | None, argument("NOTE", "A path, a title or a [[wikilink]].")] = None,
    top: Annotated[bool, flag("--top", "The notes used most: --top, or --top 20.")] = False,
    graph: Annotated[Path | None, option("--graph", "FILE.html", "Draw conversations and notes as a web page.")] = None,
    yes: YesOption = False,
) -> Told:
    """Show which conversations used a note. Or the notes used most, or a web page with a graph of both.

    zkchat refs "[[Evergreen notes]]"

    zkchat refs --top 20

    zkchat refs --graph refs.html
    """
    if [note is not None and not top, top, graph is not None].count(True) != 1:
        hint = "zkchat refs NOTE, zkchat refs --top, or zkchat refs --graph FILE.html"
        raise UsageError("Say what to show.", hint=hint)
    if graph is not None:
        return _graph(io, graph, yes=yes)
    return _uses(io, note) if note is not None and not top else _top(io, note)


def _uses(io: CommandIO, note: str) -> Told:
    with open_refreshed_workspace(io, warn=False, tell_empty=True) as (workspace, library):
        try:
            path, unknown = find_note(io, workspace.paths, library, note), None
        except NoteNotFound as error:  # perhaps it was there when it was used
            path, unknown = note.removeprefix("[[").removesuffix("]]"), error
    with io.sessions() as store:
        spellings = {path, *(path + suffix for suffix in NOTE_SUFFIXES)}
        found = [use for use in document_uses(store, workspace.paths.vault) if use.path in spellings]
    if unknown and not found:
        raise unknown
    found.sort(key=lambda use: use.at, reverse=True)

    def show() -> None:
        listing = Listing(io, workspace.paths)
        for use in found:
            listing.line(f"{local_time(use.at)}  {use.session_title or '(untitled)'}  ({use.session_id})")
            listing.line(f"{use.why}; message {use.message_id}", indent=2, style="dim")

    gone = dict.fromkeys(use.path for use in found if use.is_gone)
    notes = [f"{each} {GONE}." for each in gone] if found else [f"No conversation has used {path}."]
    return Told(data=found, show=show, notes=notes)


def _top(io: CommandIO, most: str | None) -> Told:
    if most is not None and not (most.isdecimal() and len(most) < 10 and int(most)):
        raise UsageError(f"{most!r} is not a number of notes.", hint="For example: zkchat refs --top 20")
    notes = _tally(io).top(int(most or 10))
    lines = [
        f"{counted(note.turns, 'time'):>11} in {counted(note.sessions, 'conversation'):<18}  {note.path}"
        + f" ({GONE})" * note.is_gone
        for note in notes
    ]
    return Told(data=notes, lines=lines, notes=[] if notes else ["No conversation has used a note yet."])


def _graph(io: CommandIO, file: Path, *, yes: bool) -> Told:
    target = io.environment.cwd / file
    if target.suffix.lower() not in {".html", ".htm"}:
        raise UsageError(f"{target.name} is not an HTML file.", hint="For example: zkchat refs --graph refs.html")
    if target.is_file() and not yes:  # only a page that zkchat wrote is overwritten unasked
        with target.open("rb") as old:
            if old.read(len(MARK)) != MARK.encode():
                raise UsageError(f"{target} already exists, and was not made by zkchat.", hint="To overwrite it: --yes")
    graph = _tally(io).graph()
    page = graph_page(graph, vault=find_paths(io.environment, io.vault).vault.name)
    is_undoable = write_output(io, target, page, command="refs")
    drawn = f"Drew {counted(len(graph.notes), 'note')} and {counted(len(graph.talks), 'conversation')}: {target}"
    return Told(
        data={"file": target, "notes": len(graph.notes), "conversations": len(graph.talks)},
        lines=[drawn],
        notes=[UNDO] if is_undoable else [],
    )


def _tally(io: CommandIO) -> "NoteUsage":
    tally = NoteUsage()
    with io.sessions() as store:
        for use in document_uses(store, find_paths(io.environment, io.vault).vault):
            tally.add(use)
    return tally


def document_uses(store: SessionStore, vault: Path) -> Iterator[DocumentUse]:
    """The documents that each conversation used; one conversation is in memory at a time."""
    for session in store.sessions():
        for use in note_uses(session, store.entries(session.id)):
            yield use if os.path.lexists(vault / use.path) else replace(use, is_gone=True)


app = typer.Typer(help="See and change what is kept across conversations.", no_args_is_help=True)

FactArgument = Annotated[str, argument("ID", "The fact's id, or the start of it.")]


@command(app)
def add(
    io: CommandIO,
    text: Annotated[str, argument("TEXT", "A fact, in a sentence. It may link notes: [[Note]].")],
    agent: Annotated[str | None, option("--agent", "NAME", "Only for this agent.")] = None,
) -> Told:
    """Keep a fact for later conversations.

    zkchat memory add "My thesis is due on 30 June."
    """
    name = profile_store(io).load().agent(agent).name if agent else ""
    with _open_memory(io, text) as (_, memory, _):
        kept = memory.remember(text, agent=name)
    data = {"fact": kept.fact, "new": kept.is_new, "replaced": kept.replaced}
    return Told(data=data, lines=[f"{kept.sentence} ({kept.fact.id})"])


@command(app, "list")
def list_(
    io: CommandIO,
    agent: Annotated[str | None, option("--agent", "NAME", "Only facts for this agent.")] = None,
    note: Annotated[str | None, option("--note", "NOTE", "Only facts that link to this note.")] = None,
) -> Told:
    """List the facts, the newest first."""
    with _open_memory(io, "[" if note else "") as (_, memory, library):
        paths = find_paths(io.environment, io.vault)
        found = memory.facts(find_note(io, paths, library, note) if note and library else "")
    wanted = [fact for fact in found if agent is None or fact.agent.casefold() == agent.casefold()]
    facts = sorted(wanted, key=lambda fact: fact.at, reverse=True)
    none = "Nothing is remembered yet. Start with: zkchat memory add 'I prefer short answers.'"
    return Told(
        data=facts,
        lines=[f"{fact.id}  {fact.at.astimezone():%Y-%m-%d}  {_addressed(fact)}" for fact in facts],
        notes=[] if facts else ["Nothing remembered matches." if agent or note else none],
    )


@command(app)
def show(io: CommandIO, fact: FactArgument) -> Told:
    """Show a fact: who said it, when, and how often it was used."""
    with _open_memory(io) as (store, *_):
        found = store.find(fact)
    lines = [
        found.text,
        f"{found.id}, from: {found.source}, {local_time(found.at)}, used {found.uses} times",
        *([f"only for the agent {found.agent}"] if found.agent else []),
        *([f"session: {found.session_id}"] if found.session_id else []),
        *([f"It replaced: {found.replaces}"] if found.replaces else []),
    ]
    return Told(data=found, lines=lines)


@command(app)
def search(io: CommandIO, query: Annotated[str, argument("WORDS", "Words and [[links]] to look for.")]) -> Told:
    """Find facts by words and meaning. With a [[link]], facts that link to that note come first."""
    with _open_memory(io, query) as (_, memory, _):
        return _scored(memory.search(query))


@command(app)
def relevance(
    io: CommandIO, session: Annotated[str | None, argument("SESSION", "Its id or title. Default: the last.")] = None
) -> Told:
    """Show which facts a conversation would use. Also lists the notes used most."""
    tally = NoteUsage()
    with io.sessions() as store:
        chosen = find_session_or_last(store, session)
        entries = store.entries(chosen.id)
        asked = "\n".join([message.text for message in thread_of(entries) if message.role == "user"][-3:])
        for use in document_uses(store, find_paths(io.environment, io.vault).vault):
            tally.add(use)
    with _open_memory(io, asked) as (_, memory, _):
        facts = _scored(memory.ranked(asked, agent=History(entries).agent or DEFAULT_AGENT))
    notes = tally.top(5)
    used = [
        f"{note.path}{f' ({GONE})' * note.is_gone}: used {counted(note.turns, 'time')} "
        f"in {counted(note.sessions, 'conversation')}"
        for note in notes
    ]
    return replace(facts, data={"session": chosen, "facts": facts.data, "notes": notes}, lines=[*facts.lines, *used])


@command(app)
def forget(io: CommandIO, fact: FactArgument, yes: YesOption = False) -> Told:
    """Forget a fact for good."""
    with _open_memory(io) as (store, *_):
        found = store.find(fact)
        if not yes and not io.confirm(f"Forget for good: {found.text}?"):
            raise UsageError(f"Nothing was forgotten: {found.text}", hint="To forget without being asked: --yes")
        store.forget(found.id)
    return Told(data={"forgotten": found}, lines=[f"Forgotten: {found.text}"])


@command(app)
def export(io: CommandIO) -> Told:
    """Print all facts as a Markdown list. `zkchat memory import` reads it again."""
    with _open_memory(io) as (store, *_):
        facts = store.facts()
    return Told(data=facts, lines=[f"- {_addressed(fact)}" for fact in facts])


@command(app, "import")
def import_(
    io: CommandIO, path: Annotated[str, argument("@PATH", "The file: @PATH in the vault, PATH anywhere.")]
) -> Told:
    """Remember each list item of a Markdown file as a fact. An item that begins with `@NAME` is for that agent alone.

    Facts from a private note stay private.

    zkchat memory import @About/me.md
    """
    text, privacy = _read_import(io, path)
    if privacy == "never":
        raise UsageError(f"No model may read {path}.", hint="Its property `zkchat` forbids it; see zkchat help privacy")
    items = list_items(text)
    if not items:
        raise UsageError(f"There is no list in {path}.", hint="Write each fact on a line that begins with '- '.")
    profiles = profile_store(io).load()
    with _open_memory(io, text) as (_, memory, library):
        own = memory.within(OwnUse(local=privacy == "local", library=library))
        addressed = map(profiles.addressed, items)
        kept = [own.remember(item, "import", agent=agent) for agent, item in addressed]
    new = sum(each.is_new for each in kept)
    return Told(
        data={"new": new, "facts": [each.fact for each in kept]},
        lines=[f"Remembered {new} of {counted(len(items), 'fact')}{'; the others were known' * (new < len(items))}."],
        notes=[f"{each.fact.text} {each.sentence.partition('. ')[2]}" for each in kept if each.replaced],
    )


@contextmanager
def _open_memory(io: CommandIO, text: str = "") -> Iterator[tuple[FactStore, Memory, Library | None]]:
    """The facts of a vault, the memory over them, and where this text may link to any the notes."""
    with ExitStack() as stack:
        library = stack.enter_context(open_refreshed_workspace(io, warn=False))[1] if "[" in text else None
        workspace = io.workspace()
        store, memory, notices = stack.enter_context(open_memory(workspace))
        for warning in (*(() if library else workspace.loaded.every_warning), *notices):
            io.note(f"warning: {warning}")
        yield store, memory.within(OwnUse(library=library)), library


def _addressed(fact: Fact) -> str:
    return f"@{fact.agent} {fact.text}" if fact.agent else fact.text


def _read_import(io: CommandIO, path: str) -> tuple[str, PrivacyClass]:
    """The text of the file and its privacy class, which in the vault depends on its folder too."""
    workspace = io.workspace()
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
        raise unreadable(path, error, "For a file in the vault write @path.") from error
    inside = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name
    return text, classes.of_text(text, inside)


def _scored(found: list[tuple[Fact, float]]) -> Told:
    return Told(
        data=[{"score": round(score, 4), **to_plain(fact)} for fact, score in found],
        lines=[f"{score:.2f}  {fact.id}  {_addressed(fact)}" for fact, score in found],
        notes=[] if found else ["Nothing remembered matches."],
    )


MARK: Final = "<!doctype html><!-- zkchat refs -->"
"""The beginning of such a page, by which it is recognized before it is overwritten."""

_PLACEHOLDER: Final = re.compile(r"<!--(\w+)-->")
_IN_SCRIPT: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def graph_page(graph: UsageGraph, *, vault: str) -> str:
    """The page. Titles and paths are embedded as data that cannot become markup or script."""
    script, style = _part("graph.js"), _part("graph.css")
    policy = (
        f"default-src 'none'; script-src '{_csp_hash(script)}'; style-src '{_csp_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": escape(policy),
        "vault": escape(vault.encode("utf-8", "replace").decode()),
        "style": style,
        "script": script,
        # ASCII, and nothing that could end the element it stands in.
        "data": json.dumps(to_plain(graph), separators=(",", ":")).translate(_IN_SCRIPT),
    }
    return MARK + _PLACEHOLDER.sub(lambda placeholder: parts[placeholder[1]], _part("graph.html"))


def _csp_hash(text: str) -> str:
    """The hash by which the content security policy admits the script or style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _part(name: str) -> str:
    return (files("zkchat.render") / "graph" / name).read_text("utf-8")


def note_uses(session: Session, entries: Iterable[Entry]) -> Iterator[DocumentUse]:
    """The notes that a conversation used, each once in a turn. What was found and not used does not count."""
    turn: dict[str, DocumentUse] = {}
    for message in messages_of(entries).values():
        if message.role == "user":
            yield from turn.values()
            turn = {}
        for reference in message.references:
            # An answer that links a note which it was never given does not rest on it.
            is_cited = reference.cited and not reference.unverified
            is_used = reference.reference_type == "direct" or reference.included or is_cited
            if reference.relative_path is None or not is_used:
                continue
            before = turn.get(reference.relative_path)
            # The answer knows more than the question, which the two share.
            turn[reference.relative_path] = DocumentUse(
                path=reference.relative_path,
                session_id=session.id,
                session_title=session.title,
                message_id=message.id,
                at=before.at if before else message.created_at,
                why=_why(reference),
                cited=reference.cited,
            )
    yield from turn.values()


def _why(reference: DocumentReference) -> str:
    known = {"evidence": "quoted as evidence", "context": "sent along", "": "found"}
    how = known.get(reference.via, f"found by {reference.via}")
    if reference.reference_type == "direct":
        how = "linked in the message"
    return f"{how}, cited in the answer" if reference.cited else how


class NoteUsage(Struct):
    """Counts the uses of notes, one conversation after the other; its size grows with notes and conversations only."""

    _turns: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    _last: dict[str, datetime] = field(default_factory=dict)
    _titles: dict[str, str] = field(default_factory=dict)
    _gone: set[str] = field(default_factory=set)

    def add(self, use: DocumentUse) -> None:
        self._turns[use.path, use.session_id] += 1
        self._titles[use.session_id] = use.session_title
        self._gone |= {use.path} if use.is_gone else set()
        for key in (f"note:{use.path}", f"talk:{use.session_id}"):
            self._last[key] = max(use.at, self._last.get(key, use.at))

    def top(self, most: int) -> list[UsedNote]:
        """The notes that most turns used."""
        turns: dict[str, list[int]] = defaultdict(list)
        for (path, _), count in self._turns.items():
            turns[path].append(count)
        notes = [
            UsedNote(
                path=path,
                turns=sum(counts),
                sessions=len(counts),
                last_used=self._last[f"note:{path}"],
                is_gone=path in self._gone,
            )
            for path, counts in turns.items()
        ]
        return sorted(notes, key=lambda note: (-note.turns, -note.sessions, note.path))[:most]

    def graph(self, most: int = 2000) -> UsageGraph:
        """The usage graph, with at most so many nodes: half of them notes, if there are so many."""
        notes = self.top(len(self._turns))
        used = Counter(session_id for _, session_id in self._turns)
        talks = [
            UsageConversation(session_id=id_, title=title, last_used=self._last[f"talk:{id_}"], notes=used[id_])
            for id_, title in self._titles.items()
        ]
        talks.sort(key=lambda talk: talk.last_used, reverse=True)
        room_for_notes = max(most // 2, most - len(talks))
        kept_notes, kept_talks = notes[:room_for_notes], talks[: most - min(room_for_notes, len(notes))]
        paths, ids = {note.path for note in kept_notes}, {talk.session_id for talk in kept_talks}
        lines = [
            UsageEdge(path=path, session_id=session_id, turns=count)
            for (path, session_id), count in self._turns.items()
            if path in paths and session_id in ids
        ]
        left_out = len(notes) + len(talks) - len(kept_notes) - len(kept_talks)
        return UsageGraph(notes=tuple(kept_notes), talks=tuple(kept_talks), lines=tuple(lines), left_out=left_out)

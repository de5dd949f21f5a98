"""`zkchat vault`, `index` and `vault fix-links`: what is in the vault, and what broken links could have meant."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer
from msgspec import Struct, field
from msgspec.structs import asdict

from zkchat.actions import link_record
from zkchat.app import NOT_INSTALLED, Paths, link_style, load_workspace, open_library, unread_reason
from zkchat.cli.actions import command_of
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.key_questions import KeyQuestions
from zkchat.cli.note_changes import OpenNotes, file_records, open_notes
from zkchat.cli.note_lookup import embed_by_server, open_refreshed_library, print_warnings, progress, vectors_record
from zkchat.cli.output import Listing
from zkchat.core import ChangeOrigin, ChangeRecord, IndexCounts, UsageError, VaultError, counted, line_place
from zkchat.index import BrokenLink, Followed, Library, Repair, broken_links, graph
from zkchat.notes import describe_warning, is_attachment
from zkchat.render import describe_link, sanitize_line, vector_lines
from zkchat.writing import LinkRepairer, RepairedLink, past_renames

if TYPE_CHECKING:
    from rich.text import Text


_COMMAND: Final = "vault fix-links"
_MAX_LINES_NAMED: Final = 3
_MAX_RECORDS: Final = 1_000
"""Change sets of the journal among which renames are looked for."""


def fix_links(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Repair at once what is certain, and nothing else.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the proposals, and change nothing.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Repair broken links: proposals with their reasons, one key each.

    A repair is certain where exactly one file has the name, in another folder, or where only the encoding or the
    extension is wrong. A similar name or heading is only proposed. Nothing but the target of the link changes. All
    repairs that you choose are one change for zkchat undo.

    zkchat vault fix-links

    zkchat vault fix-links --dry-run --json | jq '.proposed[].text'
    """
    io = current_io()
    if not (yes or dry_run or io.environment.stdin_is_tty):
        raise UsageError(
            "Nothing was changed. You are asked about each link, and here is no terminal to ask at.",
            hint="Repair what is certain without a question: --yes; only show the proposals: --dry-run",
        )
    with open_notes(io, vault) as notes:
        session = _Session(notes)
        if not dry_run:
            session.repair_certain() if yes else session.ask()
        record = session.apply()
        report = _Report(io, session, record, is_dry_run=dry_run)
        report.print_json() if json_output else report.print_text()


class _Session:
    """The broken links of a vault, and what becomes of them."""

    def __init__(self, notes: OpenNotes) -> None:
        self._notes = notes
        self.repairer = LinkRepairer(notes.library, notes.editing.staged, link_style(notes.workspace.paths.vault))
        records = notes.editing.store.records(limit=_MAX_RECORDS, with_contents=False)
        found = broken_links(notes.library, past_renames(reversed(records)))
        self.proposed = [_Proposal.of(self.repairer, each) for each in found]
        self.repaired: list[RepairedLink] = []
        self.created: list[str] = []
        self._written: set[str] = set()
        """Targets of links that have a note now."""
        self.remarks: list[str] = []
        self.cancelled = False

    @property
    def open(self) -> "list[_Proposal]":
        """What is still broken."""
        done = {(each.source, each.before) for each in self.repaired}
        return [
            each
            for each in self.proposed
            if (each.broken.source, each.broken.link.text) not in done and each.broken.link.target not in self._written
        ]

    def repair_certain(self) -> None:
        for proposal in self.proposed:
            if proposal.is_certain:
                self._stage(proposal, 0)

    def ask(self) -> None:
        questions = KeyQuestions(self._notes.io, color=self._notes.workspace.settings.ui.color)
        asked = [each for each in self.proposed if each.repairs]
        with questions.listening():
            for number, proposal in enumerate(asked, 1):
                if proposal.broken.link.target in self._written:
                    continue
                answer = _ask(questions, proposal, f"{number} of {len(asked)}")
                if answer == "q":
                    break
                if answer == "c":
                    self._create(proposal)
                elif answer.isdecimal():
                    self._stage(proposal, int(answer) - 1)
        self.cancelled = questions.cancelled

    def apply(self) -> ChangeRecord | None:
        changes = self._notes.editing.staged.change_set()
        if self.cancelled or not changes:
            self.repaired.clear()
            self.created.clear()
            self._written.clear()
            return None
        return self._notes.editing.store.apply(changes, ChangeOrigin(command=_COMMAND))

    def _stage(self, proposal: "_Proposal", number: int) -> None:
        repair, _ = proposal.repairs[number]
        try:
            self.repaired.append(self.repairer.stage(proposal.broken, repair))
        except VaultError as error:
            self.remarks.append(error.message)

    def _create(self, proposal: "_Proposal") -> None:
        target = proposal.broken.link.target
        try:
            self.created.append(self._notes.editing.editor.create(target, "", may_take_over=False).path)
            self._written.add(target)
        except VaultError as error:
            self._notes.io.fail(error)


class _Proposal(Struct, frozen=True, kw_only=True):
    """A broken link, and the repairs that can be written, each with the link that it makes."""

    broken: BrokenLink
    repairs: Sequence[tuple[Repair, str]] = field(default=())

    @classmethod
    def of(cls, repairer: LinkRepairer, broken: BrokenLink) -> "_Proposal":
        written = []
        for repair in broken.repairs:
            try:
                written.append((repair, repairer.preview(broken, repair).after))
            except VaultError:
                continue
        return cls(broken=broken, repairs=written)

    @property
    def is_certain(self) -> bool:
        return bool(self.repairs) and self.repairs[0][0].is_sure

    @property
    def place(self) -> str:
        """The note, and the lines of the link in it."""
        return _place(self.broken.source, self.broken.lines)


def _place(source: str, lines: Sequence[int]) -> str:
    """`Plan.md:3, 7, 12, …`."""
    more = ", …" if len(lines) > _MAX_LINES_NAMED else ""
    return f"{source}:{', '.join(map(str, lines[:_MAX_LINES_NAMED]))}{more}"


def _ask(questions: KeyQuestions, proposal: _Proposal, progress: str) -> str:
    questions.show(*_lines(proposal, progress))
    count = len(proposal.repairs)
    numbers = ("1" if count == 1 else f"1-{count}", "repair it so")
    create = [("c", "create the note")] if proposal.broken.is_missing and not _names_file(proposal.broken) else []
    keys = [numbers, ("n", "leave it"), *create, ("q", "enough")]
    return questions.ask("Which?", keys, others="".join(map(str, range(1, count + 1))))


def _names_file(broken: BrokenLink) -> bool:
    return is_attachment(broken.link.target)


def _lines(proposal: _Proposal, progress: str) -> "list[Text]":
    from rich.text import Text

    head = Text(sanitize_line(proposal.place), style="bold")
    head.append(f"  {progress}", style="dim")
    rows = [Text(""), head, Text(f"  {sanitize_line(proposal.broken.link.text)}", style="red")]
    for number, (repair, link) in enumerate(proposal.repairs, 1):
        row = Text(f"  {number} ")
        row.append(sanitize_line(link), style="bold green")
        row.append(f"  {sanitize_line(_reason(repair))}", style="dim")
        rows.append(row)
    return rows


def _reason(repair: Repair) -> str:
    return f"{repair.reason}, {'certain' if repair.is_sure else f'{repair.confidence:.0%}'}"


class _Report(Struct, frozen=True):
    """What is told of it all."""

    io: CommandIO
    session: _Session
    record: ChangeRecord | None
    is_dry_run: bool

    def print_json(self) -> None:
        session = self.session
        self.io.json(
            {
                "id": self.record and self.record.id,
                "applied": self.record is not None,
                "repaired": [_repaired_record(each) for each in session.repaired],
                "created": session.created,
                "proposed": [_proposal_record(each) for each in session.open if each.repairs],
                "unknown": [_proposal_record(each) for each in session.open if not each.repairs],
                "files": file_records(self.record.changes) if self.record else [],
                "remarks": session.remarks,
            }
        )

    def print_text(self) -> None:
        session = self.session
        if self.is_dry_run:
            self._list_proposals()
        for repaired in session.repaired:
            self.io.out(f"{_place(repaired.source, repaired.lines)}: {repaired.before} → {repaired.after}")
        for path in session.created:
            self.io.out(f"{path}: created")
        for remark in session.remarks:
            self.io.note_wrapped(remark)
        self.io.note_wrapped(self._summary())
        if self.record and self.io.environment.stdout_is_tty:
            self.io.note("zkchat undo takes it back.")

    def _list_proposals(self) -> None:
        for proposal in self.session.proposed:
            if proposal.repairs:
                self.io.out(f"{proposal.place}: {proposal.broken.link.text}")
            for repair, link in proposal.repairs:
                self.io.out(f"  {link}  {_reason(repair)}")

    def _summary(self) -> str:
        session = self.session
        if not session.proposed:
            return "No link is broken."
        left, unknown = len(session.open), sum(not each.repairs for each in session.open)
        done = f"{counted(len(session.repaired), 'link')} repaired" if self.record else "Nothing was changed"
        doubtful = f"{counted(left - unknown, 'broken link')} with a proposal"
        return f"{done}; {doubtful}, {unknown:,} without one (zkchat vault status lists broken links)."


def _repaired_record(repaired: RepairedLink) -> dict[str, object]:
    return {
        "source": repaired.source,
        "lines": repaired.lines,
        "text": repaired.before,
        "link": repaired.after,
        "path": repaired.path,
        "reason": repaired.reason,
    }


def _proposal_record(proposal: _Proposal) -> dict[str, object]:
    return {
        "source": proposal.broken.source,
        "lines": proposal.broken.lines,
        "text": proposal.broken.link.text,
        "target": proposal.broken.link.target,
        "anchor": proposal.broken.link.anchor,
        "missing": "file" if proposal.broken.is_missing else "place",
        "repairs": [
            {
                "link": link,
                "path": repair.path,
                "anchor": repair.anchor,
                "reason": repair.reason,
                "confidence": round(repair.confidence, 2),
                "certain": repair.is_sure,
            }
            for repair, link in proposal.repairs
        ],
    }


app = typer.Typer(help="Show what is in the vault, and what in it to mend.", no_args_is_help=True)

Row = TypeVar("Row")

MAX_ROWS_SHOWN = 10
"""Of each list; `--json` gives all."""


def index(
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Forget what is known, and read every note again.")
    ] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Bring the index up to date. Other commands do so by themselves; here you see what it finds."""
    io = current_io()
    started = io.environment.now()
    with open_library(io.environment, vault, io) as (paths, library):
        with progress(io.environment, "Indexing notes") as step:
            refreshed = library.rebuild(step) if rebuild else library.refresh(step)
        with progress(io.environment, "Reading PDFs") as step:
            library.extract(progress=step)
        with progress(io.environment, "Reading for meaning") as step:
            sections = library.counts().sections
            library.embed(lambda done: step(done, sections) is None)
        embeddings = embed_by_server(io, library)
        damage = [warning for warning in refreshed.warnings if warning.kind == "damaged"]
        counts, warnings = library.counts(), [*damage, *library.warnings()]
        _note_unread_pdfs(io, vault, library)
    seconds = (io.environment.now() - started).total_seconds()
    if json_output:
        io.json(
            {
                "vault": paths.vault,
                **_counts_record(counts),
                "changed": refreshed.changed,
                "removed": refreshed.removed,
                "vectors": vectors_record(embeddings),
                "warnings": [asdict(warning) for warning in warnings],
                "seconds": round(seconds, 3),
            }
        )
        return
    io.out(_format_counts(counts))
    for line in vector_lines(embeddings):
        io.out(line)
    io.out(f"{refreshed.changed:,} new or changed, {refreshed.removed:,} removed, in {seconds:.1f} s")
    print_warnings(io, warnings)


def _note_unread_pdfs(io: CommandIO, vault: Path | None, library: Library) -> None:
    """Say how the text of PDFs can be read, where there are any and the package is missing."""
    if not library.has_unread_pdf():
        return
    reason = unread_reason(load_workspace(io.environment, vault))
    if reason and reason[0] == NOT_INSTALLED:
        io.note(" ".join(reason))


@app.command()
def status(vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show counts, broken links, orphans and duplicates. Also ambiguous links, and files that cannot be used."""
    io = current_io()
    with open_refreshed_library(io, vault, warn=False) as (paths, library):
        if json_output:
            io.json(_status_record(paths, library))
        else:
            _list_status(Listing(io, paths), paths, library)


app.command()(command_of("links", "mentions"))
app.command()(command_of("links", "neighbours"))
app.command()(fix_links)


def _counts_record(counts: IndexCounts) -> dict[str, object]:
    return {
        "notes": counts.notes,
        "links": counts.links,
        "sections": counts.sections,
        "attachments": counts.attachments,
        "index_bytes": counts.bytes,
        "index_changed_at": counts.changed_at and counts.changed_at.isoformat(),
    }


def _format_counts(counts: IndexCounts) -> str:
    numbers = {
        "note": counts.notes, "other file": counts.attachments, "link": counts.links, "section": counts.sections
    }  # fmt: skip
    return ", ".join(f"{number:,} {name}{'s' * (number != 1)}" for name, number in numbers.items())


def _format_index(counts: IndexCounts) -> str:
    changed = f", last changed {counts.changed_at.astimezone():%Y-%m-%d %H:%M}" if counts.changed_at else ""
    return f"index of {counts.bytes / 1e6:,.1f} MB{changed}"


def _status_record(paths: Paths, library: Library) -> dict[str, object]:
    doubts = graph.doubts(library)
    return {
        "vault": paths.vault,
        **_counts_record(library.counts()),
        "vectors": vectors_record(library.embedding_progress()),
        "broken_links": [link_record(each) for each in doubts.broken],
        "ambiguous_links": [link_record(each) for each in doubts.ambiguous],
        "missing_places": [link_record(each) for each in doubts.astray],
        "orphans": graph.orphans(library),
        "duplicates": {"same_name": graph.namesakes(library), "same_content": graph.copies(library)},
        "unreadable": [asdict(warning) for warning in library.warnings()],
    }


def _list_status(listing: Listing, paths: Paths, library: Library) -> None:
    def with_closest(broken: Followed) -> str:
        return _format_link(graph.with_suggestions(library, broken))

    doubts = graph.doubts(library)
    counts = library.counts()
    warnings = sorted(library.warnings(), key=lambda warning: warning.kind)
    listing.line(f"{paths.vault}\n{_format_counts(counts)}\n{_format_index(counts)}")
    for line in vector_lines(library.embedding_progress()):
        listing.line(line)
    found = [
        _list_some(listing, "Broken links", doubts.broken, with_closest),
        _list_some(listing, "Ambiguous links", doubts.ambiguous, _format_link),
        _list_some(listing, "Links to a heading or block that is not there", doubts.astray, _format_link),
        _list_some(listing, "Notes without a link to or from another note", graph.orphans(library), str),
        _list_some(listing, "Notes of the same name", graph.namesakes(library), _format_paths),
        _list_some(listing, "Notes with the same text", graph.copies(library), _format_paths),
        _list_some(listing, "Files with a problem", warnings, describe_warning, most=len(warnings)),
    ]
    if not any(found):
        listing.line("\nNothing wants mending.")


def _list_some(
    listing: Listing, title: str, rows: Sequence[Row], line_of: Callable[[Row], str], *, most: int = MAX_ROWS_SHOWN
) -> bool:
    """Print the first rows of a list. Whether there are any."""
    if rows:
        listing.title(f"\n{title} ({len(rows):,})")
    for row in rows[:most]:
        listing.line(line_of(row), indent=2)
    if len(rows) > most:
        listing.aside(f"… and {len(rows) - most:,} more, which --json lists", indent=2)
    return bool(rows)


def _format_link(followed: Followed) -> str:
    return f"{line_place(followed.source or '', followed.link.line)}: {describe_link(followed.link, followed.found)}"


def _format_paths(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - MAX_ROWS_SHOWN:,} more" if len(paths) > MAX_ROWS_SHOWN else ""
    return ", ".join(paths[:MAX_ROWS_SHOWN]) + more

"""`zkchat check`, `vault` and `index`: what is in the vault, what in it to mend, and what broken links meant."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Annotated, Final, TypeVar

import typer
from msgspec import Struct
from msgspec.structs import asdict
from rich.text import Text

from zkchat.actions import link_record
from zkchat.app import NOT_INSTALLED, Paths, link_style, open_library, unread_reason
from zkchat.cli.actions import command_of
from zkchat.cli.common import (
    CommandIO,
    JsonOption,
    Told,
    VaultOption,
    argument,
    command,
    current_io,
    flag,
    told_command,
)
from zkchat.cli.key_questions import KeyQuestions
from zkchat.cli.lookups import verify
from zkchat.cli.note_changes import OpenNotes, change_summary, open_notes
from zkchat.cli.note_lookup import embed_by_server, open_refreshed_workspace, progress, vectors_record
from zkchat.cli.output import UNDO, Listing
from zkchat.core import ChangeOrigin, ChangeRecord, ExitCode, IndexCounts, UsageError, VaultError, counted, line_place
from zkchat.index import BrokenLink, Followed, Library, Repair, broken_links, graph
from zkchat.notes import describe_warning, is_attachment, summarize_warnings
from zkchat.render import describe_link, sanitize_line, vector_lines
from zkchat.writing import LinkRepairer, RepairedLink, past_renames

_MAX_LINES_NAMED: Final = 3
_MAX_RECORDS: Final = 1_000
"""Change sets of the journal among which renames are looked for."""


app = typer.Typer(help="Show what is in the vault, and what needs repair.", no_args_is_help=True)

Row = TypeVar("Row")

MAX_ROWS_SHOWN = 10
"""Of each list; `--json` gives all."""


@told_command
def index(
    io: CommandIO, rebuild: Annotated[bool, flag("--rebuild", "Rebuild the index: read every note again.")] = False
) -> Told:
    """Update the index. Other commands do this by themselves; here you see what changed."""
    started = io.environment.now()
    with open_library(io.environment, io.vault, io) as (paths, library):
        with progress(io.environment, "Indexing notes") as step:
            refreshed = library.rebuild(step) if rebuild else library.refresh(step)
        with progress(io.environment, "Reading PDFs") as step:
            library.extract(progress=step)
        with progress(io.environment, "Preparing the search") as step:
            sections = library.counts().sections
            library.embed(lambda done: step(done, sections) is None)
        embeddings = embed_by_server(io, library)
        damage = [warning for warning in refreshed.warnings if warning.kind == "damaged"]
        counts, warnings = library.counts(), [*damage, *library.warnings()]
        # Say how the text of PDFs can be read, where there are any and the package is missing.
        reason = unread_reason(io.workspace()) if library.has_unread_pdf() else None
        if reason and reason[0] == NOT_INSTALLED:
            io.note(" ".join(reason))
    seconds = (io.environment.now() - started).total_seconds()
    did = f"{refreshed.changed:,} new or changed, {refreshed.removed:,} removed, in {seconds:.1f} s"
    return Told(
        data={
            "vault": paths.vault,
            **_counts_record(counts),
            "changed": refreshed.changed,
            "removed": refreshed.removed,
            "vectors": vectors_record(embeddings),
            "warnings": [asdict(warning) for warning in warnings],
            "seconds": round(seconds, 3),
        },
        lines=[_format_counts(counts), *vector_lines(embeddings), did],
        notes=[f"warning: {sentence}" for sentence in summarize_warnings(warnings)] if warnings else [],
    )


@app.command()
def status(vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show counts, broken links, orphans and duplicates. Also ambiguous links, and files that cannot be used."""
    io = current_io(vault)
    with open_refreshed_workspace(io, warn=False, tell_empty=True) as (workspace, library):
        if json_output:
            io.json(_status_record(workspace.paths, library))
        else:
            _list_status(Listing(io, workspace.paths), workspace.paths, library)


app.command()(command_of("links", "mentions"))
app.command()(command_of("links", "neighbours"))


@command(app)
def fix_links(
    io: CommandIO,
    yes: Annotated[bool, flag("--yes -y", "Make only the repairs that are sure, without asking.")] = False,
    dry_run: Annotated[bool, flag("--dry-run", "Show the proposals, and change nothing.")] = False,
) -> Told:
    """Repair broken links: shows each proposal with its reason, and asks.

    A repair is sure if exactly one file has the name, in another folder, or if only the encoding or the extension is
    wrong. A similar name or heading is only proposed. Only the target of the link changes. zkchat undo reverts all
    repairs at once.

    zkchat check --fix

    zkchat check --fix --dry-run --json | jq '.proposed[].text'
    """
    if not (yes or dry_run or io.environment.stdin_is_tty):
        raise UsageError(
            "Nothing was changed. This asks you about each link and needs a terminal.",
            hint="To make the sure repairs without being asked: --yes; to only show the proposals: --dry-run",
        )
    with open_notes(io) as notes:
        session = _Repairs(notes)
        if not dry_run:
            session.repair_certain() if yes else session.ask()
        record = session.apply()
    left = session.left
    proposed, unknown = [each for each in left if each.repairs], [each for each in left if not each.repairs]
    lines = [f"{_place(each.source, each.lines)}: {each.before} → {each.after}" for each in session.repaired]
    lines += [f"{path}: created" for path in session.created]
    summary = "No link is broken."
    if session.proposed:
        done = f"{counted(len(session.repaired), 'link')} repaired" if record else "Nothing was changed"
        can = f"{counted(len(proposed), 'broken link')} can be repaired"
        summary = f"{done}; {can}, {len(unknown):,} have no known target (zkchat check lists them)."
    return Told(
        data=change_summary(
            record.changes if record else None,
            record.id if record else None,
            session.remarks,
            repaired=[*map(_repaired_record, session.repaired)],
            created=session.created,
            proposed=[*map(_proposal_record, proposed)],
            unknown=[*map(_proposal_record, unknown)],
        ),
        lines=[*(_proposal_lines(session.proposed) if dry_run else ()), *lines],
        notes=[*session.remarks, summary, *([UNDO] if record and io.environment.stdout_is_tty else [])],
    )


def check(
    file: Annotated[str | None, argument("FILE", "The text to check; - for standard input.")] = None,
    problems: Annotated[bool, flag("--problems", "With FILE: only what your notes do not support.")] = False,
    fix: Annotated[bool, flag("--fix", "Repair broken links: shows each proposal with its reason, and asks.")] = False,
    yes: Annotated[bool, flag("--yes -y", "With --fix: make only the repairs that are sure, without asking.")] = False,
    dry_run: Annotated[bool, flag("--dry-run", "With --fix: show the proposals, and change nothing.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> int:
    """Check your notes for problems, or a text against your notes. No model is asked.

    Without FILE: counts, broken and ambiguous links, orphans, duplicates, and files that cannot be used. `--fix`
    repairs links; zkchat undo reverts all repairs at once.

    With FILE, each sentence is quoted (it is in your notes word for word), supported (nearly so, with the same numbers,
    names and negation), contradicted (a note says the same with another number or name, or the opposite) or
    unsupported. What is said in very different words counts as unsupported. The exit code is 0 if all statements are in
    your notes, else 7.

    zkchat check

    zkchat check --fix --dry-run

    zkchat check draft.txt --problems

    zkchat ask "What do my notes say about compost?" | zkchat check -
    """
    if (file and fix) or (problems and not file) or ((yes or dry_run) and not fix):
        hint = "zkchat check, zkchat check --fix [--yes | --dry-run], or zkchat check FILE [--problems]"
        what = "FILE and --fix cannot be used together" if file and fix else "--problems needs a FILE"
        what = "--yes and --dry-run need --fix" if (yes or dry_run) and not fix else what
        raise UsageError(f"{what}.", hint=hint)
    if fix:
        return told_command(fix_links)(yes=yes, dry_run=dry_run, vault=vault, json_output=json_output)
    if file:
        return verify(file, problems, vault, json_output)
    status(vault, json_output)
    return ExitCode.OK


class _Proposal(Struct, frozen=True):
    """A broken link, and the repairs that can be written, each with the link that it makes."""

    broken: BrokenLink
    repairs: Sequence[tuple[Repair, str]]

    @property
    def place(self) -> str:
        """The note, and the lines of the link in it."""
        return _place(self.broken.source, self.broken.lines)


class _Repairs:
    """The broken links of a vault, and what becomes of them."""

    def __init__(self, notes: OpenNotes) -> None:
        self._notes = notes
        self._repairer = LinkRepairer(notes.library, notes.editing.staged, link_style(notes.workspace.paths.vault))
        records = notes.editing.store.records(limit=_MAX_RECORDS, with_contents=False)
        found = broken_links(notes.library, past_renames(reversed(records)))
        self.proposed = [_Proposal(each, [*self._written(each)]) for each in found]
        self.repaired: list[RepairedLink] = []
        self.created: list[str] = []
        self._targets: set[str] = set()
        """Of links that have a note now."""
        self.remarks: list[str] = []
        self._is_cancelled = False

    def _written(self, broken: BrokenLink) -> Iterator[tuple[Repair, str]]:
        for repair in broken.repairs:
            with suppress(VaultError):
                yield repair, self._repairer.preview(broken, repair).after

    @property
    def left(self) -> list[_Proposal]:
        """What is still broken."""
        done = {(each.source, each.before) for each in self.repaired}
        return [
            each
            for each in self.proposed
            if (each.broken.source, each.broken.link.text) not in done and each.broken.link.target not in self._targets
        ]

    def repair_certain(self) -> None:
        for proposal in self.proposed:
            if proposal.repairs and proposal.repairs[0][0].is_sure:
                self._stage(proposal, 0)

    def ask(self) -> None:
        questions = KeyQuestions(self._notes.io, color=self._notes.workspace.settings.ui.colors)
        asked = [each for each in self.proposed if each.repairs]
        with questions.listening():
            for number, proposal in enumerate(asked, 1):
                if proposal.broken.link.target in self._targets:
                    continue
                answer = _ask(questions, proposal, f"{number} of {len(asked)}")
                if answer == "q":
                    break
                if answer == "c":
                    self._create(proposal.broken.link.target)
                elif answer.isdecimal():
                    self._stage(proposal, int(answer) - 1)
        self._is_cancelled = questions.cancelled

    def apply(self) -> ChangeRecord | None:
        changes = self._notes.editing.staged.change_set()
        if self._is_cancelled or not changes:
            self.repaired.clear()
            self.created.clear()
            self._targets.clear()
            return None
        return self._notes.editing.store.apply(changes, ChangeOrigin(command="check --fix"))

    def _stage(self, proposal: _Proposal, number: int) -> None:
        try:
            self.repaired.append(self._repairer.stage(proposal.broken, proposal.repairs[number][0]))
        except VaultError as error:
            self.remarks.append(error.message)

    def _create(self, target: str) -> None:
        try:
            self.created.append(self._notes.editing.editor.create(target, "", may_take_over=False).path)
            self._targets.add(target)
        except VaultError as error:
            self._notes.io.fail(error)


def _place(source: str, lines: Sequence[int]) -> str:
    """`Plan.md:3, 7, 12, …`."""
    more = ", …" if len(lines) > _MAX_LINES_NAMED else ""
    return f"{source}:{', '.join(map(str, lines[:_MAX_LINES_NAMED]))}{more}"


def _ask(questions: KeyQuestions, proposal: _Proposal, progress: str) -> str:

    broken, repairs = proposal.broken, proposal.repairs
    head = Text.assemble((sanitize_line(proposal.place), "bold"), (f"  {progress}", "dim"))
    questions.show(Text(""), head, Text(f"  {sanitize_line(broken.link.text)}", style="error"))
    for number, (repair, link) in enumerate(repairs, 1):
        reason = sanitize_line(_reason(repair))
        questions.show(Text.assemble(f"  {number} ", (sanitize_line(link), "bold good"), (f"  {reason}", "dim")))
    numbers = ("1" if len(repairs) == 1 else f"1-{len(repairs)}", "repair it like this")
    may_create = broken.is_missing and not is_attachment(broken.link.target)
    keys = [numbers, ("n", "leave it"), *([("c", "create the note")] if may_create else []), ("q", "enough")]
    return questions.ask("Which?", keys, others="".join(map(str, range(1, len(repairs) + 1))))


def _reason(repair: Repair) -> str:
    return f"{repair.reason}, {'sure' if repair.is_sure else f'{repair.confidence:.0%}'}"


def _proposal_lines(proposed: Sequence[_Proposal]) -> Iterator[str]:
    for proposal in proposed:
        if proposal.repairs:
            yield f"{proposal.place}: {proposal.broken.link.text}"
        yield from (f"  {link}  {_reason(repair)}" for repair, link in proposal.repairs)


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
    numbers = (counts.notes, counts.attachments, counts.links, counts.sections)
    return ", ".join(map(counted, numbers, ("note", "other file", "link", "section")))


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
    changed = f", last changed {counts.changed_at.astimezone():%Y-%m-%d %H:%M}" if counts.changed_at else ""
    listing.line(f"{paths.vault}\n{_format_counts(counts)}\nindex of {counts.bytes / 1e6:,.1f} MB{changed}")
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
        listing.line("\nNothing needs repair.")


def _list_some(
    listing: Listing, title: str, rows: Sequence[Row], line_of: Callable[[Row], str], *, most: int = MAX_ROWS_SHOWN
) -> bool:
    """Print the first rows of a list. Whether there are any."""
    if rows:
        listing.line(f"\n{title} ({len(rows):,})", style="bold")
    for row in rows[:most]:
        listing.line(line_of(row), indent=2)
    if len(rows) > most:
        listing.line(f"… and {len(rows) - most:,} more, which --json lists", indent=2, style="dim")
    return bool(rows)


def _format_link(followed: Followed) -> str:
    return f"{line_place(followed.source or '', followed.link.line)}: {describe_link(followed.link, followed.found)}"


def _format_paths(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - MAX_ROWS_SHOWN:,} more" if len(paths) > MAX_ROWS_SHOWN else ""
    return ", ".join(paths[:MAX_ROWS_SHOWN]) + more

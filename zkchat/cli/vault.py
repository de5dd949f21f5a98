"""`zkchat index` and `zkchat vault`: what zkchat knows of the notes, and what in them needs repair."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from msgspec.structs import asdict

from zkchat.actions.links import link_record
from zkchat.cli.actions import command_of
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.fix_links import fix_links
from zkchat.cli.note_lookup import open_refreshed_library, print_warnings
from zkchat.cli.output import Listing
from zkchat.cli.progress import progress
from zkchat.cli.vectors import embed_by_server, vectors_record
from zkchat.compose.library import open_library
from zkchat.compose.paths import Paths
from zkchat.compose.pdf import NOT_INSTALLED, unread_reason
from zkchat.compose.workspace import load_workspace
from zkchat.model.index import IndexCounts
from zkchat.model.note import line_place
from zkchat.render.link_destinations import describe_link
from zkchat.render.vector_progress import vector_lines
from zkchat.vault import graph
from zkchat.vault.graph import Followed
from zkchat.vault.library import Library
from zkchat.vault.note_warnings import describe_warning

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

"""`zkchat search`: the passages, or the notes, that answer best."""

from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.note_lookup import open_refreshed_library, print_warnings
from zkchat.cli.output import stdout_console
from zkchat.cli.vectors import tell_of_vectors
from zkchat.errors import UsageError

if TYPE_CHECKING:
    from zkchat.compose.paths import Paths
    from zkchat.model.note import Passage
    from zkchat.vault.library import Library


def search(
    query: Annotated[
        list[str] | None,
        typer.Argument(help="Words, and filters if you like. In quotes if there is a dash.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many at most.")] = 10,
    notes: Annotated[bool, typer.Option("--notes", help="Whole notes, each by its best passage.")] = False,
    from_stdin: Annotated[
        bool, typer.Option("--stdin", help="A query on each line of standard input; a line of JSON for each.")
    ] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Search your notes.

    Filters narrow it: tag:idea, path:Projects, after:2026-03-01, "an exact phrase", and -word for notes without it.

    zkchat search sleep and memory

    zkchat search 'tag:recipe "rye flour" -yeast' --notes
    """
    from zkchat.compose.library import embed_for_search, extract_for_search
    from zkchat.vault.dates.time_filters import check_times, impossible_times

    io = current_io()
    text = " ".join(query or ())
    if from_stdin == bool(text.strip()):
        raise UsageError(
            "A search takes words or --stdin, one of the two.", hint="For example: zkchat search sleep and memory"
        )
    with open_refreshed_library(io, vault) as (paths, library):
        print_warnings(io, extract_for_search(library))
        embed_for_search(library)
        if from_stdin:
            for line in io.environment.stdin:
                asked = line.rstrip("\r\n")
                io.json_line(_answer_record(library, asked, limit, notes=notes))
            tell_of_vectors(io, library)
            return
        check_times(text, library.calendar())
        hits = _search(library, text, limit, notes=notes)
        tell_of_vectors(io, library)
        if impossible := impossible_times(text, library.calendar()):
            io.note(impossible)
        if json_output:
            io.json([_hit_record(passage) for passage in hits])
            return
        if not hits and not impossible and not library.is_empty() and io.environment.stderr_is_tty:
            io.note("Nothing matches. Try fewer or other words.")
    _print(io, paths, text, hits)


def _search(library: "Library", query: str, limit: int, *, notes: bool) -> list["Passage"]:
    from zkchat.model.embeddings import OpenText

    asked = OpenText(query)
    return library.documents(asked, limit=limit) if notes else library.search(asked, limit=limit)


def _answer_record(library: "Library", query: str, limit: int, *, notes: bool) -> dict[str, object]:
    """A line of the output with `--stdin`: the hits, and what is wrong with the query."""
    from zkchat.vault.dates.time_filters import impossible_times, unknown_times

    calendar = library.calendar()
    unknown = unknown_times(query, calendar)
    wrong = unknown or impossible_times(query, calendar)
    hits = [] if unknown else _search(library, query, limit, notes=notes)
    return {
        "query": query,
        "hits": [_hit_record(passage) for passage in hits],
        **({"error": wrong} if wrong else {}),
    }


def _hit_record(passage: "Passage") -> dict[str, object]:
    from zkchat.model.note import page_of

    return {
        "path": passage.path,
        "title": passage.title,
        "heading": passage.heading_path[-1] if passage.heading_path else "",
        **({"page": page} if (page := page_of(passage.path, passage.heading_path)) else {}),
        "lines": {"first": passage.first_line, "last": passage.last_line},
        "snippet": passage.snippet,
        "score": round(passage.score, 4),
        "why": passage.why,
    }


def _print(io: CommandIO, paths: "Paths", query: str, hits: list["Passage"]) -> None:
    from zkchat.render.numbered_rows import plain_rows, print_rows
    from zkchat.render.passages import passage_row
    from zkchat.vault.search.passages import matches
    from zkchat.vault.search.previews import preview_of

    console, rows = stdout_console(io, paths), [passage_row(hit, preview_of(hit, query)) for hit in hits]
    if console:
        print_rows(console, rows, lambda text: matches(text, query))
    else:
        for row in plain_rows(rows):
            io.out(row)

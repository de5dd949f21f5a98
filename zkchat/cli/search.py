"""`zkchat search`: the passages, or the notes, that answer best."""

from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.note_lookup import open_refreshed_library
from zkchat.cli.output import stdout_console
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
    from zkchat.compose.library import embed_for_search

    io = current_io()
    text = " ".join(query or ())
    if from_stdin == bool(text.strip()):
        raise UsageError(
            "A search takes words or --stdin, one of the two.", hint="For example: zkchat search sleep and memory"
        )
    with open_refreshed_library(io, vault) as (paths, library):
        embed_for_search(library)
        if from_stdin:
            for line in io.environment.stdin:
                asked = line.rstrip("\r\n")
                hits = _search(library, asked, limit, notes=notes)
                io.json_line({"query": asked, "hits": [_hit_record(passage) for passage in hits]})
            return
        hits = _search(library, text, limit, notes=notes)
        if json_output:
            io.json([_hit_record(passage) for passage in hits])
            return
        if not hits and library.note_count() and io.environment.stderr_is_tty:
            io.note("Nothing matches. Try fewer or other words.")
    _print(io, paths, text, hits)


def _search(library: "Library", query: str, limit: int, *, notes: bool) -> list["Passage"]:
    return library.documents(query, limit=limit) if notes else library.search(query, limit=limit)


def _hit_record(passage: "Passage") -> dict[str, object]:
    return {
        "path": passage.path,
        "title": passage.title,
        "heading": passage.heading_path[-1] if passage.heading_path else "",
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

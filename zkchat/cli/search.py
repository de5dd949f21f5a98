"""`zkchat search`: the action, and `--stdin` for many queries at once."""

from typing import Annotated

import typer

from zkchat.actions import ACTIONS, find_passages, passage_record
from zkchat.app import embed_for_search, extract_for_search
from zkchat.cli.actions import run_action
from zkchat.cli.common import JsonOption, VaultOption, current_io
from zkchat.cli.note_lookup import open_refreshed_library, print_warnings, tell_of_vectors
from zkchat.core import UsageError
from zkchat.index import Library
from zkchat.notes import impossible_times, unknown_times


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
) -> int:
    """Search your notes.

    Filters narrow it: tag:idea, path:Projects, after:2026-03-01, "an exact phrase", and -word for notes without it.

    zkchat search sleep and memory

    zkchat search 'tag:recipe "rye flour" -yeast' --notes
    """
    if from_stdin == bool(" ".join(query or ()).strip()):
        raise UsageError(
            "A search takes words or --stdin, one of the two.", hint="For example: zkchat search sleep and memory"
        )
    if not from_stdin:
        given = {"query": query, "limit": limit, "notes": notes}
        return run_action(ACTIONS["search"], vault, given, json_output=json_output)
    io = current_io()
    with open_refreshed_library(io, vault) as (_, library):
        print_warnings(io, extract_for_search(library))
        embed_for_search(library)
        for line in io.environment.stdin:
            io.json_line(_answer_record(library, line.rstrip("\r\n"), limit, notes=notes))
        tell_of_vectors(io, library)
    return 0


def _answer_record(library: Library, query: str, limit: int, *, notes: bool) -> dict[str, object]:
    """A line of the output with `--stdin`: the hits, and what is wrong with the query."""
    calendar = library.calendar()
    unknown = unknown_times(query, calendar)
    wrong = unknown or impossible_times(query, calendar)
    hits = [] if unknown else find_passages(library, query, limit, notes=notes)
    return {
        "query": query,
        "hits": [passage_record(passage) for passage in hits],
        **({"error": wrong} if wrong else {}),
    }

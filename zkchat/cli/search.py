"""`zkchat search`: the action, and `--stdin` for many queries at once."""

from typing import Any

from zkchat.actions import find_passages, passage_record
from zkchat.cli.actions import Stream, command_of
from zkchat.cli.common import CommandIO
from zkchat.index import Library
from zkchat.notes import impossible_times, unknown_times


def _answer_each(io: CommandIO, library: Library, given: dict[str, Any]) -> None:
    """A line of JSON for each query: the hits, and what is wrong with it."""
    calendar = library.calendar()
    for line in io.environment.stdin:
        query = line.rstrip("\r\n")
        unknown = unknown_times(query, calendar)
        wrong = unknown or impossible_times(query, calendar)
        hits = [] if unknown else find_passages(library, query, given["limit"], notes=given["notes"])
        record: dict[str, Any] = {"query": query, "hits": [passage_record(passage) for passage in hits]}
        io.json_line({**record, "error": wrong} if wrong else record)


search = command_of(
    "notes",
    "search",
    Stream(
        option="--stdin",
        help="A query on each line of standard input; a line of JSON for each.",
        refusal="A search takes words or --stdin, one of the two.",
        hint="For example: zkchat search sleep and memory",
        run=_answer_each,
    ),
)

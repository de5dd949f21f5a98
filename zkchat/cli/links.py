"""`zkchat links`: the action, and `--all` for the links of every note."""

from typing import Any

from zkchat.actions import link_record
from zkchat.cli.actions import Stream, command_of
from zkchat.cli.common import CommandIO
from zkchat.core import line_place
from zkchat.index import Library, graph
from zkchat.render import describe_link


def _list_all(io: CommandIO, library: Library, given: dict[str, Any]) -> None:
    for each in graph.all_links(library):
        if given["json_output"]:
            io.json_line(link_record(each))
        else:
            io.out(f"{line_place(each.source or '', each.link.line)}: {describe_link(each.link, each.found)}")


links = command_of(
    "links",
    "links",
    Stream(
        option="--all",
        help="The links of every note, a line each.",
        refusal="Name one note, or ask for all of them.",
        hint="zkchat links NOTE, or zkchat links --all",
        run=_list_all,
    ),
)

"""`zkchat links`: the action, and `--all` for the links of every note."""

from typing import Annotated

import typer

from zkchat.actions import ACTIONS, link_record
from zkchat.cli.actions import run_action
from zkchat.cli.common import JsonOption, VaultOption, current_io
from zkchat.cli.note_lookup import open_refreshed_library
from zkchat.core import UsageError, line_place
from zkchat.index import graph
from zkchat.render import describe_link


def links(
    note: Annotated[
        str | None, typer.Argument(metavar="NOTE", help="Its path, its title, or a [[wikilink]].", show_default=False)
    ] = None,
    all_notes: Annotated[bool, typer.Option("--all", help="The links of every note, a line each.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> int:
    """Show the links of a note and the links that lead to it.

    zkchat links "[[Evergreen notes]]"

    zkchat links --all --json | jq 'select(.status == "missing")'
    """
    io = current_io()
    if all_notes == (note is not None):
        raise UsageError("Name one note, or ask for all of them.", hint="zkchat links NOTE, or zkchat links --all")
    if note is not None:
        return run_action(ACTIONS["links"], vault, {"note": note}, json_output=json_output)
    with open_refreshed_library(io, vault) as (_, library):
        for each in graph.all_links(library):
            if json_output:
                io.json_line(link_record(each))
            else:
                io.out(f"{line_place(each.source or '', each.link.line)}: {describe_link(each.link, each.found)}")
    return 0

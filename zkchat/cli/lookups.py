"""`zkchat search`, `show`, `links` and `verify`: actions, and what only the command line does with them."""

import os
import re
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from zkchat import actions, answers, index, render
from zkchat.app import Paths
from zkchat.cli.actions import Stream, command_of, print_result
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, argument, current_io, flag, option, unreadable
from zkchat.cli.note_lookup import find_place, open_refreshed_workspace
from zkchat.core import ExitCode, UsageError, line_place, may_hold_text
from zkchat.index import Library
from zkchat.notes import impossible_times, unknown_times


def _answer_each(io: CommandIO, library: Library, given: dict[str, Any]) -> None:
    """A line of JSON for each query: the hits, and what is wrong with it."""
    calendar = library.calendar()
    for line in io.environment.stdin:
        query = line.rstrip("\r\n")
        unknown = unknown_times(query, calendar)
        wrong = unknown or impossible_times(query, calendar)
        hits = [] if unknown else actions.find_passages(library, query, given["limit"], notes=given["notes"])
        record: dict[str, Any] = {"query": query, "hits": [actions.passage_record(passage) for passage in hits]}
        io.json_line({**record, "error": wrong} if wrong else record)


search = command_of(
    "notes",
    "search",
    Stream(
        option="--stdin",
        help="Read one query per line from standard input; print a line of JSON for each.",
        refusal="Give either words or --stdin, not both.",
        question="What do you want to search for?",
        hint="For example: zkchat search sleep and memory",
        run=_answer_each,
    ),
)


def _list_all(io: CommandIO, library: Library, given: dict[str, Any]) -> None:
    for each in index.graph.all_links(library):
        if given["json_output"]:
            io.json_line(actions.link_record(each))
        else:
            place = line_place(each.source or "", each.link.line)
            io.out(f"{place}: {render.describe_link(each.link, each.found)}")


links = _links = command_of(
    "links",
    "links",
    Stream(
        option="--all",
        help="The links of all notes, one per line.",
        refusal="Give either a note or --all, not both.",
        question="Which note's links do you want to see?",
        hint="zkchat links NOTE, or zkchat links --all",
        run=_list_all,
    ),
)


_PATH_AND_LINE = re.compile(r"(.+\.md):(\d{1,9})")


def show(
    note: Annotated[str | None, argument("NOTE", "Its path, its title, or a [[wikilink]].")] = None,
    links: Annotated[bool, flag("--links", "The links in it, and to it; without NOTE, all links.")] = False,
    mentions: Annotated[bool, flag("--mentions", "Where other notes mention it without a link.")] = False,
    neighbours: Annotated[bool, flag("--neighbours", "The notes linked to or from it.")] = False,
    steps: Annotated[int, option("--steps", "N", "With --neighbours: how many links away.", min=1, max=3)] = 1,
    timeline: Annotated[bool, flag("--timeline", "Its history, oldest first.")] = False,
    limit: Annotated[int, option("--limit", "N", "With --timeline: how many events.", min=1, max=1_000)] = 50,
    used: Annotated[bool, flag("--used", "Which conversations used it; without NOTE, the notes used most.")] = False,
    why: Annotated[bool, flag("--why", "Which note a link means, and why.")] = False,
    source: Annotated[str | None, option("--from", "NOTE", "With --why: the note that contains the link.")] = None,
    open_: Annotated[bool, flag("--open", "Open it in your editor; PATH:LINE at that line.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> int:
    """Show a note, its links, or what happened to it.

    On a terminal a note is rendered, in a pipe it is the text of the file. NOTE can be a section.

    zkchat show "[[Evergreen notes#Titles]]"

    zkchat show "[[Evergreen notes]]" --links

    zkchat show "[[Compost]]" --why --from "Daily/2026-03-07.md"
    """
    views = {
        "--links": links and partial(_links, note=note, streams=note is None),
        "--mentions": mentions and partial(command_of("links", "mentions"), note=note),
        "--neighbours": neighbours and partial(command_of("links", "neighbours"), note=note, steps=steps),
        "--timeline": timeline and partial(command_of("notes", "timeline"), note=note, limit=limit),
        "--used": used and partial(_uses, note=note),
        "--why": why and partial(command_of("links", "resolve"), link=note, source=source),
        "--open": open_ and partial(_open, note=note or ""),
    }
    chosen = {option: view for option, view in views.items() if view}
    if len(chosen) > 1:
        raise UsageError(f"Choose one: {', '.join(chosen)}.")
    if note is None and not (links or used):
        raise UsageError("Which note do you want to see?", hint="zkchat show NOTE")
    run = next(iter(chosen.values()), partial(command_of("notes", "show"), note=note))
    return run(vault=vault, json_output=json_output)


def _open(*, note: str, vault: Path | None, json_output: bool) -> int:
    from zkchat.cli.editors import edit_file

    if json_output:
        raise UsageError("Choose one: --open, --json.")
    io = current_io(vault)
    name, line = at_line.groups() if (at_line := _PATH_AND_LINE.fullmatch(note)) else (note, None)
    with open_refreshed_workspace(io) as (workspace, library):
        found = find_place(io, workspace.paths, library, name)
    if not may_hold_text(found.path):
        raise UsageError(f"{found.path} is not a text file.", hint="/open in a chat opens it with its usual program.")
    edit_file(io, str(workspace.paths.vault / found.path), int(line) if line else found.line)
    return ExitCode.OK


def _uses(**given: Any) -> int:
    from zkchat.cli.memory import refs

    return refs(top=given["note"] is None, graph=None, yes=False, **given)


STANDARD_INPUT = "-"


def verify(
    file: Annotated[str | None, argument("FILE", "A text in UTF-8; - for standard input.")] = None,
    problems: Annotated[bool, flag("--problems", "Only what your notes do not support.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> int:
    """Check which statements of a text are in your notes, and where. No model is asked.

    Each sentence is quoted (it is there word for word), supported (nearly so, with the same numbers, names and
    negation), contradicted (a note says the same with another number or name, or the opposite) or unsupported. What is
    said in very different words counts as unsupported. Questions, headings, tables and code are not checked, and a
    draft in the vault does not support itself. The exit code is 0 if all statements are in your notes, else 7.

    zkchat verify draft.txt

    zkchat verify draft.txt --problems

    zkchat ask "What do my notes say about compost?" | zkchat verify -
    """
    io = current_io(vault)
    if not file:
        raise UsageError("Which text do you want to check?", hint="zkchat verify draft.txt, or - for standard input.")
    text = read_text(io, file)
    with open_refreshed_workspace(io) as (workspace, library):
        own = own_paths(io, workspace.paths, library, file)
        found = actions.verified(library, text, without=own, problems=problems)
        return print_result(io, workspace, library, found, json_output=json_output)


def read_text(io: CommandIO, file: str) -> str:
    """A file that the user names, or standard input, as far as a text may be long. Raises `UsageError`."""
    try:
        if file == STANDARD_INPUT:
            return io.environment.stdin.read(answers.MAX_CHARACTERS + 1)
        with (io.environment.cwd / file).open(encoding="utf-8") as draft:
            return draft.read(answers.MAX_CHARACTERS + 1)
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text.", hint="Save it as plain text in UTF-8.") from error
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from error


def own_paths(io: CommandIO, paths: Paths, library: Library, file: str) -> set[str]:
    """The paths under which the draft itself is a note of the vault."""
    named = io.environment.cwd.resolve() / file
    places = () if file == STANDARD_INPUT else (Path(os.path.normpath(named)), named.resolve())
    own = {path.relative_to(paths.vault).as_posix() for path in places if path.is_relative_to(paths.vault)}
    links = library.linked_files(row.path for row in library.files()) if own else {}
    return own | {path for path, target in links.items() if target in own}

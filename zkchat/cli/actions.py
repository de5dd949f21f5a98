"""Actions on the command line: the options of each from its signature, and its result as lines, drawn, or as JSON."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from msgspec import Struct
from msgspec.structs import replace

from zkchat import render
from zkchat.actions import ACTIONS, Action, Parameter, Result, ShownNote
from zkchat.app import VaultDocumentLinks, Workspace, action_vault, embed_for_search, extract_for_search
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io, flag, parameter, with_parameters
from zkchat.cli.note_lookup import find_place, open_refreshed_workspace, print_warnings, progress, tell_of_vectors
from zkchat.cli.output import Listing, stdout_console
from zkchat.core import ExitCode, UsageError
from zkchat.index import Library
from zkchat.render import Place, plain_sections

_TYPES: Final = {"note": str, "text": str, "number": int, "switch": bool, "words": list[str] | None}


class Stream(Struct, frozen=True, kw_only=True):
    """A switch by which a command answers line by line, in the place of its first argument."""

    option: str
    help: str
    refusal: str
    """Said where both of the two are given."""
    question: str
    """Said where neither is."""
    hint: str
    run: Callable[[CommandIO, Library, dict[str, Any]], None]
    """Prints the lines; it is given what the command was given."""


def command_of(module: str, name: str, stream: Stream | None = None) -> Callable[..., int]:
    import_module(f"zkchat.actions.{module}")
    action = ACTIONS[name]

    def command(*, vault: Path | None, json_output: bool, streams: bool = False, **given: Any) -> int:
        io = current_io(vault)
        if stream and streams == bool(given[action.parameters[0].name]):
            raise UsageError(stream.refusal if streams else stream.question, hint=stream.hint)
        with _opened(io, action) as (workspace, library):
            if stream and streams:
                stream.run(io, library, {**given, "json_output": json_output})
                return ExitCode.OK
            result = action.run(
                action_vault(workspace, library, io), **action.values(given, partial(_find, io, workspace, library))
            )
            return print_result(io, workspace, library, result, json_output=json_output)

    shared = [parameter("vault", VaultOption, None), parameter("json_output", JsonOption, False)]
    if stream:
        shared.insert(0, parameter("streams", Annotated[bool, flag(stream.option, stream.help)], False))
    own = [
        parameter(
            each.name,
            _annotation(each, stream),
            None if each.kind == "words" or (stream and each.is_required) else each.default,
        )
        for each in action.parameters
    ]
    return with_parameters(command, action.run, [*own, *shared])


def _annotation(parameter: Parameter, stream: Stream | None) -> Any:
    about = parameter.about
    texts: dict[str, Any] = {"metavar": about.name or None, "help": about.help}
    type_: Any = _TYPES[parameter.kind]
    if parameter.kind == "note" and (stream or not parameter.is_required):
        type_ = str | None
    if not about.option:
        return Annotated[type_, typer.Argument(**texts, show_default=False)]
    bounds: dict[str, Any] = {"min": about.least, "max": about.most} if parameter.kind == "number" else {}
    shows_default = parameter.default not in {None, ""}
    return Annotated[type_, typer.Option(about.option, **texts, **bounds, show_default=shows_default)]


@contextmanager
def _opened(io: CommandIO, action: Action) -> Iterator[tuple[Workspace, Library]]:
    """The notes as they are now, with their vectors if the action needs them."""
    with open_refreshed_workspace(io, tell_empty=True) as (workspace, library):
        if action.by_meaning:
            with progress(io.environment, "Preparing the search"):
                found = extract_for_search(library)
                embed_for_search(library)
            print_warnings(io, found)
        yield workspace, library
        if action.by_meaning:
            tell_of_vectors(io, library)


def _find(io: CommandIO, workspace: Workspace, library: Library, name: str) -> Place:
    found = find_place(io, workspace.paths, library, name)
    if found.missing_anchor:
        io.note(f"There is no “{found.missing_anchor}” in {found.path}; this is the whole note.")
    return Place(path=found.path, line=found.line, anchor=found.anchor, name=name)


def print_result(
    io: CommandIO, workspace: Workspace, library: Library, result: Result, *, json_output: bool, plain: bool = False
) -> int:
    """Print what an action found: as JSON, drawn on a terminal, or as lines without numbers in a pipe."""
    for remark in result.remarks:
        io.note(remark)
    if json_output:
        io.json(result.plain)
    elif result.document:
        _print_note(io, workspace, library, result.document)
    elif result.rows:
        console = None if plain else stdout_console(io, workspace.paths)
        is_titled = bool(result.sections[0].title)
        if result.heading and (console or is_titled):
            Listing(io, workspace.paths).line(result.heading + "\n" * is_titled, style="bold")
        if console:
            links = VaultDocumentLinks(workspace.paths.vault, library, workspace.settings.ui.open_with)
            render.print_sections(console, result.sections, links, result.matches)
        else:
            io.out(plain_sections([replace(each, rest="") for each in result.sections], is_numbered=False))
            io.flush_out()
            for section in result.sections:
                if section.rest:
                    io.note(section.rest)
        if result.summary:
            io.flush_out()
            io.note(result.summary)
    elif result.empty and not library.is_empty():
        io.note(result.empty)
    return result.exit_code


def _print_note(io: CommandIO, workspace: Workspace, library: Library, shown: ShownNote) -> None:
    note, paths = shown.note, workspace.paths
    console = stdout_console(io, paths)
    if not note.text.strip():
        io.note(f"{shown.path} has no text.")
        return
    if console is None:
        io.out(note.text.removesuffix("\n"))
        return
    listing = Listing(io, paths)
    listing.line(" › ".join(note.names), style="bold")
    listing.line(" · ".join([shown.path, *(f"#{tag}" for tag in note.tags)]), style="dim")
    rows = render.note_rows(console, note.body, source=shown.path, links=VaultDocumentLinks(paths.vault, library))
    io.environment.stdout.write("".join(f"{row}\n" for row in ("", *(row.text for row in rows))))

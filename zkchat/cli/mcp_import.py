"""`zkchat mcp import`: takes over the MCP servers of other programs."""

from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import CommandIO, SettingsVaultOption, YesOption, current_io
from zkchat.cli.mcp_servers import ReplaceOption, editor_of, load_workspace_for, note_readable
from zkchat.cli.server_lines import print_wrapped, server_details
from zkchat.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from zkchat.compose.server_settings import ImportSource
    from zkchat.compose.workspace import Workspace
    from zkchat.model.tool_server import ServerDefinition


def import_(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE | PROGRAM",
            help="A file, or claude-desktop, claude-code, cursor, vscode, zed, windsurf, gemini, codex, lm-studio.",
            show_default=False,
        ),
    ] = None,
    replace: ReplaceOption = False,
    yes: YesOption = False,
    vault: SettingsVaultOption = None,
) -> None:
    """Take over the MCP servers of another program.

    It shows what would be added, and asks. Without a name it looks at the usual places of all programs that it knows.
    A server of yours is left as it is, unless you say --replace. Values of variables and headers are copied, and not
    shown.

    zkchat mcp import claude-desktop

    zkchat mcp import ~/project/.mcp.json --yes
    """
    from zkchat.compose.server_settings import find_imports

    io = current_io()
    workspace = load_workspace_for(io, vault)
    sources, problems = find_imports(io.environment, source, workspace.paths.vault)
    for problem in problems:
        io.note_wrapped(problem)
    chosen = _choose(io, workspace, sources, replace=replace)
    io.flush_out()
    if not chosen:
        io.note("There is nothing to add.")
        return
    if not yes and not io.environment.stdin_is_tty:
        raise UsageError("Nobody can be asked here, so nothing was added.", hint="Add them without a question: --yes")
    if not (yes or _agrees(io, len(chosen))):
        io.note("Nothing was added.")
        return
    editor = editor_of(workspace)
    editor.add(chosen)
    io.note_wrapped(f"Added to {editor.file}: {', '.join(definition.name for definition in chosen)}")
    note_readable(io, editor, chosen)
    io.note("Try them: zkchat mcp check")


def _choose(
    io: CommandIO, workspace: "Workspace", sources: "Sequence[ImportSource]", *, replace: bool
) -> "list[ServerDefinition]":
    """The servers to be added, each shown with what it is; the first of a name counts."""
    from zkchat.model.server_display import show_reach

    chosen: dict[str, ServerDefinition] = {}
    for source in sources:
        io.out(f"{source.title} ({source.file}):")
        for definition in source.servers:
            is_taken, what = _verdict(workspace, definition, chosen, replace=replace)
            if is_taken:
                chosen[definition.name] = definition
            print_wrapped(io, f"  {definition.name}  ({what})", indent=4)
            for line in (show_reach(definition), *server_details(definition)):
                print_wrapped(io, f"      {line}", indent=8)
        for note in source.notes:
            print_wrapped(io, f"  {note}", indent=2)
    return [*chosen.values()]


def _verdict(
    workspace: "Workspace", definition: "ServerDefinition", chosen: "Container[str]", *, replace: bool
) -> tuple[bool, str]:
    """Whether a server is to be added, and the reason in a few words."""
    from zkchat.compose.server_settings import own_servers

    name = definition.name
    if name in chosen:
        return False, "left out: another program's of this name comes first"
    if own_servers(workspace).get(name) == definition:
        return False, "there already"
    if name not in workspace.settings.mcpServers:
        return True, "new"
    if replace:
        return True, "takes the place of yours"
    return False, "left out: there is one of yours of this name; --replace writes over it"


def _agrees(io: CommandIO, count: int) -> bool:
    from zkchat.cli.key_questions import KeyQuestions
    from zkchat.model.text import counted

    return KeyQuestions(io).confirm(f"Add {counted(count, 'server')} to your settings?", "add")

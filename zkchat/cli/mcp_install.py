"""`zkchat mcp install`: the vault as a server of another program."""

from pathlib import Path
from typing import Annotated, Final

from zkchat.app import find_host_entry, load_workspace, server_command
from zkchat.cli.common import CommandIO, JsonOption, SettingsVaultOption, YesOption, argument, current_io, flag, option
from zkchat.cli.key_questions import KeyQuestions
from zkchat.cli.mcp_servers import require_sdk
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.config import HostEntry, write_entry
from zkchat.core import ConfigError

ProgramArgument = Annotated[
    str,
    argument("PROGRAM", "claude-desktop, claude-code, cursor, vscode, zed, windsurf, gemini, codex or lm-studio."),
]
NameOption = Annotated[str, option("--name", "NAME", "What the program calls the server.", show_default=True)]
LocalOption = Annotated[bool, flag("--local", "The program's model runs on this machine: it may see local notes.")]
WriteOption = Annotated[bool, flag("--write", "Offer tools that change notes.")]
DryRunOption = Annotated[bool, flag("--dry-run", "Show the entry and where it belongs; write nothing.")]

_WHY_NOT: Final = {
    "commented": "the file has comments, which would be lost",
    "foreign": "the file is no JSON",
    "absent": "the program keeps no settings here",
}


def install(
    program: ProgramArgument,
    vault: SettingsVaultOption = None,
    name: NameOption = "zkchat",
    local: LocalOption = False,
    write: WriteOption = False,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    json_output: JsonOption = False,
) -> None:
    """Show the entry that makes your vault a server of another program.

    It is written there after a yes.

    All else in the program's file stays, and a copy of the file as it was is kept beside it. A file that is no JSON,
    or has comments, is left as it is: copy the entry into it. With --yes the exit code is then 3.

    zkchat mcp install claude-desktop --vault ~/notes

    zkchat mcp install cursor --write --yes
    """
    io = current_io(vault)
    workspace = load_workspace(io.environment, confirmed_vault(io))
    require_sdk()  # without it, the program could not start the server
    command = server_command(io.environment, workspace.paths.vault, is_local=local, may_write=write)
    entry = find_host_entry(io.environment, program, name, command)
    is_refused = entry.state in _WHY_NOT and yes and not dry_run
    if not json_output:
        io.out(entry.text)
        io.flush_out()
        if not is_refused:
            io.note(_about(entry))
    is_wanted = entry.is_writable and not dry_run and (yes or (not json_output and _agrees(io, entry)))
    backup = _write(io, entry, quietly=json_output) if is_wanted else None
    if json_output:
        io.json(_record(entry, is_written=is_wanted, backup=backup))
    if is_refused:
        raise ConfigError(
            f"Nothing was written for {entry.host.title}: {_WHY_NOT[entry.state]} ({entry.file}).", hint=_way_out(entry)
        )


def _about(entry: HostEntry) -> str:
    if entry.is_writable:
        replaced = " There is another entry of that name, which it replaces." if entry.state == "other" else ""
        return f"For {entry.host.title}: {entry.file}.{replaced}"
    if entry.state == "same":
        return f"For {entry.host.title}: {entry.file}. It is there already."
    return f"For {entry.host.title}: {entry.file}. It is not written there: {_WHY_NOT[entry.state]}. {_way_out(entry)}"


def _way_out(entry: HostEntry) -> str:
    if entry.state == "absent":
        return f"Start {entry.host.title} once, so that it makes them; or put the entry where it keeps them."
    return "Put the entry there yourself."


def _agrees(io: CommandIO, entry: HostEntry) -> bool:
    if not io.environment.stdin_is_tty:
        io.note("To have it written there: --yes")
        return False
    if KeyQuestions(io).confirm(f"Write it into {entry.file.name}?", "write"):
        return True
    io.note("Nothing was written.")
    return False


def _write(io: CommandIO, entry: HostEntry, *, quietly: bool) -> Path | None:
    backup = write_entry(entry)
    if not quietly:
        kept = f" The file as it was: {backup}." if backup else ""
        io.note(f"Written.{kept} Start {entry.host.title} again to use it.")
    return backup


def _record(entry: HostEntry, *, is_written: bool, backup: Path | None) -> dict[str, object]:
    return {
        "program": entry.host.name,
        "file": str(entry.file),
        "table": entry.host.table,
        "name": entry.name,
        "entry": entry.value,
        "state": entry.state,
        "written": is_written,
        "backup": str(backup) if backup else None,
    }

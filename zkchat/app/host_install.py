"""The vault as a server in the settings of other programs."""

import sys
from collections.abc import Sequence
from pathlib import Path

from zkchat.config import HOSTS, HostEntry, find_entry
from zkchat.core import Environment, UsageError
from zkchat.subprocesses import find_program


def server_command(environment: Environment, vault: Path, *, is_local: bool, may_write: bool) -> list[str]:
    """What starts the server of a vault from anywhere."""
    options = [option for option, wanted in (("--local", is_local), ("--write", may_write)) if wanted]
    return [*_program(environment), "mcp", "--vault", str(vault), *options]


def _program(environment: Environment) -> list[str]:
    beside = Path(sys.executable).with_name("zkchat.exe" if sys.platform == "win32" else "zkchat")
    if beside.exists():
        return [str(beside)]
    found = find_program("zkchat", environment.variables)
    return [found] if found else [sys.executable, "-m", "zkchat"]


def find_host_entry(environment: Environment, program: str, name: str, command: Sequence[str]) -> HostEntry:
    """The entry for a program of which we know where it keeps its servers, and what is there now.

    Raises `UsageError` for another one, and `ConfigError` where its file cannot be used.
    """
    host = next((host for host in HOSTS if host.name == program), None)
    if host is None:
        known = ", ".join(host.name for host in HOSTS)
        raise UsageError(f"Where {program} keeps its servers is not known.", hint=f"Known are {known}.")
    return find_entry(host, name, command, environment.home, environment.variables)

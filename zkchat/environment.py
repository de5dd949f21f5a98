"""The process we run in: streams, variables, folders, clock, ids. Nobody else reads them; tests pass their own."""

import io
import os
import secrets
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

_ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no letter that is easily taken for a digit."""


def random_id() -> str:
    """Twelve characters, 60 bits: enough for every message one person will ever write."""
    return "".join(secrets.choice(_ID_ALPHABET) for _ in range(12))


def utc_now() -> datetime:
    return datetime.now(UTC)


def let_idle_threads_sleep() -> None:
    """To be called before llama.cpp is loaded: threads that spin while they wait make it ten times slower."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _is_tty(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # a closed stream
        return False


@dataclass(frozen=True, kw_only=True)
class Environment:
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    variables: Mapping[str, str] = field(repr=False)
    cwd: Path
    home: Path
    now: Callable[[], datetime] = utc_now
    new_id: Callable[[], str] = random_id

    @classmethod
    def of_this_process(cls) -> "Environment":
        variables = dict(os.environ)
        if isinstance(sys.stdin, io.TextIOWrapper):
            # What is piped in may be anything; a byte that is no text is shown as such and never ends the program.
            sys.stdin.reconfigure(errors="replace")
        return cls(
            stdin=sys.stdin,
            stdout=sys.stdout,
            stderr=sys.stderr,
            variables=variables,
            cwd=Path.cwd(),
            home=Path(variables.get("HOME") or Path.home()),
        )

    @property
    def stdin_is_tty(self) -> bool:
        return _is_tty(self.stdin)

    @property
    def stdin_is_piped(self) -> bool:
        """Whether somebody sends us text. A terminal, /dev/null or a closed stream does not."""
        try:
            mode = os.fstat(self.stdin.fileno()).st_mode
        except (OSError, ValueError):  # no file behind it: a stream in memory, or a closed one
            return not self.stdin.closed and not self.stdin_is_tty
        return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)

    @property
    def stdout_is_tty(self) -> bool:
        return _is_tty(self.stdout)

    @property
    def stderr_is_tty(self) -> bool:
        return _is_tty(self.stderr)

    @property
    def config_dir(self) -> Path:
        return self._base("XDG_CONFIG_HOME", ".config")

    @property
    def data_dir(self) -> Path:
        return self._base("XDG_DATA_HOME", ".local/share")

    @property
    def cache_dir(self) -> Path:
        return self._base("XDG_CACHE_HOME", ".cache")

    @property
    def temporary_folders(self) -> tuple[Path, ...]:
        """Where files may be put for the length of a call. The working folder may be a vault, so it is none of them."""
        named = Path(self.variables.get("TMPDIR", ""))
        return (*([named] if named.is_absolute() else []), *map(Path, ("/tmp", "/var/tmp", "/dev/shm")))  # noqa: S108

    def _base(self, variable: str, fallback: str) -> Path:
        # The XDG rule: a relative path in the variable is to be ignored.
        named = Path(self.variables.get(variable, ""))
        return (named if named.is_absolute() else self.home / fallback) / "zkchat"

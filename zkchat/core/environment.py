"""The process we run in: streams, variables, folders, clock, ids. Nobody else reads them; tests pass their own."""

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from msgspec import Struct

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


_ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no letter that is easily taken for a digit."""


def random_id() -> str:
    """Twelve characters, 60 bits: enough for every message one person will ever write."""
    return "".join(_ID_ALPHABET[byte % len(_ID_ALPHABET)] for byte in os.urandom(12))


def utc_now() -> datetime:
    return datetime.now(UTC)


class SystemTimeZone(tzinfo):
    """The time zone of the system with its summer times, of which `astimezone()` alone knows only the present one."""

    def utcoffset(self, at: datetime | None, /) -> timedelta | None:
        return at.replace(tzinfo=None).astimezone().utcoffset() if at else None

    def dst(self, _: datetime | None, /) -> None:
        return None

    def tzname(self, at: datetime | None, /) -> str | None:
        return at.replace(tzinfo=None).astimezone().tzname() if at else None

    def fromutc(self, at: datetime, /) -> datetime:
        seconds = at.replace(tzinfo=UTC, microsecond=0).timestamp()
        return datetime.fromtimestamp(seconds).replace(tzinfo=self, microsecond=at.microsecond)


def _is_tty(stream: TextIO | io.FileIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # a closed stream
        return False


class _StandardFile(io.FileIO):
    """A standard stream that may be closed, full or broken: reading from it ends, writing to it goes on.

    The first failure is kept. A broken pipe is raised on standard output, so that the writer may stop, and ignored on
    standard error.
    """

    failure: OSError | None = None

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        try:
            return super().readinto(buffer)
        except OSError:
            return 0

    def write(self, data: "ReadableBuffer", /) -> int:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                if isinstance(error, BrokenPipeError) and self.fileno() == _STDOUT:
                    raise
                self.failure = error
        return memoryview(data).nbytes


_STDIN, _STDOUT, _STDERR = range(3)


def _occupy_standard_descriptors() -> None:
    """Open /dev/null for each that is closed, lest a file gets its number and what is printed is written into it."""
    for descriptor in (_STDIN, _STDOUT, _STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)  # the lowest number that is free; writing fails


def _standard_stream(stream: TextIO | None, descriptor: int, mode: str) -> TextIO:
    """The stream, over a `_StandardFile`. One of another kind, such as the console of Windows, stays as it is."""
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)  # unbuffered, it is the file itself
    if stream is not None and not (type(raw) is io.FileIO and raw.fileno() == descriptor):
        return stream
    file = _StandardFile(descriptor, mode, closefd=False)
    is_read = descriptor == _STDIN
    return io.TextIOWrapper(
        io.BufferedReader(file) if is_read else io.BufferedWriter(file),
        encoding=stream.encoding if stream else "utf-8",
        # What is piped in may be anything; a byte that is no text is shown as such and never ends the program.
        errors="replace" if is_read or not stream else stream.errors,
        line_buffering=descriptor == _STDERR or _is_tty(file),
    )


def _home(variables: Mapping[str, str]) -> Path:
    """A relative one would be another folder in each vault, and is ignored."""
    named = Path(variables.get("HOME", ""))
    if named.is_absolute():
        return named
    try:
        import pwd

        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):  # Windows; a user that the system does not know
        return Path(os.path.expandvars(r"%USERPROFILE%")) if os.name == "nt" else Path(os.sep, "(no home folder)")


class Environment(Struct, frozen=True, kw_only=True):
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    variables: Mapping[str, str]
    cwd: Path
    home: Path
    now: Callable[[], datetime] = utc_now
    new_id: Callable[[], str] = random_id

    def __repr__(self) -> str:
        """Without the variables, which may hold keys."""
        return f"Environment(cwd={self.cwd!r}, home={self.home!r})"

    @classmethod
    def of_this_process(cls) -> "Environment":
        variables = dict(os.environ)
        _occupy_standard_descriptors()
        try:
            folder = Path.cwd()
        except OSError:  # it was deleted meanwhile
            folder = Path(os.sep, "(deleted working folder)")
        return cls(
            stdin=_standard_stream(sys.stdin, _STDIN, "r"),
            stdout=_standard_stream(sys.stdout, _STDOUT, "w"),
            stderr=_standard_stream(sys.stderr, _STDERR, "w"),
            variables=variables,
            cwd=folder,
            home=_home(variables),
        )

    @property
    def output_failure(self) -> OSError | None:
        """Why what was printed did not arrive, if it did not."""
        file = getattr(getattr(self.stdout, "buffer", None), "raw", None)
        return file.failure if isinstance(file, _StandardFile) else None

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
    def state_dir(self) -> Path:
        return self._base("XDG_STATE_HOME", ".local/state")

    @property
    def temporary_folders(self) -> tuple[Path, ...]:
        """Where files may be put for the length of a call. The working folder may be a vault, so it is none of them."""
        named = Path(self.variables.get("TMPDIR", ""))
        return (*([named] if named.is_absolute() else []), *map(Path, ("/tmp", "/var/tmp", "/dev/shm")))  # noqa: S108

    def _base(self, variable: str, fallback: str) -> Path:
        # The XDG rule: a relative path in the variable is to be ignored.
        named = Path(self.variables.get(variable, ""))
        return (named if named.is_absolute() else self.home / fallback) / "zkchat"


_CHUNK: Final = 65_536


class Channel(Struct, frozen=True):
    """Where messages come from and go to, as bytes."""

    read: Callable[[int], bytes]
    """At most so many bytes; none at the end."""
    write: Callable[[bytes], object]


@contextmanager
def claimed_streams(environment: Environment) -> Iterator[Channel]:
    """Standard input and output for messages alone: what else is printed goes to standard error."""
    stdin, stdout = environment.stdin, environment.stdout
    try:
        descriptors = stdin.fileno(), stdout.fileno()
        aside = environment.stderr.fileno()
    except (OSError, ValueError):  # streams in memory
        whole = [stdin.read().encode(errors="replace")]
        yield Channel(lambda _: whole.pop() if whole else b"", lambda data: stdout.write(data.decode()))
        return
    source, sink = map(os.dup, descriptors)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptors[0])
    os.close(nothing)
    os.dup2(aside, descriptors[1])
    try:
        yield Channel(partial(os.read, source), partial(_write_all, sink))
    finally:
        stdout.flush()  # what was printed meanwhile is no message
        os.dup2(source, descriptors[0])
        os.dup2(sink, descriptors[1])
        os.close(sink)  # `source` stays open: a thread may still be waiting for input


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class Lines:
    """The lines of an input, each of a bounded length."""

    def __init__(self, read: Callable[[int], bytes], max_bytes: int) -> None:
        self._read = read
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._searched = 0

    def next(self) -> bytes | None:
        """The next line; None at the end of input. A line that is too long is cut, so that it is no message."""
        is_too_long = False
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                return line[:1] if is_too_long or end > self._max_bytes else line
            if is_too_long or len(self._buffer) > self._max_bytes:
                is_too_long = True
                del self._buffer[1:]
            self._searched = len(self._buffer)
            try:
                chunk = self._read(_CHUNK)
            except OSError:  # the terminal, or whatever it was, is gone
                chunk = b""
            if not chunk:
                line = bytes(self._buffer)
                self._buffer.clear()
                self._searched = 0
                return line or None
            self._buffer += chunk

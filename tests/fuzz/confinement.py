"""Bounds of a child process: it writes into one folder, talks to this machine, and starts no program.

Command lines are made at random, and some of them are meant to write files, fetch models or open an editor. Inside a
case each such attempt fails as on a machine that does not allow it, which is one more thing to cope with.
"""

import errno
import os
import resource
import sys
from pathlib import Path
from typing import Any

MEMORY = 2 << 30
"""Bytes of address space."""

_PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.startfile", "os.fork", "os.forkpty")
_CHANGES = (
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.chown", "os.utime"),
    *("shutil.rmtree", "shutil.move", "sqlite3.connect"),
)
"""Of these every path counts."""
_COPIES = ("os.link", "os.symlink", "shutil.copyfile")
"""Of these the second."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_THIS_MACHINE = ("127.0.0.1", "::1", "localhost", None)
_NOTHING_TO_PROTECT = ("/dev/null", "/dev/tty", ":memory:", "")


def limit_memory(size: int = MEMORY) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def confine_to(folder: Path) -> None:
    """From now on, and for as long as this process runs."""
    inside = f"{folder.resolve()}/"

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _PROGRAMS:
            raise PermissionError(errno.EACCES, "the case may not start programs", str(arguments[0]))
        if _is_elsewhere(event, arguments):
            raise OSError(errno.ENETUNREACH, "the case has no network")
        for path in _written(event, arguments):
            if not _is_inside(path, inside):
                raise PermissionError(errno.EACCES, "the case may not write there", path)

    sys.addaudithook(hook)


def _written(event: str, arguments: tuple[Any, ...]) -> list[str]:
    """The paths that the call would change."""
    if event == "open":
        path, _, flags = arguments
        named = [path] if isinstance(flags, int) and flags & _WRITING else []
    elif event in _CHANGES:
        named = list(arguments)
    else:
        named = list(arguments[1:2]) if event in _COPIES else []
    return [os.fsdecode(path) for path in named if isinstance(path, str | bytes | os.PathLike)]


def _is_inside(name: str, folder: str) -> bool:
    name = name.removeprefix("file:").partition("?")[0]
    parent = os.path.realpath(Path(name).parent)
    return name in _NOTHING_TO_PROTECT or f"{parent}/".startswith(folder)


def _is_elsewhere(event: str, arguments: tuple[Any, ...]) -> bool:
    match event, arguments:
        case "socket.connect", (_, (str(host), *_)):
            return not host.startswith(("127.", "::1"))
        case "socket.getaddrinfo", (host, *_):
            return host not in _THIS_MACHINE
    return False

"""Run commands of zkchat in a process that logs what it connects to, starts and changes.

    python audited_process.py LOG COMMANDS

COMMANDS is a list of lists of words, in JSON. Python reports through audit events, which no code can bypass.
"""

import json
import os
import sys
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_STARTS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.startfile"}
_CHANGES = {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}


def main() -> None:
    log, commands = sys.argv[1], json.loads(sys.argv[2])
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(event: str, values: tuple[Any, ...]) -> None:
        if event == "socket.connect":
            os.write(written, f"connect {values[1]!r}\n".encode())
        elif event in _STARTS:
            os.write(written, f"start {values[0]!r}\n".encode())
        elif event in _CHANGES or (event == "open" and isinstance(values[0], str | bytes) and values[2] & _WRITES):
            os.write(written, f"change {os.fspath(values[0])!r}\n".encode("utf-8", "replace"))

    from zkchat.cli.main import run
    from zkchat.core.environment import Environment

    sys.addaudithook(note)
    sys.exit(max(run(words, Environment.of_this_process()) for words in commands))


if __name__ == "__main__":
    main()

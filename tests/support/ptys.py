"""zkchat on a real terminal: what was typed into it, what is on its screen, and every byte it wrote."""

import os
import re
import signal
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pexpect
import pyte

from tests.support.waiting import DEADLINE, eventually
from tests.support.world import World

_ASKS_FOR_CURSOR = "\x1b[6n"

if TYPE_CHECKING:
    Spawned = pexpect.spawn[str]
else:
    Spawned = pexpect.spawn


class Child(Spawned):
    """A program on a terminal. To end, it gets the time that a busy machine takes; pexpect gives it 0.1 s."""

    def close(self, force: bool = True) -> None:
        if not self.flag_eof:
            self.kill(signal.SIGKILL)
        eventually(lambda: not self.isalive())
        super().close(force)


class Terminal:
    """A terminal that answers as a real one does when it is asked where its cursor is.

    Without a `command`, a chat over the world's vault.
    """

    def __init__(
        self,
        world: World,
        *arguments: str,
        vault: Path | None = None,
        command: Sequence[str] | None = None,
        cwd: Path | None = None,
        width: int = 80,
        height: int = 24,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "HOME": str(world.home),
            "ZKCHAT_OLLAMA__HOST": "http://127.0.0.1:9",
            **world.variables,
            **(variables or {}),
        }
        self._screen = pyte.Screen(width, height)
        self._stream = pyte.Stream(self._screen)
        self._child = Child(
            sys.executable,
            [
                "-m",
                "zkchat",
                *(["chat", "--vault", str(vault or world.vault)] if command is None else command),
                *arguments,
            ],
            env=environment,
            cwd=str(cwd or world.root),
            dimensions=(height, width),
            encoding="utf-8",
            codec_errors="surrogateescape",
        )
        self.modes_at_end = 0
        """Flags that the program left the terminal with, such as `termios.ECHO`."""
        self.written = ""
        """Everything that reached the terminal."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.close()

    @property
    def rows(self) -> list[str]:
        return [row.rstrip() for row in self._screen.display]

    @property
    def cursor_row(self) -> int:
        return int(self._screen.cursor.y)

    @property
    def width(self) -> int:
        return int(self._screen.columns)

    @property
    def cells(self) -> list[list[Any]]:
        """The characters of the screen as pyte knows them, colours included."""
        return [[self._screen.buffer[y][x] for x in range(self.width)] for y in range(self._screen.lines)]

    @property
    def text(self) -> str:
        return "\n".join(self.rows)

    def type(self, text: str) -> None:
        self._child.send(text)

    def paste(self, text: str) -> None:
        self._child.send(f"\x1b[200~{text}\x1b[201~")

    def resize(self, width: int, height: int) -> None:
        self._child.setwinsize(height, width)
        self._screen.resize(height, width)

    def wait_for(self, *wanted: str, seconds: float = DEADLINE) -> None:
        """Until all of it is on the screen."""
        self.wait_until(lambda: all(text in self.text for text in wanted), f"{wanted} on the screen", seconds)

    def wait_until(self, is_so: Callable[[], bool], what: str, seconds: float = DEADLINE) -> None:
        end = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < end, f"Waited for {what}:\n{self.text}"
            assert self._read(), f"It ended before there was {what}:\n{self.text}"

    def wait_for_prompt(self) -> None:
        """Until the last line that holds a prompt is an empty one, with its bar below."""
        self.wait_until(lambda: self.is_at_prompt, "an empty prompt")

    @property
    def is_at_prompt(self) -> bool:
        return [row for row in self.rows if row][-2:-1] == ["you ›"]

    def finish(self, seconds: float = DEADLINE) -> int | None:
        """Until the program ends; its exit code."""
        end = time.monotonic() + seconds
        while self._read():
            assert time.monotonic() < end, f"Waited for the end:\n{self.text}"
        self.modes_at_end = termios.tcgetattr(self._child.child_fd)[3]
        self._child.close()
        return self._child.exitstatus

    def send_signal(self, number: int) -> None:
        self._child.kill(number)

    def hang_up(self, seconds: float = DEADLINE) -> None:
        """Close the terminal under the program, and wait until that has ended."""
        process: Any = self._child  # whose types do not know what it closes
        process.ptyproc.fileobj.close()
        eventually(lambda: not self._child.isalive(), seconds=seconds)

    def close(self) -> None:
        self._child.close()

    def _read(self) -> bool:
        """Take in what was written. False at the end."""
        try:
            text = self._child.read_nonblocking(65_536, timeout=0.1)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.written += text
        for piece in re.split(f"({re.escape(_ASKS_FOR_CURSOR)})", text):
            if piece == _ASKS_FOR_CURSOR:
                cursor = self._screen.cursor
                self._child.send(f"\x1b[{cursor.y + 1};{cursor.x + 1}R")
            else:
                self._stream.feed(piece)
        return True

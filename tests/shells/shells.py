"""A real shell on a real terminal, in which `zkchat` notes the arguments that it is called with."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pyte

from tests.support.ptys import Child

ROOT = Path(__file__).parents[2]
SHELLS = ("bash", "zsh", "fish")
_PROMPT = "ready> "

_STARTS = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["--no-rcs", "-i"], "fish": ["--no-config", "-i"]}
_PREPARATIONS = {
    "bash": (f"PS1={_PROMPT!r}", 'eval "$(zkchat config completion bash)"'),
    "zsh": (f"PS1={_PROMPT!r}", "autoload -Uz compinit && compinit -u -D", 'eval "$(zkchat config completion zsh)"'),
    "fish": (
        f"function fish_prompt; printf '%s' {_PROMPT!r}; end",
        "set -g fish_greeting",
        "set -g fish_autosuggestion_enabled 0",
        "zkchat config completion fish | source",
    ),
}


def is_installed(shell: str) -> bool:
    return shutil.which(shell) is not None


def write_program(folder: Path) -> None:
    """A `zkchat` that answers Tab and prints scripts as ever, and otherwise only notes its arguments."""
    folder.mkdir()
    program = folder / "zkchat"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "if '_ZKCHAT_COMPLETE' in os.environ or sys.argv[1:2] == ['completion']:\n"
        "    from zkchat.__main__ import main\n"
        "    main()\n"
        "else:\n"
        "    part = os.environ['RECORD'] + '.part'\n"
        "    with open(part, 'w') as file:\n"
        "        json.dump(sys.argv[1:], file)\n"
        "    os.replace(part, os.environ['RECORD'])\n"
    )
    program.chmod(0o755)


@dataclass
class Shell:
    """A shell whose working folder is a vault."""

    name: str
    vault: Path
    home: Path
    width: int = 160

    def __post_init__(self) -> None:
        self._record = self.home / "arguments.json"
        self._screen = pyte.Screen(self.width, 60)
        self._stream = pyte.Stream(self._screen)
        self._child = Child(
            shutil.which(self.name) or self.name,
            _STARTS[self.name],
            env={
                "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}",
                "HOME": str(self.home),
                "LANG": "C.UTF-8",
                "TERM": "xterm",
                "RECORD": str(self._record),
                "PYTHONDONTWRITEBYTECODE": "",
            },
            cwd=str(self.vault),
            dimensions=(60, self.width),
            encoding="utf-8",
            codec_errors="surrogateescape",
        )
        for line in _PREPARATIONS[self.name]:
            self._child.send(f"{line}\n")
        self.run("start")

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self._screen.display)

    def run(self, typed: str) -> list[str]:
        """Type after `zkchat `, press Enter, and return the arguments that zkchat was called with."""
        self._record.unlink(missing_ok=True)
        self._child.send(f"zkchat {typed}\n")
        self.wait_until(self._record.exists, f"a call of zkchat after {typed!r}")
        arguments: list[str] = json.loads(self._record.read_text())
        return arguments

    def type(self, text: str) -> None:
        self._child.send(text)

    def leave_line(self) -> None:
        """Ctrl-C, until there is an empty prompt below."""
        self._child.send("\x03")
        self.wait_until(lambda: self._line == _PROMPT.strip(), "an empty prompt")

    @property
    def _line(self) -> str:
        return self._screen.display[self._screen.cursor.y].strip()

    def wait_for(self, *wanted: str) -> None:
        self.wait_until(lambda: all(text in self.text for text in wanted), f"{wanted} on the screen")

    def wait_until(self, is_so: Callable[[], bool], what: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < end, f"Waited for {what}:\n{self.text}"
            try:
                self._stream.feed(self._child.read_nonblocking(65_536, timeout=0.05))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                raise AssertionError(f"The shell ended before {what}:\n{self.text}") from None

    def close(self) -> None:
        self._child.close()

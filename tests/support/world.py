"""A user with an empty home and a vault, who calls zkchat in this process."""

import asyncio
import io
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from zkchat.app.paths import known_vaults
from zkchat.core.environment import Environment, utc_now

GARDEN = Path(__file__).parents[2] / "vault-fixtures" / "garden"


class Terminal(io.StringIO):
    """A stream in memory that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class World:
    root: Path
    variables: dict[str, str] = field(default_factory=dict)
    confirms_vault: bool = True
    now: Callable[[], datetime] = utc_now

    def __post_init__(self) -> None:
        self.home.mkdir(exist_ok=True)
        self.vault.mkdir(exist_ok=True)
        if self.confirms_vault:
            self.confirm(self.vault)

    def confirm(self, vault: Path) -> None:
        """The user has said before that this folder is a vault."""
        known_vaults(self.environment()).add(vault.resolve())

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def vault(self) -> Path:
        return self.root / "vault"

    def block(self, *folders: str) -> None:
        """Put files in the place of folders of the home, so that nothing can be written there."""
        for folder in folders:
            shutil.rmtree(self.home / folder, ignore_errors=True)
            (self.home / folder).write_text("a file in the place of a folder")

    def note(self, path: str, text: str | bytes) -> Path:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    @property
    def files(self) -> dict[str, bytes]:
        """Those of the vault, without the mark by which zkchat knows a vault that it has changed."""
        found = (file for file in self.vault.rglob("*") if file.is_file() and ".zkchat" not in file.parts)
        return {file.relative_to(self.vault).as_posix(): file.read_bytes() for file in found}

    @property
    def settings_file(self) -> Path:
        return self.home / ".config" / "zkchat" / "config.toml"

    def configure(self, text: str) -> Path:
        """Write the user's settings."""
        self.settings_file.parent.mkdir(parents=True, exist_ok=True)
        self.settings_file.write_text(text)
        return self.settings_file

    def script(self, *answers: list[dict[str, Any]], **more: Any) -> str:
        """Write a script and return the name of the model that plays it."""
        file = self.root / "play.json"
        file.write_text(json.dumps({"answers": answers, **more}))
        return f"scripted:{file}"

    def environment(
        self, *, stdin: str | None = None, typed: str = "", terminal: bool = False, cwd: Path | None = None
    ) -> Environment:
        """With `stdin` somebody pipes it in; without, somebody sits at a terminal, where they have typed something."""
        stream = Terminal if terminal else io.StringIO
        return Environment(
            stdin=Terminal(typed) if stdin is None else io.StringIO(stdin),
            stdout=stream(),
            stderr=stream(),
            variables={
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                "COLUMNS": "100",
                "ZKCHAT_OLLAMA__HOST": "http://127.0.0.1:9",  # no server of whoever runs the tests
                **self.variables,
            },
            cwd=cwd or self.vault,
            home=self.home,
            now=self.now,
        )

    def run(
        self,
        *arguments: str,
        stdin: str | None = None,
        typed: str = "",
        terminal: bool = False,
        cwd: Path | None = None,
    ) -> Result:
        from zkchat.cli.main import run

        environment = self.environment(stdin=stdin, typed=typed, terminal=terminal, cwd=cwd)
        code = run(arguments, environment)
        assert isinstance(environment.stdout, io.StringIO)
        assert isinstance(environment.stderr, io.StringIO)
        return Result(code, environment.stdout.getvalue(), environment.stderr.getvalue())


@contextmanager
def serving(world: World, *arguments: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`zkchat` in a process of its own that serves the vault, and the first line that it prints."""
    process = subprocess.Popen(
        [Path(sys.executable).with_name("zkchat"), *arguments, "--port", "0", "--vault", world.vault],
        env={"HOME": str(world.home), **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr
        yield process, process.stderr.readline()
    finally:
        process.kill()
        process.communicate()


def run_over_pipes(world: World, stdin: int, stdout: int, *arguments: str) -> int:
    """Run a command in this process with the ends of two pipes as its standard streams, and return its exit code."""
    from zkchat.cli.main import run

    with os.fdopen(stdin) as reader, os.fdopen(stdout, "w") as writer, (world.root / "stderr").open("w") as error:
        return run(arguments, replace(world.environment(), stdin=reader, stdout=writer, stderr=error))


def process_variables(world: World) -> dict[str, str]:
    """The variables for a `zkchat` in a process of its own."""
    variables = {**os.environ, **world.environment().variables, "HOME": str(world.home)}
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "ZKCHAT_VAULT", "ZKCHAT_MODEL"):
        variables.pop(name, None)
    return variables


class PipedCommand:
    """A command on a thread of this process, which is quicker, with the ends of two pipes as its standard streams."""

    code: int | None = None
    input: asyncio.ReadTransport
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def __init__(self, world: World, *arguments: str) -> None:
        self._world = world
        self._arguments = arguments

    async def start(self, limit: int = 65_536) -> None:
        loop = asyncio.get_running_loop()
        (their_input, our_output), (our_input, their_output) = os.pipe(), os.pipe()
        self.thread = threading.Thread(target=self._run, args=(their_input, their_output))
        self.thread.start()
        self.reader = asyncio.StreamReader(limit=limit)
        protocol, flow = asyncio.StreamReaderProtocol(self.reader), asyncio.streams.FlowControlMixin()
        self.input, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(our_input, "rb"))
        transport, _ = await loop.connect_write_pipe(lambda: flow, os.fdopen(our_output, "wb"))
        self.writer = asyncio.StreamWriter(transport, flow, None, loop)

    def _run(self, stdin: int, stdout: int) -> None:
        self.code = run_over_pipes(self._world, stdin, stdout, *self._arguments)

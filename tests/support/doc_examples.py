"""The examples of a page of documentation: files to write, commands to run, what they print."""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.world import World

DOCS = Path(__file__).parents[2] / "docs"
_FILE = r"`([\w./ -]+\.md)`:\n\n```markdown\n(.*?)```"
_CONSOLE = r"```console\n(.*?)```"
_EXAMPLE = re.compile(f"{_FILE}|{_CONSOLE}", re.DOTALL)
_COMMAND = re.compile(r"^\$ zkchat (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_DIFFERENT_EACH_TIME = re.compile(r"\b[0-9a-hjkmnp-tv-z]{12}\b|\b\d{4}-\d\d-\d\d\b|\b0\.\d\d\b")


@dataclass(frozen=True)
class Example:
    command: str
    printed: str
    files: dict[str, str] = field(default_factory=dict)
    """Those that the page has shown before."""


def examples_of(page: str) -> list[Example]:
    files: dict[str, str] = {}
    found: list[Example] = []
    for match in _EXAMPLE.finditer((DOCS / page).read_text("utf-8")):
        if match[1]:
            files = {**files, match[1]: match[2]}
        else:
            found.extend(Example(command, printed, files) for command, printed in _COMMAND.findall(match[3]))
    return found


def run(world: World, example: Example) -> str:
    """What the command prints, results before remarks, with nothing that depends on the machine or the moment."""
    for path, text in example.files.items():
        if not (world.vault / path).exists():
            world.note(path, text)
    result = world.run(*shlex.split(example.command))
    return comparable((result.out + result.err).replace(str(world.root), "~"))


def comparable(printed: str) -> str:
    return "\n".join(_DIFFERENT_EACH_TIME.sub("…", line).rstrip() for line in printed.strip().splitlines())

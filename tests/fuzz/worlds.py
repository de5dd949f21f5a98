"""A user with a vault and sessions, made once and copied for each case; and what holds of every call."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from tests.fuzz.case import Broken, Case, Folders, require, signature
from tests.support.screens import what_acts_on_a_terminal
from tests.support.sessions import NOON
from tests.support.world import Result, World
from zkchat.core.environment import Environment
from zkchat.core.errors import ExitCode

DOCUMENTED = frozenset(ExitCode) - {ExitCode.BUG}
NOTES = {
    "Sleep.md": "---\ntags: [night]\naliases: [Schlaf]\n---\n# Sleep\n\nAdults need seven hours. See [[Coffee]].\n",
    "Coffee.md": "# Coffee\n\nCaffeine and [[Sleep]] do not mix. #drink\n",
    "Private/Diary.md": "---\nzkchat: local\n---\nNobody else reads this about sleep.\n",
    "me.md": "- I like tea\n- My garden is small\n",
    "ZKCHAT.md": "Answer briefly. @me.md\n",
    ".zkchat/agents/gardener.md": "---\ndescription: knows plants\nrules: [brief]\n---\nTalk about plants.\n",
    ".zkchat/rules/brief.md": "---\ninclude: always\n---\nBe brief.\n",
}


@dataclass
class FuzzWorld(World):
    """Clock and ids are functions of the case. No program of the machine is found."""

    variables: dict[str, str] = field(default_factory=lambda: {"PATH": ""})
    rng: Random = field(default_factory=lambda: Random(0))
    _now: datetime = NOON

    def environment(self, **how: Any) -> Environment:
        return replace(super().environment(**how), now=self._tick, new_id=self._id)

    def _tick(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now

    def _id(self) -> str:
        return "".join(self.rng.choices("0123456789abcdefghjkmnpqrstvwxyz", k=12))

    def checked(self, *arguments: str, **how: Any) -> Result:
        """A call that keeps what every call promises."""
        result = self.run(*arguments, **how)
        told = result.out + result.err
        if result.code == ExitCode.BUG or "That is a bug" in told:
            trace = "".join(file.read_text() for file in self.home.rglob("crash.txt"))
            raise Broken(f"{signature(trace)}\nzkchat {arguments!r}\n{result.err}\n{trace}")
        called = f"zkchat {arguments!r}"
        require(result.code in DOCUMENTED, "the exit code is documented", f"{called}: {result.code}")
        require(not result.code or told.strip(), "a call that fails says something", called)
        require("Traceback (most recent call last)" not in told, "no traceback is shown", f"{called}\n{told}")
        acting = what_acts_on_a_terminal(told)
        require(not acting, "no output acts on a terminal", f"{called}\n{acting!r}\n{told!r}")
        return result


class Worlds:
    """`fresh` gives the same world to every case, always in the same place: databases remember where a vault is."""

    def __init__(self, folders: Folders, prepare: Callable[[FuzzWorld], None] | None = None) -> None:
        self._template = folders.shared / "template"
        place = self._place(folders.case)
        place.mkdir(parents=True)
        world = FuzzWorld(place)
        _fill(world)
        if prepare:
            prepare(world)
        place.rename(self._template)

    def fresh(self, case: Case) -> FuzzWorld:
        place = self._place(case.folder)
        shutil.copytree(self._template, place, symlinks=True)
        return FuzzWorld(place, rng=case.rng, _now=NOON + timedelta(days=1))

    @staticmethod
    def _place(folder: Path) -> Path:
        return folder / "world"


def _fill(world: FuzzWorld) -> None:
    for path, text in NOTES.items():
        world.note(path, text)
    for arguments in (
        ("config", "trust", "--yes"),
        ("ask", "How long do adults sleep? See [[Sleep]].", "--model", "quote"),
        ("ask", "And with coffee?", "--model", "quote", "--continue"),
        ("ask", "What is in the garden?", "--model", "quote"),
        ("memory", "add", "I like tea."),
        ("memory", "add", "My thesis is due on 30 June."),
        ("sessions", "search", "coffee"),
        ("search", "sleep"),
        ("config", "set", "ui.color", "never"),
    ):
        world.checked(*arguments)

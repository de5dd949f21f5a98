"""Change notes from several processes at once, and while an editor saves them.

    python -m tests.faults.write_side_by_side FOLDER ROUNDS SAVES SEED

In each round eight processes change one note: eight appends in every second round, else appends, sections, a property,
a tag, and a rename whose link stands in the note. Then, for each of the saves, an editor puts a new file in the place
of a note at a random moment of one command, undo among them. What a command that ended with 0 has written must be there
in the end, and what the editor saved. Prints one JSON object.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.support.world import World
from zkchat.app.workspace import load_workspace
from zkchat.app.writing import open_change_store

WRITERS = 8
KEPT = ("author: me\n", "- first\n", "- begun\n")
NOTE = "---\nauthor: me\n---\n# Note\n\nSee [[Target {name}]].\n\n## Tasks\n\n- first\n\n## Log\n\n- begun\n"


class Command(NamedTuple):
    arguments: Sequence[str]
    token: str
    """What stands in a note once it is done; empty for undo."""


def append(name: str, mark: str) -> Command:
    return Command(("note", "append", name, f"- line-{mark}-"), f"- line-{mark}-\n")


def add_task(name: str, mark: str) -> Command:
    return Command(("note", "append", name, f"- task-{mark}-", "--section", "Tasks"), f"- task-{mark}-\n")


def set_property(name: str, mark: str) -> Command:
    return Command(("note", "set", name, f"key-{mark}", f"value-{mark}"), f"key-{mark}: value-{mark}\n")


def tag(name: str, mark: str) -> Command:
    return Command(("note", "tag", name, f"tag-{mark}-"), f"tag-{mark}-")


def rename_target(name: str, mark: str) -> Command:
    return Command(("note", "rename", f"Target {name}", f"Renamed {mark}"), f"[[Renamed {mark}]]")


def rename(name: str, mark: str) -> Command:
    return Command(("note", "rename", name, f"Moved {mark}"), "# Note\n")


def undo(_name: str, _mark: str) -> Command:
    return Command(("undo",), "")


MIXED = (append, append, append, add_task, add_task, set_property, tag, rename_target)
BESIDE_THE_EDITOR = (append, add_task, set_property, tag, rename_target, rename, undo)


class Result(NamedTuple):
    command: Command
    code: int


class Rounds:
    def __init__(self, folder: Path, seed: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._world = World(folder)
        self._vault = self._world.vault
        self._random = random.Random(seed)
        self.lost: list[str] = []
        self.results: list[Result] = []
        self.saves = 0
        self.overwritten = 0
        """Commands that were done before the editor saved, which had read the note before that."""
        self._make("First")
        self._world.run("note", "append", "First", "- imports all that the processes need", "--yes")
        began = time.monotonic()
        self._run([append("First", "0")])
        self._seconds = time.monotonic() - began

    def write_at_once(self, number: int) -> None:
        name = f"Shared {number}"
        self._make(name)
        kinds = MIXED if number % 2 else [append] * WRITERS
        results = self._run([kind(name, f"{number}-{each}") for each, kind in enumerate(kinds)])
        self._look(f"round {number}", (self._vault / f"{name}.md").read_text(), results)

    def save_beside(self, number: int) -> None:
        """An editor saves a note while a command changes it."""
        name, mark, saved = f"Edited {number}", f"e{number}", f"saved-{number}-\n"
        self._make(name)
        kind = BESIDE_THE_EDITOR[number % len(BESIDE_THE_EDITOR)]
        if kind is undo:
            self._run([append(name, f"{mark}-undone")])
        file = self._vault / f"{name}.md"
        moment = self._random.uniform(0, 1.2) * self._seconds
        line = self._random.choice(["# Note\n", "- first\n", "- begun\n"])
        done = self._vault.parent / f"saved {number}"

        def save() -> None:
            time.sleep(moment)
            new = file.with_name(f".{number}.editor")
            new.write_text(file.read_text().replace(line, f"{line}{saved}"))
            new.replace(file)
            done.touch()

        results = self._run([kind(name, mark)], save)
        present = [self._vault / f"{name}.md", self._vault / f"Moved {mark}.md"]
        text = "".join(each.read_text() for each in present if each.exists())
        if done.exists():
            self.saves += 1
            self.lost += [] if saved in text else [f"beside {kind.__name__}: {saved.strip()}"]
            if results[0].code == 0 and results[0].command.token not in text and not self._was_made_from(saved):
                self.overwritten += 1
                return
        self._look(f"beside {kind.__name__} {number}", text, results)

    def _make(self, name: str) -> None:
        self._world.note(f"{name}.md", NOTE.format(name=name))
        self._world.note(f"Target {name}.md", "# Target\n")

    def _look(self, what: str, text: str, results: Sequence[Result]) -> None:
        self.results += results
        expected = [*KEPT, *(each.command.token for each in results if each.code == 0)]
        self.lost += [f"{what}: {each.strip()}" for each in expected if each not in text]

    def _was_made_from(self, saved: str) -> bool:
        """Whether the last change was made from what the editor saved."""
        with open_change_store(load_workspace(self._world.environment(), None)) as store:
            return any(saved.encode() in (write.before or b"") for write in store.records(limit=1)[0].changes.writes)

    def _run(self, commands: Sequence[Command], beside: Callable[[], object] = lambda: None) -> list[Result]:
        """Each command in a process of its own, all at one signal, and something else beside them."""
        start, go = os.pipe()
        processes = [_forked(partial(self._command, each), start, go) for each in commands]
        processes.append(_forked(beside, start, go))
        os.close(start)
        os.close(go)
        codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
        return [Result(command, code) for command, code in zip(commands, codes, strict=False)]

    def _command(self, command: Command) -> int:
        return self._world.run(*command.arguments, "--yes").code


def _forked(act: Callable[[], object], start: int, go: int) -> int:
    """A process that acts when the signal comes: nobody holds the other end of the pipe any more."""
    if process := os.fork():
        return process
    code: object = 99
    try:
        os.close(go)
        os.read(start, 1)
        code = act()
    finally:
        os._exit(code if isinstance(code, int) else 0)


def main(folder: Path, rounds: int, saves: int, seed: int) -> None:
    played = Rounds(folder, seed)
    for number in range(rounds):
        played.write_at_once(number)
    for number in range(saves):
        played.save_beside(number)
    kinds = {" ".join(each.command.arguments[:2]) for each in played.results}
    result = {
        "saves": played.saves,
        "overwritten_by_the_editor": played.overwritten,
        "lost": played.lost,
        "left_over": len([*folder.rglob(".zkchat-*.tmp")]),
        "done": {kind: _count(played.results, kind) for kind in sorted(kinds)},
    }
    sys.stdout.write(json.dumps(result) + "\n")


def _count(results: Sequence[Result], kind: str) -> tuple[int, int]:
    """How many commands were done, of how many."""
    codes = [each.code for each in results if " ".join(each.command.arguments[:2]) == kind]
    return codes.count(0), len(codes)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))

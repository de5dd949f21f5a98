"""Damage the databases of a user in random ways, and start zkchat on what is left.

    python -m tests.faults.corrupt_stores FOLDER CORRUPTIONS SEED

One corruption: one to three databases are changed (bytes, ranges, header fields, names in the schema, whole pages,
a cut, other kinds of files in their place), then six commands run on them, one after the other. Prints
one JSON object; `failures` and `not_kept` name corruptions by the number that repeats them.
"""

import json
import os
import random
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.odd_files import replace_with_kind
from tests.support.world import Result, World
from zkchat.core.errors import ExitCode

DURABLE = ("sessions.db", "memories.db", "changes.db")
CACHES = ("index.db", "messages.db", "pdf.db")
PAGE = 4096
QUESTION = "How many hours of sleep do adults need?"
COMMANDS = (
    ("sessions", "list", "--all"),
    ("memory", "list"),
    ("changes",),
    ("doctor", "--model", "quote"),
    ("ask", QUESTION),
    ("ask", QUESTION, "--continue"),
)


@dataclass
class Report:
    corruptions: int = 0
    starts: int = 0
    recoveries: int = 0
    originals_kept: int = 0
    not_kept: list[int] = field(default_factory=list)
    """The corruptions of which an original was not kept as it was."""
    failures: list[str] = field(default_factory=list)


def prepare(folder: Path) -> None:
    """Copies of a user's files with sessions, facts, changes and caches: after a clean end, and after a kill."""
    world = _world(folder / "user")
    world.note("Sleep.md", "Adults need seven hours of sleep, says [[Matthew]].\n")
    world.note("Matthew.md", "He wrote about sleep.\n")
    for number in range(6):
        assert world.run("ask", f"{QUESTION} {'wörd ' * 40 * number}", "--model", _model(world)).code == 0
    assert world.run("ask", "And children?", "--continue", "--model", _model(world)).code == 0
    for fact in ("I sleep late.", "I read at night.", "I drink tea."):
        assert world.run("memory", "add", fact).code == 0
    for number in range(3):
        assert world.run("note", "append", "Matthew", f"More {'wörds ' * 800 * number}", "--yes").code == 0
    assert world.run("sessions", "search", "sleep").code == 0
    shutil.copytree(world.root, folder / "closed")
    if not os.fork():
        _talk_without_an_end(world, folder / "killed")
    os.wait()


def _talk_without_an_end(world: World, copy: Path) -> None:
    """In a child: what is on disk while sessions and facts are open is copied, logs included."""
    from zkchat.app import conversation
    from zkchat.app.conversation_core import ConversationOptions

    options = ConversationOptions(vault=world.vault, model=_model(world))
    with conversation.open_conversation(world.environment(), options) as opened:
        session = opened.store.create("Cut off")
        opened.conversation.remember(f"I was cut off in {session.id}.")
        shutil.copytree(world.root, copy)
        os._exit(0)


def _world(root: Path) -> World:
    root.mkdir(parents=True, exist_ok=True)
    return World(root)


def _model(world: World) -> str:
    return world.script(*[[{"text": "Seven hours."}]] * 20)


def databases_of(world: World) -> dict[str, Path]:
    return {file.name: file for name in (*DURABLE, *CACHES) for file in world.home.rglob(name)}


def corrupt(world: World, rng: random.Random) -> None:
    """Change one to three databases."""
    files = databases_of(world)
    caches = [name for name in CACHES if name in files]
    names = [rng.choice(DURABLE if rng.random() < 0.8 else caches) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    for name in dict.fromkeys(names):
        log = files[name].with_name(f"{name}-wal")
        target = log if rng.random() < 0.15 and log.exists() and log.stat().st_size else files[name]
        _corrupt_file(target, rng)


def _corrupt_file(file: Path, rng: random.Random) -> None:
    data = bytearray(file.read_bytes())
    match rng.choices(list(KINDS), weights=list(KINDS.values()))[0]:
        case "byte":
            data[rng.randrange(len(data))] = rng.randrange(256)
        case "bytes":
            for _ in range(rng.randint(2, 60)):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case "range":
            start, length = rng.randrange(len(data)), rng.choice((8, 100, PAGE, 5 * PAGE))
            data[start : start + length] = rng.randbytes(min(length, len(data) - start))
        case "header":
            start = rng.choice((0, 16, 18, 19, 20, 21, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 92, 96))
            data[start : start + 4] = rng.randbytes(rng.choice((1, 2, 4)))
        case "schema":
            offset = _offset_in_schema(data, rng)
            data[offset] = rng.choice((0x00, 0x80, 0xDD, 0xFF, 0x20, 0x22))
        case "page":
            start = PAGE * rng.randrange(max(1, len(data) // PAGE))
            data[start : start + PAGE] = bytes(min(PAGE, len(data) - start))
        case "cut":
            del data[rng.randrange(len(data)) :]
        case "swapped":
            one, two = (PAGE * rng.randrange(max(1, len(data) // PAGE)) for _ in range(2))
            data[one : one + PAGE], data[two : two + PAGE] = data[two : two + PAGE], data[one : one + PAGE]
        case kind:
            replace_with_kind(file, kind)
            return
    file.write_bytes(data)


KINDS = {
    "byte": 20, "bytes": 15, "range": 15, "header": 15, "schema": 15, "page": 6, "cut": 6, "swapped": 3,
    "pipe": 1, "folder": 1, "loop": 1, "device": 1, "text": 1,
}  # fmt: skip


def _offset_in_schema(data: bytearray, rng: random.Random) -> int:
    """Of a byte in the names and statements that the first page holds."""
    start = data.find(b"CREATE")
    end = min(PAGE, len(data))
    return rng.randrange(max(0, min(start, end - 1)), end)


def try_one(folder: Path, number: int, seed: int, report: Report) -> None:
    rng = random.Random(f"{seed} {number}")
    shutil.rmtree(folder / "user", ignore_errors=True)
    shutil.copytree(folder / rng.choice(("closed", "killed")), folder / "user")
    world = World(folder / "user")
    corrupt(world, rng)
    report.corruptions += 1
    is_kept, failures, reported = True, [], False
    for arguments in COMMANDS:
        before, aside, logs = _contents(world), _set_aside(world), _logs(world)
        result = world.run(*arguments, *(("--model", _model(world)) if arguments[0] == "ask" else ()))
        new = _set_aside(world) - aside
        is_reported = "was damaged and is kept" in result.err or "the damaged file is kept" in result.err
        reported |= is_reported or bool(new)
        failures += [_said(result)] if result.code != ExitCode.OK else []
        # A question may have been stored before the damage showed, or a log copied into its file; else it is the same.
        is_kept &= arguments[0] == "ask" or bool(logs) or all(_content(file) in before for file in new)
        is_kept &= bool(new) or not is_reported
    report.failures += [f"{number}: {failure}" for failure in failures[:1]]
    report.starts += not failures
    report.recoveries += reported
    report.originals_kept += is_kept
    report.not_kept += [] if is_kept else [number]


def _contents(world: World) -> list[bytes | None]:
    """Of whatever has the name of a database, also of a link that leads to itself."""
    found = ((parent, name) for parent, folders, files in os.walk(world.home) for name in (*folders, *files))
    return [_content(Path(parent, name)) for parent, name in found if name in DURABLE]


def _logs(world: World) -> list[Path]:
    logs = (file for name in DURABLE for file in world.home.rglob(f"{name}-wal"))
    return [log for log in logs if log.is_file() and log.stat().st_size]


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() and not file.is_symlink() else None


def _set_aside(world: World) -> set[Path]:
    logs = ("-wal", "-shm", "-journal")
    return {file for file in world.home.rglob("*.damaged-*") if not file.name.endswith(logs)}


def _said(result: Result) -> str:
    return f"exit {result.code}: {result.err.strip()[-300:] or result.out.strip()[-300:]}"


def main() -> None:
    folder, corruptions, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    prepare(folder)
    report = Report()
    first = int(os.environ.get("FIRST", "0"))
    for number in range(first, first + corruptions):
        try_one(folder, number, seed, report)
    sys.stdout.write(json.dumps(report.__dict__, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Damaged files of our own: every command still ends as documented, and what was damaged is kept or recovered."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from random import Random

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target, require
from tests.fuzz.worlds import FuzzWorld, Worlds
from zkchat.core.errors import ExitCode
from zkchat.repl.key_bindings import Pastes, SharedHistory

ASK = ("ask", "How long do adults sleep?", "--model", "quote")
COMMANDS = (
    ("sessions", "list", "--all"),
    ("sessions", "list", "--all", "--json"),
    ("doctor",),
    ("memory", "list"),
    ("memory", "add", "I have a cat."),
    ("search", "sleep"),
    ("sessions", "search", "coffee"),
    ("sessions", "show", "2"),
    ("context", "export"),
    ("backlinks", "Sleep"),
    ("vault", "status"),
    ("index",),
    ("memory", "relevance"),
)
HISTORY = b"\n# 2026-03-01 12:00:00\n+What is sleep?\n"


def prepare(world: FuzzWorld) -> None:
    world.checked("chat", "--model", "quote", stdin="What is sleep?\n/remember I have a dog\n")
    world.checked("config", "trust", "--yes")
    data = world.home / ".local" / "share" / "zkchat"
    (data / "history").write_bytes(HISTORY)
    (data / "trust.json").touch()


def files_of(world: FuzzWorld) -> list[Path]:
    found = [*world.home.rglob("*"), *(world.vault / ".zkchat").glob("*")]
    return sorted(path for path in found if path.is_file())


def damage(rng: Random, file: Path) -> None:
    """As a disk, a crash or a person would."""
    content = file.read_bytes()
    match rng.randrange(20):
        case 0:
            file.write_bytes(b"")
        case 1:
            file.write_text(mutation.text(rng, 5_000), errors="replace")
        case 2:
            Path(f"{file}-wal").write_bytes(rng.randbytes(rng.choice((0, 32, 5000))))
        case 3:
            Path(f"{file}-journal").write_bytes(mutation.mutated_bytes(rng, content[:6000]))
        case 4:
            other = rng.choice([path for path in file.parent.iterdir() if path.is_file()])
            file.write_bytes(other.read_bytes())
        case 5 | 6:
            replace_by_something_else(rng, file)
        case 7 | 8 | 9 | 10 | 11 | 12 if file.suffix == ".db":
            tamper(rng, file)
        case _:
            file.write_bytes(mutation.mutated_bytes(rng, content))


def tamper(rng: Random, file: Path) -> None:
    """As another program would that can open the database."""
    with closing(sqlite3.connect(file)) as database, suppress(sqlite3.Error):
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        table = rng.choice(tables)
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
        column, value = rng.choice(columns), rng.choice(("NULL", "x'ff00'", "''", "-1", "1e300", "'{'", "'[1]'"))
        statements = (
            f'UPDATE OR IGNORE "{table}" SET "{column}" = {value}',
            f'DELETE FROM "{table}"',
            f'DROP TABLE "{table}"',
            f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO other',
            f'CREATE TRIGGER odd AFTER INSERT ON "{table}" BEGIN DELETE FROM "{table}"; END',
            f'CREATE VIEW odd AS SELECT * FROM "{table}"',
            f"PRAGMA user_version = {rng.choice((0, 1, 99, -5, 2**31 - 1))}",
            f"PRAGMA application_id = {rng.randrange(2**31)}",
        )
        for name in [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")]:
            database.execute(f'DROP TRIGGER "{name}"')
        database.execute(rng.choice(statements))
        database.commit()


def replace_by_something_else(rng: Random, file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    match rng.randrange(10):
        case 0 | 1 | 2:
            file.mkdir()
        case 3:
            os.mkfifo(file)
        case 4 | 5 | 6 | 7:
            file.symlink_to(rng.choice(("elsewhere", "nowhere", file.name, "/dev/zero")))
        case _:
            pass


class Stores:
    def __init__(self, folders: Folders) -> None:
        self._worlds = Worlds(folders, prepare)

    def run(self, case: Case) -> None:
        rng = case.rng
        world = self._worlds.fresh(case)
        if rng.random() < 0.25:
            return self._sessions_are_recovered(case, world)
        if rng.random() < 0.15:
            world.variables["ZKCHAT_STORAGE__LOCATION"] = "vault"
            world.checked(*ASK)
        files = files_of(world)
        if rng.random() < 0.5:
            files = [file for file in files if file.suffix == ".db"]
        hurt = rng.sample(files, rng.choice((1, 1, 2, 4)))
        for file in hurt:
            damage(rng, file)
        called = [ASK, *rng.sample(COMMANDS, 3)]
        rng.shuffle(called)
        case.note("called.txt", "\n".join(map(str, (*hurt, *called))))
        for arguments in called:
            world.checked(*arguments)
        history = SharedHistory(world.home / ".local" / "share" / "zkchat" / "history", Pastes())
        require(all(isinstance(line, str) for line in history.load_history_strings()), "what was typed is text")
        return None

    def _sessions_are_recovered(self, case: Case, world: FuzzWorld) -> None:
        """Of damage within the file itself zkchat always starts, and nothing of the file is thrown away."""
        (file,) = world.home.rglob("sessions.db")
        damaged = mutation.mutated_bytes(case.rng, file.read_bytes())
        file.write_bytes(damaged)
        case.note("sessions.db", damaged)
        before = ("sessions", "list", "--all") if case.rng.random() < 0.5 else ("doctor",)
        world.checked(*before)
        result = world.checked(*ASK)
        require(
            result.code in {ExitCode.OK, ExitCode.NO_ANSWER}, "a damaged session store never stops a chat", result.err
        )
        listed = world.checked("sessions", "list", "--all", "--json")
        require(listed.code == 0, "sessions are listed after a recovery", listed.err)
        if len(listed.json) < 4:
            require(
                any(damaged == path.read_bytes() for path in file.parent.rglob("*") if path.is_file()),
                "a damaged session store is kept unless all of it is recovered",
                "\n".join(map(str, files_of(world))),
            )


def make(folders: Folders) -> Target:
    return Stores(folders)

"""The journal of changes in SQLite: plans, what files held before and after, by whom."""

import json
import sqlite3
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct

from zkchat.core import (
    ChangeOrigin,
    ChangeRecord,
    ChangeSet,
    FileConflict,
    FileMove,
    FilesChanged,
    FileWrite,
    UsageError,
    counted,
    is_in_trash,
    path_before_moves,
)
from zkchat.storage import (
    DurableDatabase,
    Recovered,
    Row,
    UnreadableRow,
    copies_of,
    execute_all,
    keep_reserve,
    open_recovered,
    read_rows,
    timestamp,
)


class ContentChange(Struct, frozen=True, kw_only=True):
    """A file that gets another content. None: there is no file."""

    path: str
    before: bytes | None
    after: bytes | None

    def reversed(self) -> "ContentChange":
        return ContentChange(path=self.path, before=self.after, after=self.before)


class Stage(Struct, frozen=True, kw_only=True):
    """One move, or all changes of contents, with the folders that it needs. Which one is at work is on disk."""

    move: FileMove | None = None
    contents: tuple[ContentChange, ...] = ()
    make: tuple[str, ...] = ()
    """Folders to be made first, the outer before the inner."""
    remove: tuple[str, ...] = ()
    """Folders to be removed at the end, where they are empty."""
    kept: bytes | None = None
    """What a file held that is moved to the trash, which the user may empty."""

    def reversed(self) -> "Stage":
        return Stage(
            move=self.move.reversed() if self.move else None,
            contents=tuple(each.reversed() for each in reversed(self.contents)),
            make=self.remove[::-1],
            remove=self.make[::-1],
            kept=self.kept,
        )

    def restoring(self) -> "Stage":
        """Undoes a move to the trash without the file there."""
        assert self.move is not None
        path = self.move.source
        return Stage(
            contents=(ContentChange(path=path, before=None, after=self.kept),),
            make=tuple(folders_above(path)),
            remove=self.make[::-1],
        )


Plan = tuple[Stage, ...]


def reverse(plan: Plan, restored: Container[int] = ()) -> Plan:
    """The way back; of the stages with these numbers, the file comes from the journal instead of the trash."""
    stages = [stage.restoring() if number in restored else stage.reversed() for number, stage in enumerate(plan)]
    return tuple(reversed(stages))


def plan_changes(changes: ChangeSet, is_taken: Callable[[str], bool]) -> Plan:
    """The stages of a change set: the moves, then the contents. `is_taken` tells what is on disk now."""
    outlook = Outlook(is_taken)
    stages = []
    for move in changes.moves:
        make = tuple(outlook.missing_folders([move.target]))
        outlook.move(move)
        stages.append(Stage(move=move, make=make))
    writes = [write for write in changes.writes if write.before != write.after]
    if writes:
        make = tuple(outlook.missing_folders([write.path for write in writes if write.before is None]))
        contents = tuple(ContentChange(path=each.path, before=each.before, after=each.after) for each in writes)
        stages.append(Stage(contents=contents, make=make))
    return tuple(stages)


class Outlook:
    """Which paths are taken while a plan is carried out, before anything of it is done."""

    def __init__(self, is_taken: Callable[[str], bool]) -> None:
        self._is_taken_on_disk = is_taken
        self._moves: list[FileMove] = []
        self._changed: dict[str, bytes | None] = {}
        """By present path, what the plan has put there, for a folder nothing; None where it has removed something."""

    def path_on_disk(self, path: str) -> str | None:
        """Where a file is now; None where the moves so far leave nothing at this path."""
        return path_before_moves(self._moves, path)

    def is_taken(self, path: str) -> bool:
        if path in self._changed:
            return self._changed[path] is not None
        if any(content is not None and each.startswith(f"{path}/") for each, content in self._changed.items()):
            return True
        on_disk = self.path_on_disk(path)
        return on_disk is not None and self._is_taken_on_disk(on_disk)

    def move(self, move: FileMove) -> None:
        self._moves.append(move)
        back = move.reversed()
        known = {path: content for path, content in self._changed.items() if back.follow(path) is None}
        self._changed = {move.follow(path) or path: content for path, content in known.items()}

    def change(self, path: str, content: bytes | None) -> None:
        self._changed[path] = content

    def read_bytes(self, path: str, read: Callable[[str], bytes | None]) -> bytes | None:
        """What a file will hold; `read` tells what is on disk."""
        if path in self._changed:
            return self._changed[path]
        on_disk = self.path_on_disk(path)
        return read(on_disk) if on_disk is not None and self._is_taken_on_disk(on_disk) else None

    def is_in_trash(self, path: str) -> bool:
        """Whether a file will come from the trash."""
        on_disk = None if path in self._changed else self.path_on_disk(path)
        return on_disk is not None and is_in_trash(on_disk)

    def missing_folders(self, paths: Sequence[str]) -> Iterator[str]:
        """The folders above these paths that are not there, which from now on are."""
        for path in paths:
            for folder in folders_above(path):
                if not self.is_taken(folder):
                    self._changed[folder] = b""
                    yield folder


def folders_above(path: str) -> list[str]:
    """Those of `a/b/c.md` are `a` and `a/b`."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]


def conflict_of(change: ContentChange, found: bytes | None) -> FileConflict:
    return FileConflict(path=change.path, expected=change.before, wanted=change.after, found=found)


def changed(change: ContentChange, found: bytes | None) -> FilesChanged:
    return files_changed([conflict_of(change, found)])


def files_changed(conflicts: Sequence[FileConflict]) -> FilesChanged:
    names = ", ".join(conflict.path for conflict in conflicts[:3])
    more = f" and {len(conflicts) - 3} more" if len(conflicts) > 3 else ""
    what = "already exists" if all(each.expected is None for each in conflicts) else "changed meanwhile"
    return FilesChanged(
        f"{names}{more} {what}. Nothing was written.",
        hint="Check the files as they are now, and try again.",
        conflicts=conflicts,
    )


MAX_CONTENT_BYTES: Final = 64 << 20
"""Of stored contents, as they are stored; those of the oldest changes are dropped first."""

_COMPRESSION: Final = 1
"""Of zlib: the default takes 1.4 times as long, and saves 3 % more of notes of 2 kB."""
_LISTED: Final = ("applied", "undone")
_COLUMNS: Final = "number, revision, state, at, title, command, session_id, message_id, steps"
_CHANGES: Final = f"SELECT {_COLUMNS} FROM changes"  # noqa: S608


def keep_content(connection: sqlite3.Connection, content: bytes, number: int) -> None:
    """Store what a file held, once, as used by the change of this number."""
    digest = digest_of(content)
    found = connection.execute("UPDATE contents SET last_used = ? WHERE digest = ?", (number, digest))
    if not found.rowcount:
        packed = b64encode(zlib.compress(content, level=_COMPRESSION)).decode("ascii")
        connection.execute("INSERT INTO contents VALUES (?, ?, ?, ?)", (digest, number, len(packed), packed))


def drop_oldest_contents(connection: sqlite3.Connection, *, before: int) -> None:
    """Remove contents until the rest fits; those that a change since `before` uses stay in any case."""
    (excess,) = connection.execute("SELECT COALESCE (SUM (size), 0) - ? FROM contents", (MAX_CONTENT_BYTES,)).fetchone()
    if excess <= 0:
        return
    rows = connection.execute("SELECT last_used, SUM (size) FROM contents GROUP BY last_used ORDER BY last_used")
    for last_used, size in rows.fetchall():
        if excess <= 0 or last_used >= before:
            break
        connection.execute("DELETE FROM contents WHERE last_used = ?", (last_used,))
        excess -= size


def stored_contents(connection: sqlite3.Connection, digests: Iterable[str], *, unpack: bool) -> dict[str, bytes]:
    """Those that are still there, by their digests; each counts as empty unless it is to be unpacked."""
    column = "content" if unpack else "''"
    found = {}
    for digest in digests:
        row = connection.execute(f"SELECT {column} FROM contents WHERE digest = ?", (digest,)).fetchone()  # noqa: S608
        if row is not None:
            found[digest] = unpacked_content(digest, row[0]) if unpack else b""
    return found


def unpacked_content(digest: str, packed: str) -> bytes:
    """A content as it was. Raises `ValueError` or `zlib.error` where it is not the one of the digest."""
    content = zlib.decompress(b64decode(packed, validate=True))
    if digest_of(content) != digest:
        raise ValueError(digest)
    return content


def digest_of(content: bytes | None) -> str | None:
    return None if content is None else sha256(content).hexdigest()


def steps_as_text(plan: Plan) -> str:
    return json.dumps(
        [
            {
                "move": [stage.move.source, stage.move.target] if stage.move else None,
                "contents": [[each.path, *map(digest_of, (each.before, each.after))] for each in stage.contents],
                "folders": stage.make,
                **({} if stage.kept is None else {"kept": digest_of(stage.kept)}),
            }
            for stage in plan
        ],
        ensure_ascii=False,
    )


def plan_from(steps: str, contents: dict[str, bytes]) -> Plan:
    """The plan; contents that are not given are empty."""

    def content(digest: str | None) -> bytes | None:
        return None if digest is None else contents.get(digest, b"")

    return tuple(
        Stage(
            move=FileMove(source=stage["move"][0], target=stage["move"][1]) if stage["move"] else None,
            contents=tuple(
                ContentChange(path=path, before=content(before), after=content(after))
                for path, before, after in stage["contents"]
            ),
            make=tuple(stage["folders"]),
            kept=contents.get(stage.get("kept")),
        )
        for stage in json.loads(steps)
    )


def change_set(title: str, plan: Plan) -> ChangeSet:
    return ChangeSet(
        title=title,
        moves=tuple(stage.move for stage in plan if stage.move),
        writes=tuple(
            FileWrite(path=each.path, before=each.before, after=each.after or b"")
            for stage in plan
            for each in stage.contents
        ),
    )


State = Literal["applying", "applied", "undoing", "undone", "failed"]


def _create_tables(connection: sqlite3.Connection) -> None:
    execute_all(
        connection,
        # Of a row that is found twice by a recovery, the higher revision counts.
        """CREATE TABLE changes (
            number INTEGER NOT NULL UNIQUE, revision INTEGER NOT NULL, state TEXT NOT NULL, at TEXT NOT NULL,
            title TEXT NOT NULL, command TEXT NOT NULL, session_id TEXT NOT NULL, message_id TEXT NOT NULL,
            steps TEXT NOT NULL)""",
        "CREATE INDEX changes_by_time ON changes (at)",
        "CREATE INDEX changes_unfinished ON changes (number) WHERE state IN ('applying', 'undoing')",
        # Text in base 64, which a recovery can read from the pages.
        """CREATE TABLE contents (
            digest TEXT NOT NULL UNIQUE, last_used INTEGER NOT NULL, size INTEGER NOT NULL, content TEXT NOT NULL)""",
        "CREATE INDEX contents_by_use ON contents (last_used, size)",
    )


class _ChangeRow(NamedTuple):
    number: int
    revision: int
    state: str
    at: str
    title: str
    command: str
    session_id: str
    message_id: str
    steps: str


class Journaled(NamedTuple):
    """A change set of the journal with the plan by which it was carried out."""

    record: ChangeRecord
    state: State
    plan: Plan


class SqliteChangeJournal(DurableDatabase):
    """All change sets of one vault, in the order in which they were made."""

    migrations = (_create_tables,)

    @property
    def path(self) -> Path:
        return self._path

    def begin(self, changes: ChangeSet, plan: Plan, origin: ChangeOrigin) -> ChangeRecord:
        """Write down what is going to be done; on disk when this returns."""
        record = self._retry_without_reserve(lambda: self._begin(changes, plan, origin))
        keep_reserve(self._path)
        return record

    def _begin(self, changes: ChangeSet, plan: Plan, origin: ChangeOrigin) -> ChangeRecord:
        at = self._now()
        with self._writing() as connection:
            (number,) = connection.execute("SELECT COALESCE (MAX (number), 0) + 1 FROM changes").fetchone()
            by = origin.command, origin.session_id, origin.message_id
            row = _ChangeRow(number, 1, "applying", timestamp(at), changes.title, *by, steps_as_text(plan))
            connection.execute(f"INSERT INTO changes ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608
            for stage in plan:
                contents = [content for change in stage.contents for content in (change.before, change.after)]
                for content in (*contents, stage.kept):
                    if content is not None:
                        keep_content(connection, content, number)
            drop_oldest_contents(connection, before=number)
        return ChangeRecord(id=number, at=at, state="applied", origin=origin, changes=changes)

    def mark(self, number: int, state: State) -> None:
        def write() -> None:
            with self._writing() as connection:
                statement = "UPDATE changes SET state = ?, revision = revision + 1 WHERE number = ?"
                connection.execute(statement, (state, number))

        self._retry_without_reserve(write)

    def get(self, number: int) -> Journaled:
        """Raises `UsageError` where there is no such change."""
        with self._reading() as connection:
            row = connection.execute(f"{_CHANGES} WHERE number = ? AND state <> 'failed'", (number,)).fetchone()
            if row is None:
                raise no_such_change(number)
            return _journaled(connection, row)

    def unfinished(self) -> list[Journaled]:
        """What a process that was killed has begun, newest first."""
        with self._reading() as connection:
            rows = connection.execute(
                f"{_CHANGES} WHERE state IN ('applying', 'undoing') ORDER BY number DESC"
            ).fetchall()
            return [_journaled(connection, row) for row in rows]

    def records(
        self, *, since: datetime | None = None, limit: int | None = None, with_contents: bool = True
    ) -> list[ChangeRecord]:
        """The latest first."""
        statement = f"{_CHANGES} WHERE state IN (?, ?) AND at >= ? ORDER BY number DESC LIMIT ?"
        first = timestamp(since) if since else ""
        with self._reading() as connection:
            rows = connection.execute(statement, (*_LISTED, first, -1 if limit is None else limit)).fetchall()
            return [_journaled(connection, row, with_contents=with_contents).record for row in rows]

    def last_move(self, move: FileMove) -> ChangeSet | None:
        """The last change set in force that made this move, if its contents are still there."""
        statement = f"{_CHANGES} WHERE state = 'applied' AND instr (steps, ?) ORDER BY number DESC LIMIT 1"
        step = json.dumps({"move": [move.source, move.target]}, ensure_ascii=False)[1:-1]
        with self._reading() as connection:
            row = connection.execute(statement, (step,)).fetchone()
            record = _journaled(connection, row).record if row else None
        return record.changes if record and record.has_contents and move in record.changes.moves else None

    def later_plans(self, number: int) -> list[tuple[int, str, Plan]]:
        """Number, title and steps, without the contents, of the changes after this one that are in force."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT number, title, steps FROM changes WHERE number > ? AND state = 'applied' ORDER BY number",
                (number,),
            ).fetchall()
            return [(later, title, plan_from(steps, {})) for later, title, steps in rows]

    def verify(self) -> None:
        with self._reading() as connection:
            for (state,) in connection.execute("SELECT DISTINCT state FROM changes"):
                _state(state)

    def verify_every_row(self) -> None:
        self.records()

    def describe_content(self) -> str:
        with self._reading() as connection:
            (number,) = connection.execute("SELECT COUNT (*) FROM changes WHERE state <> 'failed'").fetchone()
        return counted(number, "change") if number else ""

    @staticmethod
    def restore(connection: sqlite3.Connection, sources: Iterable[Path]) -> None:
        changes: dict[int, _ChangeRow] = {}
        contents: dict[str, tuple[str, int, int, str]] = {}
        for source in sources:
            for row in read_rows(source):
                with suppress(ValueError, TypeError, KeyError, zlib.error):
                    _sort_in(row, changes, contents)
        connection.executemany(
            f"INSERT INTO changes ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            [changes[number] for number in sorted(changes)],
        )
        connection.executemany("INSERT INTO contents VALUES (?, ?, ?, ?)", contents.values())


def no_such_change(number: int) -> UsageError:
    return UsageError(f"There is no change {number}.", hint="To list them: zkchat undo --list")


def _journaled(connection: sqlite3.Connection, values: Iterable[Any], *, with_contents: bool = True) -> Journaled:
    try:
        row = _ChangeRow(*values)
        stages = json.loads(row.steps)
        needed = {digest for stage in stages for _, *both in stage["contents"] for digest in both if digest}
        kept = {stage["kept"] for stage in stages if "kept" in stage}  # copies of what is in the trash
        contents = stored_contents(connection, needed | kept, unpack=with_contents)
        plan = plan_from(row.steps, contents)
        origin = ChangeOrigin(command=row.command, session_id=row.session_id, message_id=row.message_id)
        state = _state(row.state)
        record = ChangeRecord(
            id=row.number,
            at=datetime.fromisoformat(row.at),
            state="undone" if state == "undone" else "applied",
            origin=origin,
            changes=change_set(row.title, plan),
            has_contents=needed <= contents.keys(),
        )
    except (ValueError, TypeError, KeyError, zlib.error) as error:
        raise UnreadableRow from error
    return Journaled(record, state, plan)


def _state(text: object) -> State:
    match text:
        case "applying" | "applied" | "undoing" | "undone" | "failed":
            return text
    raise UnreadableRow(text)


def _sort_in(row: Row, changes: dict[int, _ChangeRow], contents: dict[str, tuple[str, int, int, str]]) -> None:
    """Keep a row that validates; its columns tell which table it is from."""
    match row:
        case (int(number), int(revision), str(state), str(at), str(), str(), str(), str(), str(steps)):
            plan_from(steps, {})
            datetime.fromisoformat(at)
            _state(state)
            if number not in changes or changes[number].revision < revision:
                changes[number] = _ChangeRow(*row)  # type: ignore[arg-type] # as the pattern says
        case (str(digest), int(last_used), int(), str(content)) if digest not in contents:
            unpacked_content(digest, content)
            contents[digest] = digest, last_used, len(content), content


def open_journal(
    path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]
) -> Recovered[SqliteChangeJournal]:
    """Open the journal, after a recovery if its file is damaged or missing."""
    return open_recovered(SqliteChangeJournal, path, now=now, new_id=new_id)


def is_there(path: Path) -> bool:
    """Whether there is a journal, or at least a copy of one."""
    return path.exists() or bool(copies_of(path))

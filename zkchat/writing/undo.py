"""Undoing changes of the journal: which ones, what that does to each file, and why it cannot be done."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from zkchat.core import (
    TRASH,
    ChangeRecord,
    ChangeSet,
    ChangeStore,
    FileConflict,
    FileMove,
    FilesChanged,
    FileWrite,
    UsageError,
    ZkchatError,
    counted,
    direct_moves,
    path_before,
    touches,
)
from zkchat.writing.proposals import touched_paths

_MAX_NAMED: Final = 3
"""Files that changed since."""

_MAX_DIGITS: Final = 9
"""Of a number of changes."""

_TRASHED: Final = f"{TRASH}/"


class UndoPlan(Struct, frozen=True):
    """Changes to be undone, all of which can be as things are."""

    chosen: tuple[ChangeRecord, ...]
    """The latest first."""
    taken_back: tuple[ChangeRecord, ...] = ()
    """Changes among them, or after them, whose files are already as they were: these only count as undone from now."""

    @property
    def in_order(self) -> list[ChangeRecord]:
        return sorted((*self.chosen, *self.taken_back), key=lambda record: -record.id)


def plan_undo(store: ChangeStore, count: int = 1) -> UndoPlan:
    """The last changes that are in force, checked before the first is undone.

    Raises `UsageError` where there are not so many, `FilesChanged` where one of them cannot be undone.
    """
    records = store.records(with_contents=False)
    found = _plan([record for record in records if record.state == "applied"], store, count)
    if not found.chosen and not found.taken_back:
        raise UsageError("There is nothing to undo.", hint="zkchat changed nothing in this vault, or all is undone.")
    if found.chosen and len(found.chosen) < count:
        number = counted(len(found.chosen), "change")
        raise UsageError(f"Only {number} can be undone.", hint="zkchat changes lists them.")
    return found


def plan_undo_named(store: ChangeStore, argument: str, hint: str) -> UndoPlan:
    """The change with a number (`#3`), or so many of the last ones; one where nothing is said.

    Raises `UsageError` with the hint for anything else, and what `plan_undo` and `plan_undo_of` raise.
    """
    if argument.startswith("#"):
        return plan_undo_of(store, store.record(parse_number(argument[1:], hint)))
    return plan_undo(store, parse_number(argument, hint) if argument else 1)


def parse_number(text: str, hint: str) -> int:
    """A number of changes, or of one. Raises `UsageError` with the hint for what is none."""
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS and int(text)):
        raise UsageError(f"{text!r} is not a number.", hint=hint)
    return int(text)


def plan_undo_of(store: ChangeStore, record: ChangeRecord) -> UndoPlan:
    """One change. Raises `UsageError` if it is undone already, `FilesChanged` if a later change, or somebody else,
    changed its files since."""
    if record.state == "undone":
        raise UsageError(f"Change {record.id} is undone already.", hint="zkchat changes lists them.")
    later = [each for each in store.records(with_contents=False) if each.state == "applied" and each.id > record.id]
    on_it = next((each for each in reversed(later) if _overlap(each, record)), None)
    if on_it is not None:
        raise FilesChanged(
            f"Change {record.id} ({record.changes.title}) cannot be undone by itself: change {on_it.id} "
            f"({on_it.changes.title}) was made to the same files after it.",
            hint=f"Undo that one first: zkchat undo --id {on_it.id}",
        )
    return _plan([record], store, 1)


def _plan(applied: Sequence[ChangeRecord], store: ChangeStore, count: int) -> UndoPlan:
    files = FilesAfterUndo(store)
    chosen: list[ChangeRecord] = []
    taken_back: list[ChangeRecord] = []
    for listed in applied:
        if len(chosen) == count:
            break
        record = store.record(listed.id)
        if record.has_contents and files.is_taken_back(record.changes):
            taken_back.append(record)
            continue
        try:
            files.undo(record)
        except FilesChanged as error:
            raise _with_way_on(error, record, chosen, applied, count) from None
        chosen.append(record)
    return UndoPlan(tuple(chosen), tuple(taken_back))


def _with_way_on(
    error: FilesChanged,
    stuck: ChangeRecord,
    before: Sequence[ChangeRecord],
    applied: Sequence[ChangeRecord],
    count: int,
) -> FilesChanged:
    """The error, with what can be undone nevertheless."""
    if count > 1:
        error.message = f"None of the {count} changes was undone. {error.message}"
    ways = [f"The {len(before)} after it: zkchat undo {len(before)}."] if before else []
    blocked = [stuck]
    for record in (each for each in applied if each.id < stuck.id):
        if not any(_overlap(each, record) for each in blocked):
            ways.append(f"Another change: zkchat undo --id {record.id}")
            break
        blocked.append(record)
    error.hint = " ".join([error.hint, *ways])
    return error


class FilesAfterUndo:
    """The files as they will be when changes are undone, without any being undone yet."""

    def __init__(self, store: ChangeStore) -> None:
        self._store = store
        self._steps: list[FileMove | tuple[str, bytes | None]] = []

    def undo(self, record: ChangeRecord) -> None:
        """Raises `FilesChanged` where a file is not what the change made of it."""
        changes = record.changes
        conflicts = [
            FileConflict(path=write.path, expected=write.after, wanted=write.before, found=found)
            for write in changes.writes
            if record.has_contents
            and self._is_known(write.path)
            and (found := self.read_bytes(write.path)) != write.after
        ]
        if conflicts:
            raise _refusal(record, conflicts)
        self._steps += [(write.path, write.before) for write in changes.writes]
        for move in reversed(changes.moves):
            if not self.is_taken(move.target) and not move.target.startswith(_TRASHED):
                reason = f"{move.target} is no longer there"
            elif self.is_taken(move.source) and move.source.casefold() != move.target.casefold():
                reason = f"{move.source} is there again"
            else:
                self._steps.append(move.reversed())
                continue
            raise FilesChanged(
                f"Change {record.id} ({changes.title}) is not undone: {reason}.", hint="Nothing was changed."
            )

    def is_taken_back(self, changes: ChangeSet) -> bool:
        """Whether all files are as they were before the changes already."""
        return all(
            self.read_bytes(path_before(changes, write.path)) == write.before for write in changes.writes
        ) and all(self.is_taken(move.source) and not self.is_taken(move.target) for move in direct_moves(changes))

    def read_bytes(self, path: str) -> bytes | None:
        on_disk, written = self._trace(path)
        if on_disk is None or not self._store.is_taken(on_disk):
            return written
        return self._store.read_bytes(on_disk)

    def is_taken(self, path: str) -> bool:
        below = f"{path}/"
        if any(not isinstance(step, FileMove) and step[1] and step[0].startswith(below) for step in self._steps):
            return True
        on_disk, written = self._trace(path)
        return written is not None if on_disk is None else self._store.is_taken(on_disk)

    def _is_known(self, path: str) -> bool:
        """Not so of a file that comes back from the trash: the store has it also where the trash was emptied."""
        on_disk, _ = self._trace(path)
        return on_disk is None or not on_disk.startswith(_TRASHED)

    def _trace(self, path: str) -> tuple[str | None, bytes | None]:
        """Where a file is now; None for one that will be written, with its content, or that will be gone."""
        for step in reversed(self._steps):
            if not isinstance(step, FileMove):
                if step[0] == path:
                    return None, step[1]
            elif (earlier := step.reversed().follow(path)) is not None:
                path = earlier
            elif step.follow(path) is not None:
                return None, None
        return path, None


def _overlap(later: ChangeRecord, earlier: ChangeRecord) -> bool:
    """Whether a change touches a file that the earlier one touched."""
    return any(touches(later.changes, path) for path in touched_paths(earlier.changes)) or any(
        touches(earlier.changes, path) for path in touched_paths(later.changes)
    )


def reversal(changes: ChangeSet) -> ChangeSet:
    """What undoing does, to be shown: a file that was created goes away."""
    return ChangeSet(
        title=f"Undo: {changes.title}",
        moves=tuple(move.reversed() for move in reversed(changes.moves)),
        writes=tuple(
            FileWrite(
                path=path_before(changes, write.path),
                before=write.after,
                after=write.before or b"",
                goes_away=write.before is None,
            )
            for write in changes.writes
        ),
    )


def undo_all(store: ChangeStore, plan: UndoPlan) -> Iterator[ChangeRecord]:
    """Undo the changes, and give each when it is done. An error tells how many were undone before it."""
    records = plan.in_order
    for done, record in enumerate(records):
        try:
            yield _undo_change(store, record)
        except ZkchatError as error:
            if done:
                error.message = f"{done} undone, {len(records) - done} not: {error.message}"
                error.hint = error.hint.replace("Nothing was changed.", "").strip()
            raise


def _undo_change(store: ChangeStore, record: ChangeRecord) -> ChangeRecord:
    try:
        return store.undo(record.id)
    except FilesChanged as error:
        raise (_refusal(record, error.conflicts) if error.conflicts else error) from error


def _refusal(record: ChangeRecord, conflicts: Sequence[FileConflict]) -> FilesChanged:
    paths = ", ".join(conflict.path for conflict in conflicts[:_MAX_NAMED])
    more = f" and {len(conflicts) - _MAX_NAMED} more" if len(conflicts) > _MAX_NAMED else ""
    return FilesChanged(
        f"Change {record.id} ({record.changes.title}) is not undone: {paths}{more} changed since.",
        hint="Nothing was changed. The first diff shows what zkchat did: take that back in your editor.",
        conflicts=conflicts,
    )

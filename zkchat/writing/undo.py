"""Undoing changes of the journal: which ones, what that does to each file, and why it cannot be done."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from zkchat.core import (
    ChangeRecord,
    ChangeSet,
    ChangeStore,
    FileConflict,
    FilesChanged,
    FileWrite,
    UsageError,
    ZkchatError,
    direct_moves,
    is_in_trash,
    path_before,
    touched_paths,
    touches,
)
from zkchat.writing.changes.journal import Outlook

_MAX_NAMED: Final = 3
"""Files that changed since."""


class UndoPlan(Struct, frozen=True):
    """Changes to be undone, all of which can be as things are."""

    chosen: tuple[ChangeRecord, ...]
    """The latest first."""
    taken_back: tuple[ChangeRecord, ...] = ()
    """Changes among them, or after them, whose files are already as they were: these only count as undone from now."""


def plan_undo(store: ChangeStore, count: int = 1) -> UndoPlan:
    """The last changes that are in force, checked before the first is undone.

    Raises `UsageError` where there are not so many, `FilesChanged` where one of them cannot be undone.
    """
    records = store.records(with_contents=False)
    found = _plan([record for record in records if record.state == "applied"], store, count)
    if not found.chosen and not found.taken_back:
        raise UsageError("There is nothing to undo.", hint="zkchat changed nothing in this vault, or all is undone.")
    if found.chosen and len(found.chosen) < count:
        number = "change" if len(found.chosen) == 1 else f"{len(found.chosen):,} changes"
        raise UsageError(f"Only the last {number} can be undone.", hint="See: zkchat undo --list")
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
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text)):
        raise UsageError(f"{text!r} is not a number.", hint=hint)
    return int(text)


def plan_undo_of(store: ChangeStore, record: ChangeRecord) -> UndoPlan:
    """One change. Raises `UsageError` if it is undone already, `FilesChanged` if a later change, or somebody else,
    changed its files since."""
    if record.state == "undone":
        raise UsageError(f"Change {record.id} is undone already.", hint="See: zkchat undo --list")
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
    files = Outlook(store.is_taken)
    chosen: list[ChangeRecord] = []
    taken_back: list[ChangeRecord] = []
    for listed in applied:
        if len(chosen) == count:
            break
        record = store.record(listed.id)
        if record.has_contents and _is_taken_back(record.changes, files, store):
            taken_back.append(record)
            continue
        try:
            _undo_in_mind(record, files, store)
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
    ways = [f"To undo only later changes: zkchat undo {len(before)}"] if before else []
    blocked = [stuck]
    for record in (each for each in applied if each.id < stuck.id):
        if not any(_overlap(each, record) for each in blocked):
            ways.append(f"To undo an earlier change instead: zkchat undo --id {record.id}")
            break
        blocked.append(record)
    error.hint = " ".join([error.hint, *ways])
    return error


def _undo_in_mind(record: ChangeRecord, files: Outlook, store: ChangeStore) -> None:
    """Let the files be as they will be. Raises `FilesChanged` where one is not what the change made of it.

    What comes back from the trash is not looked at: the store has it also where the trash was emptied.
    """
    changes = record.changes
    conflicts = [
        FileConflict(path=write.path, expected=write.after, wanted=write.before, found=found)
        for write in changes.writes
        if record.has_contents
        and not files.is_in_trash(write.path)
        and (found := files.read_bytes(write.path, store.read_bytes)) != write.after
    ]
    if conflicts:
        raise _refusal(record, conflicts)
    for write in changes.writes:
        files.change(write.path, write.before)
    for move in reversed(changes.moves):
        if not files.is_taken(move.target) and not is_in_trash(move.target):
            reason = f"{move.target} is no longer there"
        elif files.is_taken(move.source) and move.source.casefold() != move.target.casefold():
            reason = f"{move.source} is there again"
        else:
            files.move(move.reversed())
            continue
        raise FilesChanged(
            f"Change {record.id} ({changes.title}) is not undone: {reason}.", hint="Nothing was changed."
        )


def _is_taken_back(changes: ChangeSet, files: Outlook, store: ChangeStore) -> bool:
    """Whether all files are as they were before the changes already."""
    return all(
        files.read_bytes(path_before(changes, write.path), store.read_bytes) == write.before for write in changes.writes
    ) and all(files.is_taken(move.source) and not files.is_taken(move.target) for move in direct_moves(changes))


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
    records = sorted((*plan.chosen, *plan.taken_back), key=lambda record: -record.id)
    for done, record in enumerate(records):
        try:
            yield store.undo(record.id)
        except ZkchatError as failed:
            conflicts = failed.conflicts if isinstance(failed, FilesChanged) else ()
            error = _refusal(record, conflicts) if conflicts else failed
            if done:
                error.message = f"{done} undone, {len(records) - done} not: {error.message}"
                error.hint = error.hint.replace("Nothing was changed.", "").strip()
            raise error from failed.__cause__


def _refusal(record: ChangeRecord, conflicts: Sequence[FileConflict]) -> FilesChanged:
    paths = ", ".join(conflict.path for conflict in conflicts[:_MAX_NAMED])
    more = f" and {len(conflicts) - _MAX_NAMED} more" if len(conflicts) > _MAX_NAMED else ""
    return FilesChanged(
        f"Change {record.id} ({record.changes.title}) is not undone: {paths}{more} changed since.",
        hint="Nothing was changed. The first diff shows what zkchat did: undo that in your editor.",
        conflicts=conflicts,
    )

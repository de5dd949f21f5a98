"""The steps of a change set, which can be taken forwards and backwards, and what they expect of files."""

from collections.abc import Callable, Container, Iterator, Sequence

from msgspec import Struct

from zkchat.errors import FileConflict, FilesChanged
from zkchat.model.change import ChangeSet, FileMove


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
        self._changed: dict[str, bool] = {}
        """By present path, whether something is there that the plan has made or removed."""

    def path_on_disk(self, path: str) -> str | None:
        """Where a file is now; None where the moves so far leave nothing at this path."""
        for move in reversed(self._moves):
            if origin := move.reversed().follow(path):
                path = origin
            elif move.follow(path):
                return None
        return path

    def is_taken(self, path: str) -> bool:
        if path in self._changed:
            return self._changed[path]
        if any(there and each.startswith(f"{path}/") for each, there in self._changed.items()):
            return True
        on_disk = self.path_on_disk(path)
        return on_disk is not None and self._is_taken_on_disk(on_disk)

    def move(self, move: FileMove) -> None:
        self._moves.append(move)
        back = move.reversed()
        known = {path: there for path, there in self._changed.items() if back.follow(path) is None}
        self._changed = {move.follow(path) or path: there for path, there in known.items()}

    def change(self, path: str, *, is_there: bool) -> None:
        self._changed[path] = is_there

    def missing_folders(self, paths: Sequence[str]) -> Iterator[str]:
        """The folders above these paths that are not there, which from now on are."""
        for path in paths:
            for folder in folders_above(path):
                if not self.is_taken(folder):
                    self._changed[folder] = True
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
    what = "is there already" if all(each.expected is None for each in conflicts) else "changed meanwhile"
    return FilesChanged(
        f"{names}{more} {what}. Nothing was written.",
        hint="Look at what is there now, and try again.",
        conflicts=conflicts,
    )

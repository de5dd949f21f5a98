"""Whether a plan can be carried out as things are, before anything is done."""

from collections.abc import Iterator
from contextlib import suppress

from zkchat.errors import FileConflict, FilesChanged, NoteNotFound, VaultError
from zkchat.model.change import TRASH, FileMove
from zkchat.storage.changes.conflicts import conflict_of, files_changed
from zkchat.storage.changes.files import VaultTree, is_only_case
from zkchat.storage.changes.plan import ContentChange, Outlook, Plan, folders_above


def check(plan: Plan, files: VaultTree, *, is_undo: bool) -> None:
    """Raises `FilesChanged` with every file that is not what the plan expects, and `VaultError` for paths that no
    change may touch."""
    outlook = Outlook(files.is_taken)
    conflicts: list[FileConflict] = []
    for stage in plan:
        for folder in stage.make:
            outlook.change(folder, is_there=True)
        if stage.move:
            _check_move(stage.move, files, outlook, is_undo=is_undo)
            outlook.move(stage.move)
        for change in stage.contents:
            conflicts += _conflicts(change, files, outlook)
            outlook.change(change.path, is_there=change.after is not None)
        for folder in stage.remove:  # if something is left in one, that shows when it is in the way
            outlook.change(folder, is_there=False)
    if conflicts:
        raise files_changed(conflicts)


def rests_on(later: Plan, earlier: Plan) -> bool:
    """Whether a plan touches a file that the earlier one touched, or a folder above or below one."""
    first, second = _touched(earlier), _touched(later)
    above_first = {folder for path in first for folder in folders_above(path)}
    return any(path in first or path in above_first or not first.isdisjoint(folders_above(path)) for path in second)


def _touched(plan: Plan) -> set[str]:
    moves = [stage.move for stage in plan if stage.move]
    contents = {change.path for stage in plan for change in stage.contents}
    return contents | {path for move in moves for path in (move.source, move.target)}


def _conflicts(change: ContentChange, files: VaultTree, outlook: Outlook) -> Iterator[FileConflict]:
    on_disk = outlook.path_on_disk(change.path)
    if on_disk != change.path:
        files.require_changeable(change.path)
    if change.before is not None:
        found = None if on_disk is None else files.read_bytes(on_disk)
        if found != change.before:
            yield conflict_of(change, found)
        elif on_disk is not None:
            files.require_writable(on_disk)
        return
    _require_folders(change.path, files, outlook)
    if outlook.is_taken(change.path):
        found = None
        with suppress(VaultError):  # a folder, or a link
            found = None if on_disk is None else files.read_bytes(on_disk)
        yield conflict_of(change, found)


def _require_folders(path: str, files: VaultTree, outlook: Outlook) -> None:
    for folder in folders_above(path):
        on_disk = outlook.path_on_disk(folder)
        if on_disk is not None and files.is_file(on_disk):
            raise VaultError(
                f"{path} cannot be written: {folder} is a file, not a folder.", hint="Name another folder."
            )


def _check_move(move: FileMove, files: VaultTree, outlook: Outlook, *, is_undo: bool) -> None:
    files.require_changeable(move.source, or_trash=is_undo)
    files.require_changeable(move.target, or_trash=not is_undo)
    _require_folders(move.target, files, outlook)
    if move.target.startswith(f"{move.source}/"):
        raise VaultError(f"{move.source} cannot be moved into itself.")
    if not outlook.is_taken(move.source):
        if is_undo:
            in_trash = move.source.startswith(f"{TRASH}/")
            without = ", and the journal holds no copy of it" if in_trash else ""
            raise FilesChanged(
                f"{move.source} is no longer there{without}, so it cannot be moved back to {move.target}.",
                hint="Nothing was changed.",
            )
        raise NoteNotFound(f"There is no file {move.source} in the vault.")
    source, target = outlook.path_on_disk(move.source), outlook.path_on_disk(move.target)
    is_same = is_only_case(move) and source and target and files.is_one_file(source, target)
    if outlook.is_taken(move.target) and not is_same:
        kind = FilesChanged if is_undo else VaultError
        raise kind(f"{move.target} is there already, and was left as it is.", hint="Nothing was changed.")
    if source is not None:
        files.require_movable(FileMove(source=source, target=move.target))

"""Changes staged over a vault, and rebased where files changed since."""

import posixpath
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    TRASH,
    ChangeableFiles,
    ChangeSet,
    EditRefused,
    FileConflict,
    FileMove,
    FilesChanged,
    FileWrite,
    LineBlock,
    NoteNotFound,
    NoteUnreadable,
    VaultError,
    changed_blocks,
    counted,
    path_before_moves,
    split_lines,
)

MAX_CONTEXT_LINES: Final = 8
"""Lines on each side of a passage by which its place is looked for."""


class Edit(Struct, frozen=True):
    """How a text was changed, so that another text can be changed in the same way."""

    change: Callable[[str], str]
    """Raises `EditRefused` where that cannot be done."""
    replaces: bool = False
    """Whether it may take lines away; else it only adds."""


class Followed(Struct, frozen=True, kw_only=True):
    """Changes with moves on top of what the files hold now."""

    changes: ChangeSet
    links: int = 0
    """How many links follow that did not before."""
    unseen: tuple[str, ...] = ()
    """Files that were no part of the changes before."""
    rebased: tuple[str, ...] = ()
    """Files of the changes that somebody else has changed."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know of it, as sentences."""
        said = [brought_to_present(self.rebased)] if self.rebased else []
        if self.links:
            said.append(f"Also changed: {counted(self.links, 'link')} added in the meantime.")
        return tuple(said)


def brought_to_present(paths: Iterable[str]) -> str:
    return f"Changed meanwhile: {', '.join(paths)}. The proposal was adapted to the new text."


FollowLinks = Callable[[ChangeSet, frozenset[str]], Followed]
"""Brings changes with moves to the present files, without the files that the user left out, by their paths."""


def rebase_changes(
    changes: ChangeSet, conflicts: Iterable[FileConflict], edits: Mapping[str, Sequence[Edit]]
) -> tuple[ChangeSet, list[str]]:
    """The same changes made to the files as they were found, and the paths of those that had changed.

    `edits` tells by path how the changes were made.

    Where it is known how a change was made it is made again, unless that would take other lines away. Else each changed
    passage has to be there untouched, and only once, with the lines around it. Raises `FilesChanged` with the files of
    which neither is so.
    """
    found = {conflict.path: conflict for conflict in conflicts}
    writes: list[FileWrite] = []
    clashes: list[FileConflict] = []
    for write in changes.writes:
        conflict = found.pop(write.path, None)
        if conflict is None:
            writes.append(write)
        elif (after := _rebase_write(write, conflict.found, edits.get(write.path, ()))) is None:
            clashes.append(conflict)
        elif after != conflict.found:
            writes.append(replace(write, before=conflict.found, after=after))
    clashes += found.values()
    if clashes:
        raise changed_meanwhile(clashes)
    touched = {write.path for write in changes.writes if write not in writes}
    return replace(changes, writes=tuple(writes)), sorted(touched)


def changed_meanwhile(clashes: Sequence[FileConflict]) -> FilesChanged:
    """The error for files that somebody else changed where they are to be changed."""
    names = ", ".join(clash.path for clash in clashes)
    return FilesChanged(
        f"Another program changed the same lines meanwhile: {names}.", hint="Nothing was written.", conflicts=clashes
    )


def _rebase_write(write: FileWrite, found: bytes | None, edits: Sequence[Edit]) -> bytes | None:
    """What was found, with the edits that made a file of what it was, unless they would take other lines away."""
    if found is not None and edits:
        with suppress(UnicodeDecodeError, EditRefused):
            text = found.decode()
            for edit in edits:
                text = edit.change(text)
            after, replaces = text.encode(), any(edit.replaces for edit in edits)
            if not replaces or _taken_away(found, after) == _taken_away(write.before, write.after):
                return after
    return rebase_content(write.before, write.after, found)


def _taken_away(before: bytes | None, after: bytes) -> Counter[bytes]:
    return Counter((before or b"").splitlines()) - Counter(after.splitlines())


def rebase_content(before: bytes | None, after: bytes, found: bytes | None) -> bytes | None:
    """What was found, with the passages replaced that differ between before and after; None where they clash."""
    if found == after:
        return after
    if before is None or found is None:
        return None
    try:
        old, new, present = (split_lines(content.decode()) for content in (before, after, found))
    except UnicodeDecodeError:
        return None
    edits: list[tuple[int, LineBlock]] = []
    for block in changed_blocks(old, new):
        place = _place(block, old, present)
        if place is None or (edits and place < edits[-1][0] + edits[-1][1].old_end - edits[-1][1].old_start):
            return None
        edits.append((place, block))
    for place, block in reversed(edits):
        present[place : place + block.old_end - block.old_start] = new[block.new_start : block.new_end]
    return "".join(present).encode()


def _place(block: LineBlock, old: Sequence[str], present: Sequence[str]) -> int | None:
    """The line of the present text at which a block begins; None where it is not there, or not only once."""
    if block.old_start == block.old_end == len(old) and present[: len(old)] == old:
        return len(present) if not present or present[-1].endswith("\n") else None
    for context in range(1, MAX_CONTEXT_LINES + 1):
        start, end = max(0, block.old_start - context), min(len(old), block.old_end + context)
        passage = old[start:end]
        if len(_places(passage, old)) > 1:
            continue
        places = _places(passage, present)
        return places[0] + block.old_start - start if len(places) == 1 else None
    return None


def _places(passage: Sequence[str], lines: Sequence[str]) -> list[int]:
    first = passage[:1]
    return [n for n, line in enumerate(lines) if [line] == first and lines[n : n + len(passage)] == passage]


class _Write(Struct, frozen=True):
    """What becomes of one file."""

    before: bytes | None
    """What it held when the change was made; None for a new one."""
    after: bytes
    edits: tuple[Edit | None, ...]
    """How the one was made of the other; None where that cannot be done again."""


class StagedChanges:
    """Changes that grow, one on top of the other, and become one change set. Nothing is written here."""

    def __init__(
        self, files: ChangeableFiles, last_applied: Callable[[FileMove], ChangeSet | None] = lambda _: None
    ) -> None:
        """`last_applied` tells the last change set of the journal that made a move."""
        self._files = files
        self._last_applied = last_applied
        self._moves: list[FileMove] = []
        self._writes: dict[str, _Write] = {}
        """By present path."""
        self._held: dict[str, bytes] = {}
        self.titles: list[str] = []
        """What each change does, in a few words."""
        self.remarks: list[str] = []
        """What the user should know of the changes, as sentences."""
        self.reasons_to_ask: list[str] = []
        """Why the user has to be asked whatever the settings accept, as sentences."""
        self.refusals: dict[str, str] = {}
        """By path, why none of it can be applied, as sentences for the user that the model may not be told."""
        self.revision = 0
        """Grows with every change, also when all are taken back."""

    def __bool__(self) -> bool:
        return bool(self._moves or self._writes)

    def read(self, path: str) -> str | None:
        """The text of a file as it will be, every character of it; None where there will be no file.

        Raises `NoteUnreadable`, and `EditRefused` for what is no UTF-8, which could not be written back as it was.
        """
        content = self.read_bytes(path)
        try:
            return None if content is None else content.decode()
        except UnicodeDecodeError:
            raise EditRefused(f"{path} is not UTF-8 throughout, and was not changed.") from None

    def staged_bytes(self, path: str) -> bytes | None:
        return self._writes[path].after if path in self._writes else self._held.get(path)

    @contextmanager
    def holding(self, path: str) -> Iterator[None]:
        """Read a file once, whoever asks: what a change is checked against is then what it is made from."""
        text = self.read(path)
        if text is not None:
            self._held[path] = text.encode()
        try:
            yield
        finally:
            self._held.clear()

    def read_bytes(self, path: str) -> bytes | None:
        if (content := self.staged_bytes(path)) is not None:
            return content
        on_disk = self.path_on_disk(path)
        return None if on_disk is None else self._files.read_bytes(on_disk)

    def is_taken(self, path: str) -> bool:
        return any(_is_within(each, path) for each in self._writes) or self._is_moved_or_on_disk(path)

    @property
    def new_paths(self) -> list[str]:
        return [path for path, write in self._writes.items() if write.before is None]

    def path_on_disk(self, path: str) -> str | None:
        return path_before_moves(self._moves, path)

    def path_after(self, path: str) -> str:
        """Where a file that is on disk will be."""
        for move in self._moves:
            path = move.follow(path) or path
        return path

    def write(self, path: str, text: str, *, made_from: str, title: str, edit: Edit | None = None) -> None:
        """Give a file a new text, made from what `read` gave. One that stays the same is not written.

        The file is not read again: what it holds when the change is applied is compared with what the text was made
        from. `edit` tells how, so that it can be done again.
        """
        content = _encode(text)
        staged = self._writes.get(path) or _Write(made_from.encode(), b"", ())
        if staged.before == content:
            self._writes.pop(path, None)
        else:
            self._writes[path] = _Write(staged.before, content, (*staged.edits, edit))
        self._note(title)

    def create(self, path: str, text: str, *, title: str, edit: Edit | None = None) -> None:
        """Add a file. Raises `VaultError` where something has that path.

        `edit` tells what is done to the file if somebody else adds it meanwhile.
        """
        content = _encode(text)
        if self.is_taken(path):
            raise VaultError(f"{path} already exists, and was not changed.", hint="Choose another name.")
        self._check_folders(path)
        self._writes[path] = _Write(None, content, (edit,))
        self._note(title)

    def move(self, source: str, target: str, *, title: str) -> None:
        """Give a file, or a folder, another path. Raises `VaultError` where nothing is, or something is at the target.

        A name that differs only in case is another name, also where the disk ignores case.
        """
        if not self.is_taken(source):
            raise NoteNotFound(f"There is no file {source} in the vault.")
        # Two names may be of one file, because the disk ignores case or normal form.
        is_alike = source != target and same_name(source) == same_name(target)
        if self.is_taken(target) and not (is_alike and self.read_bytes(source) == self.read_bytes(target)):
            raise VaultError(f"{target} already exists, and was not changed.", hint="Choose another name.")
        if _is_within(same_name(target), same_name(source)) and same_name(target) != same_name(source):
            raise VaultError(f"{source} cannot be moved into itself.", hint="Choose another folder.")
        self._check_folders(target)
        move = FileMove(source=source, target=target)
        if self._is_moved_or_on_disk(source):
            self._moves.append(move)
        self._writes = {move.follow(path) or path: write for path, write in self._writes.items()}
        self._note(title)

    def trash(self, path: str, *, title: str) -> None:
        """Move a file, or a folder, to the trash of the vault as it is on disk; what was only staged is gone."""
        if not self.is_taken(path):
            raise NoteNotFound(f"There is no file {path} in the vault.")
        self._writes = {each: write for each, write in self._writes.items() if not _is_within(each, path)}
        if self._is_moved_or_on_disk(path):
            self.move(path, self._free_place_in_trash(path), title=title)
        else:
            self._note(title)

    def set_aside(self, path: str, reason: str) -> None:
        """See the files as if nothing were at this path: what is staged is only shown then, and why it is refused."""
        self._moves.append(FileMove(source=path, target=self._free_place_in_trash(path)))
        self.refusals[path] = reason
        self.revision += 1

    def change_set(self) -> ChangeSet:
        first, *others = [*dict.fromkeys(self.titles)] or ["Nothing"]
        return ChangeSet(
            title=f"{first}, and {len(others)} more" if others else first,
            moves=tuple(move for move in self._moves if move.source not in self.refusals),
            writes=tuple(
                FileWrite(path=path, before=write.before, after=write.after) for path, write in self._writes.items()
            ),
        )

    def edits(self) -> dict[str, tuple[Edit, ...]]:
        """By path, how the writes were made that can be made again of another text."""
        return {
            path: edits
            for path, write in self._writes.items()
            if len(edits := tuple(filter(None, write.edits))) == len(write.edits)
        }

    def last_move(self, source: str, target: str) -> ChangeSet | None:
        """The last change set that made this move, staged or applied."""
        move = FileMove(source=source, target=target)
        staged = self.change_set()
        return staged if move in staged.moves else self._last_applied(move)

    def clear(self) -> None:
        kept = self._moves, self._writes, self.titles, self.remarks, self.reasons_to_ask, self.refusals
        for each in kept:
            each.clear()
        self.revision += 1

    def _note(self, title: str) -> None:
        self.titles.append(title)
        self.revision += 1

    def _is_moved_or_on_disk(self, path: str) -> bool:
        """Whether something of the disk will be at this path, after the moves."""
        on_disk = self.path_on_disk(path)
        if on_disk is not None and self._files.is_taken(on_disk):
            return True
        moved: list[str] = []
        for move in self._moves:
            moved = [*(move.follow(each) or each for each in moved), move.target]
        return any(_is_within(each, path) for each in moved)

    def _check_folders(self, path: str) -> None:
        """Raise `VaultError` where a file is in the way of the folders of a path."""
        folder = path.rpartition("/")[0]
        while folder and folder != TRASH:
            is_file = folder in self._writes
            if not is_file and self.is_taken(folder):
                with suppress(NoteUnreadable):  # a folder, or what cannot be told from one: writing it will show
                    is_file = self.read_bytes(folder) is not None
            if is_file:
                raise VaultError(f"{folder} is a file, not a folder.", hint="Choose another folder.")
            folder = folder.rpartition("/")[0]

    def _free_place_in_trash(self, path: str) -> str:
        name = path.rpartition("/")[2]
        stem, suffix = posixpath.splitext(name)
        names = chain([name], (f"{stem} {number}{suffix}" for number in count(2)))
        return next(place for place in (f"{TRASH}/{each}" for each in names) if not self.is_taken(place))


def _is_within(path: str, folder: str) -> bool:
    """Whether a path is that of a file or folder, or of something in that folder."""
    return path == folder or path.startswith(f"{folder}/")


def same_name(path: str) -> str:
    """A key under which names are equal that some disks take for one: it ignores case and normal form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _encode(text: str) -> bytes:
    if "\0" in text:
        raise EditRefused("The text contains a NUL character, which notes cannot have.", hint="Leave it out.")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise EditRefused("The text contains an invalid character.", hint="Leave it out.") from None

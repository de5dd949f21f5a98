"""Bring proposed changes to files that somebody else changed meanwhile, where both can be kept."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.errors import EditRefused, FileConflict, FilesChanged
from zkchat.model.change import ChangeSet, FileWrite
from zkchat.model.line_diff import Block, changed_blocks, split_lines

MAX_CONTEXT_LINES: Final = 8
"""Lines on each side of a passage by which its place is looked for."""


class Edit(Struct, frozen=True):
    """How a text was changed, so that another text can be changed in the same way."""

    change: Callable[[str], str]
    """Raises `EditRefused` where that cannot be done."""
    replaces: bool = False
    """Whether it may take lines away; else it only adds."""


class Rebased(Struct, frozen=True, kw_only=True):
    """Changes on top of what the files hold now."""

    changes: ChangeSet
    paths: tuple[str, ...] = ()
    """The files that had changed."""


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
            follow = "1 more link follows" if self.links == 1 else f"{self.links} more links follow"
            said.append(f"{follow}, written meanwhile.")
        return tuple(said)


def brought_to_present(paths: Iterable[str]) -> str:
    return f"Changed meanwhile: {', '.join(paths)}. The proposal was brought to the present text."


FollowLinks = Callable[[ChangeSet, frozenset[str]], Followed]
"""Brings changes with moves to the present files, without the files that the user left out, by their paths."""


def rebase_changes(
    changes: ChangeSet,
    conflicts: Iterable[FileConflict],
    edits: Mapping[str, Sequence[Edit]] | None = None,
) -> Rebased:
    """The same changes made to the files as they were found. `edits` tells by path how they were made.

    Where it is known how a change was made it is made again, unless that would take other lines away. Else each changed
    passage has to be there untouched, and only once, with the lines around it. Raises `FilesChanged` with the files of
    which neither is so.
    """
    edits = edits or {}
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
    return Rebased(changes=replace(changes, writes=tuple(writes)), paths=tuple(sorted(touched)))


def changed_meanwhile(clashes: Sequence[FileConflict]) -> FilesChanged:
    """The error for files that somebody else changed where they are to be changed."""
    names = ", ".join(clash.path for clash in clashes)
    return FilesChanged(
        f"Changed meanwhile, in the same place: {names}.", hint="Nothing was written.", conflicts=clashes
    )


def _rebase_write(write: FileWrite, found: bytes | None, edits: Sequence[Edit]) -> bytes | None:
    again = remake(write, found, edits) if found is not None and edits else None
    return rebase_content(write.before, write.after, found) if again is None else again


def remake(write: FileWrite, found: bytes, edits: Sequence[Edit]) -> bytes | None:
    """What was found, with the edits that made a file of what it was; None where they would take other lines away."""
    try:
        text = found.decode()
        for edit in edits:
            text = edit.change(text)
    except (UnicodeDecodeError, EditRefused):
        return None
    after = text.encode()
    if any(edit.replaces for edit in edits) and _taken_away(found, after) != _taken_away(write.before, write.after):
        return None
    return after


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
    edits: list[tuple[int, Block]] = []
    for block in changed_blocks(old, new):
        place = _place(block, old, present)
        if place is None or (edits and place < edits[-1][0] + edits[-1][1].old_end - edits[-1][1].old_start):
            return None
        edits.append((place, block))
    for place, block in reversed(edits):
        present[place : place + block.old_end - block.old_start] = new[block.new_start : block.new_end]
    return "".join(present).encode()


def _place(block: Block, old: Sequence[str], present: Sequence[str]) -> int | None:
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
    if not passage:
        return []
    first = passage[0]
    return [
        number
        for number, line in enumerate(lines)
        if line == first and lines[number : number + len(passage)] == passage
    ]

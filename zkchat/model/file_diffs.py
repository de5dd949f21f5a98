"""What changes in each file of a change set, counted, and which of its changes belong together."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.model.change import TRASH, ChangeSet, FileMove, FileWrite
from zkchat.model.change_summary import FileChange, file_changes
from zkchat.model.line_diff import Block, changed_blocks, split_lines
from zkchat.model.note import is_note
from zkchat.model.patch import is_folder_move, path_before, text_of

_LINK: Final = re.compile(r"\[\[[^\[\]\n]*\]\]|\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|^ {0,3}\[[^\]\n]+\]:\s*\S.*")
"""Wikilinks, the targets of Markdown links, and reference definitions."""
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


class FileDiff(Struct, frozen=True, kw_only=True):
    """What changes in one file, or that a folder moves."""

    change: FileChange
    write: FileWrite | None = None
    is_folder: bool = False
    added: int = 0
    """Lines that are new, and lines that go."""
    removed: int = 0
    links: int = 0
    """Of a file in which nothing changes but links, because something moves: how many do."""

    @property
    def only_follows(self) -> bool:
        """Whether it is only changed because something else moves."""
        return self.links > 0 and self.change.action == "edited"


def file_diffs(changes: ChangeSet) -> list[FileDiff]:
    """What becomes of each file: moves first, then writes."""
    written = {write.path: write for write in changes.writes}
    return [_diff_of(changes, change, written.get(change.path)) for change in file_changes(changes)]


def _diff_of(changes: ChangeSet, change: FileChange, write: FileWrite | None) -> FileDiff:
    move = FileMove(source=change.moved_from, target=change.path)
    is_folder = bool(change.moved_from) and write is None and is_folder_move(changes, move)
    if write is None:
        return FileDiff(change=change, is_folder=is_folder)
    old, new = split_lines(text_of(write.before)), split_lines(text_of(write.after))
    blocks = changed_blocks(old, new)
    follows = bool(changes.moves) and write.before is not None
    return FileDiff(
        change=change,
        write=write,
        added=sum(block.new_end - block.new_start for block in blocks),
        removed=sum(block.old_end - block.old_start for block in blocks),
        links=_updated_links(blocks, old, new, write.path) if follows else 0,
    )


def _updated_links(blocks: Sequence[Block], old: Sequence[str], new: Sequence[str], path: str) -> int:
    """How many links differ; 0 where anything else does, too."""
    count = 0
    for block in blocks:
        if block.old_end - block.old_start != block.new_end - block.new_start:
            return 0
        pairs = zip(old[block.old_start : block.old_end], new[block.new_start : block.new_end], strict=True)
        for before, after in pairs:
            if not is_note(path):
                count += max(1, _differing_links(before, after), _differing_texts(before, after))
            elif _LINK.sub("", before) != _LINK.sub("", after):
                return 0
            else:
                count += max(1, _differing_links(before, after))
    return count


def _differing_links(before: str, after: str) -> int:
    return sum(one != other for one, other in zip_longest(_LINK.findall(before), _LINK.findall(after)))


def _differing_texts(before: str, after: str) -> int:
    """The same in a line of a canvas or base, where a quoted text is a path or holds links."""
    pairs = zip_longest(_QUOTED.findall(before), _QUOTED.findall(after), fillvalue="")
    return sum(max(1, _differing_links(one, other)) for one, other in pairs if one != other)


def is_in_trash(path: str) -> bool:
    return path.startswith(f"{TRASH}/")


def units_of(changes: ChangeSet) -> list[ChangeSet]:
    """The parts of a change set that make sense without each other, in their order.

    What moves, and every file in which links follow, is one of them; so is each other file.
    """
    moves = [move for move in changes.moves if not _is_alone(move, changes)]
    alone = [move for move in changes.moves if move not in moves]
    following = [write for write in changes.writes if moves and _follows(write, changes)]
    first = [ChangeSet(title=_move_title(moves), moves=tuple(moves), writes=tuple(following))] if moves else []
    return [
        *first,
        *(ChangeSet(title=_move_title([move]), moves=(move,)) for move in alone),
        *(ChangeSet(title=_write_title(each), writes=(each,)) for each in changes.writes if each not in following),
    ]


def joined(changes: ChangeSet, units: Sequence[ChangeSet]) -> ChangeSet:
    """The change set with nothing but these parts of it, in their first order."""
    moves = {move for unit in units for move in unit.moves}
    writes = {write.path: write for unit in units for write in unit.writes}
    return replace(
        changes,
        moves=tuple(move for move in changes.moves if move in moves),
        writes=tuple(writes[write.path] for write in changes.writes if write.path in writes),
    )


def _is_alone(move: FileMove, changes: ChangeSet) -> bool:
    """Whether it is a file that goes to the trash, with which nothing else has to do."""
    ends = {end for other in changes.moves if other != move for end in (other.source, other.target)}
    return is_in_trash(move.target) and not any(
        _overlap(end, place) for end in (move.source, move.target) for place in ends
    )


def _overlap(path: str, other: str) -> bool:
    return path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/")


def _follows(write: FileWrite, changes: ChangeSet) -> bool:
    """Whether a file has to be written because something moves: it moves itself, or some link in it changes."""
    if path_before(changes, write.path) != write.path or (write.before is not None and not is_note(write.path)):
        return True
    if write.before is None:
        return any(write.path.startswith(f"{move.target}/") for move in changes.moves)
    before, after = text_of(write.before), text_of(write.after)
    return sorted(_links(before)) != sorted(_links(after))


def _links(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield from _LINK.findall(line)


def _move_title(moves: Sequence[FileMove]) -> str:
    first = moves[0]
    place = "the trash" if is_in_trash(first.target) else first.target
    return f"Move {first.source} to {place}" + (f", and {len(moves) - 1} more" if len(moves) > 1 else "")


def _write_title(write: FileWrite) -> str:
    return f"{'Create' if write.before is None else 'Edit'} {write.path}"

"""Changes of a vault's files: by lines, proposed, as a patch, counted, summarised, undone."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from itertools import pairwise, zip_longest
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core.choices import Decision
from zkchat.core.note import file_title, is_note, without_suffix

CONTEXT_LINES: Final = 3
"""Unchanged lines around a change."""
_MAX_PRODUCT: Final = 10_000
"""Of the lines on both sides of a passage without a unique line in common, up to which it is compared closely."""
_MAX_PASSAGES: Final = 1_000
"""Passages that are compared closely; all further ones count as replaced."""
_MAX_READINGS: Final = 30
"""Times that each line is looked at, on the average, in search of unique ones."""


class ChangeTool(NamedTuple):
    """What people and programs are told of a tool that changes notes."""

    words: str
    kind: Literal["edit", "move", "delete"] = "edit"
    takes_away: bool = False
    twice_is_once: bool = False


CHANGE_TOOLS: Final[Mapping[str, ChangeTool]] = {
    "create_document": ChangeTool("new note"),
    "edit_document": ChangeTool("edit", takes_away=True),
    "edit_section": ChangeTool("edit section of", takes_away=True),
    "set_property": ChangeTool("set property of", takes_away=True, twice_is_once=True),
    "add_tag": ChangeTool("tag", twice_is_once=True),
    "append_daily": ChangeTool("add to the daily note"),
    "create_from_template": ChangeTool("new note from template"),
    "rename_document": ChangeTool("rename", "move", takes_away=True),
    "move_document": ChangeTool("move", "move", takes_away=True),
    "delete_document": ChangeTool("to the trash", "delete", takes_away=True),
}
"""By their names. They are the methods of `writing/tools.py`."""

Mark = Literal[" ", "-", "+"]


class LineBlock(NamedTuple):
    """Lines that were replaced by others, as ranges of line numbers from 0; one of the ranges may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class DiffLine(NamedTuple):
    """One line of a hunk, with its line end."""

    mark: Mark
    text: str


class Hunk(Struct, frozen=True, kw_only=True):
    """Changed lines that stand close to each other, with some unchanged ones around them. Numbers are from 0."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[DiffLine, ...]


def split_lines(text: str) -> list[str]:
    """The lines with their ends. Only a line feed ends one, as in a patch."""
    lines = text.split("\n")
    return [*(f"{line}\n" for line in lines[:-1]), *([lines[-1]] if lines[-1] else [])]


def changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[LineBlock]:
    """What has to be replaced to make the new lines of the old ones, in order."""
    matches = [*_matches(old, new), (len(old), len(new))]
    blocks: list[LineBlock] = []
    for (old_before, new_before), (old_at, new_at) in pairwise([(-1, -1), *matches]):
        if old_at > old_before + 1 or new_at > new_before + 1:
            blocks.append(LineBlock(old_before + 1, old_at, new_before + 1, new_at))
    return blocks


def hunks_of(old: Sequence[str], new: Sequence[str], context: int = CONTEXT_LINES) -> Iterator[Hunk]:
    """The changed lines with their context; changes that stand close to each other are one hunk."""
    groups: list[list[LineBlock]] = []
    for block in changed_blocks(old, new):
        if groups and block.old_start - groups[-1][-1].old_end <= 2 * context:
            groups[-1].append(block)
        else:
            groups.append([block])
    for blocks in groups:
        before = min(context, blocks[0].old_start)
        after = min(context, len(old) - blocks[-1].old_end)
        start, end = blocks[0].old_start - before, blocks[-1].old_end + after
        lines: list[DiffLine] = []
        place = start
        for block in blocks:
            lines += (DiffLine(" ", line) for line in old[place : block.old_start])
            lines += (DiffLine("-", line) for line in old[block.old_start : block.old_end])
            lines += (DiffLine("+", line) for line in new[block.new_start : block.new_end])
            place = block.old_end
        lines += (DiffLine(" ", line) for line in old[place:end])
        new_start = blocks[0].new_start - before
        counts = {"old_count": end - start, "new_count": blocks[-1].new_end + after - new_start}
        yield Hunk(old_start=start, new_start=new_start, lines=tuple(lines), **counts)


def _matches(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of equal lines, in order: those that are unique on both sides first, then what stands between them."""
    passages_left, lines_left = _MAX_PASSAGES, _MAX_READINGS * (len(old) + len(new))
    passages: list[tuple[int, int, int, int] | tuple[int, int]] = [(0, len(old), 0, len(new))]
    while passages:
        passage = passages.pop()
        if len(passage) == 2:
            yield passage
            continue
        a, a_end, b, b_end = passage
        while a < a_end and b < b_end and old[a] == new[b]:
            yield a, b
            a, b = a + 1, b + 1
        ending: list[tuple[int, int]] = []
        while a < a_end and b < b_end and old[a_end - 1] == new[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
            ending.append((a_end, b_end))
        passages += ending
        lines_left -= a_end - a + b_end - b
        if a == a_end or b == b_end or lines_left < 0:
            continue
        anchors = _unique_matches(old[a:a_end], new[b:b_end])
        if anchors:
            bounds = [(a - 1, b - 1), *((a + i, b + j) for i, j in anchors), (a_end, b_end)]
            inner: list[tuple[int, int, int, int] | tuple[int, int]] = []
            for (i, j), (next_i, next_j) in pairwise(bounds):
                inner += [(i + 1, next_i, j + 1, next_j), (next_i, next_j)]
            passages += reversed(inner[:-1])
        elif passages_left and (a_end - a) * (b_end - b) <= _MAX_PRODUCT:
            passages_left -= 1
            close = SequenceMatcher(None, old[a:a_end], new[b:b_end], autojunk=False).get_matching_blocks()
            passages += reversed([(a + i + step, b + j + step) for i, j, size in close for step in range(size)])


def _unique_matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest run of pairs of lines, in order on both sides, that are there once on each side (patience diff)."""
    in_old, in_new = Counter(old), Counter(new)
    place_in_new = {line: place for place, line in enumerate(new) if in_new[line] == 1}
    pairs = [
        (place, place_in_new[line]) for place, line in enumerate(old) if in_old[line] == 1 and line in place_in_new
    ]
    tails: list[int] = []  # the smallest last place of a run of each length
    ends: list[int] = []  # and the pair that ends it
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [place]
        ends[length : length + 1] = [number]
    run: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


TRASH: Final = ".trash"
"""Obsidian's folder for deleted files, at the root of the vault."""

ChangeState = Literal["applied", "undone"]


class FileWrite(Struct, frozen=True, kw_only=True):
    path: str
    before: bytes | None
    """What it held; None for a file that is not there yet."""
    after: bytes
    goes_away: bool = False
    """Whether, in changes that are only shown, the file is not there afterwards."""


class FileMove(Struct, frozen=True, kw_only=True):
    """A file, or a folder with all that it holds, under another path; its content stays."""

    source: str
    target: str

    def follow(self, path: str) -> str | None:
        """Where a path is afterwards; None for one that the move does not concern."""
        if path == self.source:
            return self.target
        return f"{self.target}{path[len(self.source) :]}" if path.startswith(f"{self.source}/") else None

    def reversed(self) -> "FileMove":
        return FileMove(source=self.target, target=self.source)


class ChangeSet(Struct, frozen=True, kw_only=True):
    """Changes that take effect together or not at all: first the moves in their order, then the writes.

    The paths of writes are those after the moves.
    """

    title: str
    """What it does, in a few words: `Append to Inbox.md`."""
    moves: tuple[FileMove, ...] = ()
    writes: tuple[FileWrite, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.moves or self.writes)


class ChangeOrigin(Struct, frozen=True, kw_only=True):
    command: str = ""
    """The command, or the tools of a model, separated by commas."""
    session_id: str = ""
    message_id: str = ""
    """The answer that proposed it."""


class ChangeRecord(Struct, frozen=True, kw_only=True):
    """A change set of the journal."""

    id: int
    at: datetime
    state: ChangeState
    origin: ChangeOrigin
    changes: ChangeSet
    has_contents: bool = True
    """False where the journal has dropped what the files held, to stay small: the writes are empty then, and the change
    cannot be undone."""
    remarks: tuple[str, ...] = ()
    """What the user should know beside, just after it was applied or undone: a git commit that failed."""


class ReviewOutcome(Struct, frozen=True, kw_only=True):
    decision: Decision
    proposed: ChangeSet
    changes: ChangeSet
    """As they were applied: the user may have edited them, or left some out."""
    edited: bool = False
    stops: bool = False
    """Whether the user also wants nothing more of what made the proposal."""
    record_id: int | None = None
    """In the journal, where they were applied."""
    reason: str = ""
    """Why they were not applied, as a sentence, where the user did not say no; else what went wrong beside."""
    exit_code: int = 0
    """Of a command that was to apply them, where they could not be."""
    withheld: frozenset[str] = frozenset()
    """Paths that the model which proposed it may not be told of."""


NO_FINAL_NEWLINE: Final = "\\ No newline at end of file\n"
_NULL: Final = "/dev/null"
_PATCH_QUOTED: Final = re.compile(r'[\x00-\x1f"\\\x7f]')
_ESCAPES: Final = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", '"': '"', "\\": "\\"}


def text_of(content: bytes | None) -> str:
    """The text of a file, from which its bytes can be made again; empty for one that is not there."""
    return (content or b"").decode(errors="surrogateescape")


def hunks_of_write(write: FileWrite) -> Iterator[Hunk]:
    return hunks_of(split_lines(text_of(write.before)), split_lines(text_of(write.after)))


def path_before(changes: ChangeSet, path: str) -> str:
    """Where a file was before the moves of its change set."""
    for move in reversed(changes.moves):
        path = move.reversed().follow(path) or path
    return path


def path_before_moves(moves: Sequence[FileMove], path: str) -> str | None:
    """The same of any moves; None where they leave nothing at this path."""
    for move in reversed(moves):
        if origin := move.reversed().follow(path):
            path = origin
        elif move.follow(path):
            return None
    return path


def touched_paths(changes: ChangeSet) -> tuple[str, ...]:
    """Every path that a change set reads from or writes to."""
    moved = (path for move in changes.moves for path in (move.source, move.target))
    return tuple(dict.fromkeys([*moved, *(write.path for write in changes.writes)]))


def patch_of(changes: ChangeSet) -> str:
    """The patch. A folder that moves is a sentence, because a patch knows files only; its changed files are there."""
    written = {write.path for write in changes.writes}
    pieces: list[str] = []
    for move in direct_moves(changes):
        if move.target in written:
            continue
        if is_folder_move(changes, move):
            pieces.append(f"The folder {_name(move.source)} becomes {_name(move.target)}.\n")
        else:
            pieces += _rename(move.source, move.target, similarity=100)
    for write in changes.writes:
        pieces += _write(changes, write)
    return "".join(pieces)


def direct_moves(changes: ChangeSet) -> Iterator[FileMove]:
    """The moves from where each file or folder was to where it comes to be, without the places between."""
    for number, move in enumerate(changes.moves):
        if any(_inside(move.source, earlier.target) for earlier in changes.moves[:number]):
            continue
        target = move.target
        for later in changes.moves[number + 1 :]:
            target = later.follow(target) or target
        if target != move.source:
            yield FileMove(source=move.source, target=target)


def is_folder_move(changes: ChangeSet, move: FileMove) -> bool:
    """Whether a whole folder seems to move; a change set does not say."""
    has_files = any(write.path.startswith(f"{move.target}/") for write in changes.writes)
    return has_files or "." not in move.source.rpartition("/")[2]


def _inside(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def _rename(source: str, target: str, *, similarity: int) -> Iterator[str]:
    yield f"diff --git {_name(source, 'a/')} {_name(target, 'b/')}\n"
    yield f"similarity index {similarity}%\n"
    yield f"rename from {_name(source)}\n"
    yield f"rename to {_name(target)}\n"


def _write(changes: ChangeSet, write: FileWrite) -> Iterator[str]:
    source = path_before(changes, write.path)
    if write.before is None:
        yield f"diff --git {_name(write.path, 'a/')} {_name(write.path, 'b/')}\n"
        yield "new file mode 100644\n"
    elif write.goes_away:
        yield f"diff --git {_name(write.path, 'a/')} {_name(write.path, 'b/')}\n"
        yield "deleted file mode 100644\n"
    elif source == write.path:
        yield f"diff --git {_name(source, 'a/')} {_name(write.path, 'b/')}\n"
    else:
        yield from _rename(source, write.path, similarity=50)
    hunks = [*hunks_of_write(write)]
    if hunks:
        yield f"--- {_NULL if write.before is None else _label(source, 'a/')}\n"
        yield f"+++ {_NULL if write.goes_away else _label(write.path, 'b/')}\n"
    for hunk in hunks:
        yield f"@@ -{_range(hunk.old_start, hunk.old_count)} +{_range(hunk.new_start, hunk.new_count)} @@\n"
        for line in hunk.lines:
            yield line.mark + line.text
            if not line.text.endswith("\n"):
                yield f"\n{NO_FINAL_NEWLINE}"


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _label(path: str, prefix: str) -> str:
    """A name in the lines before the hunks, where `patch` needs a tab to find the end of one with spaces."""
    name = _name(path, prefix)
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _name(path: str, prefix: str = "") -> str:
    name = prefix + path
    quoted = _PATCH_QUOTED.sub(lambda found: f"\\{_ESCAPES.get(found[0]) or f'{ord(found[0]):03o}'}", name)
    return name if quoted == name else f'"{quoted}"'


def edits_of_user(proposed: ChangeSet, applied: ChangeSet) -> str:
    """How what was applied differs from what was proposed: what was left out, and a patch of what was edited."""
    kept = {write.path: write for write in applied.writes}
    moves = {*applied.moves}
    parts = [f"left out: {move.source} → {move.target}\n" for move in proposed.moves if move not in moves]
    for write in proposed.writes:
        if write.path not in kept:
            parts.append(f"left out: {write.path}\n")
        elif (after := kept[write.path].after) != write.after:
            edit = FileWrite(path=write.path, before=write.after, after=after)
            parts.append("".join(_write(ChangeSet(title="", writes=(edit,)), edit)))
    return "".join(parts)


FileAction = Literal["created", "edited", "moved", "trashed", "removed"]


class FileChange(Struct, frozen=True, kw_only=True):
    """A file, or a folder that was moved, and what a change set does to it."""

    path: str
    """Afterwards."""
    action: FileAction
    moved_from: str = ""
    """Where it was, of one that is moved or trashed."""
    is_edited: bool = False
    """Whether its content changes; always so of one that is edited or created."""


def file_changes(changes: ChangeSet) -> list[FileChange]:
    """The files of a change set: first those that are moved, then those that are only written."""
    written = {write.path for write in changes.writes}
    files = [
        FileChange(
            path=move.target,
            action="trashed" if is_in_trash(move.target) else "moved",
            moved_from=move.source,
            is_edited=move.target in written,
        )
        for move in direct_moves(changes)
    ]
    moved = {each.path for each in files}
    for write in changes.writes:
        if write.path not in moved:
            action: FileAction = "removed" if write.goes_away else "created" if write.before is None else "edited"
            files.append(FileChange(path=write.path, action=action, is_edited=True))
    return files


def touches(changes: ChangeSet, path: str) -> bool:
    """Whether a change set concerns a file, under its present path or an earlier one, or a folder above it."""
    return any(write.path == path for write in changes.writes) or any(
        _inside(path, end) for move in changes.moves for end in (move.source, move.target)
    )


def changes_of(records: Iterable[ChangeRecord], path: str) -> Iterator[ChangeRecord]:
    """The changes of a file, also those under its earlier paths; records come newest first."""
    for record in records:
        if touches(record.changes, path):
            yield record
            if record.state == "applied":
                path = path_before(record.changes, path)


def last_path_named(records: Iterable[ChangeRecord], name: str) -> str:
    """The path that was changed last of those with this path or file name, with or without suffix; empty for none.

    A file that went to the trash is known by its path before that.
    """
    for record in records:
        for path in touched_paths(record.changes):
            names = {path, path.rpartition("/")[2], file_title(path), without_suffix(path)}
            if name in names and not is_in_trash(path):
                return path
    return ""


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


def _updated_links(blocks: Sequence[LineBlock], old: Sequence[str], new: Sequence[str], path: str) -> int:
    """How many links differ; 0 where anything else does, too."""
    count = 0
    for block in blocks:
        if block.old_end - block.old_start != block.new_end - block.new_start:
            return 0
        pairs = zip(old[block.old_start : block.old_end], new[block.new_start : block.new_end], strict=True)
        for before, after in pairs:
            if not is_note(path):  # in a line of a canvas or base a quoted text is a path or holds links
                texts = zip_longest(_QUOTED.findall(before), _QUOTED.findall(after), fillvalue="")
                differing = sum(max(1, _differing_links(one, other)) for one, other in texts if one != other)
                count += max(1, _differing_links(before, after), differing)
            elif _LINK.sub("", before) != _LINK.sub("", after):
                return 0
            else:
                count += max(1, _differing_links(before, after))
    return count


def _differing_links(before: str, after: str) -> int:
    return sum(one != other for one, other in zip_longest(_LINK.findall(before), _LINK.findall(after)))


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
        *(
            ChangeSet(title=f"{'Create' if each.before is None else 'Edit'} {each.path}", writes=(each,))
            for each in changes.writes
            if each not in following
        ),
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
        _inside(end, place) or _inside(place, end) for end in (move.source, move.target) for place in ends
    )


def _follows(write: FileWrite, changes: ChangeSet) -> bool:
    """Whether a file has to be written because something moves: it moves itself, or some link in it changes."""
    if path_before(changes, write.path) != write.path or (write.before is not None and not is_note(write.path)):
        return True
    if write.before is None:
        return any(write.path.startswith(f"{move.target}/") for move in changes.moves)
    before, after = (
        sorted(link for line in text_of(content).split("\n") for link in _LINK.findall(line))
        for content in (write.before, write.after)
    )
    return before != after


def _move_title(moves: Sequence[FileMove]) -> str:
    first = moves[0]
    place = "the trash" if is_in_trash(first.target) else first.target
    return f"Move {first.source} to {place}" + (f", and {len(moves) - 1} more" if len(moves) > 1 else "")

"""A change set as a patch: a unified diff that `git apply` and `patch -p1` understand."""

import re
from collections.abc import Iterator
from typing import Final

from zkchat.model.change import ChangeSet, FileMove, FileWrite
from zkchat.model.line_diff import Hunk, hunks_of, split_lines

NO_FINAL_NEWLINE: Final = "\\ No newline at end of file\n"
_NULL: Final = "/dev/null"
_QUOTED: Final = re.compile(r'[\x00-\x1f"\\\x7f]')
_ESCAPES: Final = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", '"': '"', "\\": "\\"}


def text_of(content: bytes | None) -> str:
    """The text of a file, from which its bytes can be made again; empty for one that is not there."""
    return (content or b"").decode(errors="surrogateescape")


def hunks_of_write(write: FileWrite) -> Iterator[Hunk]:
    return hunks_of(split_lines(text_of(write.before)), split_lines(text_of(write.after)))


def path_before(changes: ChangeSet, path: str) -> str:
    """Where a file was before the moves of its change set."""
    for move in reversed(changes.moves):
        if _inside(path, move.target):
            path = move.source + path[len(move.target) :]
    return path


def patch_of(changes: ChangeSet) -> str:
    """The patch. A folder that moves is a sentence, because a patch knows files only; its changed files are there."""
    written = {write.path for write in changes.writes}
    moves = [move for move in direct_moves(changes) if move.target not in written]
    return "".join(
        [
            *("".join(_move(changes, move)) for move in moves),
            *("".join(_write(changes, write)) for write in changes.writes),
        ]
    )


def direct_moves(changes: ChangeSet) -> Iterator[FileMove]:
    """The moves from where each file or folder was to where it comes to be, without the places between."""
    for number, move in enumerate(changes.moves):
        if any(_inside(move.source, earlier.target) for earlier in changes.moves[:number]):
            continue
        target = move.target
        for later in changes.moves[number + 1 :]:
            if _inside(target, later.source):
                target = later.target + target[len(later.source) :]
        if target != move.source:
            yield FileMove(source=move.source, target=target)


def is_folder_move(changes: ChangeSet, move: FileMove) -> bool:
    """Whether a whole folder seems to move; a change set does not say."""
    has_files = any(write.path.startswith(f"{move.target}/") for write in changes.writes)
    return has_files or "." not in move.source.rpartition("/")[2]


def _inside(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def _move(changes: ChangeSet, move: FileMove) -> Iterator[str]:
    if is_folder_move(changes, move):
        yield f"The folder {_name(move.source)} becomes {_name(move.target)}.\n"
    else:
        yield from _rename(move.source, move.target, similarity=100)


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
        yield from hunk_text(hunk)


def hunk_text(hunk: Hunk) -> Iterator[str]:
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
    if not _QUOTED.search(name):
        return name
    return f'"{_QUOTED.sub(lambda found: _escaped(found[0]), name)}"'


def _escaped(character: str) -> str:
    return f"\\{_ESCAPES[character]}" if character in _ESCAPES else f"\\{ord(character):03o}"


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

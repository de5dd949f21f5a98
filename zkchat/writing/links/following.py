"""Links that were written between the proposal of a move and the user's yes: they follow too."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from zkchat.errors import FileConflict
from zkchat.model.change import TRASH, ChangeSet, FileMove
from zkchat.model.patch import path_before
from zkchat.vault.library import Library
from zkchat.writing.conventions import LinkStyle
from zkchat.writing.links.renames import stage_move
from zkchat.writing.rebase import Followed, changed_meanwhile, rebase_content
from zkchat.writing.staging import StagedChanges


def follow_links(
    library: Library,
    stage: Callable[[], StagedChanges],
    style: LinkStyle,
    changes: ChangeSet,
    left_out: frozenset[str] = frozenset(),
) -> Followed:
    """Stage the moves of a change set anew, and add the links that have to follow by now.

    `stage` begins with nothing staged. Raises `FilesChanged` where a file was changed in the same place, and what
    `stage_move` raises where the moves cannot be made any more.
    """
    present = _Staged(library, stage(), changes, style)
    found = {write.path: present.bytes_before(write.path) for write in changes.writes}
    changed = {write.path: write for write in changes.writes if found[write.path] != write.before}
    earlier = present
    if changed:
        befores = {path: write.before for path, write in changed.items() if write.before is not None}
        earlier = _Staged(library, stage(), changes, style, befores)
    writes, clashes = [], []
    for write in changes.writes:
        if write.path not in changed:
            writes.append(write)
            continue
        before = None if write.before is None else earlier.after(write.path, write.before)
        after = rebase_content(before, write.after, present.after(write.path, found[write.path]))
        if after is None:
            clashes.append(
                FileConflict(path=write.path, expected=write.before, wanted=write.after, found=found[write.path])
            )
        elif after != found[write.path]:
            writes.append(replace(write, before=found[write.path], after=after))
    if clashes:
        raise changed_meanwhile(clashes)
    known = left_out | found.keys()
    added = [write for path, write in present.writes.items() if path not in known]
    links = sum(present.links.get(path, 0) - earlier.links.get(path, 0) for path in changed)
    return Followed(
        changes=replace(changes, writes=(*writes, *added)),
        links=max(0, links) + sum(present.links.get(write.path, 0) for write in added),
        unseen=tuple(write.path for write in added),
        rebased=tuple(sorted(changed)),
    )


class _Staged:
    """Moves that are staged with their links, and nothing else; some files may hold what they held earlier."""

    def __init__(
        self,
        library: Library,
        staged: StagedChanges,
        changes: ChangeSet,
        style: LinkStyle,
        befores: Mapping[str, bytes] | None = None,
    ) -> None:
        self._staged = staged
        self.links: dict[str, int] = {}
        """By path, how many links follow."""
        for path, content in (befores or {}).items():
            at = path_before(changes, path)
            if (held := staged.read_bytes(at)) is not None:
                text, made_from = (each.decode(errors="replace") for each in (content, held))
                staged.write(at, text, made_from=made_from, title="")
        for move in changes.moves:
            self._stage(library, move, style)
        self.writes = {write.path: write for write in staged.change_set().writes}

    def after(self, path: str, before: bytes | None) -> bytes | None:
        """What is made of a file that holds this."""
        return self.writes[path].after if path in self.writes else before

    def bytes_before(self, path: str) -> bytes | None:
        """What the file that will be at a path holds now."""
        write = self.writes.get(path)
        return write.before if write else self._staged.read_bytes(path)

    def _stage(self, library: Library, move: FileMove, style: LinkStyle) -> None:
        if move.target.startswith(f"{TRASH}/"):  # links to what is deleted stay as they are
            self._staged.move(move.source, move.target, title="")
            counts: Mapping[str, int] = {}
        else:
            counts = stage_move(library, self._staged, move.source, move.target, style).counts
        followed = {move.follow(path) or path: count for path, count in self.links.items()}
        self.links = {path: followed.get(path, 0) + counts.get(path, 0) for path in {*followed, *counts}}

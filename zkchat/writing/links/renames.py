"""Renaming and moving files and folders: every link of the vault follows."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.core import (
    ChangeSet,
    EditRefused,
    FileConflict,
    NoteNotFound,
    VaultError,
    counted,
    counted_files,
    file_title,
    is_drawing,
    is_in_trash,
    is_note,
    path_before,
)
from zkchat.index import Library, is_source
from zkchat.notes import (
    Anchors,
    Catalog,
    CatalogEntry,
    TextEdit,
    edited,
    find_target,
    keys_of_file,
    link_targets,
    name_key,
    parse_note,
    written_class,
)
from zkchat.writing.links.moved import (
    MovedFiles,
    base_targets,
    canvas_targets,
    is_other_host,
    update_base,
    update_canvas,
    update_text,
)
from zkchat.writing.staging import Followed, StagedChanges, changed_meanwhile, rebase_content
from zkchat.writing.targets import LinkStyle

_MAX_PASSES = 4
"""A new name may change the title of a note that links to it, and with the title what other links mean."""


class MoveSummary(Struct, frozen=True, kw_only=True):
    """What a move changes besides the paths themselves."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """How many links were written anew in each file, by their new paths."""
    revived: tuple[str, ...] = ()
    """Files with links that led nowhere, and now lead to what was moved."""

    @property
    def rewritten(self) -> tuple[str, ...]:
        return tuple(sorted(self.counts))

    @property
    def links(self) -> int:
        return sum(self.counts.values())


def stage_move(library: Library, staged: StagedChanges, source: str, target: str, style: LinkStyle) -> MoveSummary:
    """Stage the move of a file or folder, and every link that has to follow.

    Raises `NoteNotFound`, `VaultError` for a target that is taken, and `EditRefused` where a link cannot be written so
    that it means the same file; nothing is staged then.
    """
    if not staged.is_taken(source):
        raise NoteNotFound(f"There is no file {source} in the vault.")
    if source == target:
        raise EditRefused(f"{source} has that path already.")
    if target.startswith(f"{source}/"):
        raise EditRefused(f"{source} cannot be moved into itself.")
    if is_note(source) and not is_note(target) and staged.read_bytes(source) is not None:
        raise EditRefused(f"{target} would no longer be a note.", hint="Give it a name that ends in .md.")
    library.whole.refresh()
    taken_back = staged.last_move(target, source)
    earlier_texts = None
    if taken_back is not None:
        writes = ((write.path, write.before) for write in taken_back.writes)
        earlier_texts = {path: before.decode(errors="replace") for path, before in writes if before is not None}
    move = _Move(VaultAsStaged(library.whole, staged), source, target, style, earlier_texts)
    texts = move.new_texts()
    title = title_of_move(source, target)
    staged.move(source, target, title=title)
    for path, new in texts.items():
        staged.write(path, new.text, made_from=new.made_from, title=title)
    counts = {path: new.links for path, new in texts.items()}
    return MoveSummary(counts=counts, revived=tuple(sorted(move.moved.revived)))


def title_of_move(source: str, target: str) -> str:
    """`Rename Old.md to New.md`, or `Move Old.md to Folder/` where the name stays."""
    folder, _, name = target.rpartition("/")
    if source.rpartition("/")[2] != name:
        return f"Rename {source} to {target}"
    return f"Move {source} to {f'{folder}/' if folder else 'the top folder'}"


class VaultAsStaged:
    """The files of the vault as they will be once all that is staged is done."""

    def __init__(self, library: Library, staged: StagedChanges) -> None:
        self._library = library
        self._staged = staged
        self._written = {write.path for write in staged.change_set().writes}
        self.entries: dict[str, CatalogEntry] = {}
        for row in library.files():
            path = staged.path_after(row.path)
            if not path.startswith("."):
                self.entries[path] = CatalogEntry(path, row.title, row.aliases, row.is_source)
        for path in self._written:
            self.entries[path] = entry_of(path, self.read(path)[0] or "")

    def hosts(self, keys: Iterable[str]) -> set[str]:
        """The files that may hold a link with one of these keys."""
        notes = {self._staged.path_after(path) for path in self._library.notes_with_keys({*keys})}
        others = {path for path in self.entries if is_other_host(path)}
        return notes | others | self._written

    def changeable(self, paths: Iterable[str]) -> set[str]:
        """Those that are in the vault, but for symbolic links: the file itself is changed, under its own path."""
        present = {path for path in paths if path in self.entries}
        on_disk = {self._staged.path_on_disk(path): path for path in present}
        linked = self._library.linked_files(path for path in on_disk if path is not None)
        return present - {on_disk[path] for path in linked}

    def read(self, path: str) -> tuple[str | None, bool]:
        """The text of a file, None for one that cannot be read; and whether it could be written back as it is."""
        try:
            content = self._staged.read_bytes(path)
        except VaultError:
            content = None
        if content is None:
            return None, False
        try:
            return content.decode(), True
        except UnicodeDecodeError:
            encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
            return content.decode(encoding, errors="replace"), False


def entry_of(path: str, text: str) -> CatalogEntry:
    """What links can call a file with this text."""
    if not is_note(path):
        return CatalogEntry(path)
    if written_class(text).privacy == "never":
        return CatalogEntry(path, file_title(path))
    note = parse_note(path, text)
    return CatalogEntry(path, note.title, note.aliases, is_source(note.frontmatter))


class _NewText(NamedTuple):
    """A text whose links were written anew, the one that it was made from, and how many of them."""

    text: str
    made_from: str
    links: int


class _Move:
    """One move, and the texts of all files that it changes."""

    def __init__(
        self, vault: VaultAsStaged, source: str, target: str, style: LinkStyle, earlier_texts: dict[str, str] | None
    ) -> None:
        """`earlier_texts`: where this move takes an earlier one back, by present path, the texts that it replaced."""
        self._vault = vault
        self._earlier_texts = earlier_texts
        inside = [path for path in vault.entries if path == source or path.startswith(f"{source}/")]
        paths = {path: target + path[len(source) :] for path in inside}
        self._folder = None if source in paths else (source, target)
        self._entries = {path: entry for path, entry in vault.entries.items() if path not in paths}
        for path, new in paths.items():  # where a title may be the name
            text, _ = vault.read(path) if is_note(new) else (None, False)
            self._entries[new] = vault.entries[path]._replace(path=new) if text is None else entry_of(new, text)
        before = catalog_of(vault.entries.values())
        after = before.copy()
        for path in paths:
            after.remove(path)
        for path in paths.values():
            after.replace(self._entries[path])
        self.moved = MovedFiles(before=before, after=after, paths=paths, style=style)
        back = {new: old for old, new in paths.items()}
        self._back = MovedFiles(before=after, after=before, paths=back, style=style)

    def new_texts(self) -> dict[str, _NewText]:
        """By new path, the text of each file that changes."""
        paths = self.moved.paths
        entries = [self._vault.entries[path] for path in paths] + [self._entries[path] for path in paths.values()]
        keys = _keys(entries)
        for _ in range(_MAX_PASSES):
            self.moved.revived.clear()
            hosts = self._vault.changeable({*paths, *(self._earlier_texts or ()), *self._vault.hosts(keys)})
            texts = {self.moved.path(path): new for path in sorted(hosts) if (new := self._new_text(path))}
            renamed = [
                entry for path, new in texts.items() if (entry := entry_of(path, new.text)) != self._entries[path]
            ]
            if not renamed:
                return texts
            for entry in renamed:
                keys |= _keys([entry, self._entries[entry.path]])
                self._entries[entry.path] = entry
                self.moved.after.replace(entry)
        raise EditRefused(
            "Other notes link to this one in their titles. Their titles would change, and links to those notes break.",
            hint="Choose another name.",
        )

    def _new_text(self, path: str) -> _NewText | None:
        """The text of a file with its links written anew; None where it stays as it is."""
        text, is_intact = self._vault.read(path)
        if text is None:
            return None
        if (back := self._earlier_text(path, text)) is not None:
            earlier, edits = back
            return _NewText(earlier, text, len(edits)) if edits else None
        edits = self._edits(text, path, self.moved)
        if edits and not is_intact:
            raise EditRefused(
                f"{path} links to what you move, but is not UTF-8 throughout, so nothing was changed.",
                hint="Save it as UTF-8 first.",
            )
        return _NewText(edited(text, edits), text, len(edits)) if edits else None

    def _earlier_text(self, path: str, text: str) -> tuple[str, list[TextEdit]] | None:
        """Where a move is taken back, the text that the file had before it, and the edits that made this one of it."""
        if self._earlier_texts is None:
            return None
        earlier = self._earlier_texts.get(path, text)
        self._back.revived.clear()
        try:
            edits = self._edits(earlier, self.moved.path(path), self._back)
        except EditRefused:
            return None
        may_be_new = path not in self._earlier_texts and self._back.revived
        return None if may_be_new or edited(earlier, edits) != text else (earlier, edits)

    def _edits(self, text: str, path: str, moved: MovedFiles) -> list[TextEdit]:
        if is_note(path):
            return update_text(text, path, moved)
        if is_drawing(path):
            return update_canvas(text, path, moved)
        if is_other_host(path):
            folder = self._folder[::-1] if self._folder and moved is self._back else self._folder
            return update_base(text, path, moved, folder)
        return []


def catalog_of(entries: Iterable[CatalogEntry]) -> Catalog:
    """A catalog that knows files by their names only, not their headings."""
    nothing = Anchors()
    return Catalog(entries, lambda _: nothing)


def _keys(entries: Iterable[CatalogEntry]) -> set[str]:
    return {key for each in entries for key in keys_of_file(each.path, each.title, each.aliases)}


class ChangedMeaning(Struct, frozen=True, kw_only=True):
    """Links of one file that meant one file."""

    source: str
    meant: str
    """Empty where they led nowhere."""
    links: int


def links_in_other_files(library: Library, staged: StagedChanges, path: str) -> list[ChangedMeaning]:
    """The links and nodes of canvases and bases that mean this file."""
    others = [row.path for row in library.files() if is_other_host(row.path)]
    if not others:
        return []
    vault = VaultAsStaged(library.whole, staged)
    catalog = catalog_of(vault.entries.values())
    counts = {
        host: sum(_meant(catalog, host, each) == path for each in _targets(host, vault.read(host)[0] or ""))
        for host in sorted({staged.path_after(each) for each in others} - {path})
    }
    return [ChangedMeaning(source=host, meant=path, links=links) for host, links in counts.items() if links]


def links_to_new(
    library: Library, staged: StagedChanges, path: str, text: str, *, lost: bool = False
) -> list[ChangedMeaning]:
    """The links that mean another file or none now, and would mean a new file with this path and text.

    Where `lost`, those that mean this note now, and would lead nowhere when it has this text.
    """
    becomes = "" if lost else path
    entry = entry_of(path, text)
    vault = VaultAsStaged(library.whole, staged)
    known = vault.entries.get(path)
    hosts = sorted(host for host in vault.hosts(_keys([entry, known] if known else [entry])) if host != path)
    if not hosts:
        return []
    before = catalog_of(vault.entries.values())
    after = before.copy()
    after.replace(entry)
    found: Counter[tuple[str, str]] = Counter()
    for host in hosts:
        for each in _targets(host, vault.read(host)[0] or ""):
            meant, means = (_meant(catalog, host, each) for catalog in (before, after))
            if meant != means == becomes:
                found[host, meant] += 1
    return [ChangedMeaning(source=source, meant=meant, links=links) for (source, meant), links in found.items()]


def _targets(host: str, text: str) -> Iterator[tuple[str, bool]]:
    """What the links of a file name, and whether that is the very path of a file."""
    if is_note(host):
        yield from ((each.target, False) for each in link_targets(text))
    elif is_drawing(host):
        yield from canvas_targets(text, host)
    elif is_other_host(host):
        yield from base_targets(text)


def _meant(catalog: Catalog, host: str, named: tuple[str, bool]) -> str:
    """The path of the file that is meant; empty for none."""
    target, is_path = named
    if is_path:
        return next(iter(catalog.at(name_key(target))), "")
    found = find_target(catalog, target, host)
    return found.path if found else ""


def meant_before(changed: Iterable[ChangedMeaning]) -> list[str]:
    """The files that the links meant."""
    return [*dict.fromkeys(each.meant for each in changed if each.meant)]


def counted_links(changed: Iterable[ChangedMeaning]) -> str:
    """`3 links in 2 notes`."""
    found = [*changed]
    return f"{counted(sum(each.links for each in found), 'link')} in {counted_files({each.source for each in found})}"


def remarks_on_new(changed: Iterable[ChangedMeaning], path: str, meant: str = "") -> tuple[str, ...]:
    """What is to be said of the links that would mean a new file; `meant` names the files that they mean now."""
    found = [*changed]
    remarks = []
    if taken_over := [each for each in found if each.meant]:
        meant = meant or ", ".join(meant_before(taken_over))
        remarks.append(f"{counted_links(taken_over)} that led to {meant} will lead to {path}.")
    if revived := [each for each in found if not each.meant]:
        remarks.append(f"{counted_links(revived)} that led nowhere will lead to {path}.")
    return tuple(remarks)


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
            counts: Mapping[str, int] = {}
            if is_in_trash(move.target):  # links to what is deleted stay as they are
                staged.move(move.source, move.target, title="")
            else:
                counts = stage_move(library, staged, move.source, move.target, style).counts
            followed = {move.follow(path) or path: count for path, count in self.links.items()}
            self.links = {path: followed.get(path, 0) + counts.get(path, 0) for path in {*followed, *counts}}
        self.writes = {write.path: write for write in staged.change_set().writes}

    def after(self, path: str, before: bytes | None) -> bytes | None:
        """What is made of a file that holds this."""
        return self.writes[path].after if path in self.writes else before

    def bytes_before(self, path: str) -> bytes | None:
        """What the file that will be at a path holds now."""
        write = self.writes.get(path)
        return write.before if write else self._staged.read_bytes(path)

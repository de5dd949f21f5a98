"""Rename and move files of a vault at random, in memory, and check that every link means what it meant.

    python -m scripts.check_renames VAULT --count 500 --seed 1

The vault is read and never written. After each rename: every link of the vault leads to the file that it led to
before, all bytes outside the targets of links are equal, and renaming back gives the identical tree. A link that led
nowhere before, and to the renamed file after it, follows that file back.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from zkchat.core import (
    Ambiguous,
    ChangeSet,
    FileMove,
    FileStamp,
    FolderListing,
    Link,
    NoteNotFound,
    Resolution,
    Resolved,
    VaultError,
    folder_of,
    is_note,
)
from zkchat.index import Library, SqliteNoteIndex
from zkchat.notes import Anchors, Catalog, LinkTarget, find_links, link_targets, resolve
from zkchat.storage import VaultFiles
from zkchat.writing import LinkStyle, StagedChanges, entry_of, stage_move
from zkchat.writing.links import moved

_MAX_BYTES = 10_000_000
_WITH_LINKS = (".canvas", ".base")


class VaultInMemory:
    """Implements `ports.note_files.NoteFiles` and `ports.changes.ChangeableFiles`, and makes change sets."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self._times = dict.fromkeys(self.files, 1)
        self._now = 1

    def folders(self) -> Iterator[FolderListing]:
        files = sorted(self.files, key=folder_of)
        for prefix, group in groupby(files, key=folder_of):
            paths = [*group]
            sizes = [len(self.files[path]) for path in paths]
            names = [path.removeprefix(prefix) for path in paths]
            yield FolderListing(prefix, names, sizes, [self._times[path] for path in paths], (), 1 << 62, 1 << 40)

    def changed_folders(self, unsettled: Iterable[str]) -> None:
        """It is never known."""

    def read(self, path: str) -> str:
        return self.read_whole(path)[0]

    def read_whole(self, path: str) -> tuple[str, bool]:
        if path not in self.files:
            raise NoteNotFound(f"There is no file {path} in the vault.")
        content = self.files[path].removeprefix(b"\xef\xbb\xbf")
        text = content.decode(errors="replace")
        return text, text.encode() == content

    def read_data(self, path: str, most: int) -> bytes:
        return self.read(path).encode()[:most]

    def identity(self, path: str) -> object | None:
        return self.files.get(path)

    def linked(self, paths: Iterable[str]) -> dict[str, str]:  # noqa: ARG002 - there are no links without a disk
        return {}

    def shared(self, _path: str) -> None:
        return None

    def read_bytes(self, path: str) -> bytes | None:
        return self.files.get(path)

    def is_taken(self, path: str) -> bool:
        return path in self.files or any(each.startswith(f"{path}/") for each in self.files)

    def apply(self, changes: ChangeSet) -> None:
        self._now += 1
        for move in changes.moves:
            moved = {path: mapped(path, move.source, move.target) for path in self.files}
            self.files = {moved[path]: content for path, content in self.files.items()}
            self._times = {moved[path]: self._now if moved[path] != path else at for path, at in self._times.items()}
        for write in changes.writes:
            if self.files.get(write.path) != write.before:
                raise VaultError(f"{write.path} is not what was expected.")
            self.files[write.path] = write.after
            self._times[write.path] = self._now


def load(vault: Path) -> dict[str, bytes]:
    """The files of a vault; of those that hold no links only the names."""
    files = VaultFiles(vault, exclude=(), max_note_bytes=_MAX_BYTES)
    paths = [each.path for each in files.scan() if isinstance(each, FileStamp)]
    return {path: (vault / path).read_bytes() if _has_links(path) else b"" for path in paths}


def _has_links(path: str) -> bool:
    return is_note(path) or path.lower().endswith(_WITH_LINKS)


def mapped(path: str, source: str, target: str) -> str:
    """Where a move takes a path."""
    return target + path[len(source) :] if path == source or path.startswith(f"{source}/") else path


@dataclass(frozen=True, slots=True)
class Meaning:
    """A link as reading sees it, and the file that it leads to."""

    link: Link
    path: str | None
    by_name: bool


@lru_cache(maxsize=20_000)
def _links(text: str, has_frontmatter: bool) -> tuple[Link, ...]:
    return tuple(find_links(text, has_frontmatter=has_frontmatter).links)


@lru_cache(maxsize=20_000)
def _targets(text: str, has_frontmatter: bool = True) -> tuple[LinkTarget, ...]:
    return tuple(link_targets(text, has_frontmatter=has_frontmatter))


@contextmanager
def _each_text_parsed_once() -> Iterator[None]:
    """While this is open, renames remember the targets that they have found in a text."""
    names = vars(moved)
    original = names["link_targets"]

    def known(text: str, *, has_frontmatter: bool = True) -> list[LinkTarget]:
        return [*_targets(text, has_frontmatter)]

    names["link_targets"] = known
    try:
        yield
    finally:
        names["link_targets"] = original


_entry = lru_cache(maxsize=20_000)(entry_of)


@lru_cache(maxsize=20_000)
def _text(content: bytes) -> str:
    return content.decode(errors="replace")


class State:
    """What every link of a vault means: all are resolved anew, but each text is parsed once."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.texts = {path: _text(content) for path, content in files.items() if _has_links(path)}
        entries = [_entry(path, self.texts[path].removeprefix("\ufeff") if is_note(path) else "") for path in files]
        self._paths = set(files)
        self._meanings: dict[str, list[Meaning]] = {}
        self._catalog = Catalog(entries, lambda _: Anchors())

    def meanings(self, path: str) -> list[Meaning]:
        if path not in self._meanings:
            self._meanings[path] = self._found_meanings(path)
        return self._meanings[path]

    def _found_meanings(self, path: str) -> list[Meaning]:
        text = self.texts[path]
        if is_note(path):
            return [self._meaning(link, path) for link in _links(text, True)]
        if path.lower().endswith(".canvas"):
            return [*self._of_canvas(text, path)]
        rows = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        return [self._meaning(link, path) for row in rows for link in _links(row.strip(), False)]

    def _of_canvas(self, text: str, path: str) -> Iterator[Meaning]:
        try:
            nodes: Sequence[Mapping[str, Any]] = json.loads(text).get("nodes", [])
        except (ValueError, AttributeError):
            return
        for node in nodes:
            if "file" in node:
                shown = node["file"] if node["file"] in self._paths else None
                yield Meaning(Link(text="", target=""), shown, by_name=True)
            for link in _links(str(node.get("text", "")), False):
                yield self._meaning(link, path)

    def _meaning(self, link: Link, source: str) -> Meaning:
        found: Resolution = resolve(self._catalog, link, source, suggestions=0)
        if isinstance(found, Resolved | Ambiguous):
            return Meaning(link, found.path, by_name=found.via in {"path", "name", "self"})
        return Meaning(link, None, by_name=False)


def violations(before: State, after: State, source: str, target: str, restored: Container[str] = ()) -> Iterator[str]:
    """What a move from `source` to `target` should not have changed, as sentences.

    Files that the move `restored` to their earlier bytes are right, whatever their links look like.
    """
    if {mapped(path, source, target) for path in before.texts} != after.texts.keys():
        yield "The files are not those that were there before."
        return
    for path in before.texts:
        new_path = mapped(path, source, target)
        if new_path in restored:
            continue
        old, new = before.meanings(path), after.meanings(new_path)
        if len(old) != len(new):
            yield f"{new_path} has {len(new)} links, and had {len(old)}."
            continue
        for was, now in zip(old, new, strict=True):
            yield from _of_link(was, now, new_path, source, target)
        if is_note(path):
            yield from _of_text(before.texts[path], after.texts[new_path], new_path)


def _of_link(was: Meaning, now: Meaning, path: str, source: str, target: str) -> Iterator[str]:
    wanted = mapped(was.path, source, target) if was.path else None
    is_revived = wanted is None and now.path is not None and mapped(now.path, target, source) != now.path
    if now.path != wanted and not is_revived:
        yield f"{path}: {was.link.text} led to {was.path}, and {now.link.text} leads to {now.path}."
    if was.by_name and not now.by_name:
        yield f"{path}: {was.link.text} meant a name, and {now.link.text} does not."
    for name in ("anchor", "display", "size", "syntax", "embed", "external", "line", "in_comment", "in_frontmatter"):
        if getattr(was.link, name) != getattr(now.link, name) and not was.link.target.partition("^")[1]:
            yield f"{path}: {name} of {was.link.text} is another one in {now.link.text}."


def _of_text(before: str, after: str, path: str) -> Iterator[str]:
    if before != after and _between(before) != _between(after):
        yield f"{path} changed outside the targets of its links."


def _between(text: str) -> list[str]:
    pieces, position = [], 0
    for start, end in sorted({each.place for each in _targets(text) if each.place}):
        pieces.append(text[position:start])
        position = end
    return [*pieces, text[position:]]


@dataclass(slots=True)
class Result:
    violations: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class RenameCheck:
    """Random renames of one vault, each checked and taken back."""

    def __init__(self, files: Mapping[str, bytes], folder: Path, style: LinkStyle, chance: random.Random) -> None:
        self._files = VaultInMemory(files)
        self._index = SqliteNoteIndex(folder / "index.db")
        self._library = Library.over(self._files, self._index)
        self._library.refresh()
        self._style = style
        self._chance = chance
        self._history: list[ChangeSet] = []
        self._revived: tuple[str, ...] = ()
        self._state = State(self._files.files)
        self.result = Result()

    def close(self) -> None:
        self._library.close()
        self._index.close()

    def run(self, count: int, *, keep: float = 0.2) -> Result:
        """Make so many renames. Some stay, so that the next ones start from another vault."""
        while self.result.counts["renames"] < count:
            source, target = self._proposal()
            if source != target and not self._files.is_taken(target) and not target.startswith(f"{source}/"):
                self._try(source, target, stays=self._chance.random() < keep)
        return self.result

    def _try(self, source: str, target: str, *, stays: bool) -> None:
        counts = self.result.counts
        tree = dict(self._files.files)
        what = "folders" if source not in tree else "notes" if is_note(source) else "attachments"
        if not self._move(source, target):
            counts["refused"] += 1
            return
        counts["renames"] += 1
        counts[what] += 1
        after = State(self._files.files)
        self._tell(source, target, violations(self._state, after, source, target))
        if stays:
            self._state = after
            return
        counts["taken back"] += 1
        revived = {mapped(path, target, source) for path in self._revived}
        if not self._move(target, source):
            self._tell(source, target, ["It could not be renamed back."])
        changed = [path for path in tree if self._files.files.get(path) != tree[path]]
        if changed or len(tree) != len(self._files.files):
            self._state = State(self._files.files)
            restored = tree.keys() - {*changed}
            self._tell(target, source, violations(after, self._state, target, source, restored))
        if others := [path for path in changed if path not in revived]:
            self._tell(source, target, [f"Renamed back, {', '.join(others[:3])} is not what it was."])
        counts["revived files, which follow back"] += len(changed) - len(others)

    def _move(self, source: str, target: str) -> bool:
        staged = StagedChanges(self._files, self._last_applied)
        try:
            summary = stage_move(self._library, staged, source, target, self._style)
        except VaultError as error:
            self.result.refusals.append(f"{source} → {target}: {error.message}")
            return False
        changes = staged.change_set()
        self._files.apply(changes)
        self._history = [*self._history[-3:], changes]
        self._revived = summary.revived
        self.result.counts["links"] += summary.links
        self.result.counts["files"] += len(summary.rewritten)
        return True

    def _last_applied(self, move: FileMove) -> ChangeSet | None:
        return next((changes for changes in reversed(self._history) if move in changes.moves), None)

    def _tell(self, source: str, target: str, found: Iterable[str]) -> None:
        self.result.violations += [f"{source} → {target}: {sentence}" for sentence in found]

    def _proposal(self) -> tuple[str, str]:
        chance = self._chance
        paths = [*self._files.files]
        folders = sorted({path.rpartition("/")[0] for path in paths})
        source = chance.choice(paths)
        if chance.random() < 0.25 and any(folders):
            source = chance.choice([folder for folder in folders if folder])
        folder, _, name = source.rpartition("/")
        kind = chance.random()
        if kind < 0.6:
            name = self._name(name, is_file=source in self._files.files)
        if kind > 0.4:
            folder = chance.choice([*folders, f"{chance.choice(folders)}/New".lstrip("/")])
        return source, f"{folder}/{name}".lstrip("/")

    def _name(self, name: str, *, is_file: bool) -> str:
        """Another name: a new one, one that other files have, or an odd one."""
        stem, dot, suffix = name.rpartition(".") if is_file and "." in name else (name, "", "")
        chance = self._chance
        other = chance.choice([*self._files.files]).rpartition("/")[2]
        others = other.rpartition(".")[0] or other
        stems = (
            f"{stem} 2",
            f"New {chance.randrange(1000)}",
            others,
            stem.swapcase(),
            f"Déjà vu ({stem})",
            f"50% {stem}",
        )
        return f"{chance.choice(stems)}{dot}{suffix}"


def check(files: Mapping[str, bytes], count: int, seed: int, style: LinkStyle) -> Result:
    """Rename files of a vault, so many times."""
    with tempfile.TemporaryDirectory() as folder, _each_text_parsed_once():
        checked = RenameCheck(files, Path(folder), style, random.Random(seed))  # noqa: S311 - no secret
        try:
            return checked.run(count)
        finally:
            checked.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path, help="a folder of notes; it is read, and never written")
    parser.add_argument("--count", type=int, default=500, help="how many renames to try (500)")
    parser.add_argument("--seed", type=int, default=1, help="another number tries other renames (1)")
    parser.add_argument("--format", choices=("shortest", "relative", "absolute"), default="shortest")
    given = parser.parse_args()
    result = check(load(given.vault), given.count, given.seed, LinkStyle(format=given.format))
    shown = [*result.refusals[:10], *result.violations[:50]]
    shown += [f"{number:8,} {name}" for name, number in sorted(result.counts.items())]
    sys.stdout.write("\n".join([*shown, f"{len(result.violations):8,} violations", ""]))
    return 1 if result.violations else 0


if __name__ == "__main__":
    sys.exit(main())

"""Which notes a model may not see: by the index, and by what the files say now.

An image is as private as the strictest of the notes that link to it or embed it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from posixpath import normpath
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    Ambiguous,
    LinkIndex,
    LocatedModel,
    NoteCatalog,
    NoteFiles,
    NoteNotFound,
    PrivacyClass,
    Resolved,
    VaultError,
    is_drawing,
    is_image,
    is_note,
    may_hold_text,
)
from zkchat.notes.privacy import STRICTNESS, is_inside, privacy_of_text

IS_LOCAL: Final = "is private"  # as is said of a note, after its name
LOCAL_NOTES: Final = "private notes"


class CurrentClasses:
    """The class of a note as its file has it now: a note may have been marked since it was indexed.

    A file is read again only where it may have changed since it was read here.
    """

    def __init__(
        self, files: NoteFiles, local_only: Sequence[str], shared: Callable[[], frozenset[object]] = frozenset
    ) -> None:
        """`shared` tells which files stand in a local folder under one of several names."""
        self._files = files
        self._local_only = local_only
        self._shared = shared
        self._known_by: tuple[str, ...] = ()
        self._known: dict[str, tuple[object, PrivacyClass]] = {}
        """By path, for the folders `_known_by`."""

    def of(self, path: str) -> PrivacyClass | None:
        """The class now; None where there is no such file any more.

        A note that cannot be read may say anything; of another file nothing can be shown then.
        """
        if self._known_by != (folders := tuple(self._local_only)):
            self._known_by, self._known = folders, {}
        identity = self._files.identity(path)
        known = self._known.get(path)
        if known and identity is not None and known[0] == identity:
            return known[1]
        try:
            text = self._files.read_whole(path)[0]
        except NoteNotFound:
            return None
        except VaultError:
            return "local" if is_note(path) else "open"
        privacy = self.of_text(text, path)
        if identity is not None:
            self._known[path] = identity, privacy
        return privacy

    def of_text(self, text: str, path: str) -> PrivacyClass:
        """The class of a note that has just been read, by the place that a link leads to and its other names too."""
        places = {path, *(self._files.linked([path]).values() if self._local_only else ())}
        classes: list[PrivacyClass] = [privacy_of_text(text, place, self._local_only) for place in places]
        if self._local_only and (shared := self._files.shared(path)) and shared in self._shared():
            classes.append("local")
        return max(classes, key=STRICTNESS.__getitem__)


def local_files(
    files: NoteFiles, paths: Sequence[str], local_only: Sequence[str]
) -> tuple[frozenset[str], frozenset[object]]:
    """Those of the files that stand in a local folder, under whatever name; and what is shared by names of one."""
    if not local_only:
        return frozenset(), frozenset()
    places = files.linked(paths)
    inside = {path for path in paths if any(is_inside(each, local_only) for each in {path, places.get(path, path)})}
    shared = frozenset(filter(None, map(files.shared, inside)))
    if shared:
        inside |= {path for path in paths if files.shared(path) in shared}
    return frozenset(inside), shared


class _PrivateNotes(Struct, frozen=True, kw_only=True, dict=True):
    """The notes that are not open, at one generation of the index and by some folders."""

    generation: int | None = None
    folders: tuple[str, ...] = ()
    local: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    """Notes that the index still names although their files are gone."""
    shared: frozenset[object] = frozenset()
    """What the names of a file share that stands in a local folder and elsewhere."""

    @cached_property
    def hidden_here(self) -> frozenset[str]:
        return self.never | self.gone

    @cached_property
    def hidden_elsewhere(self) -> frozenset[str]:
        return self.hidden_here | self.local

    def with_class(self, path: str, privacy: PrivacyClass | None, images: frozenset[str]) -> "_PrivateNotes":
        """With a note of which the index does not know yet that it is private, or gone; with its images."""
        local, never, gone = self.local - {path}, self.never, self.gone
        if privacy == "local":
            local |= {path} | (images - never)
        elif privacy is None:
            gone |= {path}
        else:
            local -= images
            never |= {path} | images
        return replace(self, local=local, never=never, gone=gone)


class PrivacyGuard:
    """Decides for one model, and remembers whether it was shown a note that is to stay on this machine.

    Whether the model is on this machine is asked anew each time: that is known for certain only once it is connected.
    """

    def __init__(
        self,
        files: NoteFiles,
        index: NoteCatalog,
        local_only: Sequence[str],
        model: LocatedModel,
        links: LinkIndex | None = None,
    ) -> None:
        """`local_only` is asked anew each time: settings may change. Without `links`, only the folder of an image tells
        how private it is."""
        self._files = files
        self._index = index
        self._links = links
        self._local_only = local_only
        self._model = model
        self._private = _PrivateNotes()
        self._current = CurrentClasses(files, local_only, lambda: self._private_notes().shared)
        self.disclosed = False
        """Whether a local note was named or read through this guard since somebody set this to False."""

    def hidden(self) -> frozenset[str]:
        return self._hidden_among(self._private_notes())

    def _hidden_among(self, private: _PrivateNotes) -> frozenset[str]:
        return private.hidden_here if self._model.info.on_this_machine else private.hidden_elsewhere

    def may_tell_of_local_notes(self) -> bool:
        """Whether the model may have seen a note that is to stay on this machine, and may ask about what it says."""
        return self._model.info.on_this_machine and bool(self._private_notes().local)

    def reason(self, path: str) -> str:
        """Why a note is hidden, as the end of a sentence; empty where it is not."""
        private = self._private_notes()
        if path not in self.hidden() or path in private.gone:
            return ""
        return "is never to be read" if path in private.never else IS_LOCAL

    def kept_from_turns(self, paths: Iterable[str]) -> dict[str, str]:
        """Those of these notes on account of which earlier turns are withheld, each with the words for such notes.

        A note that is gone withholds nothing from a model on this machine. It may have become private under another
        name, so in a vault that has private notes it withholds its turns from any other model.
        """
        asked, is_here = frozenset(paths), self._model.info.on_this_machine
        if not is_here:
            self.check(asked)  # the index may not know yet what has become private
        private = self._private_notes()
        kept = dict.fromkeys(asked & private.never, "notes that no model may read")
        if not is_here:
            kept |= dict.fromkeys(asked & private.local, LOCAL_NOTES)
            if private.local or private.never or self._local_only:
                kept |= dict.fromkeys(asked & private.gone, "moved or deleted notes that may be private")
        return kept

    def check(self, paths: Iterable[str]) -> bool:
        """Learn which of these notes have become private or are gone since they were indexed; whether one is hidden
        by that."""
        private, is_here, has_hidden = self._private_notes(), self._model.info.on_this_machine, False
        asked: dict[str, None] = {}  # in the place of images the notes that decide of them
        for path in paths:
            links = self._links.links_to(path) if is_image(path) and self._links else None
            asked |= {path: None} if links is None else dict.fromkeys(link.source for link in links)
        for path in asked:
            if path in private.hidden_elsewhere or not may_hold_text(path):
                continue
            privacy = self._current.of(path)
            if privacy in {"local", "never"} or (privacy is None and (is_note(path) or is_drawing(path))):
                private = self._private = private.with_class(path, privacy, self._images_of([path]))
                has_hidden = has_hidden or privacy != "local" or not is_here
        return has_hidden

    def _images_of(self, notes: Collection[str]) -> frozenset[str]:
        found = (link.resolution for link in self._links.links_from([*notes])) if notes and self._links else ()
        paths: set[str] = set()
        for each in found:
            if isinstance(each, Resolved | Ambiguous):
                paths |= {each.path, *(each.others if isinstance(each, Ambiguous) else ())}
        return frozenset(filter(is_image, paths))

    def visible(self, paths: Iterable[str]) -> list[str]:
        hidden = self.hidden()
        return [path for path in paths if path not in hidden]

    def confirm(self, paths: Sequence[str]) -> list[str]:
        """Those that are visible by what their files say now. They count as disclosed."""
        self.check(paths)
        private = self._private  # as it has just been learned
        hidden = self._hidden_among(private)
        shown = [path for path in paths if path not in hidden]
        self.disclosed = self.disclosed or not private.local.isdisjoint(shown)
        return shown

    def open_among(self, paths: Sequence[str]) -> list[str]:
        """Those that may go anywhere, by what their files say now."""
        self.check(paths)
        return [path for path in paths if path not in self._private.hidden_elsewhere]

    def disclose(self, paths: Iterable[str]) -> None:
        """These notes are named or shown to the model."""
        self.disclosed = self.disclosed or not self._private_notes().local.isdisjoint(paths)

    def may_open(self, path: str) -> bool:
        """Whether a file, however its path is spelled, is not known to be hidden."""
        if is_image(path):
            self.check([normpath(path)])
        return normpath(path) not in self.hidden()

    def disclose_text(self, text: str, path: str) -> bool:
        """Whether the model may see a note that has just been read. If so, it counts as disclosed."""
        privacy = self._current.of_text(text, normpath(path))
        if is_image(path):
            self.disclose([normpath(path)])
        if privacy == "never" or (privacy == "local" and not self._model.info.on_this_machine):
            return False
        self.disclosed = self.disclosed or privacy == "local"
        return True

    def _private_notes(self) -> _PrivateNotes:
        generation, folders = self._index.generation(), tuple(self._local_only)
        if self._private.generation != generation or self._private.folders != folders:
            own = self._index.private()
            never = frozenset(path for path, privacy in own.items() if privacy == "never")
            paths = [row.path for row in self._index.catalog()] if folders else []
            inside, shared = local_files(self._files, paths, folders)
            local = (frozenset(own) | inside) - never
            never |= self._images_of(never)
            local = (local | self._images_of(local)) - never
            now = _PrivateNotes(generation=generation, folders=folders, local=local, never=never, shared=shared)
            self._private = now
        return self._private

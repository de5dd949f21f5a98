"""Which file a change is meant for, and which path a new one gets."""

from collections.abc import Iterator

from zkchat.errors import EditRefused, NoteNotFound, VaultError
from zkchat.model.note import NOTE_SUFFIX, Ambiguous, Link, Missing, Resolved, is_note
from zkchat.vault.library import Library
from zkchat.vault.notes import wikilink
from zkchat.writing import note_names
from zkchat.writing.staging import StagedChanges

MAX_CANDIDATES = 10
"""Files that are named where a target may mean several."""


class Targets:
    """Finds files in a library that shows what is staged, and that knows no file that is not to be named."""

    def __init__(self, library: Library, staged: StagedChanges) -> None:
        self._library = library
        self._staged = staged

    def note(self, target: str) -> str:
        """The path of the note that is meant. Raises `NoteNotFound`, and `EditRefused` for what is none."""
        path = self.file(target)
        if not is_note(path):
            raise EditRefused(f"{path} is no note, and is left as it is.", hint="Only Markdown notes can be edited.")
        return path

    def file(self, target: str) -> str:
        """The path of the file that is meant, by its exact path or by a link, title or alias that means one file only.

        Raises `NoteNotFound`, and `EditRefused` with the files that it may mean.
        """
        for path in _exact_paths(target):
            if self._library.has_text(path):
                return path
        link = _link(target)
        found = self._library.resolve(link)
        match found:
            case Resolved(path=path, via=via) if via != "id" or link.target.isalnum():
                return path
            case Ambiguous(path=path, others=others):
                listed = ", ".join(self._library.confirmed((path, *others))[:MAX_CANDIDATES])
                raise EditRefused(f"'{target}' may mean several notes: {listed}.", hint="Give the path of one of them.")
            case Resolved(path=path):
                raise NoteNotFound(f"There is no note '{target}'.", hint=f"Only its id is that of {path}.")
            case Missing(suggestions=suggestions):
                close = ", ".join(f"[[{name}]]" for name in suggestions)
                raise NoteNotFound(f"There is no note '{target}'.", hint=f"Closest: {close}." if close else "")
        raise NoteNotFound(f"There is no note '{target}'.")

    def file_or_folder(self, target: str) -> str:
        """The same, also for folders, which are named by their path."""
        folder = self._library.find_folder(target if "/" in target else f"{target}/") if target else ""
        if not folder:
            return self.file(target)
        try:
            path = self.file(target)
        except VaultError:
            return folder.rstrip("/")
        raise EditRefused(f"'{target}' may mean {path} or the folder {folder}", hint="Give the path of the note.")

    def new_note(self, named: str, folder: str) -> str:
        """A free path for a note that is named by a title, a link or a path."""
        return self.free(note_names.path_of_new_note(named, folder))

    def free(self, path: str, instead_of: str = "") -> str:
        """A path, with folders spelled as those that are there, checked to be a good one and free.

        It may differ in case only from `instead_of`, whose place it takes.
        """
        above, _, name = path.rpartition("/")
        folders = {parent for row in self._library.files() for parent in _parents(row.path)}
        if above:
            above = note_names.spelled_as(above, folders)
            for parent in (above, *_parents(above)):
                if parent not in folders:
                    note_names.check_name(parent.rpartition("/")[2])
        if name != instead_of.rpartition("/")[2]:
            note_names.check_name(name)
        path = f"{above}/{name}" if above else name
        self._check_free(path, instead_of)
        return path

    def _check_free(self, path: str, instead_of: str) -> None:
        key = note_names.same_name(path)
        alike = (row.path for row in self._library.whole.files() if note_names.same_name(row.path) == key)
        taken = path if self._staged.is_taken(path) else next(alike, "")
        if not taken or (instead_of and note_names.same_name(instead_of) == key and path != instead_of):
            return
        below = [row.path for row in self._library.whole.files() if row.path.startswith(f"{taken}/")]
        if not self._library.confirmed(below or [taken]):  # a refusal would tell a model of what it may not see
            reason = f"{path} cannot be made: {taken} is there already, and kept from this model."
            self._staged.set_aside(taken, reason)
            return
        raise EditRefused(f"{taken} is there already, and is left as it is.", hint="Choose another name, or edit it.")


def _exact_paths(target: str) -> Iterator[str]:
    if target and "[[" not in target:
        yield target
        if not is_note(target) and "/" in target:
            yield f"{target}{NOTE_SUFFIX}"


def _parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _link(target: str) -> Link:
    links = wikilink.scan(target)
    return links[0] if links else Link(text=target, target=target.strip())

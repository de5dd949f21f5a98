"""The editor of notes: each change is checked, and staged for the user to agree to."""
# ruff: noqa: ARG002

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime

from zkchat.errors import EditRefused, NoteNotFound
from zkchat.model.choices import SectionPosition
from zkchat.model.note import Ambiguous, Link, Missing, Resolved, is_note
from zkchat.vault.library import Library
from zkchat.vault.notes import wikilink
from zkchat.writing import note_names
from zkchat.writing.conventions import VaultConventions
from zkchat.writing.staging import StagedChanges

PropertyValue = str | int | float | bool | date | list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedEdit:
    """A change that was staged."""

    path: str
    """Where the note will be."""
    title: str
    """What is done, in a few words: `Append to Inbox.md`."""
    remarks: tuple[str, ...] = ()
    """What the user and the model should know of it, as sentences."""
    before: str = ""
    after: str = ""
    """The text of the note without and with the change; empty where there is none."""


class NoteEditor:
    """Stages changes of notes. A target is an exact path, or a link, title or alias that means one note only."""

    def __init__(
        self, library: Library, staged: StagedChanges, conventions: VaultConventions, now: Callable[[], datetime]
    ) -> None:
        self._library = library
        self._staged = staged
        self._conventions = conventions
        self._now = now

    def create(self, path_or_title: str, text: str, folder: str = "") -> StagedEdit:
        """Stage a new note. Raises `EditRefused` where there is one of that name."""
        path = self._new_path(path_or_title, folder)
        self._staged.create(path, text, title=(title := f"Create {path}"))
        return StagedEdit(path=path, title=title, after=text)

    def edit(self, target: str, old: str, new: str, expected: int = 1) -> StagedEdit:
        """Stage the replacement of an exact passage, which has to be there as often as expected."""

        def change(text: str) -> str:
            if not old or text.count(old) != expected:
                raise EditRefused(f"The passage is there {text.count(old)} times, not {expected}.")
            return text.replace(old, new)

        return self._rewrite(target, "Edit {}", change)

    def append(self, target: str, text: str) -> StagedEdit:
        """Stage lines at the end of a note."""
        return self._rewrite(target, "Append to {}", lambda before: appended(before, text))

    def edit_section(
        self, target: str, place: str, text: str, position: SectionPosition, include_children: bool = False
    ) -> StagedEdit:
        """Stage a change of what stands under a heading or in a block."""
        raise EditRefused("Sections cannot be edited yet.")

    def set_property(self, target: str, key: str, value: PropertyValue) -> StagedEdit:
        """Stage the value of a property; None removes it."""
        raise EditRefused("Properties cannot be set yet.")

    def add_tag(self, target: str, tag: str) -> StagedEdit:
        """Stage a tag among the properties of a note."""
        raise EditRefused("Tags cannot be added yet.")

    def append_daily(self, text: str, section: str = "") -> StagedEdit:
        """Stage lines at the end of today's note, or of a section of it; it is created where there is none."""
        raise EditRefused("Daily notes cannot be written yet.")

    def create_from_template(self, template: str, title: str) -> StagedEdit:
        """Stage a new note with the text of a template."""
        raise EditRefused("Templates cannot be used yet.")

    def rename(self, target: str, new: str) -> StagedEdit:
        """Stage another name, or path, of a note; every link follows."""
        raise EditRefused("Notes cannot be renamed yet.")

    def move(self, target: str, folder: str) -> StagedEdit:
        """Stage the move of a note to a folder; every link follows."""
        raise EditRefused("Notes cannot be moved yet.")

    def delete(self, target: str) -> StagedEdit:
        """Stage the move of a note to the vault's trash."""
        path = self._find(target)
        before = self._staged.read(path) or ""
        self._staged.trash(path, title=(title := f"Move {path} to the trash"))
        return StagedEdit(path=path, title=title, before=before)

    def _rewrite(self, target: str, title: str, change: Callable[[str], str]) -> StagedEdit:
        path = self._find(target)
        if not is_note(path):
            raise EditRefused(f"{path} is no note, and is left as it is.", hint="Only Markdown notes can be edited.")
        before = self._staged.read(path)
        assert before is not None
        after = change(before)
        if after == before:
            raise EditRefused(f"{path} says so already: nothing would change.")
        self._staged.write(path, after, title=(title := title.format(path)))
        return StagedEdit(path=path, title=title, before=before, after=after)

    def _find(self, target: str) -> str:
        """The path that a target will have. Raises `NoteNotFound`, and `EditRefused` with those that it may mean."""
        for path in _exact_paths(target):
            on_disk = self._staged.path_on_disk(path)
            is_visible = on_disk is not None and self._library.has_text(on_disk)
            if is_visible or path in self._staged.new_paths:
                return path
        link = _link(target)
        found = self._library.resolve(link)
        match found:
            case Resolved(path=path, via=via) if via != "id" or target.strip("[] ").isalnum():
                return self._still_there(self._staged.path_after(path))
            case Ambiguous(path=path, others=others):
                listed = ", ".join(self._library.confirmed((path, *others)))
                raise EditRefused(f"'{target}' may mean several notes: {listed}.", hint="Give the path of one of them.")
            case Missing(suggestions=suggestions):
                close = ", ".join(f"[[{name}]]" for name in suggestions)
                raise NoteNotFound(f"There is no note '{target}'.", hint=f"Closest: {close}." if close else "")
        raise NoteNotFound(f"There is no note '{target}'.")

    def _still_there(self, path: str) -> str:
        if not self._staged.is_taken(path) or path.startswith("."):
            raise NoteNotFound(f"There is no note {path} any more: it goes to the trash.")
        return path

    def _new_path(self, named: str, folder: str = "") -> str:
        """A free path for a new note, with folders spelled as those that are there."""
        path = note_names.path_of_new_note(named, folder or self._conventions.new_note_folder)
        above, _, name = path.rpartition("/")
        folders = {parent for row in self._library.files() for parent in _parents(row.path)}
        above = note_names.spelled_as(above, folders) if above else ""
        for part in (*above.split("/"),) if above and above not in folders else ():
            if part not in {each for known in folders for each in known.split("/")}:
                note_names.check_name(part)
        note_names.check_name(name)
        path = f"{above}/{name}" if above else name
        self._check_free(path)
        return path

    def _check_free(self, path: str) -> None:
        key = note_names.same_name(path)
        if self._staged.is_taken(path):
            alike = path
        else:
            alike = next((row.path for row in self._library.whole.files() if note_names.same_name(row.path) == key), "")
            alike = self._staged.path_after(alike) if alike else ""
            if not alike or note_names.same_name(alike) != key:
                return
        seen = alike if self._library.has_text(alike) else path
        raise EditRefused(f"{seen} is there already, and is left as it is.", hint="Choose another name, or edit it.")


def appended(text: str, addition: str) -> str:
    """A text with further lines at its end, which keeps its line ends and its missing final newline."""
    newline = "\r\n" if "\r\n" in text and text.count("\r\n") * 2 >= text.count("\n") else "\n"
    lines = addition.replace("\r\n", "\n").strip("\n").replace("\n", newline)
    if not lines:
        raise EditRefused("There is no text to append.")
    if not text or text == "\ufeff":
        return f"{text}{lines}{newline}"
    return f"{text}{lines}{newline}" if text.endswith("\n") else f"{text}{newline}{lines}"


def _exact_paths(target: str) -> Iterator[str]:
    if "[[" not in target and target:
        yield target
        if not is_note(target) and "/" in target:
            yield f"{target}.md"


def _parents(path: str) -> Iterator[str]:
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def _link(target: str) -> Link:
    links = wikilink.scan(target)
    return links[0] if links else Link(text=target, target=target.strip())

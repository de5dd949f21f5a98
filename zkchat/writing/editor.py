"""The editor of notes: each change is checked, and staged for the user to agree to."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    NOTE_SUFFIX,
    EditRefused,
    NoteNotFound,
    SectionPosition,
    VaultError,
    counted,
    counted_files,
    file_title,
    is_note,
    shorten,
    without_suffix,
)
from zkchat.index import Library, find_daily_note
from zkchat.notes import shown_text
from zkchat.writing.links.renames import (
    counted_links,
    links_in_other_files,
    links_to_new,
    meant_before,
    remarks_on_new,
    stage_move,
    title_of_move,
)
from zkchat.writing.passages import replace_passage
from zkchat.writing.properties import PropertyScalar, add_tag, set_property
from zkchat.writing.sections import append_text, edit_section
from zkchat.writing.staging import Edit, StagedChanges
from zkchat.writing.targets import (
    Targets,
    VaultConventions,
    check_inside,
    conflict_copies,
    fill_template,
    path_of_new_note,
    path_of_renamed,
)

MAX_NAMED = 5
"""Files that a remark names."""
_SECTION_TITLES: Final[dict[SectionPosition, str]] = {
    "append": "Append to",
    "prepend": "Prepend to",
    "replace": "Replace",
    "before": "Insert before",
    "after": "Insert after",
}

_LISTS = frozenset({"aliases", "tags"})
"""Properties that are lists, also of one value."""
_NAMES = frozenset({"aliases", "alias", "title"})
"""Properties by which links find a note."""


class StagedEdit(Struct, frozen=True, kw_only=True):
    path: str
    """Where the note will be."""
    title: str
    """What is done, in a few words: `Append to Inbox.md`."""
    remarks: tuple[str, ...] = ()
    """What the user and the model should know of it, as sentences."""
    follow: str = ""
    """How many notes have links that follow, as a sentence; the diff shows it, too."""
    before: str = ""
    after: str = ""
    """The text of the note without and with the change; empty where there is none."""


class NoteEditor:
    """Stages changes to notes. A target is an exact path, or a link, title or alias that means one note only."""

    def __init__(
        self,
        library: Library,
        staged: StagedChanges,
        conventions: VaultConventions,
        now: Callable[[], datetime],
        *,
        for_model: bool = False,
    ) -> None:
        """The library decides which notes there are; best one that shows what is staged (`Library.overlaid`).

        What is said `for_model` shows nothing of comments, which models do not see.
        """
        self._for_model = for_model
        self.library = library if library.is_overlaid else library.overlaid(staged)
        self._targets = Targets(self.library, staged)
        self.find, self.find_any = self._targets.note, self._targets.file_or_folder
        self.staged = staged
        self._conventions = conventions
        self._now = now

    def create(self, path_or_title: str, text: str, folder: str = "", *, may_take_over: bool = True) -> StagedEdit:
        """Stage a new note. Raises `EditRefused` where there is one of that name.

        `folder` is where one goes that is named by a title; `/` is the vault. Unless it `may_take_over` links that mean
        other notes, also where it would.
        """
        return self._create(self._new_path(path_or_title, folder), text, may_take_over=may_take_over)

    def edit(self, target: str, old: str, new: str, expected: int = 1) -> StagedEdit:
        """Stage the replacement of an exact passage, which has to be there as often as expected."""
        change = Edit(lambda text: replace_passage(text, old, new, expected=expected), replaces=True)
        return self._rewrite(target, "Edit", change)

    def append(self, target: str, text: str) -> StagedEdit:
        return self._rewrite(target, "Append to", Edit(lambda before: append_text(before, text)))

    def edit_section(
        self, target: str, place: str, text: str, position: SectionPosition, include_children: bool = False
    ) -> StagedEdit:
        """Stage a change of what stands under a heading or in a block."""

        def change(before: str) -> str:
            return edit_section(before, place, text, position=position, include_children=include_children)

        return self._rewrite(target, _SECTION_TITLES[position], Edit(change, replaces=position == "replace"), place)

    def set_property(
        self, target: str, key: str, value: PropertyScalar | Sequence[PropertyScalar] | None
    ) -> StagedEdit:
        """Stage the value of a property; None removes it."""
        if key.casefold() in _LISTS and isinstance(value, str):
            value = [value]
        new = value

        def change(text: str) -> str:
            return set_property(text, key, new)

        path, lost = self._targets.note(target), []
        if key.casefold() in _NAMES:  # by which links may have found it
            after = self._changed(self.staged.read(path) or "", change)
            lost = links_to_new(self.library.on_disk, self.staged, path, after, lost=True)
        verb = f"Remove {key} of" if value is None else f"Set {key} of"
        edit = self._rewrite(target, verb, Edit(change, replaces=True))
        told = (f"{counted_links(lost)} would lead nowhere.",) if lost else ()
        return replace(edit, remarks=(*edit.remarks, *told))

    def add_tag(self, target: str, tag: str) -> StagedEdit:
        change = Edit(lambda text: add_tag(text, tag))
        return self._rewrite(target, "Tag", change, end=f" with {tag.removeprefix('#')}")

    def append_daily(self, text: str, section: str = "") -> StagedEdit:
        """Stage lines at the end of today's note, or of a section of it; it is created where there is none."""

        def change(before: str) -> str:
            return edit_section(before, section, text, position="append") if section else append_text(before, text)

        daily = find_daily_note(self.library, self._conventions.daily, self._now().astimezone().date())
        if daily.path is not None:
            return self._rewrite(daily.path, "Append to", Edit(change), section)
        check_inside(daily.expected_path)
        path = self._targets.free(daily.expected_path)
        template = self._conventions.daily.template
        base, remarks = self._filled(template, path) if template else ("", ())
        return self._create(path, change(base), remarks, edit=Edit(change))

    def _new_path(self, named: str, folder: str) -> str:
        above = folder.rstrip("/") if folder else self._conventions.new_note_folder
        return self._targets.free(path_of_new_note(named, above))

    def create_from_template(self, template: str, title: str, folder: str = "") -> StagedEdit:
        """Stage a new note with the text of a template, which is found by its path, or by its name among templates."""
        path = self._new_path(title, folder)
        text, remarks = self._filled(template, path)
        return self._create(path, text, remarks)

    def rename(self, target: str, new: str) -> StagedEdit:
        """Stage another name, or another path, of a file or folder; every link follows."""
        source = self._targets.file_or_folder(target)
        is_folder = all(row.path != source for row in self.library.files())
        return self._move(source, path_of_renamed(source, new, is_folder=is_folder))

    def move(self, target: str, folder: str) -> StagedEdit:
        """Stage the move of a file or folder to another folder, the root being `/`; every link follows."""
        source = self._targets.file_or_folder(target)
        name = source.rpartition("/")[2]
        above = folder.strip("/")
        return self._move(source, f"{above}/{name}" if above else name)

    def delete(self, target: str) -> StagedEdit:
        """Stage the move of a file to the vault's trash."""
        path = self._targets.file(target)
        found = Counter(each.source for each in self.library.links_to(self.staged.path_on_disk(path) or path))
        confirmed = {*self.library.confirmed(found)} - {path}
        counts = {source: count for source, count in found.items() if source in confirmed}
        counts |= {each.source: each.links for each in links_in_other_files(self.library, self.staged, path)}
        total = sum(counts.values())
        lead = f"{counted(total, 'link')} in {counted_files(counts)} {'leads' if total == 1 else 'lead'}"
        before = (self.staged.read(path) or "") if is_note(path) else ""
        self.staged.trash(path, title=(title := f"Move {path} to the trash"))
        remarks = (f"{lead} to {path}, and will lead nowhere.",) if counts else ()
        return StagedEdit(path=path, title=title, before=before, remarks=remarks)

    def _move(self, source: str, target: str) -> StagedEdit:
        check_inside(target)
        if target == source:
            raise EditRefused(f"{source} has that path already.")
        target = self._targets.free(target, instead_of=source)
        try:
            summary = stage_move(self.library.on_disk, self.staged, source, target, self._conventions.link_style)
        except VaultError as error:
            shown = {row.path for row in self.library.files()}
            paths = (row.path for row in self.library.on_disk.files())
            hidden = (path for path in paths if self.staged.path_after(path) not in shown)
            if any(path in f"{error.message} {error.hint}" for path in hidden):
                raise EditRefused(
                    f"{source} cannot be moved: a link to it in another file cannot be rewritten."
                ) from None
            raise
        others = self.library.confirmed(path for path in summary.rewritten if path != target)
        follow = f"The links in {counted_files(others, 'other ')} are changed too." if others else ""
        remarks = [f"A broken link in {path} will lead to the moved file." for path in self._shown(summary.revived)]
        remarks += [
            f"Obsidian's setting for {setting} still names {path}: change it there."
            for setting, path in self._conventions.named_paths
            if f"{without_suffix(path)}/".startswith(f"{without_suffix(source)}/")
        ]
        return StagedEdit(path=target, title=title_of_move(source, target), follow=follow, remarks=tuple(remarks))

    def _shown(self, paths: Sequence[str]) -> list[str]:
        return self.library.confirmed(paths[:MAX_NAMED])

    def _create(
        self,
        path: str,
        text: str,
        remarks: tuple[str, ...] = (),
        *,
        may_take_over: bool = True,
        edit: Edit | None = None,
    ) -> StagedEdit:
        """Raises `EditRefused` where links would mean the new note that mean another one, unless it may take them over.

        A model is told nothing of links that led nowhere: they may be those of notes that it does not see.
        """
        is_refused = self._for_model or not may_take_over
        changed = links_to_new(self.library.on_disk, self.staged, path, text)
        before = meant_before(changed)
        named = self._shown(before)
        meant = ", ".join(named) or "another file"
        if is_refused and named:
            raise EditRefused(
                f"{path} is not created: it would take over links that now lead to {meant}.",
                hint="Choose another name, or edit the note that is there.",
            )
        if is_refused and before:
            meant = ", ".join(before[:MAX_NAMED])
            self.staged.refusals[path] = f"{path} cannot be made: it would take over links that now lead to {meant}."
        if not self._for_model:
            remarks += remarks_on_new(changed, path, meant)
        self.staged.create(path, text, title=(title := f"Create {path}"), edit=edit)
        return StagedEdit(path=path, title=title, after=text, remarks=remarks)

    def _rewrite(self, target: str, verb: str, edit: Edit, place: str = "", *, end: str = "") -> StagedEdit:
        path = self._targets.note(target)
        before = self.staged.read(path)
        if before is None:
            raise EditRefused(f"{path} cannot be changed: after the changes proposed before, there is no such note.")
        after = self._changed(before, edit.change)
        names = " › ".join(name.strip() for name in place.split("#") if name.strip())
        title = f"{verb} {path}{f' › {shorten(names, 60)}' if names else ''}{end}"
        if after != before:
            self.staged.write(path, after, made_from=before, title=title, edit=edit)
        elif self._for_model:
            raise EditRefused(f"Nothing would change in {path}: it already says this.")
        copies = self.library.confirmed(conflict_copies(path, (row.path for row in self.library.files())))
        remarks = tuple(f"A sync left another version of {path} next to it: {copy}." for copy in copies)
        return StagedEdit(path=path, title=title, before=before, after=after, remarks=remarks)

    def _changed(self, before: str, change: Callable[[str], str]) -> str:
        try:
            return change(before)
        except EditRefused:
            if not self._for_model or (shown := shown_text(before)) == before:
                raise
            change(shown)  # raises with what the model may see
            raise EditRefused("A comment in the note is in the way of this change.") from None

    def _filled(self, template: str, path: str) -> tuple[str, tuple[str, ...]]:
        """The text of a template for the note at a path, and what should be known of it."""
        source = self._template(template)
        text, left = fill_template(
            self.staged.read(source) or "",
            name=source,
            title=file_title(path),
            now=self._now().astimezone(),
            conventions=self._conventions,
        )
        return text, (f"Template placeholders not filled in: {', '.join(left[:5])}.",) if left else ()

    def _template(self, named: str) -> str:
        """The path of a template, which lies in a folder of templates where the vault has one."""
        folders = self._conventions.template_folders
        name = named if is_note(named) else f"{named}{NOTE_SUFFIX}"
        for folder in ("", *folders):
            if self.library.has_text(f"{folder}{name}") and f"{folder}{name}".startswith(folders or ""):
                return f"{folder}{name}"
        try:
            path = self._targets.note(named)
        except NoteNotFound:
            raise NoteNotFound(f"There is no template '{named}'.", hint=self._templates_there_are()) from None
        if not path.startswith(folders or ""):
            raise EditRefused(f"{path} is not a template.", hint=self._templates_there_are())
        return path

    def _templates_there_are(self) -> str:
        folders = self._conventions.template_folders
        if not folders:
            return "Obsidian's settings have no template folder, so any note can be a template: give its path."
        paths = (row.path for row in self.library.files() if row.path.startswith(folders) and is_note(row.path))
        found = self.library.confirmed(sorted(paths)[:20])
        where = ", ".join(folders)
        listed = ", ".join(map(file_title, found))
        return f"Templates in {where}: {listed}." if found else f"The template folder {where} has no notes."

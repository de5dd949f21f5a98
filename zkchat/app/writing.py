"""Changes of notes: the store with its journal, the editor, proposals, and Obsidian's settings of new notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat import actions, index, writing
from zkchat.app.databases import DatabasePaths, DurableFile
from zkchat.app.workspace import UNATTENDED, Notices, UserInterface, Workspace, local_globs
from zkchat.chat import Readings
from zkchat.core import (
    BringToPresent,
    ChangeOrigin,
    ChangeRecord,
    ChangeSet,
    ChangeStore,
    LocatedModel,
    StorageError,
    Tool,
    ZkchatError,
    path_before,
    read_bounded,
    text_of,
)
from zkchat.index import DailyNoteSettings, GuardedLibrary, Library
from zkchat.notes import privacy_of_text
from zkchat.storage import template_folders
from zkchat.writing import (
    Followed,
    FollowLinks,
    GitCommits,
    LinkStyle,
    NoteEditor,
    Proposals,
    SqliteChangeJournal,
    StagedChanges,
    VaultChanges,
    VaultConventions,
    VaultTree,
)

if TYPE_CHECKING:
    from zkchat.app.conversation_core import WritingOptions


_CORE: Final = ".obsidian/daily-notes.json"
_PERIODIC: Final = ".obsidian/plugins/periodic-notes/data.json"
_PERIODS: Final = ("daily", "weekly", "monthly", "quarterly")
_MAX_BYTES: Final = 100_000
_MAX_CHARACTERS: Final = 200
"""Of a folder or a format; more is none."""


def daily_note_settings(vault: Path) -> DailyNoteSettings:
    """Those of the plugin Periodic Notes where it makes daily notes, else of Obsidian itself; empty where none are set.

    The files came with the vault, so only texts of some length are taken from them.
    """
    periodic = obsidian_settings(vault, _PERIODIC).get("daily")
    tables = [obsidian_settings(vault, _CORE)]
    if isinstance(periodic, dict) and periodic.get("enabled", True):
        tables.insert(0, periodic)
    found = [
        index.DailyNoteSettings(**{name: text_setting(table, name) for name in ("folder", "format", "template")})
        for table in tables
    ]
    return next((each for each in found if each != index.DailyNoteSettings()), found[0])


def note_name_formats(vault: Path) -> tuple[str, ...]:
    """The formats of the names of daily notes and of those of weeks, months and quarters, as far as they are set."""
    periodic = obsidian_settings(vault, _PERIODIC)
    tables = [obsidian_settings(vault, _CORE), *(periodic.get(name) for name in _PERIODS)]
    found = [text_setting(table, "format") for table in tables if isinstance(table, dict)]
    return tuple(dict.fromkeys(filter(None, found)))


def obsidian_settings(vault: Path, name: str) -> dict[object, object]:
    """What a file of Obsidian's settings says; nothing where it is not there or cannot be read."""
    try:
        found = json.loads(read_bounded(vault / name, max_bytes=_MAX_BYTES, beneath=vault))
    except (OSError, ValueError, RecursionError):  # not there, not readable, no JSON
        return {}
    return found if isinstance(found, dict) else {}


def text_setting(table: dict[object, object], key: str) -> str:
    value = table.get(key)
    return value.strip() if isinstance(value, str) and len(value) <= _MAX_CHARACTERS else ""


_APP: Final = ".obsidian/app.json"


def link_style(vault: Path) -> LinkStyle:
    """How new links are written in this vault; Obsidian's defaults where it does not say, or not in words we know."""
    settings = obsidian_settings(vault, _APP)
    style = writing.LinkStyle(markdown=settings.get("useMarkdownLinks") is True)
    wanted = settings.get("newLinkFormat")
    return replace(style, format=wanted) if wanted in ("relative", "absolute") else style


def vault_conventions(vault: Path) -> VaultConventions:
    """What is set; Obsidian's own defaults for the rest."""
    app, templates = obsidian_settings(vault, _APP), obsidian_settings(vault, ".obsidian/templates.json")
    defaults = writing.VaultConventions()
    attachments = text_setting(app, "attachmentFolderPath")  # `./` is the folder of the note
    in_folder = app.get("newFileLocation") == "folder"
    return writing.VaultConventions(
        link_style=link_style(vault),
        daily=daily_note_settings(vault),
        template_folders=tuple(template_folders(vault)),
        date_format=text_setting(templates, "dateFormat") or defaults.date_format,
        time_format=text_setting(templates, "timeFormat") or defaults.time_format,
        new_note_folder=text_setting(app, "newFileFolderPath").strip("/") if in_folder else "",
        attachment_folder="" if attachments.startswith(".") else attachments.strip("/"),
    )


JOURNAL = "changes.db"
_MAX_AWAITED_FILES = 200
"""Written files up to which the index is brought up to date before a change is reported as made."""


@contextmanager
def open_change_store(
    workspace: Workspace, library: Library | None = None, notices: Notices = UNATTENDED
) -> Iterator[ChangeStore]:
    """The files of the vault with their journal, which is made with the first change.

    The library is refreshed after each change. A recovered journal is reported to `notices`, and a change that was
    interrupted.
    """
    with closing(_open_changes(workspace, notices.note, library)) as store:
        if _is_interrupted(workspace):
            store.recover()
        yield store


def action_vault(workspace: Workspace, library: Library, notices: Notices = UNATTENDED) -> actions.Vault:
    def records() -> list[ChangeRecord]:
        with open_change_store(workspace, notices=notices) as store:
            return store.records(limit=actions.MAX_RECORDS, with_contents=False)

    return actions.Vault(
        library=library,
        now=workspace.environment.now,
        records=records,
        daily_notes=partial(daily_note_settings, workspace.paths.vault),
    )


def renamed_notes(workspace: Workspace) -> dict[str, str]:
    """By the path that a note once had, the one that it has now, as far as the journal tells.

    A journal that cannot be read tells nothing: who changes notes recovers it, and says so.
    """
    now, new_id, paths = workspace.environment.now, workspace.environment.new_id, DatabasePaths(workspace)
    if not (paths.durable_folder / JOURNAL).is_file():
        return {}
    with suppress(StorageError), writing.SqliteChangeJournal(paths.durable(JOURNAL), now=now, new_id=new_id) as journal:
        records = journal.records(limit=actions.MAX_RECORDS, with_contents=False)
        return writing.past_renames(reversed(records))
    return {}


def recover_interrupted_changes(workspace: Workspace) -> tuple[str, ...]:
    """Take back a change set whose process was killed. One look at a file where there is none."""
    if not _is_interrupted(workspace):
        return ()
    notices: list[str] = []
    try:
        with closing(_open_changes(workspace, notices.append)) as store:
            store.recover()
    except ZkchatError as error:  # the notes can be read all the same
        notices.append(f"A change to your notes was interrupted and could not be undone. {error.message} {error.hint}")
    return tuple(notices)


def _is_interrupted(workspace: Workspace) -> bool:
    return writing.ProgressFile(DatabasePaths(workspace).durable_folder / JOURNAL).exists


def _open_changes(
    workspace: Workspace, notify: Callable[[str], object], library: Library | None = None
) -> _IndexedChanges:
    commit = None
    if workspace.settings.write.git_commit:
        commit = GitCommits(workspace.paths.vault, workspace.environment.variables)
    vault = workspace.settings.vault
    files = VaultTree(workspace.paths.vault, exclude=vault.exclude, max_note_bytes=vault.max_note_bytes)
    return _IndexedChanges(files, _JournalFile(workspace, notify), library, commit=commit, notify=notify)


class Editing(Struct, frozen=True):
    """What changes notes: the editor stages, the store applies what was staged."""

    editor: NoteEditor
    staged: StagedChanges
    store: ChangeStore


@contextmanager
def open_editing(workspace: Workspace, library: Library, notices: Notices = UNATTENDED) -> Iterator[Editing]:
    """An editor of the notes. Where a model edits, the library is the one that the model sees."""
    with open_change_store(workspace, library, notices) as store:
        staged = stage_over(store)
        editor = writing.NoteEditor(
            library, staged, vault_conventions(workspace.paths.vault), workspace.environment.now
        )
        yield Editing(editor, staged, store)


def stage_over(store: ChangeStore) -> StagedChanges:
    """Nothing staged yet, over the files of a store."""
    return writing.StagedChanges(store, store.last_move)


def link_follower(workspace: Workspace, library: Library, store: ChangeStore) -> FollowLinks:
    """What adds the links to changes with moves that were written since these were staged."""

    def follow(changes: ChangeSet, left_out: frozenset[str]) -> Followed:
        style = vault_conventions(workspace.paths.vault).link_style
        return writing.follow_links(library.on_disk, lambda: stage_over(store), style, changes, left_out)

    return follow


class _IndexedChanges(VaultChanges):
    """Where there is a library, its index knows of a change when it is made. Of one of many files it knows soon after:
    who asks for a refresh waits for it."""

    def __init__(self, files: VaultTree, journal: _JournalFile, library: Library | None, **more: Any) -> None:
        super().__init__(files, journal, **more)
        self._library = library

    def apply(self, changes: ChangeSet, origin: ChangeOrigin, bring: BringToPresent | None = None) -> ChangeRecord:
        return self._refreshed(super().apply(changes, origin, bring))

    def undo(self, record_id: int) -> ChangeRecord:
        return self._refreshed(super().undo(record_id))

    def _refreshed(self, record: ChangeRecord) -> ChangeRecord:
        if self._library is None:
            return record
        if len(record.changes.writes) > _MAX_AWAITED_FILES:
            self._library.refresh_in_background()
            return record
        with suppress(ZkchatError):  # the files are written, whatever becomes of the index
            self._library.refresh()
        return record


class _JournalFile(Struct, frozen=True):
    """Implements `storage.changes.store.JournalFile`."""

    workspace: Workspace
    notify: Callable[[str], object]

    @property
    def exists(self) -> bool:
        return writing.is_there(DatabasePaths(self.workspace).durable_folder / JOURNAL)

    def open(self) -> SqliteChangeJournal:
        opened = DurableFile(self.workspace, JOURNAL, writing.open_journal).recover()
        for notice in opened.notices:
            self.notify(notice)
        return opened.store


class ProposalParts:
    """What proposals are made of; opened with the conversation, used once writing is switched on."""

    def __init__(
        self,
        store: ChangeStore,
        workspace: Workspace,
        model: LocatedModel,
        user_interface: UserInterface,
        options: WritingOptions,
        local_only: Sequence[str] | None = None,
    ) -> None:
        """Nothing is staged yet. `local_only`: the patterns of local notes, where they may change meanwhile."""
        self.staged = stage_over(store)
        self._store = store
        self._workspace = workspace
        self._model = model
        self._user_interface = user_interface
        self._options = options
        self._local_globs = local_globs(workspace) if local_only is None else local_only

    def proposals(self, library: GuardedLibrary, readings: Readings) -> Proposals:
        """Proposals over the notes that the model may see, which show what is staged, and what it was given of them."""
        write, options = self._workspace.settings.write, self._options

        def tools() -> list[Tool]:
            conventions, now = vault_conventions(self._workspace.paths.vault), self._workspace.environment.now
            editor = writing.NoteEditor(library, self.staged, conventions, now, for_model=True)
            return writing.write_tools(editor, readings)

        return writing.Proposals(
            staged=self.staged,
            store=self._store,
            make_tools=tools,
            reviewer=self._user_interface.change_reviewer,
            policy=writing.ReviewPolicy(
                mode=write.mode,
                accept=tuple(write.accept),
                assumes_yes=options.assumes_yes,
                is_dry_run=options.proposes_only,
            ),
            is_withheld=lambda changes, path: self.is_withheld(library, changes, path),
            follow_links=link_follower(self._workspace, library, self._store),
            is_on=write.enabled if options.enabled is None else options.enabled,
        )

    def is_withheld(self, library: GuardedLibrary, changes: ChangeSet, path: str) -> bool:
        """Whether a path is, was or will be a note that the model may not see."""
        before = path_before(changes, path)
        if library.hidden() & {path, before}:
            return True
        texts = [
            text_of(content)
            for write in changes.writes
            if write.path == path
            for content in (write.before, write.after)
        ]
        classes = {
            privacy_of_text(text, place, self._local_globs) for text in texts or [""] for place in (path, before)
        }
        return "never" in classes or ("local" in classes and not self._model.info.on_this_machine)

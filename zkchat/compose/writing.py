"""Changes of notes: the store with its journal, and the editor over it."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat.compose.databases import DatabasePaths, DurableFile
from zkchat.compose.user_interface import UNATTENDED, Notices
from zkchat.compose.workspace import Workspace
from zkchat.errors import ZkchatError
from zkchat.model.change import ChangeOrigin, ChangeRecord, ChangeSet, FileMove
from zkchat.ports.changes import BringToPresent, ChangeStore
from zkchat.storage.changes.files import VaultTree
from zkchat.storage.changes.git import GitCommits
from zkchat.storage.changes.journal import SqliteChangeJournal, is_there, open_journal
from zkchat.storage.changes.progress import ProgressFile
from zkchat.vault.library import Library

if TYPE_CHECKING:
    from zkchat.storage.changes.store import VaultChanges
    from zkchat.writing.editor import NoteEditor
    from zkchat.writing.rebase import Followed, FollowLinks
    from zkchat.writing.staging import StagedChanges

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
    with closing(LateChanges(partial(_open_changes, workspace, notices), library)) as store:
        if _is_interrupted(workspace):
            store.recover()
        yield store


def recover_interrupted_changes(workspace: Workspace) -> tuple[str, ...]:
    """Take back a change set whose process was killed. One look at a file where there is none."""
    if not _is_interrupted(workspace):
        return ()
    notices = _Collected()
    try:
        with closing(_open_changes(workspace, notices)) as store:
            store.recover()
    except ZkchatError as error:  # the notes can be read all the same
        notices.note(f"A change of notes was interrupted and could not be taken back. {error.message} {error.hint}")
    return tuple(notices.texts)


def _is_interrupted(workspace: Workspace) -> bool:
    return ProgressFile(DatabasePaths(workspace).durable_folder / JOURNAL).exists


def _open_changes(workspace: Workspace, notices: Notices) -> "VaultChanges":
    from zkchat.storage.changes.store import VaultChanges

    commit = None
    if workspace.settings.write.git_commit:
        commit = GitCommits(workspace.paths.vault, workspace.environment.variables)
    return VaultChanges(
        changeable_files(workspace), _JournalFile(workspace, notices), commit=commit, notify=notices.note
    )


def changeable_files(workspace: Workspace) -> VaultTree:
    """The files of the vault to the last byte."""
    vault = workspace.settings.vault
    return VaultTree(workspace.paths.vault, exclude=vault.exclude, max_note_bytes=vault.max_note_bytes)


class Editing(Struct, frozen=True):
    """What changes notes: the editor stages, the store applies what was staged."""

    editor: "NoteEditor"
    staged: "StagedChanges"
    store: ChangeStore


@contextmanager
def open_editing(workspace: Workspace, library: Library, notices: Notices = UNATTENDED) -> Iterator[Editing]:
    """An editor of the notes. Where a model edits, the library is the one that the model sees."""
    from zkchat.compose.link_style import vault_conventions
    from zkchat.writing.editor import NoteEditor

    with open_change_store(workspace, library, notices) as store:
        staged = stage_over(store)
        editor = NoteEditor(library, staged, vault_conventions(workspace.paths.vault), workspace.environment.now)
        yield Editing(editor, staged, store)


def stage_over(store: ChangeStore) -> "StagedChanges":
    """Nothing staged yet, over the files of a store."""
    from zkchat.writing.staging import StagedChanges

    return StagedChanges(store, store.last_move)


def link_follower(workspace: Workspace, library: Library, store: ChangeStore) -> "FollowLinks":
    """What adds the links to changes with moves that were written since these were staged."""

    def follow(changes: ChangeSet, left_out: frozenset[str]) -> "Followed":
        from zkchat.compose.link_style import vault_conventions
        from zkchat.writing.links.following import follow_links

        style = vault_conventions(workspace.paths.vault).link_style
        return follow_links(library.on_disk, lambda: stage_over(store), style, changes, left_out)

    return follow


class LateChanges:
    """Implements `ports.changes.ChangeStore` with one that is opened when it is first needed: most answers change
    nothing.

    Where there is a library, its index knows of a change when it is made. Of one of many files it knows soon after: who
    asks for a refresh waits for it.
    """

    def __init__(self, open_store: "Callable[[], VaultChanges]", library: Library | None) -> None:
        self._open_store = open_store
        self._library = library

    @cached_property
    def _store(self) -> "VaultChanges":
        return self._open_store()

    def close(self) -> None:
        if "_store" in self.__dict__:
            self._store.close()

    def recover(self) -> None:
        """Take back a change set whose process was killed."""
        self._store.recover()

    def read_bytes(self, path: str) -> bytes | None:
        return self._store.read_bytes(path)

    def is_taken(self, path: str) -> bool:
        return self._store.is_taken(path)

    def records(
        self, *, since: datetime | None = None, limit: int | None = None, with_contents: bool = True
    ) -> list[ChangeRecord]:
        return self._store.records(since=since, limit=limit, with_contents=with_contents)

    def record(self, record_id: int) -> ChangeRecord:
        return self._store.record(record_id)

    def last_move(self, move: FileMove) -> ChangeSet | None:
        return self._store.last_move(move)

    def apply(self, changes: ChangeSet, origin: ChangeOrigin, bring: BringToPresent | None = None) -> ChangeRecord:
        return self._refreshed(self._store.apply(changes, origin, bring))

    def undo(self, record_id: int) -> ChangeRecord:
        return self._refreshed(self._store.undo(record_id))

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
    notices: Notices

    @property
    def exists(self) -> bool:
        return is_there(DatabasePaths(self.workspace).durable_folder / JOURNAL)

    def open(self) -> SqliteChangeJournal:
        opened = DurableFile(self.workspace, JOURNAL, open_journal).recover()
        for notice in opened.notices:
            self.notices.note(notice)
        return opened.store


class _Collected:
    """Implements `Notices`."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        self.texts.append(text)

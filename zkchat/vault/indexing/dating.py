"""Keeping the dates of notes in step with what is known besides the notes: formats of names, and git."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.model.history import Commit, CommittedFiles, HistoryStatus
from zkchat.model.note import is_drawing, is_note
from zkchat.ports.history import CommitHistory
from zkchat.ports.note_index import DateStore
from zkchat.vault.dates.names import name_date


class DateSources(Struct, frozen=True, kw_only=True):
    name_formats: Callable[[], Sequence[str]] = tuple
    """The formats by which Obsidian names notes of days, weeks and months, in the notation of moment.js."""
    history: CommitHistory | None = None


NO_DATES: Final = DateSources()


class Dating:
    """Finds dates that no note says itself."""

    def __init__(self, index: DateStore, sources: DateSources) -> None:
        self._index = index
        self._sources = sources

    def apply_formats(self, paths: Callable[[], Iterable[str]]) -> Sequence[str]:
        """The formats of names; if they are others than before, the names of all notes are read again."""
        formats = tuple(self._sources.name_formats())
        rule = _rule(formats)
        if self._index.name_rule() != rule:
            self._index.store_names(rule, {path: name_date(path, formats) for path in paths()})
        return formats

    def commits_of(self, path: str, limit: int) -> list[Commit]:
        """The git commits of a file, the latest first."""
        history = self._sources.history
        return history.commits_of(path, limit) if history else []

    def history_status(self) -> HistoryStatus:
        """Whether dates come from git, and why not."""
        history = self._sources.history
        status = history.status() if history else HistoryStatus(is_repository=False)
        _, trouble = self._index.commits_read()
        return status if status.reason or not trouble else replace(status, reason=trouble)

    def read_history(self) -> None:
        """Read the commits since the last time."""
        history = self._sources.history
        known, trouble = self._index.commits_read()
        head = history.head() if history else ""
        if head == known:
            return
        if history is None or not head:
            self._index.store_commits(CommittedFiles(head=""))
            return
        found = history.read(head, "" if trouble else known)
        files = {path: each for path, each in found.files.items() if is_note(path) or is_drawing(path)}
        self._index.store_commits(replace(found, files=files))


def _rule(formats: Sequence[str]) -> int:
    """A number for the formats; 0 for none."""
    if not formats:
        return 0
    return int.from_bytes(blake2b("\0".join(formats).encode(errors="replace"), digest_size=6).digest())

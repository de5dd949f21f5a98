"""The commits of a vault that git keeps."""

from typing import Protocol

from zkchat.model.history import Commit, CommittedFiles, HistoryStatus


class CommitHistory(Protocol):
    """The git repository that a vault is, or is a part of. Every thread may use it."""

    def status(self) -> HistoryStatus: ...

    def head(self) -> str:
        """The commit that is checked out; empty where there is no repository that can be read."""

    def read(self, head: str, known: str) -> CommittedFiles:
        """The last commit of each file up to the commit `head`; at best only what came to it after `known`."""

    def commits_of(self, path: str, limit: int) -> list[Commit]:
        """The commits that changed a file, the latest first, at most so many."""

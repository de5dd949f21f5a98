"""What a git repository tells of the files of a vault."""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct, field


class CommittedFile(NamedTuple):
    """The last and the first commit that changed a file."""

    blob: bytes
    """The id of the content that it gave the file."""
    seconds: int
    """Since 1970, as its author's clock said."""
    first_seconds: int
    """Those of the first commit that was read of the file, under whichever name."""
    first_path: str
    """Its path in that commit: another one where it was renamed and its content stayed."""


class CommittedFiles(Struct, frozen=True, kw_only=True):
    head: str
    """The commit up to which the history was read; empty where there is none."""
    files: Mapping[str, CommittedFile] = field(default_factory=dict)
    """By path in the vault."""
    is_whole: bool = True
    """Whether it is all there is, and not only what came to an earlier reading."""
    trouble: str = ""
    """Why some or all of the history could not be read, as the end of a sentence."""


class Commit(Struct, frozen=True, kw_only=True):
    id: str
    seconds: int
    subject: str


class HistoryStatus(Struct, frozen=True, kw_only=True):
    """Whether dates come from git."""

    is_repository: bool
    reason: str = ""
    """Why it is not used, as the end of a sentence; empty where it is used, or where there is no repository."""

"""What a git repository tells of the files of a vault."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedFiles:
    head: str
    """The commit up to which the history was read; empty where there is none."""
    files: Mapping[str, CommittedFile] = field(default_factory=dict)
    """By path in the vault."""
    is_whole: bool = True
    """Whether it is all there is, and not only what came to an earlier reading."""
    trouble: str = ""
    """Why some or all of the history could not be read, as the end of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    id: str
    seconds: int
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryStatus:
    """Whether dates come from git."""

    is_repository: bool
    reason: str = ""
    """Why it is not used, as the end of a sentence; empty where it is used, or where there is no repository."""

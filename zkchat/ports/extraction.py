"""Texts extracted from files that are none, such as PDFs."""

from collections.abc import Collection, Sequence
from typing import Protocol

from zkchat.model.extracted_text import ExtractedText
from zkchat.model.note import FileStamp


class ExtractedTexts(Protocol):
    """The texts of files that are extracted in the background, such as PDFs. Every thread may use it, and it can be
    pickled for other processes."""

    def covers(self, path: str) -> bool:
        """Whether files of this kind are extracted here, by the suffix. Costs nothing."""

    def find(self, stamp: FileStamp) -> ExtractedText | None:
        """The text of a file with this path, size and time; None as long as it is not extracted. Reads no file."""

    def latest(self, path: str) -> ExtractedText | None:
        """The text of a file as it was last extracted."""


class ExtractionStore(ExtractedTexts, Protocol):
    """Extracted texts by the digest of their files, so that a file that is renamed is not extracted again."""

    def missing(self, stamps: Sequence[FileStamp]) -> list[FileStamp]:
        """The files of which there is no text that was made as texts are made now."""

    def attach(self, stamp: FileStamp, digest: bytes) -> bool:
        """From now on the file has the text of this digest; returns whether there is one."""

    def keep(self, digest: bytes, text: ExtractedText) -> None: ...

    def forget_failures(self) -> None:
        """Drop what could not be extracted, so that it is tried again."""

    def prune(self, paths: Collection[str]) -> None:
        """Drop the texts of all files but these."""


class TextExtractor(Protocol):
    """Extracts texts, one file after the other. No file does any harm to this process."""

    @property
    def max_bytes(self) -> int:
        """Of a file; larger ones are not extracted."""

    def extract(self, data: bytes) -> ExtractedText | None:
        """The text of a file with this content, or the trouble with it; None where it was stopped."""

    def stop(self) -> None:
        """Let the `extract` that runs, and all later ones, return None. Every thread may call it."""

    def close(self) -> None: ...

"""Texts of PDFs that a test extracts itself."""

from dataclasses import dataclass, field

from zkchat.core.note import ExtractedText, FileStamp


@dataclass
class PagesByPath:
    """Implements `ports.extraction.ExtractedTexts`: a PDF has the pages that the test puts here."""

    texts: dict[str, ExtractedText] = field(default_factory=dict)

    def covers(self, path: str) -> bool:
        return path.lower().endswith(".pdf")

    def find(self, stamp: FileStamp) -> ExtractedText | None:
        return self.texts.get(stamp.path)

    def latest(self, path: str) -> ExtractedText | None:
        return self.texts.get(path)

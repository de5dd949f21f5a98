"""The text of a file that only another program can read, such as a PDF."""

from msgspec import Struct


class ExtractedText(Struct, frozen=True, kw_only=True):
    """What was extracted of a file, page by page. An empty page is kept, so that pages keep their numbers."""

    pages: tuple[str, ...] = ()
    title: str = ""
    """As the file itself says; empty where it says none."""
    trouble: str = ""
    """Why there is no text, as a sentence for the user; a file without any text has no trouble."""
    outline: tuple[tuple[int, str], ...] = ()
    """Page, from 1 on, and title of each entry of its table of contents, in their order."""
    omission: str = ""
    """What of it was left out, as a sentence for the user."""

"""What the extraction of one PDF may cost."""

from typing import Final, NamedTuple


class PdfLimits(NamedTuple):
    max_bytes: int = 100_000_000
    """Of the file."""
    max_pages: int = 2_000
    max_seconds: float = 60.0
    max_memory: int = 400_000_000
    """Of the process that extracts, in bytes, libraries included, besides the `max_bytes` that a file may have."""
    max_characters: int = 20_000_000
    """Of all pages together."""


MAX_REPLY_BYTES: Final = 200_000_000
"""That the process may send for one file, whatever it holds."""

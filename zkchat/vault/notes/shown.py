"""The text of a note as models see it."""

from collections.abc import Iterable

from zkchat.vault.notes.parse import comments_of


def shown_text(text: str) -> str:
    """The text of a note as models see it: without comments."""
    return without_comments(text, comments_of(text))


def without_comments(text: str, comments: Iterable[tuple[int, int]]) -> str:
    """The text with its comments blanked out, line for line."""
    pieces: list[str] = []
    position = 0
    for start, end in comments:
        pieces += (text[position:start], "\n" * text.count("\n", start, end))
        position = end
    return "".join([*pieces, text[position:]])

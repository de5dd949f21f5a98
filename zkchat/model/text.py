"""Shortening text for people."""


def shorten(text: str, length: int, *, whole_words: bool = False) -> str:
    """The text in at most so many characters; where some are left out, an ellipsis ends it."""
    if len(text) <= length:
        return text
    kept = text[: length - 1]
    return (kept.rsplit(" ", 1)[0] if whole_words else kept).rstrip() + "…"

"""Text for people: shortened, and counted things."""


def shorten(text: str, length: int, *, whole_words: bool = False) -> str:
    """The text in at most so many characters; where some are left out, an ellipsis ends it."""
    if len(text) <= length:
        return text
    kept = text[: length - 1]
    return (kept.rsplit(" ", 1)[0] if whole_words else kept).rstrip() + "…"


def counted(number: int, thing: str) -> str:
    """`1 note`, `2 notes`, `1,234 notes`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"

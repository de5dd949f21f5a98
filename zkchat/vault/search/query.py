"""A search as people type it: words, and a few filters. Whatever is no filter is a word."""

import re
from dataclasses import dataclass
from datetime import date

from zkchat.vault.search.terms import MAX_QUERY_CHARACTERS

_PIECE = re.compile(
    r"""(?P<minus>-)? (?: (?P<field>tag|path|after): )? (?: "(?P<quoted>[^"]+)" | (?P<plain>[^\s"]+) )""",
    re.VERBOSE | re.IGNORECASE,
)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    words: str = ""
    """What ranks the passages: everything that is no filter."""
    phrases: tuple[str, ...] = ()
    """Each must stand in the passage, word for word."""
    without: tuple[str, ...] = ()
    """None may stand in it: single words in any form, phrases word for word."""
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    after: date | None = None
    """Only notes changed on that day or later."""

    @property
    def ranking(self) -> str:
        return " ".join((self.words, *self.phrases)).strip()


def parse(text: str) -> Query:
    """Understand `tag:x`, `path:x`, `after:2024-05-31`, `"exact phrase"` and `-word`. Never raises."""
    words: list[str] = []
    filters: dict[str, list[str]] = {"phrase": [], "without": [], "tag": [], "path": []}
    after: date | None = None
    for piece in _PIECE.finditer(text[:MAX_QUERY_CHARACTERS]):
        value = piece["quoted"] or piece["plain"]
        kind = _kind(piece, value)
        if kind == "after":
            after = _date(value)
        elif kind == "word":
            words.append(piece.group())
        else:
            filters[kind].append(value)
    return Query(
        words=" ".join(words),
        phrases=tuple(filters["phrase"]),
        without=tuple(filters["without"]),
        tags=tuple(tag.lstrip("#").rstrip("/") for tag in filters["tag"]),
        paths=tuple(filters["path"]),
        after=after,
    )


def _kind(piece: re.Match[str], value: str) -> str:
    field = (piece["field"] or "").lower()
    if piece["minus"]:
        # `-5` is a number, `--force` an option, `-tag:x` nothing we know.
        return "without" if not field and (value[0].isalpha() or piece["quoted"]) else "word"
    if field == "after":
        return "after" if _date(value) else "word"
    if field == "tag":
        return "tag" if value.strip("#/") else "word"
    return field or ("phrase" if piece["quoted"] else "word")


def _date(value: str) -> date | None:
    """The first day of a year, a month, or the day itself."""
    match = _DATE.fullmatch(value)
    if not match:
        return None
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    except ValueError:
        return None

"""What is asked of the catalog of notes: which of them, since when, in which order."""

from typing import Final, Literal

from msgspec import Struct

from zkchat.model.dates import DayRange

QueryKind = Literal[
    "notes",
    "orphans",
    "untagged",
    "broken_links",
    "overview",
    "count",
    "tags",
    "folders",
    "backlinks",
    "links",
    "hubs",
    "tasks",
]
TaskTime = Literal["open", "due", "overdue"]
Order = Literal["newest", "oldest", "longest", "shortest"]
MAX_LISTED: Final = 15
"""Rows of an answer, unless the question asks for another number."""
MAX_ASKED: Final = 50


class CatalogQuery(Struct, frozen=True, kw_only=True):
    kind: QueryKind
    tags: tuple[str, ...] = ()
    """Without their `#`; a note has all of them, or tags below them."""
    any_tag: bool = False
    """Whether one of the tags is enough."""
    without_tags: tuple[str, ...] = ()
    """A note has none of these, nor tags below them."""
    folder: str | None = None
    """As it is written."""
    period: DayRange | None = None
    by_change: bool = False
    """Whether its time is that of the last change, and not when a note was written."""
    order: Order | None = None
    is_about_changes: bool = False
    """Whether it asks what was changed, and not only for the notes of a time."""
    limit: int | None = None
    wants_all: bool = False
    """Whether it asks for all of them in so many words."""
    tasks: TaskTime = "open"
    """Which tasks, where it asks for tasks."""
    note: str | None = None
    """The link whose links are asked for, as it is written; or the name of a note."""

"""The daily brief: what changed lately, what is to be done, what was on this day, and what is not linked."""

from collections.abc import Collection, Sequence
from datetime import date
from typing import Generic, Literal, Protocol, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.model.dates import NoteDate

Priority = Literal["highest", "high", "medium", "normal", "low", "lowest"]
"""Of tasks, as the plugin Tasks has them."""
PastDay = Literal["year", "month", "week"]
"""How long ago the notes of this day were written: whole years, or a month, or a week."""


class OfNote(Protocol):
    @property
    def path(self) -> str: ...


Item = TypeVar("Item", bound=OfNote)


class FirstOf(Struct, Generic[Item], frozen=True):
    """The first of some things that stand in notes, and how many there are."""

    items: Sequence[Item] = ()
    total: int = 0

    @property
    def more(self) -> int:
        return self.total - len(self.items)

    def within(self, paths: Collection[str]) -> "FirstOf[Item]":
        """Those of these notes."""
        return FirstOf([item for item in self.items if item.path in paths], self.total)


class BriefNote(Struct, frozen=True, kw_only=True):
    path: str
    title: str
    date: NoteDate
    """When it was changed; of a note of an earlier year, when it was written."""
    is_new: bool = False
    """Whether it was written in these days."""
    beginning: str = ""
    """A line of what it says."""


class OpenTask(Struct, frozen=True, kw_only=True):
    path: str
    title: str
    line: int
    text: str
    """Without its dates and its priority."""
    is_begun: bool = False
    priority: Priority = "normal"
    due: date | None = None
    scheduled: date | None = None
    start: date | None = None
    """Before this day it is not to be done."""

    @property
    def day(self) -> date | None:
        """The day it is to be done by; where none is set, on which it is to be done."""
        return self.due or self.scheduled


class UnlinkedMention(Struct, frozen=True, kw_only=True):
    """A line of a note that names another one without a link."""

    path: str
    line: int
    name: str
    """As the other note is called."""
    target: str
    """The path of the note that is named."""


class OpenTasks(Struct, frozen=True, kw_only=True):
    overdue: FirstOf[OpenTask] = field(default_factory=FirstOf)
    due: FirstOf[OpenTask] = field(default_factory=FirstOf)
    """Today and in the next days."""
    undated: FirstOf[OpenTask] = field(default_factory=FirstOf)
    """Without a date, of notes that changed in these days."""
    later: int = 0
    """How many are due later, or may not begin yet."""
    older: int = 0
    """How many have no date and stand in notes that did not change in these days."""


class DailyBrief(Struct, frozen=True, kw_only=True):
    today: date
    days: int
    """That it looks back, and ahead."""
    week_begins: date
    changed: FirstOf[BriefNote] = field(default_factory=FirstOf)
    """The last changed first."""
    changed_today: int = 0
    changed_yesterday: int = 0
    tasks: OpenTasks = field(default_factory=OpenTasks)
    past: FirstOf[BriefNote] = field(default_factory=FirstOf)
    """Notes of this day."""
    past_day: PastDay = "year"
    orphans: FirstOf[BriefNote] = field(default_factory=FirstOf)
    """Of the changed notes, those without links."""
    mentions: FirstOf[UnlinkedMention] = field(default_factory=FirstOf)
    """In the changed notes."""

    @property
    def paths(self) -> list[str]:
        """The notes with tasks that are due, then those that changed, with other tasks, and of this day; each once."""
        tasks = self.tasks
        items = (tasks.overdue, tasks.due, self.changed, tasks.undated, self.past)
        return [*dict.fromkeys(item.path for found in items for item in found.items)]

    @property
    def is_empty(self) -> bool:
        return not (self.paths or self.orphans.items or self.mentions.items)

    def within(self, paths: Collection[str]) -> "DailyBrief":
        """The same of some notes only, without what is not linked."""
        tasks = self.tasks
        return replace(
            self,
            changed=self.changed.within(paths),
            tasks=replace(
                tasks,
                overdue=tasks.overdue.within(paths),
                due=tasks.due.within(paths),
                undated=tasks.undated.within(paths),
            ),
            past=self.past.within(paths),
            orphans=FirstOf(),
            mentions=FirstOf(),
        )

"""The daily brief of a vault: changes, open tasks by when they are due, and the same as lines for a model."""

from calendar import isleap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from html import escape
from itertools import islice
from typing import Final

from msgspec.structs import replace

from zkchat.answers.open_tasks import first_confirmed, first_titled, open_tasks
from zkchat.core import (
    PAGES,
    BriefNote,
    Calendar,
    CatalogRow,
    DailyBrief,
    FirstOf,
    NoteDates,
    OpenTask,
    PastDay,
    UnlinkedMention,
    VaultError,
    file_title,
    newness,
    shorten,
)
from zkchat.index import Library, NoteNames, common_names, named_in
from zkchat.notes import Lines, blocks, flatten, frontmatter_of, plain

MAX_LISTED_IN_BRIEF: Final = 30
"""Lines of one list."""


def report_section(title: str, lines: Iterable[str], total: int = 0) -> str:
    """A list below its title, each item on one line; nothing where there is none."""
    every = [" ".join(line.split()) for line in lines]
    more = max(total, len(every)) - len(every[:MAX_LISTED_IN_BRIEF])
    shown = [f"- {shorten(line, 300)}" for line in every[:MAX_LISTED_IN_BRIEF]]
    return "\n".join([f"{title}:", *shown, *([f"- and {more:,} more"] if more else [])]) if every else ""


def as_data(report: str) -> str:
    """A report in marks that nothing in it can end."""
    return f"<vault_report>\n{escape(report, quote=False)}\n</vault_report>"


def report_brief(brief: DailyBrief, link_to: Callable[[str], str]) -> str:
    """What a brief says of tasks and notes, in sections."""
    tasks, changed, past = brief.tasks, brief.changed, brief.past
    changes = (f"{each.date.day} {link_to(each.path)}" for each in changed.items)
    earlier = (f"{each.date.day} {link_to(each.path)}: {each.beginning}" for each in past.items)
    sections = (
        report_section("overdue tasks", _tasks(tasks.overdue.items, link_to), tasks.overdue.total),
        report_section("tasks due soon", _tasks(tasks.due.items, link_to), tasks.due.total),
        report_section("open tasks without a date", _tasks(tasks.undated.items, link_to), tasks.undated.total),
        report_section("changed notes, the latest first", changes, changed.total),
        report_section("notes of this day in the past", earlier, past.total),
    )
    return "\n\n".join(filter(None, sections))


def _tasks(tasks: Iterable[OpenTask], link_to: Callable[[str], str]) -> Iterator[str]:
    for task in tasks:
        due = f" (due {task.due})" if task.due else f" (scheduled {task.scheduled})" if task.scheduled else ""
        yield f"{link_to(task.path)}: {task.text}{due}"


DEFAULT_DAYS: Final = 7
MAX_DAYS: Final = 366
SHORT: Final = 5
"""Items of each list on a screen."""
LONG: Final = 100
"""And for scripts."""


def make_brief(
    library: Library,
    calendar: Calendar,
    *,
    days: int = DEFAULT_DAYS,
    most: int = SHORT,
    unlinked: bool = True,
    daily: str | None = None,
) -> DailyBrief:
    """What changed in so many days, today included, and what is due in as many; of each list at most `most` items.

    Of a library for a model it holds only what that model may see. `unlinked` says whether it is looked for what has
    no links; a `daily` note comes first of all that changed, also where it did not.
    """
    today = calendar.today
    first = today - timedelta(days=days - 1)
    named = {row.path: row for row in library.notes() if row.path not in PAGES}
    rows, dates = [named[path] for path in library.without_templates(named)], library.dates()
    dates = {row.path: dates[row.path] for row in rows if row.path in dates}
    changed = [path for path in dates if first <= dates[path].changed.day <= today]
    changed.sort(key=lambda path: newness(dates[path]), reverse=True)
    if daily in dates:
        changed = [daily, *(path for path in changed if path != daily)]
    notes = [
        BriefNote(
            path=path,
            title="",
            date=dates[path].changed,
            is_new=dates[path].written.is_told and first <= dates[path].written.day,
        )
        for path in changed
    ]
    past_day, past = _past(dates, today)
    before = first_titled(library, past, most)
    linked = {path for edge in library.edges(changed) for path in edge} if unlinked else {*changed}
    # A name without letters is that of a daily note.
    alone = {path for path in changed if path not in linked and any(map(str.isalpha, file_title(path)))}
    return DailyBrief(
        today=today,
        days=days,
        week_begins=today - timedelta(days=(today.weekday() - calendar.first_weekday) % 7),
        changed=first_titled(library, notes, most),
        changed_today=sum(note.date.day == today for note in notes),
        changed_yesterday=sum(note.date.day == today - timedelta(days=1) for note in notes),
        tasks=open_tasks(library, today, days=days, most=most, changed=changed),
        past=FirstOf([replace(each, beginning=_beginning(library, each.path)) for each in before.items], before.total),
        past_day=past_day,
        orphans=first_titled(library, [note for note in notes if note.path in alone], most),
        mentions=_mentions(library, rows, changed[:40], most) if unlinked else FirstOf(),
    )


def _past(dates: Mapping[str, NoteDates], today: date) -> tuple[PastDay, list[BriefNote]]:
    """The notes of this day in earlier years, the latest first; where there are none, of a month or a week ago."""
    written = {path: each.written for path, each in dates.items() if each.written.is_told}
    anniversaries = {(today.month, today.day)}
    if today.month == 2 and today.day == 28 and not isleap(today.year):
        anniversaries.add((2, 29))
    last = today.replace(day=1) - timedelta(days=1)
    month_before = last.replace(day=today.day) if today.day <= last.day else None
    kinds: dict[PastDay, Callable[[date], bool]] = {
        "year": lambda day: day.year < today.year and (day.month, day.day) in anniversaries,
        "month": lambda day: day == month_before,
        "week": lambda day: day == today - timedelta(days=7),
    }
    for kind, is_meant in kinds.items():
        if found := [path for path in written if is_meant(written[path].day)]:
            found.sort(key=lambda path: written[path].day, reverse=True)
            return kind, [BriefNote(path=path, title="", date=written[path]) for path in found]
    return "year", []


def _beginning(library: Library, path: str) -> str:
    """The first sentence of a note; empty where it says nothing, or is gone."""
    text = _text(library, path)
    said = (block for block in blocks(text[frontmatter_of(text).end :][:8_000]) if not block.is_pointer)
    first = next((block.sentences[0].text if block.sentences else block.text for block in said), "")
    return shorten(plain(first), 160, whole_words=True)


def _mentions(
    library: Library, rows: Sequence[CatalogRow], changed: Sequence[str], most: int
) -> FirstOf[UnlinkedMention]:
    """Where the notes that changed last name others without a link, each once in a note. Ordinary words are none."""
    sources = {row.path for row in rows if row.is_source}
    texts = {path: text for path in changed if path in sources and (text := _text(library, path))}
    named = named_in(texts.values(), (row for row in rows if row.is_source))
    names = NoteNames(named, lambda names: common_names(names, library))
    linked = {*library.edges(texts)}
    found = (each for path, text in texts.items() for each in _mentions_in(path, text, names))
    unlinked = [*islice((each for each in found if (each.path, each.target) not in linked), 500)]
    nameable = {*library.confirmed({each.target for each in unlinked})}
    return first_confirmed(library, [each for each in unlinked if each.target in nameable], most)


def _mentions_in(path: str, text: str, names: NoteNames) -> Iterator[UnlinkedMention]:
    lines = Lines(flatten(text))
    first = {mention.path: mention for mention in reversed(names.find(text, path)) if not mention.is_common}
    for mention in sorted(first.values()):
        yield UnlinkedMention(path=path, line=lines.at(mention.start), name=mention.name, target=mention.path)


def _text(library: Library, path: str) -> str:
    """What a note says, without comments; empty where it is gone."""
    try:
        return library.section(path)[:200_000]
    except VaultError:
        return ""

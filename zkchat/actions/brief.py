"""The daily brief: open tasks by their due dates, what changed, what was on this day, what is not linked."""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, Final

from msgspec.structs import asdict, replace

from zkchat.actions.base import Result, Vault
from zkchat.answers import LONG, SHORT, make_brief
from zkchat.core import BriefNote, DailyBrief, FirstOf, NoteDate, OpenTask, Priority, counted, shorten, without_suffix
from zkchat.index import Library, find_daily_note
from zkchat.render import NumberedRow, Place, RowSection, with_labels

_SIGNS: Final[dict[Priority, str]] = {"highest": "‼ ", "high": "! ", "lowest": "↓ ", "low": "↓ "}
_ON_THIS_DAY: Final = {"year": "On this day", "month": "A month ago today", "week": "A week ago today"}


def brief_of(library: Library, days: int, *, for_scripts: bool = False) -> Result:
    """What changed in so many days, what is due in as many, and what was on this day in earlier years."""
    found = make_brief(library, library.calendar(), days=days, most=LONG if for_scripts else SHORT)
    day = f"{found.today:%A}, {found.today.day} {found.today:%B %Y}"
    sections = [section for section in (task_section(found), *_note_sections(found)) if section.rows]
    return Result(heading=day, sections=sections, empty=f"{day}: nothing changed, nothing is due.", data=_record(found))


def today_of(vault: Vault, days: int, *, for_scripts: bool = False) -> Result:
    """The daily note of today, and the brief."""
    found = brief_of(vault.library, days, for_scripts=for_scripts)
    daily = find_daily_note(vault.library, vault.daily_notes(), found.plain["date"])
    data = {**found.plain, "daily": {"path": daily.path, "expected_path": daily.expected_path}}
    if daily.path is None:
        return replace(found, data=data)
    title = vault.library.title(daily.path)
    row = NumberedRow(name=title, place=daily.path, to=Place(path=daily.path, name=title))
    return replace(found, sections=[RowSection(title="Daily note", rows=[row]), *found.sections], data=data)


def _record(found: DailyBrief) -> dict[str, Any]:
    tasks = found.tasks
    return {
        "date": found.today,
        "days": found.days,
        "tasks": {
            "overdue": _list_record(tasks.overdue, asdict),
            "due": _list_record(tasks.due, asdict),
            "undated": _list_record(tasks.undated, asdict),
            "later": tasks.later,
            "older": tasks.older,
        },
        "changed": _list_record(found.changed, _note_record),
        "on_this_day": {"ago": found.past_day, **_list_record(found.past, _note_record)},
        "without_links": _list_record(found.orphans, _note_record),
        "unlinked_mentions": _list_record(found.mentions, asdict),
    }


def _list_record(found: FirstOf[Any], record: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    return {"total": found.total, "items": [record(item) for item in found.items]}


def _note_record(note: BriefNote) -> dict[str, Any]:
    at = note.date
    return {
        "path": note.path,
        "title": note.title,
        "date": at.day,
        "time": f"{at.time:%H:%M}" if at.time else None,
        "origin": at.origin,
        "is_new": note.is_new,
        "beginning": note.beginning,
    }


def task_section(brief: DailyBrief) -> RowSection:
    tasks, today = brief.tasks, brief.today
    listed = {"overdue": tasks.overdue, "due soon": tasks.due, "without a date in changed notes": tasks.undated}
    counts = [f"{found.total:,} {what}" for what, found in listed.items() if found.total]
    left_out = [f"{found.more:,} more {what}" for what, found in listed.items() if found.more]
    left_out += [f"{tasks.later:,} due later"] if tasks.later else []
    left_out += [f"{tasks.older:,} without a date in older notes"] if tasks.older else []
    rows = [_task_row(task, today) for found in listed.values() for task in found.items]
    return RowSection(title="Tasks", summary=" · ".join(counts), rows=rows, rest=_and(left_out))


def _note_sections(brief: DailyBrief) -> Iterator[RowSection]:
    def since(day: date) -> str:
        return f"{counted(brief.today.year - day.year, 'year')} ago" if brief.past_day == "year" else str(day)

    changed = brief.changed
    counts = {"today": brief.changed_today, "yesterday": brief.changed_yesterday}
    summary = [f"{count:,} {when}" for when, count in counts.items() if count]
    yield RowSection(
        title="Changed",
        summary=" · ".join([*summary, f"{changed.total:,} in {counted(brief.days, 'day')}"]),
        rows=[_note_row(note, _when(note.date, brief), *["new"] * note.is_new) for note in changed.items],
        rest=_and([f"{changed.more:,} more"] if changed.more else []),
    )
    yield RowSection(
        title=_ON_THIS_DAY[brief.past_day],
        rows=[_note_row(note, since(note.date.day), text=with_labels(note.beginning)) for note in brief.past.items],
        rest=_and([f"{brief.past.more:,} more"] if brief.past.more else []),
    )
    yield RowSection(
        title="Without links",
        summary=f"{counted(brief.orphans.total, 'note')} in {counted(brief.days, 'day')}",
        rows=[_note_row(note) for note in brief.orphans.items],
        rest=_and([f"{brief.orphans.more:,} more"] if brief.orphans.more else []),
    )
    mentioned = [
        (each.name, Place(path=each.path, line=each.line, name=without_suffix(each.path)))
        for each in brief.mentions.items
    ]
    yield RowSection(
        title="Unlinked mentions",
        rows=[NumberedRow(name=name, place=f"in {to.location}", to=to) for name, to in mentioned],
        rest=_and([f"{brief.mentions.more:,} more; to link them: zkchat note link"] if brief.mentions.more else []),
    )


def _and(left_out: list[str]) -> str:
    return f"… and {', '.join(left_out)}" if left_out else ""


def _task_row(task: OpenTask, today: date) -> NumberedRow:
    day = task.day
    is_overdue = day is not None and day < today
    told = []
    if day:
        days = (day - today).days
        soon = {0: "today", 1: "tomorrow"}.get(days) or (f"on {day:%A}" if days < 7 else f"{day}")
        told.append(f"{'due' if task.due else 'scheduled'} {_ago(day, today) if is_overdue else soon}")
    told += ["begun"] if task.is_begun else []
    return NumberedRow(
        name=_SIGNS.get(task.priority, "") + shorten(with_labels(task.text), 140, whole_words=True),
        place=" · ".join([*told, f"{task.path}:{task.line}"]),
        is_doubtful=is_overdue,
        to=Place(path=task.path, line=task.line, name=task.title),
    )


def _note_row(note: BriefNote, *told: str, text: str = "") -> NumberedRow:
    return NumberedRow(
        name=note.title, place=" · ".join([*told, note.path]), text=text, to=Place(path=note.path, name=note.title)
    )


def _when(at: NoteDate, brief: DailyBrief) -> str:
    days = (brief.today - at.day).days
    clock = f" {at.time:%H:%M}" if at.time else ""
    if days <= 1:
        return f"{'yesterday' if days else 'today'}{clock}"
    return f"{at.day:%A}" if at.day >= brief.week_begins else f"{at.day}"


def _ago(day: date, today: date) -> str:
    days = (today - day).days
    if days <= 1:
        return "yesterday" if days else "today"
    return f"{counted(days, 'day')} ago" if days < 7 else f"on {day}, {counted(days, 'day')} ago"

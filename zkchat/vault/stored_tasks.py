"""The open tasks that the index holds, with their dates and priorities."""

from zkchat.model.daily_brief import OpenTask
from zkchat.model.index import StoredTask
from zkchat.vault.library import Library
from zkchat.vault.notes.frontmatter import PLACEHOLDER
from zkchat.vault.task_fields import read_fields


def all_tasks(library: Library) -> list[OpenTask]:
    """All open tasks of notes that may be named, without their titles."""
    found = [read_task(stored) for stored in library.tasks() if not PLACEHOLDER.search(stored.text)]
    named = {*library.confirmed([*dict.fromkeys(task.path for task in found)])}
    return [task for task in found if task.path in named]


def read_task(stored: StoredTask) -> OpenTask:
    """A task with its dates and priority, without the title of its note."""
    fields = read_fields(stored.text)
    return OpenTask(
        path=stored.path,
        title="",
        line=stored.line,
        text=fields.text or stored.text,
        is_begun=stored.state == "/",
        priority=fields.priority,
        due=fields.due,
        scheduled=fields.scheduled,
        start=fields.start,
    )

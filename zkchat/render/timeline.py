"""The events of a note's timeline in words."""

from typing import assert_never

from zkchat.model.timeline import TimelineEvent

_ORIGINS = {
    "name": "by its name",
    "frontmatter": "by its properties",
    "git": "by git",
    "file": "by the time of its file",
}
_SHORT_ID = 7


def event_time(event: TimelineEvent) -> str:
    return f"{event.day} {event.time:%H:%M}" if event.time else str(event.day)


def describe_event(event: TimelineEvent) -> str:
    match event.kind:
        case "written" | "changed":
            return f"{event.kind}, {_ORIGINS[event.text]}"
        case "edit":
            return f"change {event.number}: {event.text}"
        case "commit":
            return f"commit {event.number[:_SHORT_ID]}: {event.text}"
        case "backlink":
            return f"{event.path} links here"
        case "link":
            return f"links to {event.path}"
    assert_never(event.kind)

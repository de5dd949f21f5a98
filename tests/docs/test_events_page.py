"""docs/events.md lists every event with its fields. When this fails, put the expected table between the markers."""

from pathlib import Path
from typing import get_args

from zkchat.core.events import Event

PAGE = Path(__file__).parents[2] / "docs" / "events.md"
BEGIN, END = "<!-- events -->\n", "<!-- /events -->"


def table() -> str:
    rows = ["| event | fields | when |", "|---|---|---|"]
    for event in get_args(Event):
        fields = ", ".join(f"`{name}`" for name in event.__struct_fields__)
        when = " ".join((event.__doc__ or "").split()) if "__doc__" in vars(event) else ""
        rows.append(f"| `{event.__struct_config__.tag}` | {fields} | {when} |")
    return "\n".join(rows) + "\n"


def test_the_page_lists_every_event_with_its_fields() -> None:
    assert PAGE.read_text().partition(BEGIN)[2].partition(END)[0] == table()

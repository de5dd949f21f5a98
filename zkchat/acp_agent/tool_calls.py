"""Tool calls of a model as ACP clients show them: what kind they are, where they look, what came of them."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from acp.helpers import start_tool_call, text_block, tool_content, update_tool_call
from acp.schema import ToolCallLocation, ToolCallProgress, ToolCallStart

from zkchat.render import phrases
from zkchat.render.sanitize import sanitize_text

if TYPE_CHECKING:
    from acp.schema import ToolKind

_KINDS: Final[dict[str, "ToolKind"]] = {
    "read_document": "read",
    "read_attachment": "read",
    "add_tag": "edit",
    "append_daily": "edit",
    "create_document": "edit",
    "create_from_template": "edit",
    "edit_document": "edit",
    "edit_section": "edit",
    "set_property": "edit",
    "delete_document": "delete",
    "move_document": "move",
    "rename_document": "move",
    "remember": "think",
    "get_current_datetime": "other",
}
_SEARCHES: Final = ("find_", "list_", "resolve_", "search_", "recall")
_MAX_TITLE: Final = 100
MAX_OUTPUT_CHARS: Final = 2_000
"""Of a result that is shown again when a session is loaded."""


def kind_of(name: str) -> "ToolKind":
    return _KINDS.get(name, "search" if name.startswith(_SEARCHES) else "other")


def started(call_id: str, name: str, arguments: str, server: str = "") -> ToolCallStart:
    """`server` is the MCP server that the arguments are sent to; empty for one of zkchat's own tools."""
    return start_tool_call(
        call_id,
        phrases.tool_call(name, arguments, _MAX_TITLE, server),
        kind=kind_of(name),
        status="in_progress",
        raw_input=_raw(arguments),
    )


def finished(
    call_id: str, summary: str, *, failed: bool, locations: Sequence[ToolCallLocation] = ()
) -> ToolCallProgress:
    return update_tool_call(
        call_id,
        status="failed" if failed else "completed",
        content=[tool_content(text_block(phrases.tool_result(summary, failed=failed)))],
        locations=locations or None,
    )


def _raw(arguments: str) -> Any:
    """As the model wrote them, which may be no JSON."""
    try:
        return cleaned(json.loads(arguments or "{}"))
    except (ValueError, RecursionError):
        return sanitize_text(arguments)


def cleaned(value: Any) -> Any:
    """The same JSON without what acts on a terminal."""
    match value:
        case str():
            return sanitize_text(value)
        case list():
            return [cleaned(each) for each in value]
        case dict():
            return {sanitize_text(name): cleaned(each) for name, each in value.items()}
        case _:
            return value

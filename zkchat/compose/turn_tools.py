"""The tools that the model of a turn may call: those that look things up, those that propose changes, and servers'."""

from typing import TYPE_CHECKING

from zkchat.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zkchat.compose.model_view import ModelView
    from zkchat.compose.turn_parts import TurnParts
    from zkchat.ports.tools import Tool


def turn_tools(parts: "TurnParts", view: "ModelView") -> Toolbox:
    """The tools, over what the model may see."""
    return Toolbox([*_read_tools(parts, view), *_write_tools(view)], _server_tools(parts, view))


def _read_tools(parts: "TurnParts", view: "ModelView") -> "list[Tool]":
    """Those that look things up; none for a model that only quotes."""
    if parts.provider.info.needs_notes:
        return []
    from zkchat.tools.attachments import attachment_tools
    from zkchat.tools.explore import explore_tools
    from zkchat.tools.memory import memory_tools
    from zkchat.tools.recall import recall_tools

    tools = [*explore_tools(view.library, parts.journal.now), *(recall_tools(view.recall.find) if view.recall else [])]
    if view.memory:
        may_remember = None if parts.settings.private else parts.user_interface.may_remember
        tools += memory_tools(view.memory, may_remember, parts.journal)
    return [*tools, *attachment_tools(view.long_messages.texts)]


def _write_tools(view: "ModelView") -> "Sequence[Tool]":
    """Those that propose changes, where writing is on from the beginning."""
    return view.proposals.tools if view.proposals and view.proposals.is_on else ()


def _server_tools(parts: "TurnParts", view: "ModelView") -> "Callable[[], Sequence[Tool]]":
    return parts.servers.tools(view.privacy, view.library) if parts.servers else tuple

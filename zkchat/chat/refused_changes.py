"""Which changes of notes a model tried in a turn and did not get proposed."""

import json
from collections.abc import Sequence, Set
from typing import Any, Final, NamedTuple

from zkchat.chat.tool_results import calls_with_results
from zkchat.model.events import Warned
from zkchat.model.message import ChatMessage
from zkchat.model.parts import ToolCallPart, ToolResultPart

MAX_REASON_CHARS: Final = 200
"""Of why a change was refused that the user is told."""
MAX_TARGET_CHARS: Final = 80
_TARGETS: Final = ("relative_path", "title")
"""Arguments that say which note a call is about."""


class _Attempt(NamedTuple):
    """One call of a tool that proposes changes, with its result."""

    result: ToolResultPart
    arguments: dict[str, Any]

    @property
    def target(self) -> str:
        values = (self.arguments.get(key) for key in _TARGETS)
        return next((value for value in values if isinstance(value, str)), "")

    @property
    def what(self) -> str:
        """`edit_document Garden`."""
        return f"{self.result.name} {' '.join(self.target.split())[:MAX_TARGET_CHARS]}".rstrip()

    def is_made_good_by(self, later: "_Attempt") -> bool:
        """Whether a later call, which worked, is about the same note, or the same for a note by another name."""
        if self.target.casefold() == later.target.casefold() and (self.target or self.result.name == later.result.name):
            return True
        return self.result.name == later.result.name and self._content == later._content != {}

    @property
    def _content(self) -> dict[str, Any]:
        return {key: value for key, value in self.arguments.items() if key not in _TARGETS}


def refused_changes(turn: Sequence[ChatMessage], tool_names: Set[str]) -> Warned | None:
    """What the user is told of changes that were refused, and not tried again with success."""
    attempts = [*_attempts(turn, tool_names)]
    refused = [
        attempt
        for place, attempt in enumerate(attempts)
        if attempt.result.failed
        and not any(attempt.is_made_good_by(later) for later in attempts[place + 1 :] if not later.result.failed)
    ]
    if not refused:
        return None
    count = "1 change was" if len(refused) == 1 else f"{len(refused)} changes were"
    reason = next(iter(refused[-1].result.text.splitlines()), "")[:MAX_REASON_CHARS]
    is_all = all(attempt.result.failed for attempt in attempts)
    end = " Nothing was proposed." if is_all else ""
    return Warned(text=f"{count} refused: {refused[-1].what}: {reason}{end}")


def _attempts(turn: Sequence[ChatMessage], tool_names: Set[str]) -> list[_Attempt]:
    answered = calls_with_results(turn)
    return [_Attempt(result, _arguments(call)) for call, result in answered if result.name in tool_names]


def _arguments(call: ToolCallPart) -> dict[str, Any]:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}

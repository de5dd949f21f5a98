"""The user at the terminal, asked about a call of an MCP server's tool: what is sent where, and one key."""

import json
from collections.abc import Callable, Iterator
from typing import Final

from zkchat.cli.common import CommandIO
from zkchat.cli.key_questions import KeyQuestions
from zkchat.model.text import shorten
from zkchat.render.sanitize import sanitize_line
from zkchat.tools.server_approval import CallAnswer, ServerCall

_MAX_ARGUMENTS: Final = 12
_MAX_VALUE: Final = 400
_ANSWERS: Final[dict[str, CallAnswer]] = {"y": "yes", "a": "always"}


class TerminalCallReviewer:
    """Implements `tools.server_approval.CallReviewer`."""

    def __init__(self, io: CommandIO, *, color: Callable[[], str] = lambda: "auto", plain: bool = False) -> None:
        """`plain`: lines are read instead of keys, and nothing is drawn in colour."""
        self._io = io
        self._color = color
        self._plain = plain

    def review(self, call: ServerCall) -> CallAnswer:
        """Ctrl-C, Ctrl-D and Esc are a no."""
        from rich.text import Text

        questions = KeyQuestions(self._io, color=self._color(), plain=self._plain)
        self._io.note("")  # the line that says what the model is doing has not ended
        for line in describe_call(call):
            questions.show(Text(line))
        keys = [("y", "yes" if not call.may_always else "yes, in this chat"), ("n", "no")]
        if call.may_always:
            keys.append(("a", "always"))
        with questions.listening():
            answer = questions.ask("Call it?", keys, end="n")
        return _ANSWERS.get(answer, "no")


def describe_call(call: ServerCall) -> Iterator[str]:
    """What is sent where, in lines that hold nothing but text."""
    yield sanitize_line(f"▌ {call.title}")
    if call.warning:
        yield sanitize_line(f"  {call.warning}")
    for name, value in [*call.arguments.items()][:_MAX_ARGUMENTS]:
        written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield f"  {sanitize_line(shorten(name, _MAX_VALUE))}: {sanitize_line(shorten(written, _MAX_VALUE))}"
    if (more := len(call.arguments) - _MAX_ARGUMENTS) > 0:
        yield f"  … and {more:,} more arguments"
    if not call.arguments:
        yield "  without arguments"

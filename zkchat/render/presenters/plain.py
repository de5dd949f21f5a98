"""A turn as plain text, for pipes, screen readers and terminals without colour."""

from typing import TextIO, assert_never

from zkchat.model.events import (
    Compacted,
    Compacting,
    Event,
    LinksResolved,
    PromptReady,
    ReferenceFound,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    UsageReported,
    Warned,
)
from zkchat.render import phrases
from zkchat.render.context_bar import context_line
from zkchat.render.presenters.base import OutputStream
from zkchat.render.references import reference_lines
from zkchat.render.sanitize import error_lines, sanitize_text


class PlainPresenter:
    """The answer on standard output as the model wrote it, the rest on standard error, without boxes or colour.

    With `details`, for a person: tool calls, references and context. Without, for a pipe: warnings and errors only, and
    what a model says before it has used its tools is held back, since it may be asked again and say better.
    """

    def __init__(self, stdout: TextIO, stderr: TextIO, *, details: bool = False, references_shown: int = 10) -> None:
        self._answer = OutputStream(stdout)
        self._beside = OutputStream(stderr)
        self._details = details
        self._references_shown = references_shown
        self._calls: dict[str, str] = {}
        self._held: list[str] | None = None
        self._prompts = 0

    def show(self, event: Event) -> None:
        match event:
            case PromptReady():
                self._prompted(event)
            case TextDelta():
                self._write(sanitize_text(event.text))
            case ToolStarted():
                self._release()
                self._calls[event.call_id] = phrases.tool_call(event.name, event.arguments)
            case ToolFinished():
                call = self._calls.pop(event.call_id, phrases.tool_call(event.name, ""))
                self._detail(f"{call}: {phrases.tool_result(event.summary, failed=event.failed)}")
            case Compacting():
                self._detail(phrases.making_room(event.messages, event.tokens))
            case Compacted():
                self._detail(phrases.compaction(event.message))
            case Warned():
                self._say(phrases.warning(event.text, event.hint))
            case TurnFinished() | TurnFailed():
                self._ended(event)
            case LinksResolved() | ThinkingDelta() | ReferenceFound() | UsageReported():
                pass
            case _:
                assert_never(event)

    def tick(self) -> None:
        """A line that changes is nothing for a pipe or a screen reader."""

    def close(self) -> None:
        self._release()
        self._answer.end_line()

    def _prompted(self, event: PromptReady) -> None:
        self._prompts += 1
        if self._prompts == 1 and event.usage.tools and not self._details:
            self._held = []

    def _write(self, text: str) -> None:
        if self._prompts > 1:
            self._held = None  # here comes the better answer
        if self._held is None:
            self._answer.write(text)
        else:
            self._held.append(text)

    def _release(self) -> None:
        held, self._held = self._held, None
        self._answer.write("".join(held or ()))

    def _say(self, text: str) -> None:
        self._answer.end_line()
        self._beside.line(text)

    def _detail(self, text: str) -> None:
        if self._details:
            self._say(text)

    def _ended(self, event: TurnFinished | TurnFailed) -> None:
        self._release()
        self._prompts = 0
        if isinstance(event, TurnFailed):
            self._say(error_lines(event.text, event.hint).rstrip("\n"))
        else:
            self._finished(event)

    def _finished(self, event: TurnFinished) -> None:
        self._answer.end_line()
        if self._details:
            self._beside.line("")
        for line in reference_lines(event.message.references, most=self._references_shown):
            self._detail(line)
        self._detail(context_line(event.usage))

"""A turn as plain text, for pipes, screen readers and terminals without colour."""

import math
import time
from collections.abc import Callable
from typing import TextIO, assert_never

from zkchat.core import Event, PromptReady, events
from zkchat.render import phrases
from zkchat.render.context import AnswerFooter, detailed_lines
from zkchat.render.presenters.text import OutputStream, Presenter
from zkchat.render.sanitize import error_lines, sanitize_text


class _Beside(Presenter):
    """Shows every event by another presenter, and does more."""

    def __init__(self, presenter: Presenter) -> None:
        self._presenter = presenter

    def show(self, event: Event) -> None:
        self._presenter.show(event)

    def tick(self, activity: str = "") -> None:
        self._presenter.tick(activity)

    def close(self) -> None:
        self._presenter.close()


class ContextPresenter(_Beside):
    """Shows every event by another presenter, and prints the record of each request as soon as it is built."""

    def __init__(self, presenter: Presenter, print_line: Callable[[str], None]) -> None:
        super().__init__(presenter)
        self._print_line = print_line

    def show(self, event: Event) -> None:
        super().show(event)
        if isinstance(event, PromptReady) and event.context:
            for line in (*detailed_lines(event.context), ""):
                self._print_line(line)


class BellPresenter(_Beside):
    """Shows every event by another presenter, and rings once when what lasted so many seconds is done."""

    def __init__(
        self,
        presenter: Presenter,
        ring: Callable[[], object],
        *,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(presenter)
        self._ring = ring
        self._clock = clock
        self._due = clock() + seconds
        self._is_goal = False

    def show(self, event: Event) -> None:
        super().show(event)
        self._is_goal = self._is_goal or isinstance(event, events.GoalPlanned | events.StepStarted)
        ends = events.GoalEnded if self._is_goal else events.TurnFinished | events.TurnFailed
        if isinstance(event, ends) and self._clock() >= self._due:
            self._due = math.inf
            self._ring()


class PlainPresenter(Presenter):
    """Writes the answer to standard output as the model wrote it, and the rest to standard error.

    With `details`, for a person: tool calls, references and context. Without, for a pipe: warnings, errors and remarks
    only, and text before the first tool call is held back, since the model may be asked again and answer better.
    """

    def __init__(
        self, stdout: TextIO, stderr: TextIO, *, details: bool = False, footer: AnswerFooter | None = None
    ) -> None:
        self._answer = OutputStream(stdout)
        self._errors = OutputStream(stderr)
        self._details = details
        self._footer = footer or AnswerFooter()
        self._calls: dict[str, str] = {}
        self._held_back: list[str] | None = None
        self._prompts = 0

    def show(self, event: events.Event) -> None:
        match event:
            case events.PromptReady():
                self._prompts += 1
                is_held = self._prompts == 1 and event.is_provisional and not self._details
                self._held_back = [] if is_held else self._held_back
            case events.TextDelta():
                self._write(sanitize_text(event.text))
            case events.Remarked() if event.is_heading:
                self._print_detail(sanitize_text(event.text))
            case events.Remarked():
                self._print(sanitize_text(event.text))
            case events.ToolStarted():
                self._release()
                self._calls[event.call_id] = phrases.tool_call(event.name, event.arguments, server=event.server)
            case events.ToolFinished():
                call = self._calls.pop(event.call_id, phrases.tool_call(event.name, ""))
                self._print_detail(f"{call}: {phrases.tool_result(event.summary, failed=event.failed)}")
            case events.ChangesReviewed():
                self._print(phrases.reviewed(event))
            case events.Notice():
                self._print_detail(phrases.notice(event))
            case events.AnswerReplaced():
                self._held_back = None
            case events.Warned():
                self._print(phrases.warning(event.text, event.hint))
            case events.TurnFinished() | events.TurnFailed():
                self._end_turn(event)
            case events.GoalPlanned() | events.StepStarted() | events.StepFinished() | events.GoalEnded():
                self._show_goal(event)
            case (
                events.LinksResolved()
                | events.EvidenceFound()
                | events.ThinkingDelta()
                | events.ReferenceFound()
                | events.UsageReported()
            ):
                pass
            case _:
                assert_never(event)

    def close(self) -> None:
        self._release()
        self._answer.end_line()

    def _write(self, text: str) -> None:
        if self._prompts > 1:
            self._held_back = None  # the second answer replaces the first one
        if self._held_back is None:
            self._answer.write(text)
        else:
            self._held_back.append(text)

    def _release(self) -> None:
        held, self._held_back = self._held_back, None
        self._answer.write("".join(held or ()))

    def _print(self, text: str) -> None:
        self._answer.end_line()
        self._errors.line(text)

    def _show_goal(self, event: events.GoalEvent) -> None:
        for line in phrases.lines_of(event, is_plain=True):
            self._print(line)

    def _print_detail(self, text: str) -> None:
        if self._details:
            self._print(text)

    def _end_turn(self, event: events.TurnFinished | events.TurnFailed) -> None:
        self._release()
        self._prompts = 0
        if isinstance(event, events.TurnFailed):
            self._print(error_lines(event.text, event.hint).rstrip("\n"))
            return
        self._answer.end_line()
        below = [*self._footer.lines(event)] if self._details else []
        for line in ["", *below] if below else []:
            self._errors.line(line)

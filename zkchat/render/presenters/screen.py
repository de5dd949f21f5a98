"""A turn drawn on a terminal: the answer as it streams, tool calls, sources and context."""

import time
from collections.abc import Callable
from typing import Final, assert_never

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from zkchat.model import events
from zkchat.model.choices import DEFAULT_AGENT, ThinkingView
from zkchat.render import checklist, phrases
from zkchat.render.activity import ActivitySection, ThinkingSection, WaitIndicator
from zkchat.render.answer_footer import AnswerFooter
from zkchat.render.console import Matches
from zkchat.render.live import LiveRegion, render_rows
from zkchat.render.markdown.stream import MarkdownStream
from zkchat.render.sanitize import error_lines, sanitize_line

ANSWER_MARK: Final = "●"
"""Stands above an answer in a chat, before the name of who answers, so that it is found in the scrollback."""


class ScreenPresenter:
    """Draws one section at a time: answer, thinking or tool calls. Warnings wait until a section ends."""

    def __init__(
        self,
        out: Console,
        err: Console,
        *,
        thinking: Callable[[], ThinkingView] = lambda: "folded",
        footer: AnswerFooter | None = None,
        is_marked: bool = False,
        matches: Matches | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`is_marked`: a line above an answer says where it begins; `matches` finds the words marked in quotations."""
        self._out = out
        self._err = err
        self._thinking_view = thinking
        self._footer = footer or AnswerFooter()
        self._is_marked = is_marked
        self._matches = matches
        self._is_asked = False
        """Whether the model was asked."""
        self._clock = clock
        self._answers_as = "zkchat"
        self._section: MarkdownStream | ThinkingSection | ActivitySection | None = None
        self._deferred: list[Text] = []
        self._wait_indicator = WaitIndicator(out, clock=clock)
        self._is_set_apart = False
        """Whether a blank line stands above the next line of a checklist."""

    def show(self, event: events.Event) -> None:
        self._wait_indicator.hide()
        self._update_wait_indicator(event)
        match event:
            case events.TextDelta():
                self._answer(event.text)
            case events.Remarked():
                self._answer(phrases.remark(event.text))
            case events.ThinkingDelta():
                self._thought(event.text)
            case events.ToolStarted():
                self._activity().started(event.call_id, event.name, event.arguments, event.server)
            case events.ToolFinished():
                self._activity().finished(event.call_id, event.name, event.summary, failed=event.failed)
            case events.Notice():
                self._print(
                    self._reviewed(event)
                    if isinstance(event, events.ChangesReviewed)
                    else Text(phrases.notice(event), style="dim")
                )
            case events.Warned():
                self._print(Text(phrases.warning(event.text, event.hint), style="yellow"))
            case events.PromptReady() | events.AnswerReplaced():
                self._begin_section(None)  # text so far was an answer of its own
                if isinstance(event, events.PromptReady) and event.context and event.context.agent != DEFAULT_AGENT:
                    self._answers_as = sanitize_line(event.context.agent)
            case events.TurnFinished():
                self._finish_turn(event)
            case events.TurnFailed():
                self._begin_section(None)
                self._print(Text(error_lines(event.text, event.hint).rstrip("\n"), style="red"))
            case events.GoalPlanned() | events.StepStarted() | events.StepFinished() | events.GoalEnded():
                self._show_goal(event)
            case events.LinksResolved() | events.EvidenceFound() | events.ReferenceFound() | events.UsageReported():
                pass
            case _:
                assert_never(event)

    def tick(self, activity: str = "") -> None:
        section = self._section
        doing = "waiting for the model" if self._is_asked else activity or "getting ready"
        if isinstance(section, ActivitySection) and section.is_calling:
            doing = "waiting for the tool"
        if section is None:
            self._wait_indicator.draw(doing)
        elif rows := self._wait_indicator.rows(doing):
            section.wait(rows)

    def close(self) -> None:
        self._wait_indicator.hide()
        self._begin_section(None)

    def _update_wait_indicator(self, event: events.Event) -> None:
        """Start it anew whenever something comes and more is to come from the model or a tool."""
        match event:
            case events.ChangesReviewed() | events.TurnFinished() | events.TurnFailed():
                self._wait_indicator.end()
            case events.GoalPlanned() | events.StepStarted() | events.StepFinished() | events.GoalEnded():
                self._wait_indicator.end()
            case (
                events.PromptReady()
                | events.TextDelta()
                | events.Remarked()
                | events.ThinkingDelta()
                | events.ToolStarted()
                | events.ToolFinished()
                | events.Notice()
            ):
                self._is_asked = True
                self._wait_indicator.begin()
            case (
                events.LinksResolved()
                | events.EvidenceFound()
                | events.ReferenceFound()
                | events.UsageReported()
                | events.Warned()
                | events.AnswerReplaced()
            ):
                pass
            case _:
                assert_never(event)

    def _answer(self, text: str) -> None:
        if isinstance(self._section, MarkdownStream):
            self._section.feed(text)
        elif text.strip("\n"):
            answer = MarkdownStream(self._out, clock=self._clock, matches=self._matches, links=self._footer.links)
            self._begin_section(answer)
            answer.feed(text)

    def _thought(self, text: str) -> None:
        """Show thinking as the user wants it now; what was folded is drawn whole once it is not any more."""
        section, view = self._section, self._thinking_view()
        is_begun = isinstance(section, ThinkingSection) or (
            isinstance(section, ActivitySection) and section.is_thinking
        )
        if not is_begun and (view == "hidden" or not text.strip()):
            return
        if view != "shown":
            since = section.since if isinstance(section, ThinkingSection) else None
            self._activity().think(text, since=since)
        elif isinstance(section, ThinkingSection):
            section.feed(text)
        else:
            before, since = section.take_thought() if isinstance(section, ActivitySection) else ("", self._clock())
            thought = ThinkingSection(self._out, clock=self._clock, since=since)
            self._begin_section(thought)
            thought.feed(before + text)

    def _activity(self) -> ActivitySection:
        if isinstance(self._section, ActivitySection):
            return self._section
        activity = ActivitySection(self._out, clock=self._clock)
        self._begin_section(activity)
        return activity

    def _begin_section(self, section: MarkdownStream | ThinkingSection | ActivitySection | None) -> None:
        """End the current section and begin another: an answer below its mark, or set apart by a blank line."""
        self._is_set_apart = self._is_set_apart and section is None
        ended, self._section = self._section, section
        if ended is not None:
            ended.finish()
            for text in self._deferred:
                self._err.print(text)
            self._deferred.clear()
        is_answer = isinstance(section, MarkdownStream)
        if is_answer and self._is_marked:
            self._out.print(Text(f"{ANSWER_MARK} {self._answers_as}", style="bold cyan"))
        elif section is not None and ended is not None and isinstance(ended, MarkdownStream) != is_answer:
            self._out.print()

    def _reviewed(self, event: events.ChangesReviewed) -> Text:
        """One line; of changes that were not applied it stands out."""
        said = phrases.reviewed(event, undo="/undo" if self._is_marked else "zkchat undo")
        if self._is_marked and event.decision in {"kept", "dropped"}:
            said += " /write diff shows it."
        return Text(said, style="" if event.decision == "applied" else "yellow")

    def _print(self, text: Text) -> None:
        if self._section is None:
            self._err.print(text)
        else:
            self._deferred.append(text)

    def _show_goal(self, event: events.GoalEvent) -> None:
        """Lines of the checklist, set apart from the answers; those that go on below another are indented."""
        self._begin_section(None)
        if not self._is_set_apart:
            self._out.print()
        for line in checklist.lines_of(event):
            text = line.lstrip(" ")
            style = "dim" if len(line) > len(text) else "bold"
            self._out.print(Padding(Text(text, style=style), (0, 0, 0, len(line) - len(text))))
        if not isinstance(event, events.GoalEnded):
            self._out.print()
        self._is_set_apart = isinstance(event, events.StepFinished)

    def _finish_turn(self, event: events.TurnFinished) -> None:
        self._begin_section(None)
        below = [*self._footer.draw(event, width=self._out.width)]
        if below:
            self._out.print()
        for each in below:
            LiveRegion(self._out).show(render_rows(self._out, each))

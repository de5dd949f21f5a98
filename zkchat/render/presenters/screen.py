"""A turn drawn on a terminal: the answer as it streams, tool calls, sources and context."""

import time
from collections.abc import Callable
from typing import assert_never

from rich.console import Console
from rich.text import Text

from zkchat.model.choices import ThinkingView
from zkchat.model.events import (
    AnswerReplaced,
    Event,
    EvidenceFound,
    LinksResolved,
    Notice,
    PromptReady,
    ReferenceFound,
    Remarked,
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
from zkchat.render.activity import ThinkingSection, ToolCallSection, WaitIndicator
from zkchat.render.console import Matches
from zkchat.render.context_bar import context_bar
from zkchat.render.links import NO_LINKS, ClickableLinks
from zkchat.render.markdown.stream import MarkdownStream
from zkchat.render.references import references_panel
from zkchat.render.sanitize import error_lines


class ScreenPresenter:
    """Draws one section at a time: answer, thinking or tool calls. Warnings wait until a section ends."""

    def __init__(
        self,
        out: Console,
        err: Console,
        *,
        thinking: Callable[[], ThinkingView] = lambda: "folded",
        references_shown: int = 10,
        links: ClickableLinks = NO_LINKS,
        matches: Matches | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._out = out
        self._err = err
        self._thinking_view = thinking
        self._references_shown = references_shown
        self._links = links
        self._matches = matches
        self._clock = clock
        self._section: MarkdownStream | ThinkingSection | ToolCallSection | None = None
        self._deferred: list[Text] = []
        self._wait_indicator = WaitIndicator(out, clock=clock)

    def show(self, event: Event) -> None:
        self._wait_indicator.hide()
        self._update_wait_indicator(event)
        match event:
            case TextDelta():
                self._answer(event.text)
            case Remarked():
                self._answer(phrases.remark(event.text))
            case ThinkingDelta():
                self._thought(event.text)
            case ToolStarted():
                self._call_section().started(event.call_id, event.name, event.arguments)
            case ToolFinished():
                self._call_section().finished(event.call_id, event.name, event.summary, failed=event.failed)
            case Notice():
                self._print(Text(phrases.notice(event), style="dim"))
            case Warned():
                self._print(Text(phrases.warning(event.text, event.hint), style="yellow"))
            case PromptReady() | AnswerReplaced():
                self._begin_section(None)  # text so far was an answer of its own
            case TurnFinished():
                self._finish_turn(event)
            case TurnFailed():
                self._begin_section(None)
                self._print(Text(error_lines(event.text, event.hint).rstrip("\n"), style="red"))
            case LinksResolved() | EvidenceFound() | ReferenceFound() | UsageReported():
                pass
            case _:
                assert_never(event)

    def tick(self) -> None:
        if self._section is None or (isinstance(self._section, ToolCallSection) and not self._section.is_running):
            self._wait_indicator.draw()

    def close(self) -> None:
        self._wait_indicator.hide()
        self._begin_section(None)

    def _update_wait_indicator(self, event: Event) -> None:
        """Start it when the model has to act, and stop it when something comes from the model."""
        match event:
            case PromptReady() | ToolFinished() | Notice():
                self._wait_indicator.begin()
            case TextDelta() | Remarked() | ThinkingDelta() | ToolStarted() | TurnFinished() | TurnFailed():
                self._wait_indicator.end()
            case LinksResolved() | EvidenceFound() | ReferenceFound() | UsageReported() | Warned() | AnswerReplaced():
                pass
            case _:
                assert_never(event)

    def _answer(self, text: str) -> None:
        if isinstance(self._section, MarkdownStream):
            self._section.feed(text)
        elif text.strip("\n"):
            answer = MarkdownStream(self._out, clock=self._clock, matches=self._matches, links=self._links)
            self._begin_section(answer)
            answer.feed(text)

    def _thought(self, text: str) -> None:
        if isinstance(self._section, ThinkingSection):
            self._section.feed(text)
        elif text.strip() and self._thinking_view() != "hidden":
            thought = ThinkingSection(self._out, folded=lambda: self._thinking_view() != "shown", clock=self._clock)
            self._begin_section(thought)
            thought.feed(text)

    def _call_section(self) -> ToolCallSection:
        if isinstance(self._section, ToolCallSection):
            return self._section
        calls = ToolCallSection(self._out)
        self._begin_section(calls)
        return calls

    def _begin_section(self, section: MarkdownStream | ThinkingSection | ToolCallSection | None) -> None:
        """End the current section and begin another, with a blank line before and after an answer."""
        ended, self._section = self._section, section
        if ended is None:
            return
        ended.finish()
        for text in self._deferred:
            self._err.print(text)
        self._deferred.clear()
        if section is not None and isinstance(ended, MarkdownStream) != isinstance(section, MarkdownStream):
            self._out.print()

    def _print(self, text: Text) -> None:
        if self._section is None:
            self._err.print(text)
        else:
            self._deferred.append(text)

    def _finish_turn(self, event: TurnFinished) -> None:
        self._begin_section(None)
        self._out.print()
        if event.message.references:
            panel = references_panel(event.message.references, shown=self._references_shown, links=self._links)
            self._out.print(panel)
        if (usage := event.next_usage or event.usage).total:
            self._out.print(context_bar(usage, width=self._out.width))

"""A turn on a terminal, for a person: the answer as it arrives, what was done for it, its sources and its context."""

import time
from collections.abc import Callable
from typing import assert_never

from rich.console import Console
from rich.text import Text

from zkchat.model.choices import ThinkingView
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
from zkchat.render.activity import Silence, Thinking, ToolCalls
from zkchat.render.context_bar import context_bar
from zkchat.render.markdown.stream import MarkdownStream
from zkchat.render.references import ClickableLinks, NoLinks, references_panel
from zkchat.render.sanitize import error_lines


class ScreenPresenter:
    """Draws one section at a time: the answer, a thought, or calls of tools. Warnings wait until a section ends."""

    def __init__(
        self,
        out: Console,
        err: Console,
        *,
        thinking: ThinkingView = "folded",
        references_shown: int = 10,
        links: ClickableLinks | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._out = out
        self._err = err
        self._thinking_view = thinking
        self._references_shown = references_shown
        self._links = links or NoLinks()
        self._clock = clock
        self._section: MarkdownStream | Thinking | ToolCalls | None = None
        self._waiting: list[Text] = []
        self._silence = Silence(out, clock=clock)

    def show(self, event: Event) -> None:
        self._silence.hide()
        self._listen(event)
        match event:
            case TextDelta():
                self._answer(event.text)
            case ThinkingDelta():
                self._thought(event.text)
            case ToolStarted():
                self._calls().started(event.call_id, event.name, event.arguments)
            case ToolFinished():
                self._calls().finished(event.call_id, event.name, event.summary, failed=event.failed)
            case Compacting() | Compacted() | Warned():
                self._say(_aside(event))
            case PromptReady():
                self._begin(None)  # what was said before was an answer by itself
            case TurnFinished():
                self._finished(event)
            case TurnFailed():
                self._begin(None)
                self._say(Text(error_lines(event.text, event.hint).rstrip("\n"), style="red"))
            case LinksResolved() | ReferenceFound() | UsageReported():
                pass
            case _:
                assert_never(event)

    def tick(self) -> None:
        if self._section is None or (isinstance(self._section, ToolCalls) and not self._section.is_running):
            self._silence.draw()

    def close(self) -> None:
        self._silence.hide()
        self._begin(None)

    def _listen(self, event: Event) -> None:
        """After some events it is the model's turn; others come from it."""
        match event:
            case PromptReady() | ToolFinished() | Compacting() | Compacted():
                self._silence.begin()
            case TextDelta() | ThinkingDelta() | ToolStarted() | TurnFinished() | TurnFailed():
                self._silence.end()
            case LinksResolved() | ReferenceFound() | UsageReported() | Warned():
                pass
            case _:
                assert_never(event)

    def _answer(self, text: str) -> None:
        if isinstance(self._section, MarkdownStream):
            self._section.feed(text)
        elif text.strip("\n"):
            answer = MarkdownStream(self._out, clock=self._clock)
            self._begin(answer)
            answer.feed(text)

    def _thought(self, text: str) -> None:
        if isinstance(self._section, Thinking):
            self._section.feed(text)
        elif text.strip() and self._thinking_view != "hidden":
            thought = Thinking(self._out, folded=self._thinking_view == "folded", clock=self._clock)
            self._begin(thought)
            thought.feed(text)

    def _calls(self) -> ToolCalls:
        if isinstance(self._section, ToolCalls):
            return self._section
        calls = ToolCalls(self._out)
        self._begin(calls)
        return calls

    def _begin(self, section: MarkdownStream | Thinking | ToolCalls | None) -> None:
        """End the section at hand, and begin another; a blank line sets the answer apart from what surrounds it."""
        ended, self._section = self._section, section
        if ended is None:
            return
        ended.finish()
        for text in self._waiting:
            self._err.print(text)
        self._waiting.clear()
        if section is not None and isinstance(ended, MarkdownStream) != isinstance(section, MarkdownStream):
            self._out.print()

    def _say(self, text: Text) -> None:
        if self._section is None:
            self._err.print(text)
        else:
            self._waiting.append(text)

    def _finished(self, event: TurnFinished) -> None:
        self._begin(None)
        self._out.print()
        if event.message.references:
            panel = references_panel(event.message.references, shown=self._references_shown, links=self._links)
            self._out.print(panel)
        self._out.print(context_bar(event.usage, width=self._out.width))


def _aside(event: Compacting | Compacted | Warned) -> Text:
    """What happened beside the answer, in a line or two."""
    match event:
        case Compacting():
            return Text(phrases.making_room(event.messages, event.tokens), style="dim")
        case Compacted():
            return Text(phrases.compaction(event.message), style="dim")
        case Warned():
            return Text(phrases.warning(event.text, event.hint), style="yellow")
        case _:
            assert_never(event)

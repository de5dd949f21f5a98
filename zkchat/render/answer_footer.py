"""What stands below an answer: its documents, and how full the context is, where that is news."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field
from rich.console import RenderableType
from rich.text import Text

from zkchat.model.choices import PanelView
from zkchat.model.events import TurnFinished
from zkchat.model.message import ChatMessage
from zkchat.model.usage import ContextUsage
from zkchat.render.brief_references import BriefList, brief_lines, brief_rows, in_brief, quoted_places
from zkchat.render.cells import flow
from zkchat.render.context_bar import ShownUsage, context_bar, context_gauge, context_line, tokens_used
from zkchat.render.links import NO_LINKS, ClickableLinks
from zkchat.render.references import reference_lines, references_panel

_QUOTE: Final = "quote"
"""The provider whose answers are quotations: they name their places themselves, and no model reads a context."""


class AnswerFooter(Struct, frozen=True, kw_only=True):
    """How the documents and the context of an answer are shown, on a terminal and as plain lines."""

    panel: PanelView = "brief"
    references_shown: int = 10
    links: ClickableLinks = NO_LINKS
    all_documents: str = "/refs"
    """What the user types to see all documents."""
    usage_shown: ShownUsage = field(default_factory=ShownUsage)

    def draw(self, event: TurnFinished, *, width: int) -> Iterator[RenderableType]:
        message, usage = event.message, self._usage(event)
        if self.panel == "full":
            if message.references:
                references = self.links.current(message.references)
                yield references_panel(references, shown=self.references_shown, links=self.links)
            if usage:
                yield context_bar(usage, width=width)
        elif self.panel == "brief":
            yield from self._draw_brief(message, usage, width)

    def _draw_brief(self, message: ChatMessage, usage: ContextUsage | None, width: int) -> Iterator[RenderableType]:
        brief = self._brief(message)
        if message.provider == _QUOTE:
            yield from quoted_places(brief, self.links, width)
            brief = BriefList(
                rows=tuple(row for row in brief.rows if row[1].is_doubtful), more=brief.more, looked_at=brief.looked_at
            )
        if (rows := brief_rows(brief, self.links, width)) is not None:
            yield rows
        rest = brief.rest(self.all_documents)
        last = [Text(rest, style="dim")] if rest else []
        if usage and self.usage_shown.is_news(usage):
            last.append(context_gauge(usage, width=width))
        yield from flow(last, width, gap="   ")

    def lines(self, event: TurnFinished) -> Iterator[str]:
        """The same as plain lines."""
        message, usage = event.message, self._usage(event)
        if self.panel == "full":
            yield from reference_lines(self.links.current(message.references), most=self.references_shown)
            if usage:
                yield context_line(usage)
        elif self.panel == "brief":
            brief = self._brief(message)
            yield from brief_lines(brief)
            if rest := brief.rest(self.all_documents):
                yield rest
            if usage and self.usage_shown.is_news(usage):
                yield f"Context: {tokens_used(usage)}"

    def _brief(self, message: ChatMessage) -> BriefList:
        # An answer that names the nearest passages cites none of them.
        references = self.links.current(message.references)
        return in_brief(references, most=self.references_shown, all_listed=message.abstained)

    def _usage(self, event: TurnFinished) -> ContextUsage | None:
        """What fills the window, where a model reads it."""
        usage = event.next_usage or event.usage
        return usage if usage.total and event.message.provider != _QUOTE else None

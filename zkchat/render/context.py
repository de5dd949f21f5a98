"""How full the context is, what a request held, and what stands below an answer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.text import Text

from zkchat.core import (
    ChatMessage,
    ContextUsage,
    History,
    IncludeMode,
    ItemType,
    LeftOut,
    LeftOutReason,
    PanelView,
    RequestContext,
    RequestItem,
    ToolUse,
    Totals,
    TurnFinished,
    cost_of,
    counted,
)
from zkchat.render import phrases
from zkchat.render.links import NO_LINKS, ClickableLinks
from zkchat.render.references import (
    BriefList,
    brief_lines,
    brief_rows,
    flow,
    footnotes,
    in_brief,
    quoted_places,
    reference_lines,
    references_panel,
)
from zkchat.render.sanitize import sanitize_line

_MARKS: Final = (("█", "info"), ("▓", "tag"), ("▒", "accent"), ("░", "good"), ("▤", "doubt"), ("■", "default"))
"""One for each part, so that the parts can be distinguished without colour."""
_RESERVE: Final = ("╱", "dim")
_THRESHOLD: Final = ("│", "bold doubt")


class ShownUsage:
    """Remembers which use of the window was shown last, to tell when it is worth showing again."""

    def __init__(self) -> None:
        self._percent = 0.0

    def is_news(self, usage: ContextUsage) -> bool:
        """Whether to show it now: it has changed by several points, or little is left."""
        if not usage.window:
            return False
        percent = 100 * usage.total / usage.window
        if percent <= 60 and abs(percent - self._percent) <= 15:  # points
            return False
        self._percent = percent
        return True


def tokens_used(usage: ContextUsage) -> str:
    """`1,234 / 8,192 tokens (15 %)`, with `≈` for an estimate."""
    about = "≈ " if usage.estimated else ""
    if not usage.window:
        return f"{about}{usage.total:,} tokens"
    return f"{about}{usage.total:,} / {usage.window:,} tokens ({100 * usage.total // usage.window} %)"


def parts_of(usage: ContextUsage) -> tuple[tuple[str, int], ...]:
    """The parts of the context, in the order in which they are sent."""
    return (
        ("instructions", usage.system),
        ("tools", usage.tools),
        ("memory", usage.memory),
        ("notes", usage.references),
        ("images", usage.images),
        ("messages", usage.messages),
    )


def context_line(usage: ContextUsage) -> str:
    parts = ", ".join(f"{name} {tokens:,}" for name, tokens in parts_of(usage) if tokens)
    return f"Context: {tokens_used(usage)}" + (f": {parts}" if parts else "")


def _numbers(usage: ContextUsage) -> Text:
    style = "bold doubt" if usage.window and usage.total >= usage.compacts_at else "none"
    is_beyond = usage.window and usage.total > usage.window - usage.reserve
    return Text(tokens_used(usage), style="bold error" if is_beyond else style)


def context_bar(usage: ContextUsage, *, width: int) -> RenderableType:
    """The context window: its parts, the reserve for the answer, and the threshold of compaction."""
    numbers = _numbers(usage)
    legend = _legend(usage, width)
    if not usage.window:
        return Group(numbers, *legend)
    beside = width - numbers.cell_len - 2
    if beside >= 30:
        return Group(Text.assemble(_bar(usage, beside), "  ", numbers), *legend)
    return Group(_bar(usage, width), numbers, *legend)


def context_gauge(usage: ContextUsage, *, width: int) -> Text:
    """The same in one short line: a bar of the parts, if there is room for one, and the numbers."""
    numbers = _numbers(usage)
    room = min(20, width - numbers.cell_len - 1)
    if not usage.window or room < 8:
        return numbers
    return Text.assemble(_bar(usage, room), " ", numbers)


def _bar(usage: ContextUsage, width: int) -> Text:
    filled: list[tuple[str, str]] = []
    used = 0
    for (_, tokens), mark in zip(parts_of(usage), _MARKS, strict=True):
        used += tokens
        # Every part that is not empty gets at least one cell, while there are cells.
        end = min(width, max(round(width * used / usage.window), len(filled) + (tokens > 0)))
        filled += [mark] * (end - len(filled))
    reserved = min(width - len(filled), round(width * usage.reserve / usage.window))
    cells = [*filled, *[("·", "dim")] * (width - len(filled) - reserved), *[_RESERVE] * reserved]
    cells[min(width - 1, width * (usage.compacts_at + 1) // usage.window)] = _THRESHOLD
    return Text.assemble(*((mark * len(list(run)), style) for (mark, style), run in groupby(cells)))


def _legend(usage: ContextUsage, width: int) -> list[Text]:
    """The legend, in as few lines as the width allows."""
    entries = [
        Text.assemble(mark, f" {name} {tokens:,}")
        for (name, tokens), mark in zip(parts_of(usage), _MARKS, strict=True)
        if tokens
    ]
    if usage.window:
        entries.append(Text.assemble(_RESERVE, f" kept for the answer {usage.reserve:,}"))
        entries.append(
            Text.assemble(_THRESHOLD, f" old messages summarised at {round(100 * usage.compacts_at / usage.window)} %")
        )
    return flow(entries, width)


_QUOTE: Final = "quote"
"""The provider whose answers are quotations: they name their places themselves, and no model reads a context."""


class AnswerFooter(Struct, frozen=True, kw_only=True):
    """How the documents and the context of an answer are shown, on a terminal and as plain lines."""

    panel: PanelView = "brief"
    references_shown: int = 10
    links: ClickableLinks = NO_LINKS
    all_documents: str = "/sources"
    """What the user types to see all documents."""
    suggests: bool = False
    """Whether notes that fit and were not used are named."""
    usage_shown: ShownUsage = field(default_factory=ShownUsage)

    def draw(self, event: TurnFinished, *, width: int) -> Iterator[RenderableType]:
        message, usage = event.message, self._usage(event)
        if self.panel == "full":
            if message.references:
                references = self.links.current(message.references)
                yield references_panel(references, shown=self.references_shown, links=self.links)
            if usage:
                yield context_bar(usage, width=width)
            if event.cost is not None:
                yield Text(f"This answer cost {dollars(event.cost)}.", style="dim")
        elif self.panel != "off":
            yield from self._draw_brief(event, usage, width)

    def _draw_brief(self, event: TurnFinished, usage: ContextUsage | None, width: int) -> Iterator[RenderableType]:
        message, brief = event.message, self._brief(event.message)
        if self.panel == "footnotes":
            yield from footnotes(brief, self.links, with_content=message.provider != _QUOTE)
            brief = replace(brief, rows=())
        elif message.provider == _QUOTE:
            yield from quoted_places(brief, self.links, width)
            brief = replace(brief, rows=tuple(row for row in brief.rows if row[1].is_doubtful))
        if (rows := brief_rows(brief, self.links, width)) is not None:
            yield rows
        rest = brief.rest(self.all_documents)
        last = [Text(each, style="dim") for each in (self._suggestion(event.message, brief), rest) if each]
        if usage and self.usage_shown.is_news(usage):
            last.append(context_gauge(usage, width=width))
        if event.cost is not None:
            last.append(Text(dollars(event.cost), style="dim"))
        yield from flow(last, width, gap="   ")

    def lines(self, event: TurnFinished) -> Iterator[str]:
        """The same as plain lines."""
        message, usage = event.message, self._usage(event)
        if self.panel == "full":
            yield from reference_lines(self.links.current(message.references), most=self.references_shown)
            if usage:
                yield context_line(usage)
        elif self.panel != "off":
            brief = self._brief(message)
            if self.panel == "brief":
                yield from brief_lines(brief, with_content=message.provider != _QUOTE)
            else:
                yield from (each.plain for each in footnotes(brief, with_content=message.provider != _QUOTE))
            yield from filter(None, (self._suggestion(message, brief), brief.rest(self.all_documents)))
            if usage and self.usage_shown.is_news(usage):
                yield f"Context: {tokens_used(usage)}"
        if event.cost is not None and self.panel != "off":
            yield f"Cost: {dollars(event.cost)}"

    def _brief(self, message: ChatMessage) -> BriefList:
        # An answer that names the nearest passages cites none of them.
        references = self.links.current(message.references)
        return in_brief(references, most=self.references_shown, all_listed=message.abstained)

    def _suggestion(self, message: ChatMessage, brief: BriefList) -> str:
        # After quotations, /more shows what else fits.
        return brief.suggestion if self.suggests and message.provider != _QUOTE else ""

    def _usage(self, event: TurnFinished) -> ContextUsage | None:
        """What fills the window, where a model reads it."""
        usage = event.next_usage or event.usage
        return usage if usage.total and event.message.provider != _QUOTE else None


_TYPES: Final[Mapping[ItemType, tuple[str, str]]] = {
    "system": ("instructions", "instructions"),
    "rule": ("instructions", "rule"),
    "tool": ("tools", "tool"),
    "memory": ("memory", "memory"),
    "recall": ("memory", "recalled message"),
    "summary": ("memory", "summary"),
    "reference": ("notes", "note"),
    "evidence": ("notes", "passage"),
    "image": ("images", "image"),
    "outcome": ("messages", "proposed change"),
    "message": ("messages", "message"),
}
"""The part of the context that things of each type belong to, and what one of them is, in the order of `parts_of`."""

_MODES: Final[Mapping[IncludeMode, str]] = {
    "always": "in every request",
    "manual": "linked or added by you",
    "agent": "found for your message",
}

_WHY_LEFT_OUT: Final[Mapping[LeftOutReason, str]] = {
    "budget": "no room",
    "score": "not relevant to your message",
    "removed": "dropped by you",
    "private": "private",
    "missing": "cannot be read",
    "unapproved": "not approved: zkchat config trust",
    "abstained": "no model answered the question",
    "unanswered": "got no answer",
}
"""The others are told with their item."""

_QUOTED: Final = "No model was asked: the answer is quoted from your notes."


def dollars(cost: float) -> str:
    """`$0.0042`, `$1.20`."""
    return f"${cost:,.2f}" if cost >= 1 else f"${cost:.4f}"


def cost_lines(messages: Iterable[ChatMessage]) -> Iterator[str]:
    """What the answers of a conversation cost, where that is known."""
    if (cost := cost_of(messages)) is not None:
        yield f"The answers of this conversation cost {dollars(cost)}."


def totals_lines(totals: Totals) -> Iterator[str]:
    """What a conversation took so far, with all that left the window: one line, and one for each tool."""
    if not totals.requests:
        return
    thinking = f", {totals.thinking_tokens:,} of them thinking" if totals.thinking_tokens else ""
    counted_here = f"; tokens of {counted(totals.estimated, 'request')} are estimated" if totals.estimated else ""
    yield (
        f"So far {counted(totals.requests, 'request')} sent {totals.prompt_tokens:,} tokens, and the model wrote "
        f"{totals.completion_tokens:,}{thinking}, in {duration(totals.seconds)}{counted_here}."
    )
    for each in totals.tools:
        failed = f", {each.failed:,} failed" if each.failed else ""
        yield f"  {phrases.called(each.name)}: {_calls(each)}{failed}"


def _calls(use: ToolUse) -> str:
    """`2 calls, 30 tokens sent, 412 returned, 0.2 s`: what was called, what came back, and how long it took."""
    called = f"{counted(use.calls, 'call')}, {use.tokens:,} tokens sent"
    return f"{called}, {use.result_tokens:,} returned, {duration(use.seconds)}"


def duration(seconds: float) -> str:
    """`0.4 s`, `41 s`, `3 min 20 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{seconds:.1f} s" if seconds < 10 else f"{rest} s"


def _turn_cells(turn: Totals) -> Iterator[tuple[str, str, str]]:
    """What was written for an answer, and the calls on the way to it."""
    thinking = f"{turn.thinking_tokens:,} of them thinking" if turn.thinking_tokens else ""
    thought = f" ({duration(turn.thinking_seconds)})" if thinking and turn.thinking_seconds else ""
    if turn.requests:
        took = f"in {counted(turn.requests, 'request')}, {duration(turn.seconds)}"
        yield "Written", f"{turn.completion_tokens:,}", "; ".join(filter(None, (took, thinking + thought)))
    if turn.tools:
        called = (f"{phrases.called(each.name)} ({_calls(each)})" for each in turn.tools)
        tokens = sum(each.tokens + each.result_tokens for each in turn.tools)
        yield "Tool calls", f"{tokens:,}", ", ".join(called)


def context_lines(
    context: RequestContext, provider: str = "", cost: float | None = None, turn: Totals | None = None
) -> Iterator[str]:
    """A table of what was sent, its tokens, and why, a row for each of `parts_of`; what was left out, and the whole.

    An answer that was quoted was read by no model: the table tells where it is from. `cost` is in dollars, `turn` what
    the answer took.
    """
    is_quoted, usage = provider == _QUOTE, context.usage
    of_part: dict[str, list[RequestItem]] = {}
    for item in sorted(context.items, key=lambda item: [*_TYPES].index(item.type)):
        of_part.setdefault(_TYPES[item.type][0], []).append(item)
    rows = (
        [("notes", of_part["notes"])] if is_quoted and "notes" in of_part else [] if is_quoted else [*of_part.items()]
    )
    if is_quoted or not rows:
        yield _QUOTED if is_quoted else "Nothing was sent."
    tokens = {} if is_quoted or not usage else {part: f"{size:,}" for part, size in parts_of(usage)}
    cells = [(part.capitalize(), tokens.get(part, ""), _why_sent(items)) for part, items in rows]
    if context.left_out:
        cells.append(("Left out", "", ", ".join(_left_out(context.left_out))))
    if usage and rows and not is_quoted:
        share = 100 * usage.total // usage.window if usage.window else 0
        full = f"{share} % of the context window ({usage.window:,} tokens)" if usage.window else ""
        cells.append(("Total", f"{usage.total:,}", "; ".join(filter(None, (full, "estimated" * usage.estimated)))))
        if usage.window:
            mark = round(100 * usage.compacts_at / usage.window)
            cells.append(("Compaction", f"{usage.compacts_at:,}", f"starts above this ({mark} %)"))
        cells.extend(_turn_cells(turn) if turn else ())
    if cost is not None:
        cells.append(("Cost", "", f"{dollars(cost)} for this request and its answer"))
    if rows and not is_quoted:
        cells.insert(0, ("what", "tokens", "why"))
    widths = [max((len(cell[column]) for cell in cells), default=0) for column in range(2)]
    for title, size, why in cells:
        yield "  ".join(filter(None, (title.ljust(widths[0]), size.rjust(widths[1]), why))).rstrip()
    yield from () if is_quoted else filter(None, map(sanitize_line, (context.burst_rule, context.burst_tools)))


def _why_sent(items: Sequence[RequestItem]) -> str:
    """Why things of one part were sent, and which they are: those that fit best first."""
    messages = sum(item.type == "message" for item in items)  # their names are ids, which mean nothing to a reader
    named: dict[str, Counter[tuple[str, bool]]] = {}
    for item in sorted(items, key=lambda item: ([*_MODES].index(item.include), -(item.score or 0))):
        if item.type == "message":
            continue
        is_passing = item.this_turn_only and item.include == "always"
        meaning = "only for this message" if is_passing else _MODES[item.include]
        meaning = "earlier messages on this" if (item.type, item.include) == ("recall", "manual") else meaning
        name = _titled(item) if item.type in {"rule", "outcome"} else _name(item)
        named.setdefault(meaning, Counter())[name, item.type == "evidence"] += 1
    told = [f"{messages} of this conversation"] if messages else []
    for why, names in named.items():
        times = [
            f"{name} ({counted(count, 'passage')})" if is_passage else f"{name} ({count} times)" if count > 1 else name
            for (name, is_passage), count in names.items()
        ]
        told.append(f"{why}: {', '.join(times)}")
    return "; ".join(told)


def messages_line(history: History, *, is_read: bool = True) -> str:
    """`4 messages: 2 sent to the model, 2 archived, 0 pinned.`; nothing is sent where no model reads it."""
    live, archived = len(history.window.live), len(history.archived)
    sent = f"{live} sent to the model, " if is_read else ""
    return f"{counted(live + archived, 'message')}: {sent}{archived} archived, {len(history.window.pinned)} pinned."


def counts_line(context: RequestContext) -> str:
    """How many things of each type: `instructions, 2 rules, 1 note and 4 messages`."""
    counts = context.counts["by_type"]
    special = {"system": "instructions", "memory": f"{counts.get('memory', 0):,} remembered"}
    *others, last = [
        special.get(type_) or counted(counts[type_], noun) for type_, (_, noun) in _TYPES.items() if type_ in counts
    ] or ["nothing"]
    return f"{', '.join(others)} and {last}" if others else last


def _left_out(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """Each thing by its name, and how many messages: their names are ids."""
    yield from (f"{_name(left.item)} ({_why(left)})" for left in left_out if left.item.type != "message")
    messages = Counter(_why(left) for left in left_out if left.item.type == "message")
    yield from (f"{counted(count, 'message')} ({why})" for why, count in messages.items())


def detailed_lines(context: RequestContext) -> Iterator[str]:
    """A line per item with its mode, its tokens and the reason why it is sent, and one for each that was left out."""
    if context.usage:
        yield context_line(context.usage)
    for item in sorted(context.items, key=lambda item: [*_TYPES].index(item.type)):
        if item.type != "message":
            score = "" if item.score is None else f" {item.score:.2f}"
            yield f"+ {_titled(item)} [{item.include}{score}], {item.tokens:,} tokens{_because(item.reason)}"
    messages = [item for item in context.items if item.type == "message"]
    if messages:
        attached = sum(item.tokens for item in context.items if item.part_of)
        yield f"+ {counted(len(messages), 'message')}, {sum(item.tokens for item in messages) - attached:,} tokens"
    for left in context.left_out:
        rest = (f", {left.item.tokens:,} tokens" if left.item.tokens else "") + _because(left.item.reason)
        yield f"- {_titled(left.item)}, left out ({_WHY_LEFT_OUT.get(left.why, left.why)}){rest}"


def _why(left: LeftOut) -> str:
    return _WHY_LEFT_OUT.get(left.why) or sanitize_line(left.item.reason)


def _titled(item: RequestItem) -> str:
    return "a message" if item.type == "message" else f"{_TYPES[item.type][1]} {_name(item)}"


def _because(reason: str) -> str:
    return f": {sanitize_line(reason)}" if reason else ""


def _name(item: RequestItem) -> str:
    if item.title:
        return f"“{sanitize_line(item.title)}”"
    if item.type == "summary":  # its name is the id of a marker
        return sanitize_line(item.reason)
    if not item.server:
        return sanitize_line(item.name)
    name = item.name.removeprefix(f"{item.server}__") if item.type == "tool" else item.name
    return sanitize_line(f"{item.server}/{name}")

"""The tool that reads on in a message of the user that stands in a short form in the prompt."""

from collections.abc import Callable, Sequence
from typing import Annotated, Final

from zkchat.context.condensing import split_question
from zkchat.context.text_units import split_units
from zkchat.context.unit_ranking import answering_units
from zkchat.model.text import counted
from zkchat.ports.tools import Tool, ToolOutcome
from zkchat.tools.argument_kinds import Number, Text
from zkchat.tools.names import READ_ATTACHMENT
from zkchat.tools.registry import function_tool
from zkchat.tools.toolbox import failure

PAGE_CHARS: Final = 8000
"""Characters given at once."""


def attachment_tools(texts: Callable[[], Sequence[str]]) -> list[Tool]:
    """`texts` are the messages that stand in a short form, as they were sent, the latest first."""

    def read_attachment(
        *,
        query: Annotated[str, Text(description="Words to look for in it", also=("q", "text", "search"))] = "",
        offset: Annotated[int, Number(description="Character to start at", at_least=0)] = 0,
        number: Annotated[int, Number(description="1 is the latest, 2 the one before", at_least=1)] = 1,
    ) -> ToolOutcome:
        """Read on in a long text of the user that is shortened here ('left out'): a page, or what matches a query."""
        found = texts()
        if number > len(found):
            return failure(f"There is no such text. {counted(len(found), 'message')} of the user stands shortened.")
        split = split_question(found[number - 1])
        text = split.material or split.before
        return _search(text, query) if query.strip() else _page(text, offset)

    return [function_tool(read_attachment)]


def _page(text: str, offset: int) -> ToolOutcome:
    """A page of the text, up to the end of a line where there is one near."""
    end = min(len(text), offset + PAGE_CHARS)
    line = text.rfind("\n", offset + PAGE_CHARS // 2, end) + 1
    end = line if line and end < len(text) else end
    page = text[offset:end]
    more = f"\n(To go on, call {READ_ATTACHMENT} with offset {end}; {len(text) - end:,} characters are left.)"
    if not page:
        more = f"(The text ends at character {len(text):,}.)"
    return ToolOutcome(
        text=page + (more if end < len(text) or not page else ""),
        summary=f"{len(page):,} of {len(text):,} characters",
    )


def _search(text: str, query: str) -> ToolOutcome:
    """What matches with the lines around it, the best first, each with the offset at which it can be read."""
    units = split_units(text)
    found = answering_units(units, query)
    if not found:
        return ToolOutcome(
            text=f"Nothing in its {len(text):,} characters matches. Try other words, or read it by offset.",
            summary="nothing found",
        )
    shown: set[int] = set()
    pieces: list[str] = []
    for number in found:
        around = range(max(0, number - 1), min(len(units.spans), number + 2))
        if shown.isdisjoint(around):
            start, end = units.spans[around[0]][0], units.spans[around[-1]][1]
            pieces.append(f"(at offset {start})\n{text[start:end]}")
            shown.update(around)
        if sum(map(len, pieces)) > PAGE_CHARS:
            break
    return ToolOutcome(text="\n\n".join(pieces), summary=counted(len(found), "place"))

"""What slash commands print, as Markdown for a client."""

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Final

from acp.schema import PermissionOption, ToolCallUpdate

from zkchat.acp_agent.client import SessionClient
from zkchat.model.change import ChangeSet
from zkchat.model.patch import patch_of
from zkchat.model.patterns import lazy_pattern
from zkchat.model.references import DocumentReference
from zkchat.model.usage import ContextUsage
from zkchat.render.context_bar import context_line
from zkchat.render.numbered_rows import RowSection, plain_sections
from zkchat.render.references import reference_lines
from zkchat.render.sanitize import sanitize_line, sanitize_text
from zkchat.repl.note_pages import Position
from zkchat.repl.pick_list import PickRow, numbered_lines

if TYPE_CHECKING:
    from zkchat.render.console import Matches

_WIDTH: Final = 79
"""Below the width at which lists are set in two columns."""
_YES: Final = "yes"
_FENCES: Final = lazy_pattern(r"`{3,}")


class MarkdownSurface:
    """Implements `repl.command_context.Surface`. What is printed is kept until it is taken."""

    def __init__(self, client: SessionClient) -> None:
        self._client = client
        self._pieces: list[str] = []
        self._lines: list[str] = []
        self._questions = count(1)

    def take(self) -> str:
        """All that was printed, as Markdown."""
        self._end_lines()
        text, self._pieces = "\n\n".join(self._pieces), []
        return text

    @property
    def width(self) -> int:
        return _WIDTH

    def print(self, text: str) -> None:
        self._lines.extend(sanitize_text(text).split("\n"))

    print_dimmed = print

    def print_markdown(self, text: str, _matches: "Matches | None" = None, /) -> None:
        self._add(sanitize_text(text))

    def print_sections(self, sections: Sequence[RowSection], _matches: "Matches | None" = None, /) -> None:
        self.print(plain_sections(sections))

    def print_changes(self, changes: ChangeSet) -> None:
        if changes:
            self._add(_fenced(sanitize_text(patch_of(changes).removesuffix("\n")), "diff"))

    def print_heading(self, name: str, place: str) -> None:
        self._add(f"**{sanitize_line(name)}** {sanitize_line(place)}")

    def print_note(
        self, text: str, *, source: str, first_line: int = 1, after: Position | None = None, whole: bool = False
    ) -> Position:
        """All of it: clients scroll."""
        del source, first_line, after, whole
        self._add(sanitize_text(text.strip("\n")))
        return Position(row=1, rows=1)

    def print_references(self, references: Sequence[DocumentReference]) -> None:
        self.print("\n".join(reference_lines(references, most=len(references))))

    def print_usage(self, usage: ContextUsage) -> None:
        self.print(context_line(usage))

    async def confirm(self, question: str) -> bool:
        """A permission request, after what was printed so far."""
        from zkchat.acp_agent.updates import text_chunk

        if printed := self.take():
            await self._client.update(text_chunk(f"{printed}\n\n"))
        call = ToolCallUpdate(
            tool_call_id=f"question-{next(self._questions)}",
            title=sanitize_line(question),
            kind="other",
            status="pending",
        )
        options = [
            PermissionOption(option_id=_YES, name="Yes", kind="allow_once"),
            PermissionOption(option_id="no", name="No", kind="reject_once"),
        ]
        return self._client.ask(call, options) == _YES

    async def pick(self, _title: str, rows: Sequence[PickRow], instead: str) -> int | None:
        self.print("\n".join([*numbered_lines(rows, self.width), instead]))
        return None

    @property
    def has_desktop(self) -> bool:
        return False

    def open(self, _address: str) -> bool:
        return False

    def copy(self, text: str) -> bool:
        self._add(sanitize_text(text))
        return False

    def _add(self, text: str) -> None:
        self._end_lines()
        self._pieces.append(text)

    def _end_lines(self) -> None:
        """Lines one below the other stay so; a single one is a sentence."""
        lines, self._lines = self._lines, []
        text = "\n".join(lines).strip("\n")
        if text:
            self._pieces.append(_fenced(text, "text") if "\n" in text else text)


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(3, *(len(found) + 1 for found in [*_FENCES.findall(text), ""]))
    return f"{fence}{language}\n{text}\n{fence}"

"""The terminal that slash commands write on: drawn, or plain for pipes and screen readers."""

import base64
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, TextIO

from zkchat.model.message import ContextUsage, DocumentReference
from zkchat.render.context_bar import context_line
from zkchat.render.references import reference_lines
from zkchat.render.sanitize import never_fail_to_encode, sanitize_text

if TYPE_CHECKING:
    from rich.console import Console

    from zkchat.render.references import LinkFor

Ask = Callable[[str], Awaitable[str]]
"""Shows a question and gives back what the user typed; raises EOFError where nobody is there."""

_LONGEST_COPY: Final = 74_000
"""Bytes on their way to the clipboard that every terminal takes."""
_PLAIN_WIDTH: Final = 80


class _Hands:
    """What is done to the world beside the text: questions, the desktop, the clipboard."""

    def __init__(self, ask: Ask, launch: Callable[[str], bool]) -> None:
        self._ask = ask
        self._launch = launch

    async def confirm(self, question: str) -> bool:
        try:
            typed = await self._ask(sanitize_text(f"{question} [y/N] "))
        except (EOFError, KeyboardInterrupt):
            return False
        return typed.strip().casefold() in {"y", "yes"}

    def open(self, address: str) -> bool:
        return self._launch(address)


class PlainSurface(_Hands):
    """Lines without boxes, colour or sequences."""

    def __init__(self, stream: TextIO, *, ask: Ask, launch: Callable[[str], bool]) -> None:
        super().__init__(ask, launch)
        never_fail_to_encode(stream)
        self._stream = stream

    @property
    def width(self) -> int:
        return _PLAIN_WIDTH

    def tell(self, text: str) -> None:
        self._stream.write(sanitize_text(text) + "\n")
        self._stream.flush()

    def aside(self, text: str) -> None:
        self.tell(text)

    def markdown(self, text: str) -> None:
        self.tell(text)

    def references(self, references: Sequence[DocumentReference]) -> None:
        self.tell("\n".join(reference_lines(references, most=len(references))))

    def usage(self, usage: ContextUsage) -> None:
        self.tell(context_line(usage))

    def copy(self, text: str) -> bool:
        self.tell(text)
        return False


class DrawnSurface(_Hands):
    """Panels, bars and Markdown on a console."""

    def __init__(self, console: "Console", *, ask: Ask, launch: Callable[[str], bool], link_for: "LinkFor") -> None:
        super().__init__(ask, launch)
        self._console = console
        self._link_for = link_for

    @property
    def width(self) -> int:
        return self._console.width

    def tell(self, text: str) -> None:
        self._print(text, "none")

    def aside(self, text: str) -> None:
        self._print(text, "dim")

    def _print(self, text: str, style: str) -> None:
        from rich.text import Text

        # A word that is longer than the screen, such as an address, has to stay in one piece to be of use.
        is_whole = any(len(word) > self.width for word in text.split())
        self._console.print(Text(sanitize_text(text), style=style), soft_wrap=is_whole)

    def markdown(self, text: str) -> None:
        from zkchat.render.markdown.stream import MarkdownStream

        stream = MarkdownStream(self._console)
        stream.feed(text)
        stream.finish()

    def references(self, references: Sequence[DocumentReference]) -> None:
        from zkchat.render.references import references_panel

        self._console.print(references_panel(references, shown=len(references), link_for=self._link_for))

    def usage(self, usage: ContextUsage) -> None:
        from zkchat.render.context_bar import context_bar

        self._console.print(context_bar(usage, width=self._console.width))

    def copy(self, text: str) -> bool:
        """With OSC 52, which also works over ssh. Base 64 holds nothing that could end the sequence early."""
        from rich.text import Text

        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
        if not self._console.is_interactive or len(encoded) > _LONGEST_COPY:
            self._console.print(Text(sanitize_text(text)), soft_wrap=True)
            return False
        self._console.file.write(f"\x1b]52;c;{encoded}\x07")
        self._console.file.flush()
        return True

"""Lines for a person: wrapped with their indentation on a terminal, whole in a pipe."""

from typing import TYPE_CHECKING

from zkchat.cli.common import Process

if TYPE_CHECKING:
    from rich.console import Console

    from zkchat.compose.paths import Paths


def console_of(here: Process, where: "Paths") -> "Console | None":
    """What to draw on; None where standard output is no terminal."""
    environment = here.environment
    if not environment.stdout_is_tty:
        return None
    from zkchat.compose.settings import load_settings
    from zkchat.render.console import console_for

    color = load_settings(environment, where).settings.ui.color
    return console_for(environment.stdout, is_tty=True, variables=environment.variables, color=color)


class Listing:
    def __init__(self, here: Process, where: "Paths") -> None:
        self._here = here
        self._console = console_of(here, where)

    def title(self, text: str) -> None:
        self._line(text, indent=0, style="bold")

    def line(self, text: str, *, indent: int = 0) -> None:
        self._line(text, indent=indent, style="")

    def aside(self, text: str, *, indent: int) -> None:
        """What is there to be read after the line above it."""
        self._line(text, indent=indent, style="dim")

    def _line(self, text: str, *, indent: int, style: str) -> None:
        if self._console is None:
            self._here.out(f"{' ' * indent}{text}")
            return
        from rich.padding import Padding
        from rich.text import Text

        from zkchat.render.sanitize import sanitize_text

        self._console.print(Padding(Text(sanitize_text(text), style=style), (0, 0, 0, indent)))

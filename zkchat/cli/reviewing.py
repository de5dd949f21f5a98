"""The person at the terminal, asked about compactions where the settings say so."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from zkchat.cli.common import Process

if TYPE_CHECKING:
    from zkchat.context.strategies import Plan


class AtTheTerminal:
    """Implements `chat.compaction.Reviewer`."""

    def __init__(self, here: Process) -> None:
        self._here = here

    async def agrees(self, plan: "Plan", tokens: int) -> bool:
        count = len(plan.archived)
        return self._here.confirm(f"The context is full ({tokens:,} tokens). Summarise {count} older messages?")

    async def edits(self, summary: str) -> str:
        """The summary as the user leaves it in the editor; as it was where no editor can be opened."""
        from zkchat.cli.opening import edit
        from zkchat.errors import ZkchatError

        with TemporaryDirectory(prefix="zkchat-") as folder:
            file = Path(folder) / "summary.md"
            file.write_text(summary, encoding="utf-8")
            try:
                edit(self._here, str(file))
            except ZkchatError as error:
                self._here.fail(error)
                return summary
            return file.read_text(encoding="utf-8", errors="replace")


def reviewer_for(here: Process) -> AtTheTerminal | None:
    """Somebody to ask, where there is a terminal to ask at."""
    return AtTheTerminal(here) if here.environment.stdin_is_tty else None

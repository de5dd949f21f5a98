"""The plan of a goal at the terminal: Enter accepts it, e opens it in the editor, q stops."""

import signal
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from zkchat.cli.common import CommandIO
from zkchat.errors import ZkchatError

QUESTION: Final = "Enter works on this plan, e edits it, q stops: "


class TerminalPlanReviewer:
    """Implements `chat.goals.run.PlanReviewer`."""

    def __init__(self, io: CommandIO) -> None:
        self._io = io

    async def review(self, steps: Sequence[str], most: int) -> Sequence[str] | None:
        while True:
            answer = self._ask()
            if answer is None or answer in {"q", "quit", "n", "no"}:
                return None
            if answer in {"", "y", "yes"}:
                return steps
            if answer in {"e", "edit"} and (edited := self._edited(steps, most)):
                return edited

    def _ask(self) -> str | None:
        """What the user typed; None for Ctrl-C and Ctrl-D."""
        from zkchat.repl.terminal_modes import echo_on

        stdin, stderr = self._io.environment.stdin, self._io.environment.stderr
        # The chat's own way to hear Ctrl-C does not reach somebody who waits for a line.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        line = ""
        try:
            with echo_on(stdin):
                stderr.write(QUESTION)
                stderr.flush()
                line = stdin.readline()
        except KeyboardInterrupt:
            line = ""
        finally:
            signal.signal(signal.SIGINT, before)
            if not line:
                self._io.note("")  # neither key ends the line of the question
        return line.strip().casefold() if line else None

    def _edited(self, steps: Sequence[str], most: int) -> Sequence[str]:
        """The plan as the user leaves it in the editor; nothing where it holds no step."""
        from zkchat.chat.goals.plan import parse_plan, plan_text
        from zkchat.cli.editors import edit_file

        with TemporaryDirectory(prefix="zkchat-") as folder:
            file = Path(folder) / "plan.md"
            file.write_text(plan_text(steps), encoding="utf-8")
            try:
                edit_file(self._io, str(file))
            except ZkchatError as error:
                self._io.fail(error)
                return ()
            plan = parse_plan(file.read_text(encoding="utf-8", errors="replace"), most)
        if not plan.steps:
            self._io.note("There is no step in it; the plan stays as it was.")
        elif plan.left_out:
            self._io.note(f"At most {most} steps are taken: the last {plan.left_out} are left out. See --steps.")
        return plan.steps

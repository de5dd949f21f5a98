"""The plan of a goal at the terminal: Enter accepts it, e opens it in the editor, q stops."""

from collections.abc import Sequence
from typing import Final

from zkchat.chat.goals.plan import parse_plan, plan_text
from zkchat.cli.common import CommandIO
from zkchat.cli.editors import edit_text
from zkchat.cli.key_reader import KeyReader
from zkchat.repl.single_key import CTRL_C, CTRL_D, ESCAPE

QUESTION: Final = "Enter or y works on this plan, e edits it, q stops: "
_ACCEPTS: Final = frozenset({"", "\r", "\n", "y", "Y"})
_STOPS: Final = frozenset({"q", "Q", "n", "N", CTRL_C, CTRL_D, ESCAPE})


class TerminalPlanReviewer:
    """Implements `chat.goals.run.PlanReviewer`."""

    def __init__(self, io: CommandIO, *, plain: bool = False) -> None:
        """`plain`: a line is read instead of a key."""
        self._io = io
        self._plain = plain

    async def review(self, steps: Sequence[str], most: int) -> Sequence[str] | None:
        while True:
            key = self._key()
            if key in _STOPS:
                return None
            if key in _ACCEPTS:
                return steps
            if key in {"e", "E"} and (edited := self._edited(steps, most)):
                return edited

    def _key(self) -> str:
        reader = KeyReader(self._io, plain=self._plain)
        with reader.listening():
            return reader.read(QUESTION)

    def _edited(self, steps: Sequence[str], most: int) -> Sequence[str]:
        """The plan as the user leaves it in the editor; nothing where it holds no step."""
        edited = edit_text(self._io, plan_text(steps).encode(), "plan.md")
        if edited is None:
            return ()
        plan = parse_plan(edited.decode(errors="replace"), most)
        if not plan.steps:
            self._io.note("There is no step in it; the plan stays as it was.")
        elif plan.left_out:
            self._io.note(f"At most {most} steps are taken: the last {plan.left_out} are left out. See --steps.")
        return plan.steps

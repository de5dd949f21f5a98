"""The user at the terminal, asked about changes of notes."""

from collections.abc import Sequence

from zkchat.cli.common import CommandIO
from zkchat.model.change import ChangeSet
from zkchat.model.patch import patch_of
from zkchat.writing.review import Verdict


class TerminalChangeReviewer:
    """Implements `writing.review.ChangeReviewer`."""

    def __init__(self, io: CommandIO) -> None:
        self._io = io

    def review(
        self, changes: ChangeSet, *, remarks: Sequence[str] = (), may_always: bool = False, is_asked: bool = True
    ) -> Verdict:
        for text in (*remarks, patch_of(changes)):
            self._io.note(text)
        agrees = is_asked and self._io.confirm("Apply?")
        return Verdict(answer="yes" if agrees else "no", changes=changes, always=may_always and False)

"""Other processes to share work with."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

Task = TypeVar("Task")
Done = TypeVar("Done")


class Workers(Protocol):
    """Other processes, to share long work with."""

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
        """What comes of each task, as they get done. Work, tasks and results have to be such as can be pickled."""

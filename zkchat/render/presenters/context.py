"""What a request holds, shown before its answer by whichever presenter shows the rest."""

from collections.abc import Callable

from zkchat.model.events import Event, PromptReady
from zkchat.render.context_lines import detailed_lines
from zkchat.render.presenters.base import Presenter


class ContextPresenter:
    """Shows every event by another presenter, and prints the record of each request as soon as it is built."""

    def __init__(self, presenter: Presenter, print_line: Callable[[str], None]) -> None:
        self._presenter = presenter
        self._print_line = print_line

    def show(self, event: Event) -> None:
        self._presenter.show(event)
        if isinstance(event, PromptReady) and event.context:
            for line in (*detailed_lines(event.context), ""):
                self._print_line(line)

    def tick(self, activity: str = "") -> None:
        self._presenter.tick(activity)

    def close(self) -> None:
        self._presenter.close()

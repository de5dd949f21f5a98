"""What a session keeps of the model that answers in it: its name, its window, and whether it is on this machine."""

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.request_plan import RequestPlanner
from zkchat.model.entries import ModelEntry
from zkchat.model.events import Warned


class KeptModel(Struct, frozen=True, kw_only=True):
    planner: RequestPlanner
    entry: ModelEntry | None = None
    """What is to be kept, but for the facts that are known once the model has answered; None for nothing."""

    def keep(self) -> None:
        """Have the session keep its model, as it is now, where it does not yet."""
        if self.entry is None or not self.planner.journal.session_id:
            return
        info = self.planner.provider.info
        entry = replace(
            self.entry,
            model=info.name,
            window=self.planner.budget.window if info.is_located else None,
            on_this_machine=info.on_this_machine if info.is_located else None,
        )
        if entry != self.planner.journal.history.model:
            self.planner.journal.append(entry)

    def leaving_machine(self) -> Warned | None:
        """A warning where the session's model ran on this machine, and the one that is asked now does not."""
        before, info = self.planner.journal.history.model, self.planner.provider.info
        if before is None or not before.on_this_machine or info.on_this_machine:
            return None
        return Warned(
            text=f"{info.name} is not on this machine; until now this session was answered here, by {before.model}.",
            hint="What came from local notes is withheld from it.",
        )

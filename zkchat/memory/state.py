"""Whether requests hold anything of memory, and if not, why. Pure."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from zkchat.context.selection import Selection, dropped_items
from zkchat.model.choices import LeftOutReason
from zkchat.model.entries import ItemsEntry
from zkchat.model.profile import Agent
from zkchat.model.request_context import LeftOut, RequestItem

WHOLE: Final = "memory"
"""What all of memory is called where a user drops it."""


class MemoryState(Struct, frozen=True, kw_only=True):
    """What a session may be sent of memory: the vault's page with its imports, and facts."""

    why_off: LeftOutReason | None = None
    reason: str = ""
    """Why nothing of it is sent, as a phrase; empty where it is on."""
    dropped: frozenset[str] = frozenset()
    """The files of the page that the user dropped."""

    @property
    def is_on(self) -> bool:
        return self.why_off is None

    @property
    def is_set_off(self) -> bool:
        """Whether it is off by a setting or by the agent, so that nothing in the session brings it back."""
        return self.why_off == "off"

    def without(self, page: Selection) -> Selection:
        """Nothing of memory, and a record of what the page would have been."""
        if self.why_off is None:
            return page
        too_long = (left.item.name.partition("#")[0] for left in page.left_out if left.why == "budget")
        names = dict.fromkeys([WHOLE, *(each.name for each in page.records), *too_long])
        items = (RequestItem(type="memory", name=name, reason=self.reason) for name in names)
        return Selection((), tuple(LeftOut(item=item, why=self.why_off) for item in items))


def memory_state(*, enabled: bool, share: float, agent: Agent, changes: Iterable[ItemsEntry]) -> MemoryState:
    """The state of memory by the settings, the agent, and what the user dropped from the session."""
    dropped = frozenset(name for type_, _, name in dropped_items(changes) if type_ == "memory")
    if not enabled:
        return MemoryState(why_off="off", reason="memory.enabled is off", dropped=dropped)
    if not share:
        return MemoryState(why_off="off", reason="context.memory_share is 0", dropped=dropped)
    if not agent.memory:
        return MemoryState(why_off="off", reason=f"the agent {agent.name} uses no memory", dropped=dropped)
    if WHOLE in dropped:
        return MemoryState(why_off="removed", reason="dropped by you", dropped=dropped)
    return MemoryState(dropped=dropped)

"""Rules, notes and tools of a session: which are in its requests, and adding and dropping them."""

from difflib import get_close_matches

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.context.documents import full_name
from zkchat.chat.context.formatting import format_document
from zkchat.chat.context.selection import added_items, dropped_items, item_of
from zkchat.chat.conversation import Conversation
from zkchat.chat.memory import WHOLE, MemoryState
from zkchat.chat.references import ChangedItem, changed_items, place_of
from zkchat.core import Link, Missing, RequestContext, RequestItem, SessionItemType, UsageError, without_suffix


class SessionItem(Struct, frozen=True, kw_only=True):
    """A rule, note or tool that the agent may be given, and whether it is in the session's requests."""

    item: RequestItem
    is_added: bool = False
    is_dropped: bool = False
    written: str = ""
    """Its name as people write it, where that is another one."""

    @property
    def called(self) -> str:
        return self.written or self.item.name

    @property
    def title(self) -> str:
        """What it is called in a sentence."""
        is_all = self.item.type == "memory" and self.item.name == WHOLE
        return "Memory (ZKCHAT.md and facts)" if is_all else self.called

    @property
    def is_in(self) -> bool:
        return self.is_added or (self.item.include == "always" and not self.is_dropped)

    @property
    def state(self) -> str:
        """To be read after its name."""
        if self.is_dropped or self.is_added:
            return "dropped by you" if self.is_dropped else "added by you"
        states = {"always": "sent every time", "agent": "when it fits a message", "manual": "when you add it"}
        return states[self.item.include]


class SessionItems:
    """The items of one conversation, as the user lists and changes them."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._requests = conversation.requests
        self._library = conversation.library.whole

    @property
    def memory_state(self) -> MemoryState:
        """Whether requests of this session hold anything of memory."""
        return self._requests.planner.memory_state(self.conversation.agent)

    def offered(self, kind: SessionItemType) -> list[SessionItem]:
        """All of a kind that the present agent may be given, and what the user added although it is gone."""
        if kind == "memory":
            return self._memory()
        changes = self.conversation.history.items
        added, dropped = added_items(changes), dropped_items(changes)
        candidates = self._requests.planner.candidates(self.conversation.agent)
        written = {candidate.key: candidate.called for candidate in candidates}
        offered = {candidate.key: item_of(candidate, self.conversation.tokenizer) for candidate in candidates}
        return [
            SessionItem(item=item, is_added=key in added, is_dropped=key in dropped, written=written.get(key, ""))
            for key, item in (offered | {key: item for key, item in added.items() if key not in offered}).items()
            if item.type == kind
        ]

    def find(self, kind: SessionItemType, name: str) -> SessionItem:
        """The one of that name. Raises `UsageError` with the nearest names where there is none."""
        if kind == "reference":
            return self._note(name)
        every = {offered.called.casefold(): offered for offered in self.offered(kind)}
        by_name = {offered.item.name.casefold(): offered for offered in every.values()}
        if found := every.get(name.casefold()) or by_name.get(name.casefold()):
            return found
        if kind == "rule" and (unavailable := self.conversation.profiles.unavailable("rule", name)):
            raise UsageError(f"{unavailable.reason}.", hint=unavailable.hint)
        model = self.conversation.model
        if kind == "memory":
            settings = "memory.enabled, context.memory_share above 0, and `memory` in the agent's file"
            hint = f"Three settings must allow it: {settings}."
            raise UsageError(f"Memory is not used: {self.memory_state.reason}.", hint=hint)
        if kind == "tool" and not model.calls_tools:
            raise UsageError(f"{model.shown} has no tools.", hint="/model chooses another model.")
        close = get_close_matches(name.casefold(), every, n=3) or every
        names = ", ".join(every[each].called for each in close)
        raise UsageError(
            f"There is no {kind} '{name}'.",
            hint=f"Choose from: {names}." if names else "Create one: zkchat memory rules new",
        )

    async def tokens(self) -> int:
        """What a request of this session takes without a question."""
        return (await self.conversation.measure()).usage.total

    async def add(self, offered: SessionItem) -> tuple[int, int]:
        """Have it in every request from now on; what requests took before and take now."""
        before = (await self.conversation.measure()).usage
        if offered.item.tokens > before.available:
            raise UsageError(
                f"{offered.item.name} takes {offered.item.tokens:,} tokens, but only {before.available:,} are free.",
                hint="Link the note in a message instead." if offered.item.type == "reference" else "",
            )
        self.conversation.add(replace(offered.item, include="manual"))
        return before.total, await self.tokens()

    async def drop(self, offered: SessionItem) -> tuple[int, int]:
        """Have it in none from now on."""
        before = await self.tokens()
        self.conversation.drop(offered.item)
        return before, await self.tokens()

    def place_of(self, link: str) -> tuple[str, str]:
        """The note that a link means, and the place in it. Raises `UsageError` with the nearest where there is none."""
        if place := place_of(self._library, link):
            return place
        found = self._library.resolve(Link(text=link, target=_bare(link)))
        close = [f"[[{name}]]" for name in found.suggestions] if isinstance(found, Missing) else []
        raise UsageError(
            f"There is no note [[{_bare(link)}]].", hint=f"Did you mean {' or '.join(close)}?" if close else ""
        )

    def is_place_in(self, name: str, path: str) -> bool:
        """Whether what a record calls `name` is this note or a part of it."""
        place = place_of(self._library, name)
        return (place[0] if place else name.partition("#")[0]) == path

    def changed(self, context: RequestContext) -> list[ChangedItem]:
        """What a request held and would hold differently now."""
        return changed_items(context, self.conversation.profiles, self._library)

    def _memory(self) -> list[SessionItem]:
        """All of memory, then the files of the vault's page; nothing where it is off whatever the user adds."""
        requests, state = self._requests, self.memory_state
        if state.why_off == "off":
            return []
        files = requests.planner.page(requests.budget.memory_limit).records if state.is_on else ()
        whole = RequestItem(type="memory", name=WHOLE, tokens=sum(file.tokens for file in files))
        return [SessionItem(item=item, is_dropped=item.name in state.dropped) for item in (whole, *files)]

    def _note(self, name: str) -> SessionItem:
        """As it is called in this session already, else by its path."""
        known = [*self.offered("reference"), *self._memory()[1:]]
        for offered in known:
            if _bare(offered.item.name).casefold() == _bare(name).casefold():
                return offered  # also where the note is gone
        place = self.place_of(name)
        for offered in known:
            if place_of(self._library, offered.item.name) == place:
                return offered
        called = full_name(*place)
        tokens = self.conversation.tokenizer.count(format_document(called, self._library.section(*place)))
        return SessionItem(item=RequestItem(type="reference", name=called, include="manual", tokens=tokens))


def _bare(name: str) -> str:
    """A link or a path as a plain name."""
    return without_suffix(name.strip().removeprefix("[[").removesuffix("]]").partition("|")[0].strip())

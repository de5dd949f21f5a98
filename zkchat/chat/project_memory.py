"""Project memory: `ZKCHAT.md` at the vault's root, with the files it imports, and whether memory is sent. Pure."""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import pairwise
from typing import Final

from msgspec import Struct, field

from zkchat.chat.context.assembly import PromptItem, digest
from zkchat.chat.context.formatting import format_document
from zkchat.chat.context.selection import Selection, dropped_items
from zkchat.core import (
    PAGES,
    Agent,
    ItemsEntry,
    LeftOut,
    LeftOutReason,
    NoteNotFound,
    RequestItem,
    Tokenizer,
    VaultError,
    lazy_pattern,
)
from zkchat.notes import blank, flatten, outline

MAX_IMPORT_DEPTH: Final = 3
"""Steps from the page to a file that is imported by one that is imported."""
MAX_IMPORTED_FILES: Final = 20
MAX_FILE_CHARS: Final = 100_000
"""Characters of a file that are read."""

_IMPORT: Final = lazy_pattern(r"(?<![\w@./`])@(?:\"([^\"\n]+)\"|([^@\s\"'`,;()<>\[\]{}]+))")
_ENDS_SENTENCE: Final = ".:!?…"
WHOLE: Final = "memory"
"""What all of memory is called where a user drops it."""


def project_memory(
    read: Callable[[str], str],
    tokenizer: Tokenizer,
    budget: int,
    *,
    is_approved: Callable[[str, str], bool],
    dropped: Collection[str] = (),
) -> Selection:
    """What the page says. `read` gives the text of a file of the vault and raises `VaultError` for any other.

    A page whose text the user has not approved is left out with all that it imports. Imported files follow the page,
    each once, marked as notes. What does not fit is left out section by section, and what the user dropped as a whole.
    """
    collected = _Collected(read, is_approved, dropped)
    for name in PAGES:
        if collected.add(name):
            break
    return _within(collected, tokenizer, budget)


def imports_of(text: str) -> list[str]:
    """The paths that a text imports as `@path`, outside of code. `@"a path"` may hold spaces.

    A name without a slash or an ending, such as `@anna`, is no path.
    """
    flat = flatten(text)
    prose = blank(flat, sorted(outline(flat).code)) if "@" in flat else ""
    quoted_or_plain = (match[1] or match[2].rstrip(_ENDS_SENTENCE) for match in _IMPORT.finditer(prose))
    return list(dict.fromkeys(path for path in quoted_or_plain if "/" in path or "." in path))


class _Collected(Struct):
    """Files in breadth-first order: the page, what it imports, what that imports."""

    read: Callable[[str], str]
    is_approved: Callable[[str, str], bool]
    dropped: Collection[str]
    texts: dict[str, str] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, page: str) -> bool:
        try:
            text = self.read(page)[:MAX_FILE_CHARS]
        except NoteNotFound:
            return False
        except VaultError as error:
            self.left_out.append(_left_out(page, error.message))
            return True
        if page in self.dropped:
            self.left_out.append(_removed(page))
            return True
        if not self.is_approved(page, text):
            item = RequestItem(type="memory", name=page, reason="came with the vault and is not approved")
            self.left_out.append(LeftOut(item=item, why="unapproved"))
            return True
        self.texts[page] = text
        level = [page]
        for depth in range(1, MAX_IMPORT_DEPTH + 2):
            level = list(self._imported(level, too_deep=depth > MAX_IMPORT_DEPTH))
        return True

    def _imported(self, level: list[str], *, too_deep: bool) -> Iterator[str]:
        for path in dict.fromkeys(path for name in level for path in imports_of(self.texts[name])):
            if path in self.texts:
                continue
            if path in self.dropped:
                self.left_out.append(_removed(path))
                continue
            if too_deep or len(self.texts) > MAX_IMPORTED_FILES:
                bound = (
                    f"more than {MAX_IMPORT_DEPTH} steps away"
                    if too_deep
                    else f"beyond the first {MAX_IMPORTED_FILES} imports"
                )
                self.left_out.append(_left_out(path, f"{path} is {bound}."))
                continue
            try:
                self.texts[path] = self.read(path)[:MAX_FILE_CHARS]
            except VaultError as error:
                self.left_out.append(_left_out(path, error.message))
            else:
                yield path


def _left_out(path: str, reason: str) -> LeftOut:
    return LeftOut(item=RequestItem(type="memory", name=path, reason=reason), why="missing")


def _removed(path: str) -> LeftOut:
    return LeftOut(item=RequestItem(type="memory", name=path, reason="dropped by you"), why="removed")


def _within(collected: _Collected, tokenizer: Tokenizer, budget: int) -> Selection:
    items: list[PromptItem] = []
    left_out = collected.left_out
    for number, (path, text) in enumerate(collected.texts.items()):
        kept: list[str] = []
        for heading, section in _sections(text):
            tokens = tokenizer.count(section)
            if tokens <= budget:
                budget -= tokens
                kept.append(section)
            else:
                item = RequestItem(type="memory", name=f"{path}#{heading}" if heading else path, tokens=tokens)
                left_out.append(LeftOut(item=item, why="budget"))
        if kept:
            # The page itself is the user's word; what it imports is what notes say.
            body = "\n\n".join(kept)
            block = format_document(path, body) if number else body
            item = RequestItem(
                type="memory",
                name=path,
                tokens=tokenizer.count(block),
                digest=digest(block),
                reason="imported by the vault's page" if number else "the vault's own page",
            )
            items.append(PromptItem(item=item, text=block))
    return Selection(tuple(items), tuple(left_out))


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """The sections of a text, each with its heading."""
    flat = flatten(text)
    titles = outline(flat).titles
    starts = [0, *(title.start for title in titles), len(text)]
    names = ["", *(title.text for title in titles)]
    for name, (start, end) in zip(names, pairwise(starts), strict=True):
        if section := text[start:end].strip():
            yield name, section


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

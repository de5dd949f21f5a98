"""Project memory: `ZKCHAT.md` at the vault's root, with the files it imports, and whether memory is sent. Pure."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from msgspec import Struct

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
DROPPED: Final = "dropped by you"
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
    left_out: list[LeftOut] = []

    def leave_out(path: str, reason: str, why: LeftOutReason = "missing") -> None:
        left_out.append(LeftOut(item=RequestItem(type="memory", name=path, reason=reason), why=why))

    def text_of(path: str) -> str | None:
        if path in dropped:
            leave_out(path, DROPPED, "removed")
            return None
        try:
            return read(path)[:MAX_FILE_CHARS]
        except VaultError as error:
            leave_out(path, error.message)
            return None

    page = next((name for name in PAGES if _is_there(read, name)), "")
    text = text_of(page) if page else None
    if text is None:
        return Selection((), tuple(left_out))
    if not is_approved(page, text):
        leave_out(page, "came with the vault and is not approved", "unapproved")
        return Selection((), tuple(left_out))
    texts, level = {page: text}, [page]
    for depth in range(1, MAX_IMPORT_DEPTH + 2):
        wanted = dict.fromkeys(path for name in level for path in imports_of(texts[name]) if path not in texts)
        level = []
        for path in wanted:
            if depth > MAX_IMPORT_DEPTH and path not in dropped:
                leave_out(path, f"{path} is more than {MAX_IMPORT_DEPTH} steps away.")
            elif len(texts) > MAX_IMPORTED_FILES and path not in dropped:
                leave_out(path, f"{path} is beyond the first {MAX_IMPORTED_FILES} imports.")
            elif (text := text_of(path)) is not None:
                texts[path] = text
                level.append(path)
    return _within(texts, left_out, tokenizer, budget)


def _is_there(read: Callable[[str], str], page: str) -> bool:
    try:
        read(page)
    except NoteNotFound:
        return False
    except VaultError:
        return True
    return True


def imports_of(text: str) -> list[str]:
    """The paths that a text imports as `@path`, outside of code. `@"a path"` may hold spaces.

    A name without a slash or an ending, such as `@anna`, is no path.
    """
    flat = flatten(text)
    prose = blank(flat, sorted(outline(flat).code)) if "@" in flat else ""
    quoted_or_plain = (match[1] or match[2].rstrip(_ENDS_SENTENCE) for match in _IMPORT.finditer(prose))
    return list(dict.fromkeys(path for path in quoted_or_plain if "/" in path or "." in path))


def _within(texts: Mapping[str, str], left_out: list[LeftOut], tokenizer: Tokenizer, budget: int) -> Selection:
    """As many sections of these files as there is room for, in their order."""
    items: list[PromptItem] = []
    for number, (path, text) in enumerate(texts.items()):
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
        return MemoryState(why_off="removed", reason=DROPPED, dropped=dropped)
    return MemoryState(dropped=dropped)

"""What is kept across sessions: facts, remembered and recalled, and the page `ZKCHAT.md` of the vault."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Final, Protocol

from msgspec import Struct

from zkchat.chat.context.assembly import PromptItem, digest
from zkchat.chat.context.formatting import format_document
from zkchat.chat.context.selection import Relevance, Selection, dropped_items
from zkchat.chat.context.unit_ranking import listed_terms, listed_words
from zkchat.chat.privacy import Elsewhere
from zkchat.chat.question import DECIDED, OWN
from zkchat.core import (
    KEY,
    NAMED_KEY,
    PAGES,
    Agent,
    Fact,
    FactSource,
    ItemsEntry,
    LeftOut,
    LeftOutReason,
    MemoryStore,
    NoteNotFound,
    RequestItem,
    Tokenizer,
    UsageError,
    VaultError,
    lazy_pattern,
    shorten,
    without_suffix,
)
from zkchat.index import GuardedLibrary, Library, stem, targets_of, words
from zkchat.language import (
    ADDITIONS,
    FACT_STOP_WORDS,
    LINKING_VERB,
    MAY_POINT_BACK,
    NEGATIONS,
    ONE_PLACE_VERB,
    POINTS_BACK,
    PREFERENCES,
    REQUEST,
    SINGLE_VALUED,
    UNSPACED_SINGLE_VALUED,
    UNSPACED_STATEMENTS,
)
from zkchat.notes import blank, cut, flatten, link_catalog, name_key, outline, sentences

MAX_POINTS: Final = 3
"""Proposed at one time: more would be a nuisance."""
_MIN_CHARS, _MAX_CHARS = 12, 200
"""Characters of a sentence that can stand by itself."""
_PREFERRED: Final = frozenset(words(PREFERENCES))


def learning_points(said: Iterable[str], known: Iterable[Fact] = ()) -> list[str]:
    """The sentences that say most about the user, in the order of saying: a decision, a preference, a figure."""
    facts = [*known]
    found = dict.fromkeys(" ".join(sentence.split()) for text in said for sentence in sentences(text))
    weights = {sentence: weight for sentence in found if (weight := _weight(sentence))}
    new = [sentence for sentence in weights if compare_fact(sentence, facts).same is None]
    best = sorted(new, key=lambda sentence: -weights[sentence])[:MAX_POINTS]
    return [sentence for sentence in new if sentence in best]


def is_key(text: str) -> bool:
    """Whether the user tells something to be kept: a decision, a preference, a figure or a name of their own, or what
    begins with a word such as "remember" or "important". A long message is not kept whole for that."""
    return len(text) <= 2 * _MAX_CHARS and any(
        _weight(each) or _is_told(each) for each in map(" ".join, map(str.split, sentences(text)))
    )


def _is_told(sentence: str) -> bool:
    """Whether it begins with "remember", or says what something of the user's is called: "My dentist is Novak."."""
    first, found = next(iter(words(sentence)), ""), LINKING_VERB.search(sentence)
    is_own = found and not OWN.isdisjoint(words(sentence[: found.start()]))
    is_name = found and is_own and any(word[:1].isupper() for word in sentence[found.end() :].split()[:2])
    is_whole = len(sentence) >= _MIN_CHARS and not REQUEST.search(sentence) and "?" not in sentence
    return is_whole and (first in DECIDED or bool(is_name))


def _weight(sentence: str) -> int:
    """How much a sentence says about its speaker; nothing for one that says nothing, asks, or needs those before it."""
    is_alone = not (POINTS_BACK.search(sentence) or MAY_POINT_BACK.search(sentence))
    if not _MIN_CHARS <= len(sentence) <= _MAX_CHARS or REQUEST.search(sentence) or "```" in sentence or not is_alone:
        return 0
    used = {*words(sentence)}
    signs = sum(sign in sentence for sign in UNSPACED_STATEMENTS)
    is_own = bool(used & OWN) or signs > 0
    weight = 2 * len(used & DECIDED) + 2 * len(used & _PREFERRED) + any(map(str.isdigit, sentence)) + max(0, signs - 1)
    return weight if is_own else 0


class FactComparison(Struct, frozen=True):
    """How a new fact relates to the known ones."""

    same: Fact | None = None
    contradicted: tuple[Fact, ...] = ()


def compare_fact(text: str, facts: Iterable[Fact]) -> FactComparison:
    """The known fact that says the same, else those that it contradicts."""
    contradicted = []
    essence = _essence(text)
    subject, value, has_one = _claim(text) or ((), (), False)
    is_quantity = any(word.isdigit() for word in value)
    for fact in facts:
        if _essence(fact.text) == essence:
            return FactComparison(same=fact)
        old_subject, old_value, _ = _claim(fact.text) or ((), (), False)
        excludes = has_one or (is_quantity and any(word.isdigit() for word in old_value))
        if subject and subject == old_subject and value != old_value and excludes:
            contradicted.append(fact)
    return FactComparison(contradicted=tuple(contradicted))


def _essence(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(text) if word not in listed_words(FACT_STOP_WORDS))


def _claim(text: str) -> tuple[tuple[str, ...], tuple[str, ...], bool] | None:
    """Of what a fact says something, what, and whether there can be only one such value."""
    if not (listed_words(ADDITIONS) | listed_words(NEGATIONS)).isdisjoint(words(text)):
        return None
    dwelling = ONE_PLACE_VERB.search(text)
    found = dwelling or LINKING_VERB.search(text)
    if not found:
        return None
    subject, value = _essence(text[: found.start()]), _essence(text[found.end() :])
    if dwelling:
        subject = (*subject, *_essence(found[0]))
    if not subject or not value:
        return None
    has_one = dwelling or not listed_terms(SINGLE_VALUED).isdisjoint(subject)
    return subject, value, bool(has_one or any(s in text[: found.start()] for s in UNSPACED_SINGLE_VALUED))


MAX_TITLE_CHARS: Final = 80
"""Of a fact, as the record of a request names it."""
MAX_FACT_CHARS: Final = 1000
"""Characters of a fact; what is longer is a note."""
SIMILARITY_WEIGHT, RECENCY_WEIGHT, USE_WEIGHT = 0.75, 0.15, 0.10

_LIST_ITEM: Final = lazy_pattern(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$", re.MULTILINE)

_SOURCE_TEXT: Final[dict[FactSource, str]] = {
    "user": "said by you",
    "model": "noted by the model",
    "session": "learnt in a session",
    "import": "imported",
}


class Remembered(Struct, frozen=True):
    fact: Fact
    is_new: bool = True
    replaced: tuple[Fact, ...] = ()

    @property
    def sentence(self) -> str:
        if not self.is_new:
            return f"Known already: {self.fact.text}"
        kept = f"Remembered for {self.fact.agent}." if self.fact.agent else "Remembered."
        return f"{kept} It replaces: {'; '.join(fact.text for fact in self.replaced)}" if self.replaced else kept


class RecallLimits(Struct, frozen=True, kw_only=True):
    threshold: float = 0.4
    """The similarity below which nothing is recalled, however new or often used: the best on half of the questions of
    benchmarks/selection."""
    most: int = 10


class FactPrivacy(Protocol):
    """What a conversation says of facts that are to stay on this machine."""

    @property
    def library(self) -> Library | None:
        """The notes that facts link to, as the model may see them; without it links lead nowhere."""

    def withholds(self) -> bool:
        """Whether they are kept from the model."""

    def keeps_local(self) -> bool:
        """Whether what is learnt now is one of them."""

    def disclose(self) -> None:
        """Called when the model is shown one of them."""


class OwnUse(Struct, frozen=True, kw_only=True):
    """Implements `FactPrivacy` where the user looks at the facts, and no model."""

    local: bool = False
    library: Library | None = None

    def withholds(self) -> bool:
        return False

    def keeps_local(self) -> bool:
        return self.local

    def disclose(self) -> None:
        pass


Renamed = Callable[[], Mapping[str, str]]
"""By the path that a note once had, the one that it has now."""


class FactLinks:
    """The notes that facts link to, as the vault is now."""

    def __init__(self, library: Library | None, renamed: Renamed) -> None:
        self._library = library
        self._read_renamed = renamed

    @cached_property
    def _renamed(self) -> Mapping[str, str]:
        return {f"/{name_key(without_suffix(path))}": now for path, now in self._read_renamed().items()}

    def notes(self, text: str) -> frozenset[str]:
        """By path. Where a link leads nowhere, the note that had that name before it was renamed."""
        if self._library is None or "[" not in text:
            return frozenset()
        found = set[str]()
        for link in link_catalog.prose_of(text).links:
            if paths := targets_of(self._library.whole.resolve(link, suggestions=0)):
                found |= {*paths}
            elif link.target and not link.external:
                key = f"/{name_key(without_suffix(link.target.removeprefix('/')))}"
                found |= {now for old, now in self._renamed.items() if old.endswith(key)}
        return frozenset(found)

    def withholds(self, notes: frozenset[str]) -> bool:
        return bool(notes and isinstance(self._library, GuardedLibrary) and self._library.kept_from_turns(notes))

    def are_local(self, notes: frozenset[str]) -> bool:
        return bool(notes and self._library and self._library.whole.guarded_for(Elsewhere()).kept_from_turns(notes))


class Memory:
    """The facts of one vault."""

    def __init__(
        self,
        store: MemoryStore,
        relevance: Relevance,
        now: Callable[[], datetime],
        limits: RecallLimits | None = None,
        privacy: FactPrivacy | None = None,
        renamed: Renamed = dict,
    ) -> None:
        self._store = store
        self._relevance = relevance
        self._now = now
        self._limits = limits or RecallLimits()
        self._privacy = privacy or OwnUse()
        self._renamed = renamed

    def within(self, privacy: FactPrivacy) -> "Memory":
        """The same memory as a conversation uses it."""
        return Memory(self._store, self._relevance, self._now, self._limits, privacy, self._renamed)

    def _links(self) -> FactLinks:
        return FactLinks(self._privacy.library, self._renamed)

    def _shown(self, links: FactLinks, agent: str | None) -> dict[str, tuple[Fact, frozenset[str]]]:
        """By id, those that may be given to this agent, for None to any, with the notes that they link to."""
        may_be_local, name = not self._privacy.withholds(), agent and agent.casefold()
        facts = [fact for fact in self._store.facts() if may_be_local or not fact.local]
        own = [fact for fact in facts if name is None or fact.agent.casefold() in {"", name}]
        found = {fact.id: (fact, links.notes(fact.text)) for fact in own}
        return {key: each for key, each in found.items() if not links.withholds(each[1])}

    def facts(self, note: str = "") -> Sequence[Fact]:
        """All of them, or those that link to the note with this path."""
        links, facts = self._links(), self._store.facts()
        return [fact for fact in facts if note in links.notes(fact.text)] if note else facts

    def _disclose(self, links: FactLinks, shown: Iterable[tuple[Fact, frozenset[str]]]) -> None:
        given = [*shown]
        notes = frozenset[str]().union(*(notes for _, notes in given))
        if any(fact.local for fact, _ in given) or links.are_local(notes):
            self._privacy.disclose()

    def remember(self, text: str, source: FactSource = "user", session_id: str = "", *, agent: str = "") -> Remembered:
        """Keep a fact, for one agent or for all. One that says the same is merged with it; one that it contradicts
        gives way, if it is for the same."""
        text, links = _checked(text), self._links()
        shown = self._shown(links, agent)
        found = compare_fact(text, (fact for fact, _ in shown.values()))
        if found.same:
            self._disclose(links, [shown[found.same.id]])
            return Remembered(self._store.confirm(found.same.id), is_new=False)
        replaced = tuple(old for old in found.contradicted if bool(old.agent) == bool(agent))
        self._disclose(links, [shown[old.id] for old in replaced])
        local = self._privacy.keeps_local() or links.are_local(links.notes(text))
        fact = self._store.add(text, source, session_id, [old.id for old in replaced], local=local, agent=agent)
        return Remembered(fact, replaced=replaced)

    def used(self, fact_ids: Sequence[str]) -> None:
        """They went into a request that was answered."""
        self._store.used(fact_ids)

    def search(self, query: str, *, most: int = 10, agent: str | None = None) -> list[tuple[Fact, float]]:
        """The facts most similar to a query, the best first, with their similarity in words and meaning; before them
        those that link to a note which the query links to. For one agent, or for None those of all."""
        return [(fact, score) for _, score, fact in self._near(query, most, agent)]

    def ranked(self, question: str, *, agent: str | None = None) -> list[tuple[Fact, float]]:
        """The facts that are relevant to a message: those linked to its notes, then the similar ones, ranked by
        similarity, recency and use."""
        return [(fact, rank) for _, rank, fact in self._ranked(question, agent)]

    def _near(self, query: str, most: int, agent: str | None) -> list[tuple[bool, float, Fact]]:
        """Whether it is linked, its similarity, and the fact."""
        links = self._links()
        shown, sought = [*self._shown(links, agent).values()], links.notes(query)
        scores = self._relevance.scores(query, [fact.text for fact, _ in shown])
        scored = [
            (not sought.isdisjoint(notes), score, fact) for (fact, notes), score in zip(shown, scores, strict=True)
        ]
        near = [found for found in scored if found[0] or found[1] >= self._limits.threshold]
        best = sorted(near, key=lambda found: found[:2], reverse=True)[:most]
        given = {fact.id for *_, fact in best}
        self._disclose(links, (each for each in shown if each[0].id in given))
        return best

    def _ranked(self, question: str, agent: str | None) -> list[tuple[bool, float, Fact]]:
        near = self._near(question, 100, agent)  # facts similar to a message that are ranked again by recency and use
        ranked = [(is_linked, self._rank(fact, score), fact) for is_linked, score, fact in near]
        return sorted(ranked, key=lambda found: found[:2], reverse=True)

    def recall(
        self, question: str, tokenizer: Tokenizer, budget: int, *, is_plain: bool = False, agent: str | None = None
    ) -> Selection:
        """What goes into the request within so many tokens; what does not fit is left out and said."""
        chosen: list[PromptItem] = []
        left_out: list[LeftOut] = []
        for is_linked, score, fact in self._ranked(question, agent)[: self._limits.most]:
            line = format_fact(fact, is_plain=is_plain)
            tokens = tokenizer.count(line)
            item = RequestItem(
                type="memory",
                name=fact.id,
                title=shorten(fact.text, MAX_TITLE_CHARS),
                include="agent",
                score=round(score, 4),
                tokens=tokens,
                digest=digest(line),
                reason=f"{_origin(fact)}, about a note linked in your message" if is_linked else _origin(fact),
                this_turn_only=True,
            )
            if tokens <= budget:
                budget -= tokens
                chosen.append(PromptItem(item=item, text=line))
            else:
                left_out.append(LeftOut(item=item, why="budget"))
        return Selection(tuple(chosen), tuple(left_out))

    def _rank(self, fact: Fact, similarity: float) -> float:
        days = max(0.0, (self._now() - (fact.used_at or fact.at)).total_seconds() / 86_400)
        recency: float = 0.5 ** (days / 90)  # after which the recency of a fact is halved
        use = 1 - 1 / (1 + fact.uses)
        return SIMILARITY_WEIGHT * similarity + RECENCY_WEIGHT * recency + USE_WEIGHT * use


def format_fact(fact: Fact, *, is_plain: bool = False) -> str:
    """A fact as the model sees it: marked as data, which cannot close its own wrapping."""
    if is_plain:
        return f"You remember: {fact.text}"
    text = fact.text.replace("</memory", "<\u200b/memory")
    return f"<memory>{text} ({_origin(fact)})</memory>"


def _origin(fact: Fact) -> str:
    return f"{_SOURCE_TEXT[fact.source]}, {fact.at:%Y-%m-%d}"


def _checked(text: str) -> str:
    text = " ".join(text.split())
    if not text:
        raise UsageError("There is nothing to remember.", hint="Write a sentence.")
    if len(text) > MAX_FACT_CHARS:
        raise UsageError(
            f"{len(text):,} characters are too many to remember; the limit is {MAX_FACT_CHARS:,}.",
            hint="Write a note instead, or remember its point in a sentence.",
        )
    if KEY.search(text) or NAMED_KEY.search(text):
        raise UsageError(
            "That looks like a secret key, which is never remembered: it would be sent to every model.",
            hint="Keep it in an environment variable.",
        )
    return text


def list_items(text: str) -> list[str]:
    """The items of the lists in a Markdown text, in order, each on one line; code and frontmatter are no lists."""
    flat = flatten(text)
    prose = blank(flat, sorted(outline(flat).code)).replace("\0", " ")
    return [" ".join(match[1].split()) for match in _LIST_ITEM.finditer(prose, cut(flat).end)]


MAX_IMPORT_DEPTH: Final = 3
"""Steps from the page to a file that is imported by one that is imported."""
MAX_IMPORTED_FILES: Final = 20
MAX_FILE_CHARS: Final = 100_000

_IMPORT: Final = lazy_pattern(r"(?<![\w@./`])@(?:\"([^\"\n]+)\"|([^@\s\"'`,;()<>\[\]{}]+))")
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
                leave_out(path, f"{path} is not read: inclusion goes only {MAX_IMPORT_DEPTH} files deep.")
            elif len(texts) > MAX_IMPORTED_FILES and path not in dropped:
                leave_out(path, f"{path} is not read: at most {MAX_IMPORTED_FILES} files can be included.")
            elif (text := text_of(path)) is not None:
                texts[path] = text
                level.append(path)
    return _within(texts, left_out, tokenizer, budget)


def _is_there(read: Callable[[str], str], page: str) -> bool:
    try:
        read(page)
    except VaultError as error:
        return not isinstance(error, NoteNotFound)
    return True


def imports_of(text: str) -> list[str]:
    """The paths that a text imports as `@path`, outside of code. `@"a path"` may hold spaces.

    A name without a slash or an ending, such as `@anna`, is no path.
    """
    flat = flatten(text)
    prose = blank(flat, sorted(outline(flat).code)) if "@" in flat else ""
    quoted_or_plain = (match[1] or match[2].rstrip(".:!?…") for match in _IMPORT.finditer(prose))
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
                reason=f"included by {next(iter(texts))}" if number else "the vault's instructions",
            )
            items.append(PromptItem(item=item, text=block))
    return Selection(tuple(items), tuple(left_out))


def _sections(text: str) -> Iterator[tuple[str, str]]:
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

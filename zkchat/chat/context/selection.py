"""What goes into a request beside the messages, by how relevant it is."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from html import escape
from math import log, sqrt
from threading import Thread
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.context.assembly import PromptItem, digest, tool_text
from zkchat.chat.context.formatting import format_document
from zkchat.core import (
    Agent,
    ChatMessage,
    IncludeMode,
    ItemsEntry,
    ItemType,
    LeftOut,
    ModelInfo,
    ProviderError,
    RequestItem,
    Rule,
    TextEmbedder,
    Tokenizer,
    ToolCallPart,
    ToolSpec,
    Value,
    without_suffix,
)
from zkchat.index import query_terms

if TYPE_CHECKING:
    from zkchat.index import Vector, Vectors


class Relevance:
    """Scores texts from 0 to 1. Without an embedder, or with one that fails, words alone count."""

    def __init__(self, embedder: TextEmbedder | None = None) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vector] = {}

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One for each text: similarity by words and by meaning, combined as the probability that either holds."""
        both = zip(_by_words(question, texts), self._by_meaning(question, texts), strict=True)
        return [round(1 - (1 - words) * (1 - meaning), 4) for words, meaning in both]

    def preload(self) -> Callable[[], None]:
        """Load the embedder in the background before it is needed; the function returned waits for that."""
        thread = Thread(target=self._embedded, args=(["."],), name="zkchat-relevance", daemon=True)
        thread.start()
        return thread.join

    def _embedded(self, texts: Sequence[str]) -> "Vectors | None":
        """Their vectors, or none from now on if there is no way to make them."""
        with suppress(ProviderError):
            return self._embedder.embed(texts) if self._embedder else None
        self._embedder = None
        return None

    def _by_meaning(self, question: str, texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the question; 0 where there are no vectors."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        made = self._embedded([*missing, question]) if texts else None
        if made is None:
            return [0.0] * len(texts)
        import numpy as np

        *new, asked = made
        self._vectors |= zip(missing, new, strict=True)
        vectors = np.array([self._vectors[text] for text in texts])
        # vecdot uses one core: on a busy machine, waiting for the others takes longer than their help saves.
        cosines: list[float] = np.clip(np.vecdot(vectors, asked), 0, 1).tolist()
        return cosines


def _by_words(question: str, texts: Sequence[str]) -> list[float]:
    """The cosine of the sets of terms, each term weighted by its idf among the texts."""
    held = [_terms(text) for text in texts]
    counts = Counter(term for terms in held for term in terms)

    def length(terms: Iterable[str]) -> float:
        return sqrt(sum(log(1 + len(texts) / (counts[term] or 0.5)) ** 2 for term in terms))

    asked = _terms(question)
    whole = length(asked)
    return [length(asked & terms) ** 2 / (whole * length(terms)) if asked & terms else 0.0 for terms in held]


@lru_cache(maxsize=10_000)
def _terms(text: str) -> frozenset[str]:
    return frozenset(query_terms(text))


_EXCERPT_CHARS = 400
"""Of a rule or note without a description: how much of its text a message is compared with."""


_USABLE = frozenset({"reference", "evidence", "tool"})
"""What an answer shows to have used."""

Key = tuple[ItemType, str, str]


_KEPT_BEFORE: Final[Mapping[Key, Key]] = {("tool", "", "resolve_wikilink"): ("tool", "", "find_backlinks")}
"""Tools that stay at least as long as others: who cannot follow a link has no use for what links to a note."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A rule, note or tool that may be sent."""

    type: ItemType
    name: str
    server: str = ""
    called: str = ""
    """As people write its name, where that is another one."""
    include: IncludeMode = "always"
    about: str = ""
    """What a message is compared with."""
    text: str = ""
    core: bool = False
    """A tool without which the vault cannot be read: the last to be left out for the budget."""
    needed: bool = False
    """A tool that the messages of this request call for: left out for the budget before the core ones only."""

    @property
    def key(self) -> Key:
        return self.type, self.server, self.name


class SelectionLimits(Struct, frozen=True, kw_only=True):
    threshold: float = 0.45
    """The score from which an item is relevant: the best on half of the messages of benchmarks/selection."""
    most: int = 5
    """Items of each type that one message may call for."""
    recorded: int = 5
    """Items of each type that came closest without being sent, and are recorded as left out."""


class Selection(Struct, frozen=True):
    """What goes into the request, in order, and what was considered and left out."""

    items: tuple[PromptItem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def records(self) -> tuple[RequestItem, ...]:
        return tuple(each.item for each in self.items)


def key_of(item: RequestItem) -> Key:
    return item.type, item.server, item.name


def added_items(changes: Iterable[ItemsEntry]) -> dict[Key, RequestItem]:
    """What the user added to the session and did not drop again, in the order of adding."""
    added: dict[Key, RequestItem] = {}
    for change in changes:
        for item in change.dropped:
            added.pop(key_of(item), None)
        added |= {key_of(item): item for item in change.added}
    return added


def dropped_items(changes: Iterable[ItemsEntry]) -> dict[Key, RequestItem]:
    """What the user dropped from the session and did not add again."""
    return added_items(ItemsEntry(added=change.dropped, dropped=change.added) for change in changes)


class Selector:
    """Selects the items for one message after the other."""

    def __init__(self, relevance: Relevance, tokenizer: Tokenizer, limits: SelectionLimits | None = None) -> None:
        self._relevance = relevance
        self._limits = limits or SelectionLimits()
        self._tokenizer = tokenizer

    def select(
        self,
        question: str,
        available: Sequence[Candidate],
        changes: Sequence[ItemsEntry] = (),
        *,
        tool_tokens: int | None = None,
    ) -> Selection:
        """The session's items first, then those that the message calls for, the most relevant first.

        What the user added has to be among `available` to be found. `tool_tokens` is the budget for tools; what of
        them does not fit is left out, the least relevant first.
        """
        known = {candidate.key: candidate for candidate in available}
        added, dropped = added_items(changes), dropped_items(changes)
        permanent = {each.key for each in known.values() if each.include == "always" and each.key not in dropped}
        missing = [
            LeftOut(item=item, why="missing")
            for key, item in added.items()
            if key not in known and item.type != "memory"  # which the user only dropped and added back
        ]
        removed = [LeftOut(item=item_of(known[key], self._tokenizer), why="removed") for key in dropped if key in known]
        optional = [each for each in known.values() if each.include == "agent" and each.key not in added | dropped]
        scores = self._scores(question, optional)
        relevant, below = self._relevant(optional, scores)
        in_session = [
            *(self._prompt_item(each, None, "always there") for key, each in known.items() if key in permanent),
            *(
                self._prompt_item(known[key], None, "added by you", "manual")
                for key in added
                if key in known and key not in permanent
            ),
        ]
        for_message = [self._prompt_item(each, scores[each.key], "on the subject of your message") for each in relevant]
        kept, too_many = self._within_tool_budget([*in_session, *for_message], question, known, tool_tokens)
        return Selection(tuple(kept), (*missing, *removed, *too_many, *below))

    def _scores(self, question: str, candidates: Sequence[Candidate]) -> dict[Key, float]:
        scores = self._relevance.scores(question, [each.about or each.name for each in candidates])
        return {each.key: score for each, score in zip(candidates, scores, strict=True)}

    def _relevant(
        self, optional: Sequence[Candidate], scores: dict[Key, float]
    ) -> tuple[list[Candidate], list[LeftOut]]:
        """The relevant ones, and of the others those that came closest."""
        limits = self._limits
        relevant: list[Candidate] = []
        below: list[LeftOut] = []
        best_first = sorted(optional, key=lambda each: -scores[each.key])
        for type_ in dict.fromkeys(each.type for each in best_first):
            of_type = [each for each in best_first if each.type == type_]
            near = [each for each in of_type[: limits.most] if scores[each.key] >= limits.threshold]
            relevant.extend(near)
            closest = [each for each in of_type[len(near) :] if scores[each.key] > 0][: limits.recorded]
            below.extend(
                LeftOut(item=item_of(each, self._tokenizer, scores[each.key]), why="score") for each in closest
            )
        return sorted(relevant, key=lambda each: -scores[each.key]), below

    def _within_tool_budget(
        self, chosen: Sequence[PromptItem], question: str, known: dict[Key, Candidate], tool_tokens: int | None
    ) -> tuple[list[PromptItem], list[LeftOut]]:
        """Leave out tools beyond their budget: those of servers first that the question does not call for, the least
        relevant before others, then the rest, the added, and the core ones."""
        tools = [each.item for each in chosen if each.item.type == "tool"]
        over = sum(item.tokens for item in tools) - tool_tokens if tool_tokens is not None else 0
        if over <= 0:
            return [*chosen], []  # most of the time, and then no vectors have to be loaded for tools
        scores = self._scores(question, [known[key_of(item)] for item in tools])
        for first, second in _KEPT_BEFORE.items():
            scores |= {first: max(scores[first], scores[second])} if {first, second} <= scores.keys() else {}
        called_for = _called_for(tools, scores, known, tool_tokens or 0)
        left_out: dict[Key, LeftOut] = {}

        def order(item: RequestItem) -> tuple[bool, bool, bool, bool, float, bool]:
            each, key = known[key_of(item)], key_of(item)
            is_near = not item.server or key in called_for
            return each.core, each.needed, item.include == "manual", is_near, scores[key], key in _KEPT_BEFORE

        for item in sorted(tools, key=order):
            if over <= 0:
                break
            scored = replace(item, score=scores[key_of(item)])
            left_out[key_of(item)] = LeftOut(item=scored, why="budget")
            over -= item.tokens
        return [each for each in chosen if key_of(each.item) not in left_out], list(left_out.values())

    def _prompt_item(
        self, candidate: Candidate, score: float | None, reason: str, include: IncludeMode | None = None
    ) -> PromptItem:
        item = item_of(candidate, self._tokenizer, score)
        changes = {"include": include or candidate.include, "reason": reason, "this_turn_only": score is not None}
        return PromptItem(item=replace(item, **changes), text=candidate.text)


def _called_for(
    tools: Sequence[RequestItem], scores: Mapping[Key, float], known: Mapping[Key, Candidate], room: int
) -> set[Key]:
    """The few tools of servers that fit a question better than any of ours beside the core, in half of the room."""
    of_servers = [item for item in tools if item.server]
    ours = [scores[key_of(item)] for item in tools if not item.server and not known[key_of(item)].core]
    least, left = max([0.2, *ours]), room // 2  # with less, none may take the room of one of ours
    found: set[Key] = set()
    for item in sorted(of_servers, key=lambda item: -scores[key_of(item)])[:3]:
        if scores[key_of(item)] > least and item.tokens <= left:
            found.add(key_of(item))
            left -= item.tokens
    return found


def item_of(candidate: Candidate, tokenizer: Tokenizer, score: float | None = None) -> RequestItem:
    """A candidate as the record of a request names it."""
    return RequestItem(
        type=candidate.type,
        name=candidate.name,
        server=candidate.server,
        include=candidate.include,
        score=score,
        tokens=tokenizer.count(candidate.text),
        digest=digest(candidate.text),
    )


def build_candidates(
    agent: Agent,
    *,
    rules: Iterable[Rule] = (),
    notes: Mapping[str, str] | None = None,
    tools: Iterable[ToolSpec] = (),
    core: Collection[str] = (),
    needed: Collection[str] = (),
) -> list[Candidate]:
    """Rules, notes and tools in this order. `notes` are texts by name, `core` the tools that reading needs."""
    found = [
        Candidate(
            type="rule",
            name=rule.name,
            include=agent.rule_mode(rule),
            about=f"{rule.name}\n{rule.description or rule.text[:_EXCERPT_CHARS]}",
            text=f'<rule name="{escape(rule.name)}">\n{rule.text}\n</rule>',
        )
        for rule in rules
    ]
    found += [
        Candidate(
            type="reference",
            name=name,
            include=agent.references.get(name, "manual"),
            about=f"{without_suffix(name)}\n{text[:_EXCERPT_CHARS]}",
            text=format_document(name, text),
        )
        for name, text in (notes or {}).items()
    ]
    found += [
        Candidate(
            type="tool",
            name=spec.name,
            server=spec.server,
            called=spec.called,
            include=agent.tool_mode(spec.own_name or spec.name, spec.server),
            about=f"{spec.name.replace('_', ' ')}\n{spec.description}",
            text=tool_text(spec),
            core=not spec.server and spec.name in core,
            needed=not spec.server and spec.name in needed,
        )
        for spec in tools
    ]
    return found


def session_items(available: Iterable[Candidate], changes: Sequence[ItemsEntry]) -> list[Candidate]:
    """Those that go into every request of the session: always there, or added by the user, and not dropped."""
    added, dropped = added_items(changes), dropped_items(changes)
    return [each for each in available if each.key in added or (each.include == "always" and each.key not in dropped)]


class SelectionUse(Value, frozen=True, kw_only=True):
    """How good the choice of items was: of those that were sent for a message, how many its answer used."""

    chosen: int = 0
    used: int = 0


def selection_use(thread: Iterable[ChatMessage]) -> SelectionUse:
    """Of the notes, passages and tools chosen for messages, those that answers cite or call. A rule leaves no trace."""
    chosen = used = 0
    called: set[str] = set()
    for message in thread:
        called = set() if message.role == "user" else called
        called |= {part.name for part in message.parts_of(ToolCallPart)}
        if message.request_context is None:
            continue
        cited = [each for each in message.references if each.cited]
        named = {each.relative_path for each in cited} | {
            each.wikilink.strip("![]").partition("#")[0] for each in cited
        }
        items = [each for each in message.request_context.items if each.include == "agent" and each.type in _USABLE]
        keys = {(each.type == "tool", each.name) for each in items}
        chosen += len(keys)
        used += sum(name in (called if is_tool else named) for is_tool, name in keys)
    return SelectionUse(chosen=chosen, used=used)


def wants_evidence(info: ModelInfo, window: int, *, can_read: bool) -> bool:
    """Whether zkchat searches the vault for the model: for one that has no tools now, or one known to be small.

    Such a one seldom searches by itself, and has little room for what it finds.
    """
    is_small = info.context_limit is not None and min(info.context_limit, window) <= 8192
    return not can_read or info.needs_evidence or is_small

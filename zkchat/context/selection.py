"""Which rules, notes and tools go into a request: those of the session, and those that the message calls for.

Pure. Asked before every request, so the tokenizer should be one that remembers its counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zkchat.context.assembly import Piece, digest
from zkchat.context.relevance import Relevance
from zkchat.model.context import Include, ItemType, LeftOut, RequestItem
from zkchat.model.session import ItemsEntry
from zkchat.ports import Tokenizer

Key = tuple[ItemType, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that may be sent."""

    type: ItemType
    name: str
    server: str = ""
    include: Include = "always"
    about: str = ""
    """What a message is compared with."""
    text: str = ""
    """What is sent."""
    core: bool = False
    """A tool without which the vault is out of reach: it never makes room for others."""

    @property
    def key(self) -> Key:
        return self.type, self.server, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    threshold: float = 0.45
    """The score from which an item is relevant: the best on half of the messages of benchmarks/selection."""
    most: int = 5
    """Items of each type that one message may call for."""
    recorded: int = 5
    """Items of each type that came closest without being sent, and are recorded as left out."""


@dataclass(frozen=True, slots=True)
class Selected:
    """What goes into the request, in order, and what was considered and left out."""

    pieces: tuple[Piece, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def items(self) -> tuple[RequestItem, ...]:
        return tuple(piece.item for piece in self.pieces)


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
    """Chooses for one message after the other."""

    def __init__(self, relevance: Relevance, tokenizer: Tokenizer, limits: Limits | None = None) -> None:
        self._relevance = relevance
        self._limits = limits or Limits()
        self._tokenizer = tokenizer

    def select(
        self,
        question: str,
        available: Sequence[Candidate],
        changes: Sequence[ItemsEntry] = (),
        *,
        tool_tokens: int | None = None,
    ) -> Selected:
        """The session's items first, then those that the message calls for, the most relevant first.

        What the user added has to be among `available` to be found. `tool_tokens` is the room for tools; what of
        them does not fit is left out, the least relevant first.
        """
        at_hand = {candidate.key: candidate for candidate in available}
        added, dropped = added_items(changes), dropped_items(changes)
        steady = {each.key for each in at_hand.values() if each.include == "always" and each.key not in dropped}
        missing = [LeftOut(item=item, why="missing") for key, item in added.items() if key not in at_hand]
        removed = [LeftOut(item=self._item(at_hand[key]), why="removed") for key in dropped if key in at_hand]
        on_call = [each for each in at_hand.values() if each.include == "agent" and each.key not in added | dropped]
        scores = self._scores(question, on_call)
        called, below = self._called(on_call, scores)
        in_session = [
            *(self._chosen(each, None, "always there") for key, each in at_hand.items() if key in steady),
            *(
                self._chosen(at_hand[key], None, "added by you", "manual")
                for key in added
                if key in at_hand and key not in steady
            ),
        ]
        on_subject = [self._chosen(each, scores[each.key], "on the subject of your message") for each in called]
        kept, too_many = self._within([*in_session, *on_subject], question, at_hand, tool_tokens)
        return Selected(tuple(kept), (*missing, *removed, *too_many, *below))

    def _scores(self, question: str, candidates: Sequence[Candidate]) -> dict[Key, float]:
        scores = self._relevance.scores(question, [each.about or each.name for each in candidates])
        return {each.key: score for each, score in zip(candidates, scores, strict=True)}

    def _called(self, on_call: Sequence[Candidate], scores: dict[Key, float]) -> tuple[list[Candidate], list[LeftOut]]:
        """The relevant ones, and of the others those that came closest."""
        limits = self._limits
        called: list[Candidate] = []
        below: list[LeftOut] = []
        best_first = sorted(on_call, key=lambda each: -scores[each.key])
        for type_ in dict.fromkeys(each.type for each in best_first):
            of_type = [each for each in best_first if each.type == type_]
            near = [each for each in of_type[: limits.most] if scores[each.key] >= limits.threshold]
            called.extend(near)
            closest = [each for each in of_type[len(near) :] if scores[each.key] > 0][: limits.recorded]
            below.extend(LeftOut(item=self._item(each, scores[each.key]), why="score") for each in closest)
        return sorted(called, key=lambda each: -scores[each.key]), below

    def _within(
        self, chosen: Sequence[Piece], question: str, at_hand: dict[Key, Candidate], tool_tokens: int | None
    ) -> tuple[list[Piece], list[LeftOut]]:
        """Without the tools for which there is no room: first the least relevant, last what the user asked for."""
        tools = [each.item for each in chosen if each.item.type == "tool"]
        over = sum(item.tokens for item in tools) - tool_tokens if tool_tokens is not None else 0
        if over <= 0:
            return [*chosen], []  # most of the time, and then no vectors have to be loaded for tools
        scores = self._scores(question, [at_hand[key_of(item)] for item in tools])
        going: dict[Key, LeftOut] = {}
        for item in sorted(tools, key=lambda item: (item.include == "manual", scores[key_of(item)])):
            if over <= 0:
                break
            if not at_hand[key_of(item)].core:
                scored = item.model_copy(update={"score": scores[key_of(item)]})
                going[key_of(item)] = LeftOut(item=scored, why="budget")
                over -= item.tokens
        return [each for each in chosen if key_of(each.item) not in going], list(going.values())

    def _chosen(self, candidate: Candidate, score: float | None, reason: str, include: Include | None = None) -> Piece:
        item = self._item(candidate, score)
        changes = {"include": include or candidate.include, "reason": reason, "passing": score is not None}
        return Piece(item=item.model_copy(update=changes), text=candidate.text)

    def _item(self, candidate: Candidate, score: float | None = None) -> RequestItem:
        return RequestItem(
            type=candidate.type,
            name=candidate.name,
            server=candidate.server,
            include=candidate.include,
            score=score,
            tokens=self._tokenizer.count(candidate.text),
            digest=digest(candidate.text),
        )

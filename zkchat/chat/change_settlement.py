"""The changes that a model proposes: told to it, allowed, reviewed or dropped, and recorded."""

import json
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain, takewhile
from typing import Any, Final, NamedTuple, Protocol

from msgspec.structs import replace

from zkchat.chat.context.assembly import PromptItem, prompt_item
from zkchat.chat.journal import Journal
from zkchat.chat.tools.registry import Toolbox
from zkchat.core import (
    ChangeOrigin,
    ChangeRecord,
    ChangesEntry,
    ChangeSet,
    ChangesReviewed,
    ChatMessage,
    Event,
    History,
    ModelProvider,
    ReviewOutcome,
    Tool,
    ToolCallPart,
    ToolResultPart,
    UsageError,
    Warned,
    WriteMode,
    edits_of_user,
    patch_of,
    turn_of,
)

REASON: Final = "what became of the model's proposals"
STOPPED: Final = "The answer was stopped before you were asked."
_TARGETS: Final = ("relative_path", "title")
"""Arguments that say which note a call is about."""


class ProposedChanges(Protocol):
    """The changes that are staged for the user's review; `writing.proposals.Proposals` implements it."""

    is_on: bool
    """Whether the model may propose changes now."""
    is_deferred: bool
    """Whether they are to be reviewed later than at the end of the turn."""

    always: set[str]
    """Folders that the user has agreed to in this session."""

    @property
    def mode(self) -> WriteMode:
        """Whether the settings have them asked about, or only shown."""

    @property
    def accepted(self) -> Sequence[str]:
        """Folders, as globs, in which the settings have them applied without a question."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools that propose changes."""

    @property
    def tool_names(self) -> frozenset[str]:
        """Their names, as far as they were ever offered."""

    def ask_because(self, reason: str) -> None:
        """Have the user asked about what is staged in every folder, for this reason, a sentence."""

    def settle(self, origin: ChangeOrigin) -> ReviewOutcome | None:
        """Have what is staged reviewed, and apply what the user agrees to; None where nothing is staged."""

    def drop(self, reason: str) -> ReviewOutcome | None:
        """Forget what is staged, and return it; None where nothing is."""


def outcome_items(history: History, user: ChatMessage, hidden: frozenset[str]) -> Iterator[PromptItem]:
    """What a request for this question says of the changes that were proposed in the turn before it."""
    before = history.messages.get(user.parent_id or "")
    shown = [message.id for message in turn_of(before, history.messages) if message.id not in hidden] if before else []
    for entry in chain.from_iterable(history.changes.get(id_, ()) for id_ in shown):
        if entry.told:
            yield prompt_item("outcome", entry.title, entry.told, reason=REASON, this_turn_only=True)


def changed_paths(changes: ChangeSet) -> tuple[str, ...]:
    """The files that change, by the paths that they have and had."""
    moved = (path for move in changes.moves for path in (move.source, move.target))
    return tuple(dict.fromkeys([*moved, *(write.path for write in changes.writes)]))


def _without(changes: ChangeSet, paths: frozenset[str]) -> ChangeSet:
    moves = tuple(move for move in changes.moves if paths.isdisjoint((move.source, move.target)))
    return replace(changes, moves=moves, writes=tuple(write for write in changes.writes if write.path not in paths))


def sentence_about(outcome: ReviewOutcome) -> str:
    """What the model is told."""
    what = f"The changes that you proposed ({outcome.proposed.title})"
    match outcome.decision:
        case "applied":
            if outcome.edited or outcome.changes != outcome.proposed:
                shown = (_without(changes, outcome.withheld) for changes in (outcome.proposed, outcome.changes))
                edits = edits_of_user(*shown)[:2_000]
                return f"{what} were applied as the user edited them:\n{edits}".rstrip()
            return f"{what} were applied."
        case "declined":
            return f"{what} were declined by the user: nothing was changed. Do not propose them again unasked."
        case "kept" | "dropped":
            names_withheld = any(path in outcome.reason for path in outcome.withheld)
            reason = "They need a yes of the user." if names_withheld else outcome.reason
            return f"{what} were not applied: nothing was changed. {reason}"


class ChangeSettlement:
    """Settles what is proposed in one conversation, and stores the outcome in its session."""

    def __init__(
        self, proposals: ProposedChanges | None, journal: Journal, provider: ModelProvider, tools: Toolbox
    ) -> None:
        """`proposals` is None where the model cannot propose changes."""
        self.proposals = proposals
        self._journal = journal
        self._provider = provider
        self._tools = tools
        self._dropped: ChangesReviewed | None = None

    @property
    def is_on(self) -> bool:
        """Whether the model may propose changes to notes now."""
        return self.proposals is not None and self.proposals.is_on

    def allow(self, allowed: bool) -> None:
        """Let the model propose changes to notes from now on, or no longer."""
        if self.proposals is None:
            name = self._provider.info.shown
            raise UsageError(f"{name} cannot change notes.", hint="Choose another model: /model")
        self.proposals.is_on = allowed
        if allowed:
            self._tools.add(self.proposals.tools)

    def keep_accepted_folders(self, before: "ChangeSettlement") -> None:
        """Ask about no more folders than the same conversation did before it was opened anew."""
        if self.proposals and before.proposals:
            self.proposals.always |= before.proposals.always

    def end_turn(self, answer: ChatMessage | None) -> Iterator[Event]:
        """Have what a turn proposed reviewed, unless that is deferred; of one that failed it is dropped."""
        if answer and (refused := refused_changes(self._turn(), self._tool_names)):
            yield refused
        if self.proposals is None or self.proposals.is_deferred:
            return
        if reviewed := self.settle(answer.id) if answer else self._drop("The answer failed before you were asked."):
            yield reviewed

    def stop_turn(self) -> None:
        """Drop what a turn that is stopped had proposed, unless the review is deferred."""
        self._dropped = None if self.proposals is None or self.proposals.is_deferred else self._drop(STOPPED)

    def settle(self, message_id: str = "", command: str = "") -> ChangesReviewed | None:
        """Have the staged changes reviewed as those of this answer, or of the last message; None where none are."""
        if self.proposals is None:
            return None
        message_id = message_id or self._last_id
        called = (part.name for each in self._turn() for part in each.parts_of(ToolCallPart))
        names = dict.fromkeys(name for name in called if name in self._tool_names)
        origin = ChangeOrigin(
            command=command or ", ".join(names), session_id=self._journal.session_id, message_id=message_id
        )
        return self._record(self.proposals.settle(origin), message_id)

    def drop(self, reason: str) -> ChangesReviewed | None:
        """Forget what was proposed while the review was deferred; the session keeps what it was."""
        self._dropped = self._drop(reason)
        return self._dropped

    def take_dropped(self) -> ChangesReviewed | None:
        """What the last turn had proposed when it was stopped; once."""
        dropped, self._dropped = self._dropped, None
        return dropped

    def tell_undone(self, record: ChangeRecord) -> None:
        """Have the next request say that changes were undone, where the model of this session proposed them."""
        last, title = self._journal.history.last, record.changes.title
        if last and record.origin.message_id and record.origin.session_id == self._journal.session_id:
            self._journal.append(
                ChangesEntry(
                    message_id=last.id,
                    decision="undone",
                    title=title,
                    paths=changed_paths(record.changes),
                    record=record.id,
                    told=f"The changes that you proposed ({title}) were applied, and the user has undone them: the "
                    "notes are again what they were before.",
                )
            )

    def _drop(self, reason: str) -> ChangesReviewed | None:
        return self._record(self.proposals.drop(reason), "") if self.proposals else None

    def _record(self, outcome: ReviewOutcome | None, message_id: str) -> ChangesReviewed | None:
        if outcome is None:
            return None
        known: dict[str, Any] = {
            "message_id": message_id or self._last_id,
            "decision": outcome.decision,
            "title": outcome.changes.title,
            "paths": changed_paths(outcome.changes),
            "edited": outcome.edited,
            "record": outcome.record_id,
            "reason": outcome.reason,
        }
        diff = patch_of(outcome.changes).encode(errors="surrogateescape").decode(errors="replace")
        self._journal.append(ChangesEntry(**known, told=sentence_about(outcome), diff=diff[:1_000_000]))
        return ChangesReviewed(**known, diff=diff, exit_code=outcome.exit_code, stops=outcome.stops)

    @property
    def _last_id(self) -> str:
        last = self._journal.history.last
        return last.id if last else ""

    @property
    def _tool_names(self) -> frozenset[str]:
        return self.proposals.tool_names if self.proposals else frozenset()

    def _turn(self) -> list[ChatMessage]:
        """The messages of the last turn after its question."""
        return [*takewhile(lambda message: message.role != "user", self._journal.history.newest_first)][::-1]


class _Attempt(NamedTuple):
    """One call of a tool that proposes changes, with its result."""

    result: ToolResultPart
    target: str
    """The note that it is about."""
    content: dict[str, Any]

    def is_made_good_by(self, later: "_Attempt") -> bool:
        """Whether a later call, which worked, is about the same note, or the same for a note by another name."""
        is_same_tool = self.result.name == later.result.name
        is_same_note = self.target.casefold() == later.target.casefold() and (self.target or is_same_tool)
        return bool(is_same_note) or (is_same_tool and self.content == later.content != {})


def refused_changes(turn: Sequence[ChatMessage], tool_names: Set[str]) -> Warned | None:
    """What the user is told of changes that were refused, and not tried again with success."""
    attempts = [_attempt(call, result) for call, result in calls_with_results(turn) if result.name in tool_names]
    refused = [
        attempt
        for place, attempt in enumerate(attempts)
        if attempt.result.failed
        and not any(attempt.is_made_good_by(later) for later in attempts[place + 1 :] if not later.result.failed)
    ]
    if not refused:
        return None
    last, target = refused[-1].result, " ".join(refused[-1].target.split())[:80]
    tried = "a change that is" if len(refused) == 1 else f"{len(refused)} changes that are"
    reason = next(iter(last.text.splitlines()), "")[:200]
    end = " Nothing was proposed." if all(attempt.result.failed for attempt in attempts) else ""
    return Warned(text=f"The model tried {tried} not possible: {f'{target}: ' if target else ''}{reason}{end}")


def _attempt(call: ToolCallPart, result: ToolResultPart) -> _Attempt:
    try:
        read = json.loads(call.arguments)
    except (ValueError, RecursionError):
        read = None
    arguments = read if isinstance(read, dict) else {}
    target = next((value for key in _TARGETS if isinstance(value := arguments.get(key), str)), "")
    return _Attempt(result, target, {key: value for key, value in arguments.items() if key not in _TARGETS})


def calls_with_results(messages: Iterable[ChatMessage]) -> Iterator[tuple[ToolCallPart, ToolResultPart]]:
    """The calls that were answered in these messages, by their order: servers may use an id in several requests."""
    waiting: list[ToolCallPart] = []
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, ToolCallPart):
            waiting.append(part)
        elif isinstance(part, ToolResultPart):
            call = next((call for call in waiting if call.call_id == part.call_id), None)
            if call:
                waiting.remove(call)
                yield call, part

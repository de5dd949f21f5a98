"""Slash commands in memory: a conversation without a model, a surface that records, a vault without files."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any, NoReturn, cast

from tests.support.changes import ChangesInMemory
from tests.support.sessions import NOON, SessionsInMemory
from zkchat.chat.change_settlement import ProposedChanges
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.conversation import Conversation
from zkchat.chat.evidence_lookup import Page
from zkchat.chat.goals import GoalRun
from zkchat.chat.session_items import SessionItems
from zkchat.core.changes import ChangeRecord, ChangeSet, patch_of
from zkchat.core.choices import ContextUsage, OpenWith
from zkchat.core.errors import UsageError, ZkchatError
from zkchat.core.events import Event, Goal, Warned
from zkchat.core.message import ChatMessage, DocumentReference, TextPart
from zkchat.core.prompt import ModelInfo, ModelListing, ModelOverview, ModelRow
from zkchat.core.session import (
    EntryBody,
    HeadEntry,
    MessageEntry,
    PinEntry,
    PriorityEntry,
    RestoreEntry,
    Session,
    read_message,
)
from zkchat.core.session_history import Branch, History, Window, branches_of
from zkchat.index.daily_notes import DailyNoteSettings
from zkchat.index.library import Library
from zkchat.render.console import Matches
from zkchat.render.numbered_rows import RowSection, plain_sections
from zkchat.repl.command_context import CommandContext, Outcome, Play
from zkchat.repl.commands.table import run
from zkchat.repl.picker import Further, PickRow
from zkchat.repl.surface import Position, Surface, VaultBrowser
from zkchat.writing.links.mentions import ChosenLinks, MentionGroup


class SessionsWithCounts(SessionsInMemory):
    """Knows titles and numbers of messages, as the real store does."""

    def __init__(self) -> None:
        super().__init__()
        self.titles: dict[str, str] = {}

    def get(self, session_id: str) -> Session:
        count = len(History(self.rows[session_id]).messages)
        title = self.titles.get(session_id, "")
        return Session(id=session_id, title=title, created_at=NOON, updated_at=NOON, message_count=count)


class WritingInMemory:
    """What commands use of `chat.change_settlement.ChangeSettlement`."""

    def __init__(self) -> None:
        self.is_on = False
        self.proposals: ProposedChanges | None = None
        self.undone: list[int] = []
        """Of which changes it was told."""

    def allow(self, allowed: bool) -> None:
        self.is_on = allowed

    def tell_undone(self, record: ChangeRecord) -> None:
        self.undone.append(record.id)


class ConversationInMemory:
    """What commands use of `chat.conversation.Conversation`, over a list of entries."""

    def __init__(self, store: SessionsInMemory) -> None:
        self._store = store
        self.session_id = ""
        self.model = ModelInfo(provider="scripted", id="play")
        self.usage: ContextUsage | None = None
        self.tokenizer = Estimate()
        self.writing = WritingInMemory()
        self.asked: list[str] = []
        self.pages: list[Page] = []
        """What `next_passages` returns, one after the other."""

    @property
    def history(self) -> History:
        return History(self._store.entries(self.session_id) if self.session_id else ())

    def stays_here(self, messages: Iterable[ChatMessage]) -> bool:
        return any(message.local for message in messages)

    @property
    def messages(self) -> list[ChatMessage]:
        return self.history.thread

    @property
    def window(self) -> Window:
        return self.history.window

    def append(self, *bodies: EntryBody) -> None:
        self.session_id = self.session_id or self._store.create().id
        self._store.append(self.session_id, bodies)

    def add(self, role: str, text: str, **more: Any) -> ChatMessage:
        """One more message at the end."""
        last = self.history.last
        fields: dict[str, Any] = {"parts": [TextPart(text=text)] if text else [], "created_at": NOON, **more}
        id_ = f"m{len(self.history.messages) + 1}"
        parent = last.id if last else None
        message = read_message({"id": id_, "parent_id": parent, "role": role, **fields})
        self.append(MessageEntry(message=message))
        return message

    def next_passages(self) -> Page:
        if self.history.last_question is None:
            raise UsageError("There is no question to look up.", hint="Ask one first.")
        return self.pages.pop(0)

    async def summarize_brief(self, days: int) -> AsyncGenerator[Event, None]:
        yield Warned(text=f"summary of {days} days")

    async def retry(self) -> AsyncGenerator[Event, None]:
        yield Warned(text="retried")

    async def compact(self, focus: str = "", *, detail: str | None = None) -> AsyncGenerator[Event, None]:
        yield Warned(text=" ".join(filter(None, ["compacted", detail, focus])))

    def uncompact(self) -> ChatMessage | None:
        markers = self.window.compactions
        if not markers:
            return None
        self.append(RestoreEntry(compaction_id=markers[-1].id))
        return markers[-1]

    def pin(self, message_id: str, *, pinned: bool = True) -> None:
        self.append(PinEntry(message_id=message_id, pinned=pinned))

    def prioritise(self, message_id: str, priority: int) -> None:
        self.append(PriorityEntry(message_id=message_id, priority=priority))

    def branches(self) -> list[Branch]:
        return branches_of(self.history)

    def branch(self, message_id: str | None) -> None:
        self.append(HeadEntry(message_id=message_id))


class RecordingSurface(Surface):
    """Keeps what was printed."""

    width = 80
    has_desktop = True

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.dimmed: list[str] = []
        self.drawn: list[str] = []
        self.marked: list[str] = []
        """Words that were marked in what was drawn."""
        self.shown_references: Sequence[DocumentReference] = ()
        self.shown_usage: ContextUsage | None = None
        self.says_yes = True
        self.questions: list[str] = []
        self.picks: int | None = None
        """The row that is chosen of each list; None for none."""
        self.lists: list[Sequence[PickRow]] = []
        self.page_rows = 100
        """Rows of a page of a note."""
        self.read: list[tuple[str, int]] = []
        """The notes that were shown, and the line to begin at."""
        self.opened: list[str] = []
        self.has_clipboard = True
        self.copied: list[str] = []

    @property
    def text(self) -> str:
        """Everything that was printed, dimmed or not, in order."""
        return "\n".join(self.lines)

    def print(self, text: str) -> None:
        self.lines.append(text)

    def print_dimmed(self, text: str) -> None:
        self.lines.append(text)
        self.dimmed.append(text)

    def print_markdown(self, text: str, matches: Matches | None = None, /) -> None:
        self.drawn.append(text)
        self.marked += [text[start:end] for start, end in matches(text)] if matches else []

    def print_sections(self, sections: Sequence[RowSection], matches: Matches | None = None, /) -> None:
        self.lines.append(plain_sections(sections))
        texts = [row.text for section in sections for row in section.rows]
        self.marked += [text[start:end] for text in texts for start, end in matches(text)] if matches else []

    def print_changes(self, changes: ChangeSet) -> None:
        self.lines.append(patch_of(changes).removesuffix("\n"))

    def print_heading(self, name: str, place: str) -> None:
        self.lines += [name, place]

    def print_note(
        self, text: str, *, source: str, first_line: int = 1, after: Position | None = None, whole: bool = False
    ) -> Position:
        """Each line is a row."""
        lines = text.strip("\n").splitlines()
        first = after.row if after else 0
        end = len(lines) if whole else min(len(lines), first + self.page_rows)
        self.drawn.append("\n".join(lines[first:end]))
        self.read.append((source, first_line))
        percent = round(100 * end / len(lines)) if lines else 100
        return Position(row=end, percent=percent, is_end=end == len(lines), is_from_top=not first)

    def print_references(self, references: Sequence[DocumentReference]) -> None:
        self.shown_references = references

    def print_usage(self, usage: ContextUsage) -> None:
        self.shown_usage = usage

    async def confirm(self, question: str) -> bool:
        self.questions.append(question)
        return self.says_yes

    async def pick(
        self, _title: str, rows: Sequence[PickRow], instead: str, _further: Further = lambda _: ()
    ) -> int | None:
        self.lists.append(rows)
        if self.picks is None:
            self.print(instead)
        return self.picks

    def open(self, address: str) -> bool:
        self.opened.append(address)
        return self.has_desktop

    def copy(self, text: str) -> bool:
        (self.copied if self.has_clipboard else self.lines).append(text)
        return self.has_clipboard


class LinksInMemory:
    """Implements `repl.command_context.DocumentLinks`: all but notes are a risk."""

    def of(self, reference: DocumentReference) -> str | None:
        return reference.relative_path and f"file:///{reference.relative_path}"

    def current(self, references: Sequence[DocumentReference]) -> Sequence[DocumentReference]:
        return references

    def risk(self, reference: DocumentReference) -> str:
        return "" if (reference.relative_path or "").endswith(".md") else "It may run."


class _NoItems:
    """Stands for the items of a session in tests that need none."""

    def __getattr__(self, _name: str) -> NoReturn:
        raise UsageError("There are no rules, notes and tools here.")


class ModelsInMemory:
    """Implements `repl.command_context.ModelCatalogue`: some models, of which those in `problems` do not answer."""

    def __init__(self) -> None:
        self.rows = [
            ModelRow(name="scripted:play", calls_tools=True, place="this machine", is_in_use=True),
            ModelRow(name="ollama:qwen3:8b", window=40_960, calls_tools=True, place="this machine"),
            ModelRow(name="quick", model="openai:gpt-5-mini", window=272_000, place="api.openai.com"),
            ModelRow(name="quote", calls_tools=False, place="this machine"),
        ]
        self.listings: tuple[ModelListing, ...] = ()
        self.problems: dict[str, ZkchatError] = {}
        self.told: set[str] = set()
        self.verified: list[str] = []
        self.servers: list[str] = []

    @property
    def names(self) -> list[str]:
        return [row.name for row in self.rows]

    async def survey(self, in_use: ModelInfo) -> ModelOverview:
        return ModelOverview(in_use=in_use.name, rows=tuple(self.rows), listings=self.listings)

    async def verify(self, name: str) -> ModelInfo:
        self.verified.append(name)
        if name in self.problems:
            raise self.problems[name]
        return ModelInfo(provider="ollama", id=name)

    async def of_server(self, address: str) -> ModelRow:
        return ModelRow(name="openai:/srv/qwen.gguf", on_this_machine="127.0.0.1" in address)

    def keep_server(self, address: str) -> None:
        self.servers.append(address)


class GoalsInMemory:
    """What commands use of `chat.goals.GoalRun`."""

    def __init__(self) -> None:
        self.goal: Goal | None = None

    async def start(self, text: str) -> AsyncGenerator[Event, None]:
        yield Warned(text=f"began {text}")

    async def resume(self) -> AsyncGenerator[Event, None]:
        yield Warned(text="went on")


class CommandHarness:
    """A command context whose parts can be inspected after a command."""

    def __init__(
        self, items: SessionItems | None = None, library: Library | None = None, open_with: str = "auto"
    ) -> None:
        self.store = SessionsWithCounts()
        self.conversation = ConversationInMemory(self.store)
        self.surface = RecordingSurface()
        self.changes = ChangesInMemory()
        self.pages_edited: list[str] = []
        self.unapproved: set[str] = set()
        """Pages that are not approved by being edited."""
        self.knows_lines = True
        """Whether the editor can be told a line."""
        self.edited: list[tuple[str, int | None]] = []
        self.daily_notes = DailyNoteSettings()
        self.browser = VaultBrowser(
            library=library or cast(Library, _NoItems()),
            editor="ed",
            edit=self._edit,
            open_with=cast(OpenWith, open_with),
            daily_notes=lambda: self.daily_notes,
        )
        self.models = ModelsInMemory()
        self.goals = GoalsInMemory()
        self.leaves = False
        """Whether the user says yes to all mentions, and then leaves."""
        self.context = CommandContext(
            conversation=cast(Conversation, self.conversation),
            store=self.store,
            changes=self.changes,
            surface=self.surface,
            links=LinksInMemory(),
            items=items or cast(SessionItems, _NoItems()),
            edit_page=self._edit_page,
            browser=self.browser,
            now=lambda: NOON,
            models=self.models,
            goals=cast(GoalRun, self.goals),
            choose_mentions=self._every_mention,
            keys=["canary-of-the-test"],
        )

    def _edit(self, path: str, line: int | None) -> bool:
        self.edited.append((path, line))
        return self.knows_lines

    def _edit_page(self, page: str, is_new: bool) -> bool:
        self.pages_edited.append(page)
        return is_new or page not in self.unapproved

    def _every_mention(self, groups: Iterable[MentionGroup]) -> ChosenLinks | None:
        chosen = [(group, group.links) for group in groups]
        return None if self.leaves else chosen

    @property
    def files(self) -> dict[str, str]:
        """The texts of the vault, by path."""
        return {path: content.decode() for path, content in self.changes.files.items()}

    def exchange(self, question: str, answer: str, *references: DocumentReference, **more: Any) -> ChatMessage:
        """A question and its answer; returns the answer."""
        self.conversation.add("user", question)
        return self.conversation.add("assistant", answer, references=references, **more)

    def outcome(self, line: str) -> Outcome:
        """What a command that is typed comes to."""
        self.surface.lines.clear()
        return asyncio.run(run(self.context, line))

    def typed(self, line: str) -> str:
        """What a command prints that comes to nothing else."""
        assert self.outcome(line) is None
        return self.surface.text

    def played(self, line: str) -> list[Event]:
        """The events of a command that has some."""

        async def play() -> list[Event]:
            outcome = await run(self.context, line)
            assert isinstance(outcome, Play)
            return [event async for event in outcome.events]

        return asyncio.run(play())

"""The user at the terminal, asked about changes, plans and calls: a diff or what is sent, and one key."""

import asyncio
import json
import signal
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from zkchat import render
from zkchat.app import ConversationOptions, UserInterface, conversation
from zkchat.chat import CallAnswer, CompactionPlan, Conversation, ServerCall, parse_plan, plan_text
from zkchat.cli.common import CommandIO
from zkchat.cli.editors import edit_text
from zkchat.cli.key_questions import KeyQuestions, KeyReader
from zkchat.cli.note_lookup import VectorActivity, progress
from zkchat.cli.output import consoles
from zkchat.cli.terminal import CTRL_C, CTRL_D, ESCAPE
from zkchat.core import (
    NO_COLOR,
    ChangeSet,
    ColorChoice,
    FileWrite,
    NoteWarning,
    ProviderError,
    Session,
    SessionError,
    StorageError,
    ZkchatError,
    joined,
    resolve_link,
    shorten,
    units_of,
)
from zkchat.index import Progress
from zkchat.render import named_folders, sanitize_line
from zkchat.repl import Background
from zkchat.writing import Verdict, folders_of

_NO: Final = frozenset({"n", CTRL_C, CTRL_D, ESCAPE})
_MORE: Final = frozenset({"d", " "})
_MAX_DIGITS: Final = 9
"""Of a number that is typed; Python refuses to convert numbers of any length."""


class TerminalChangeReviewer(Struct, frozen=True):
    """Implements `writing.review.ChangeReviewer`."""

    io: CommandIO
    color: Callable[[], ColorChoice] = ColorChoice
    plain: bool = False
    """Whether lines are read instead of keys, and nothing is drawn in colour."""
    is_of_model: bool = True
    """Whether a model proposes them, which can be stopped, and may propose more."""

    def review(
        self, changes: ChangeSet, *, remarks: Sequence[str] = (), may_always: bool = False, is_asked: bool = True
    ) -> Verdict:
        console = consoles(self.io.environment, NO_COLOR if self.plain else self.color())[1]
        question = _Question(self, console, changes, may_always=may_always and self.is_of_model)
        question.show(remarks)
        return question.ask() if is_asked else Verdict(answer="no", changes=changes)


class _Question:
    """One change set, and what the user has done with it so far."""

    def __init__(self, asks: TerminalChangeReviewer, console: Console, changes: ChangeSet, *, may_always: bool) -> None:
        self._io = asks.io
        self._console = console
        self._changes = changes
        self._units = units_of(changes)
        self._left_out: set[int] = set()
        self._may_always = may_always
        self._edited = False
        self._unseen: Iterator[Text] | None = None
        """Rows of the whole diff that were not shown yet; None before any were asked for."""
        self._is_of_model = asks.is_of_model
        self._is_plain = asks.plain
        self._reader = KeyReader(asks.io, plain=asks.plain)

    def show(self, remarks: Sequence[str] = ()) -> None:
        """The diff, long files folded."""
        title = Text(f"▌ {sanitize_line(self._changes.title)}", style="bold accent")
        self._print(iter([Text(), title, *(Text(sanitize_line(remark), style="doubt") for remark in remarks)]))
        self._print(self._rows(whole=False))

    def ask(self) -> Verdict:
        """Ask until the user says yes or no."""
        with self._reader.listening():
            while True:
                key = self._reader.read(self._prompt()).casefold()
                if key == "y" or (key == "a" and self._may_always):
                    kept = [unit for number, unit in enumerate(self._units, 1) if number not in self._left_out]
                    changes = joined(self._changes, kept)
                    if self._left_out and kept:
                        more = f", and {len(kept) - 1} more" if len(kept) > 1 else ""
                        changes = replace(changes, title=f"{kept[0].title}{more}")
                    return Verdict(answer="yes", changes=changes, edited=self._edited, always=key == "a")
                if key in _NO or key == "q":
                    return Verdict(answer="stop" if key == "q" else "no", changes=self._changes)
                self._act(key)

    def _act(self, key: str) -> None:
        """What does not end the question."""
        if key in _MORE:
            # The next page of the whole diff.
            if self._unseen is None:
                self._unseen = self._rows(whole=True)
            size = None if self._reader.reads_lines else max(5, self._console.height - 3)
            self._print(islice(self._unseen, size))
            following = next(self._unseen, None)
            self._unseen = None if following is None else chain([following], self._unseen)
            if self._unseen:
                self._io.note("… press d for more")
        elif key == "e":
            self._edit()
        elif key.isdecimal():
            self._toggle(key)
        else:
            for each, _, meaning in self._keys():
                self._io.note(f"{each}  {meaning}")

    def _rows(self, *, whole: bool) -> Iterator[Text]:
        style = render.style_for(self._console, whole=whole)
        for number, unit in enumerate(self._units, 1):
            if number > 1:
                yield Text()
            mark = Text(f"{number}  " if len(self._units) > 1 else "", style="bold accent")
            if number in self._left_out:
                yield Text.assemble(mark, (f"left out: {sanitize_line(unit.title)}", "dim"))
                continue
            rows = render.diff_rows(unit, replace(style, width=style.width - len(mark)))
            yield Text.assemble(mark, next(rows, Text()))
            yield from rows

    def _print(self, rows: Iterator[Text]) -> None:
        for row in rows:
            if self._is_plain:
                self._io.note(row.plain.rstrip())
            else:
                self._console.print(row)

    def _toggle(self, key: str) -> None:
        """Leave one of several changes out, or take it in again."""
        typed = key if len(self._units) < 10 else self._reader.read_rest_of_number(key)
        number = int(typed[:_MAX_DIGITS])
        if len(self._units) < 2 or not 1 <= number <= len(self._units):
            self._io.note(f"There is no change {number}." if len(self._units) > 1 else "There is only one change.")
            return
        self._left_out ^= {number}
        self._unseen = None
        state = "is left out" if number in self._left_out else "is included again"
        self._io.note(f"Change {number} {state}: {self._units[number - 1].title}")

    def _edit(self) -> None:
        """Have the new text of one file edited, and show what comes of it."""
        number, write = self._to_edit()
        if write is None:
            return
        after = edit_text(self._io, write.after, write.path.rpartition("/")[2] or "note.md")
        if after is None:
            return
        if after == write.after:
            self._io.note("You did not change the text.")
            return
        self._edited, self._unseen = True, None
        self._units[number], self._changes = (
            _with_text(each, write, after) for each in (self._units[number], self._changes)
        )
        self._print(self._rows(whole=False))

    def _to_edit(self) -> tuple[int, FileWrite | None]:
        """The file to be edited: the only one, or the one that the user picks."""
        found = [(number, write) for number, unit in enumerate(self._units) for write in unit.writes]
        if not found:
            self._io.note("These changes have no new text to edit.")
            return 0, None
        if len(found) == 1:
            return found[0]
        for place, (_, write) in enumerate(found, 1):
            self._io.note(f"  {place} {write.path}")
        picked = self._reader.read_line(f"Edit which file (1-{len(found)})? ")
        numbered = {str(place): each for place, each in enumerate(found, 1)}
        return numbered.get(picked, (0, None))

    def _keys(self) -> list[tuple[str, str, str]]:
        """Each with a word and with what it does."""
        count, several = len(self._units), len(self._units) > 1
        keys = [
            ("y", "yes", "apply" + " all except those left out" * several),
            ("n", "no", "apply nothing (also Ctrl-C and Esc)"),
            ("e", "edit", "edit the new text in your editor; you see the diff again"),
        ]
        if self._may_always:
            always = f"apply, and do not ask again about {named_folders(folders_of(self._changes))} in this session"
            keys.append(("a", "always here", always))
        if self._is_of_model:
            keys.append(("q", "stop", "apply nothing, and stop the model"))
        keys.append(("d", "more", "all of the diff, page by page (also Space)"))
        if several:
            keys.append((f"1-{count}", "leave out", "leave a change out, or include it again"))
        return keys

    def _prompt(self) -> str:
        kept = len(self._units) - len(self._left_out)
        question = f"Apply {kept} of {len(self._units)}?" if self._left_out else "Apply?"
        told = f"{question} {' · '.join([*(f'{key} {word}' for key, word, _ in self._keys()), '? help'])} "
        keys = f"{question} [{' '.join([*(key for key, _, _ in self._keys()), '?'])}] "
        return told if len(told) < self._console.width else keys


def _with_text(changes: ChangeSet, write: FileWrite, after: bytes) -> ChangeSet:
    writes = (replace(each, after=after) if each.path == write.path else each for each in changes.writes)
    return replace(changes, writes=tuple(each for each in writes if each.after != each.before))


_MAX_ARGUMENTS: Final = 12
_MAX_VALUE: Final = 400
_ANSWERS: Final[dict[str, CallAnswer]] = {"y": "yes", "a": "always"}


class TerminalCallReviewer(Struct, frozen=True):
    """Implements `tools.server_approval.CallReviewer`."""

    io: CommandIO
    color: Callable[[], ColorChoice] = ColorChoice
    plain: bool = False
    """Whether lines are read instead of keys, and nothing is drawn in colour."""

    def review(self, call: ServerCall) -> CallAnswer:
        """Ctrl-C, Ctrl-D and Esc are a no."""
        questions = KeyQuestions(self.io, color=self.color(), plain=self.plain)
        self.io.note("")  # the line that says what the model is doing has not ended
        questions.show(*map(Text, describe_call(call)))
        keys = [("y", "yes" if not call.may_always else "yes, in this chat"), ("n", "no")]
        if call.may_always:
            keys.append(("a", "always"))
        with questions.listening():
            answer = questions.ask("Call it?", keys, end="n")
        return _ANSWERS.get(answer, "no")


def describe_call(call: ServerCall) -> Iterator[str]:
    """What is sent where, in lines that hold nothing but text."""
    yield sanitize_line(f"▌ {call.title}")
    if call.warning:
        yield sanitize_line(f"  {call.warning}")
    for name, value in [*call.arguments.items()][:_MAX_ARGUMENTS]:
        written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield f"  {sanitize_line(shorten(name, _MAX_VALUE))}: {sanitize_line(shorten(written, _MAX_VALUE))}"
    if (more := len(call.arguments) - _MAX_ARGUMENTS) > 0:
        yield f"  … and {more:,} more arguments"
    if not call.arguments:
        yield "  without arguments"


class TerminalInterface(UserInterface):
    """Implements `Reviewer` of `chat` too."""

    change_reviewer: TerminalChangeReviewer | None = None

    def __init__(
        self,
        io: CommandIO,
        *,
        plain: bool = False,
        reviews: bool = True,
        color: Callable[[], ColorChoice] = ColorChoice,
        files: Collection[Path] = (),
        indexing: Callable[[], AbstractContextManager[Progress]] | None = None,
    ) -> None:
        """`reviews`: the user can be asked about changes to notes, where there is a terminal. `files` are outside the
        vault, and the user has said that they are to be sent. `indexing` shows how far the index is elsewhere."""
        self._io = io
        self._plain = plain
        self._color = color
        self._indexing = indexing
        self._files = {resolve_link(io.environment.cwd / each.expanduser()) for each in files}
        self._is_asked = reviews and io.environment.stdin_is_tty and io.environment.stderr_is_tty
        self.reviewer = self if io.environment.stdin_is_tty else None
        if self._is_asked:
            self.change_reviewer = TerminalChangeReviewer(io, color, plain)
            self.call_reviewer = TerminalCallReviewer(io, color, plain)
        if self._is_asked or self._files:
            self.file_reviewer = self._may_send

    def _may_send(self, file: Path, whom: str) -> bool:
        """Ctrl-C, Ctrl-D and Esc are a no."""
        if file in self._files or not self._is_asked:
            return file in self._files
        questions = KeyQuestions(self._io, color=self._color(), plain=self._plain)
        self._io.note("")  # the line that says what is being done has not ended
        questions.show(Text(f"{sanitize_line(str(file))} is outside the vault."))
        return questions.confirm(f"Send it to {sanitize_line(whom)}?")

    async def agrees(self, plan: CompactionPlan, tokens: int) -> bool:
        count, do = len(plan.archived), "Archive" if plan.strategy == "discard" else "Summarise"
        return self._io.confirm(f"The context is full ({tokens:,} tokens). {do} {count} older messages?")

    async def edits(self, summary: str) -> str:
        """The summary as the user leaves it in the editor; as it was where that cannot be used."""
        edited = edit_text(self._io, summary.encode(errors="replace"), "summary.md")
        return summary if edited is None else edited.decode()

    def may_remember(self, text: str) -> bool:
        if self._io.environment.stdin_is_tty:
            self._io.note("")  # the line that says what the model is doing has not ended
        return confirm_memory(self._io, text)

    def indexing_progress(self) -> AbstractContextManager[Progress]:
        return self._indexing() if self._indexing else self.waiting("Indexing notes")

    def waiting(self, what: str) -> AbstractContextManager[Progress]:
        return progress(self._io.environment, what, plain=self._plain)


def terminal_interface(io: CommandIO, *, plain: bool, reviews: bool, files: Collection[Path] = ()) -> TerminalInterface:
    """For one command, which draws changes in colour as the settings of the vault say."""
    return TerminalInterface(
        io, plain=plain, reviews=reviews, color=lambda: io.workspace().settings.ui.colors, files=files
    )


def confirm_memory(io: CommandIO, text: str) -> bool:
    """Whether the user agrees that this is remembered. Nobody there to ask is a no, and so is Ctrl-C."""
    # The chat's own way to hear Ctrl-C does not reach somebody who waits for a line.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return io.confirm(f"Remember “{sanitize_line(text)}”?")
    except KeyboardInterrupt:
        return False
    finally:
        signal.signal(signal.SIGINT, before)


class MemoryProposals:
    """Proposes facts of one conversation to be remembered: after a compaction, and when the user leaves. Each once."""

    def __init__(self, io: CommandIO, conversation: Conversation, *, enabled: bool) -> None:
        self._io = io
        self._conversation = conversation
        self._enabled = enabled and io.environment.stdin_is_tty
        self.seen = {message.id for message in conversation.messages}
        """The ids of messages that were looked at already, or were there before this chat began."""
        self._compactions = len(conversation.window.compactions)

    def after_turn(self) -> None:
        before, self._compactions = self._compactions, len(self._conversation.window.compactions)
        if self._compactions > before:
            self.propose()

    def propose(self) -> None:
        new = [message for message in self._conversation.messages if message.id not in self.seen]
        self.seen.update(message.id for message in new)
        for fact in self._conversation.worth_keeping(new) if self._enabled else ():
            try:
                if confirm_memory(self._io, fact):
                    self._io.note(self._conversation.remember(fact, "session").sentence)
            except ZkchatError as error:
                self._io.fail(error)


class ActiveConversation(Struct, kw_only=True):
    """An open conversation with its background work and its resources."""

    opened: conversation.OpenConversation
    background: Background
    resources: ExitStack
    proposals: MemoryProposals
    named_model: str | None = None
    """The model that the user named for it, on the command line or by `/model`."""
    session: Session | None = None
    """As it was after the last turn."""
    is_begun: bool = False
    """Whether the background work was started."""
    is_refreshed: bool = False
    """Whether its notes were looked through since it was opened here."""
    is_used: bool = False
    """Whether a turn took place in it since it was opened here."""
    measuring: asyncio.Future[None] | None = None
    """The task that prepares measuring the context; the loop alone would not keep it."""
    vectors: VectorActivity | None = None
    """What is known of the vectors that a server makes; None where none does."""
    odd_notes: list[NoteWarning] = field(default_factory=list)
    """Warnings about notes that were not printed yet."""
    last_id: str = ""
    """Of the last message when `has_new_answer` was last asked."""

    @property
    def activity(self) -> str:
        return self.background.activity or (self.vectors.text if self.vectors else "")

    def refresh(self) -> None:
        try:
            self.odd_notes += self.opened.refresher.refresh().warnings
        finally:
            self.is_refreshed = True

    @property
    def session_id(self) -> str:
        return self.opened.conversation.session_id

    def look_up_session(self) -> None:
        with suppress(SessionError, StorageError):
            self.session = self.opened.store.get(self.session_id) if self.session_id else None

    def has_new_answer(self) -> bool:
        """Whether anything was said since this was last asked: `/brief` and `/compact` may say nothing."""
        last = self.opened.conversation.history.last
        before, self.last_id = self.last_id, last.id if last else ""
        return self.last_id != before

    def watch_vectors(self, changed: Callable[[], None]) -> None:
        """Have the bar show how far the vectors of a server are; `changed` is called from another thread."""
        if self.opened.settings.embeddings.model:
            self.vectors = VectorActivity(self.opened.library, changed)
            self.resources.callback(self.vectors.close)
            self.vectors.start()

    async def prepare_measuring(self) -> None:
        """Learn the model's window and load its tokenizer, so that the bar can show how full the context is."""
        talk = self.opened.conversation
        if talk.model.context_limit is None:
            with suppress(ProviderError):
                await talk.connect()
        self.background.submit(talk.load_tokenizer)
        await self.background.wait()

    def close(self, io: CommandIO) -> None:
        """End it; a warning says where entries that a full disk refused are lost."""
        if warning := self.opened.conversation.save_rest():
            io.note(f"{warning.text} {warning.hint}".strip())
        self.resources.close()


def open_active_conversation(
    io: CommandIO, options: ConversationOptions, activity_changed: Callable[[], object]
) -> ActiveConversation:
    """Open a conversation and a thread for its background work. Raises `ZkchatError`."""
    with ExitStack() as stack:
        opened = stack.enter_context(conversation.open_conversation(io.environment, options))
        background = stack.enter_context(Background(activity_changed))
        learns = opened.settings.memory.learn == "ask"
        active = ActiveConversation(
            opened=opened,
            background=background,
            proposals=MemoryProposals(io, opened.conversation, enabled=learns),
            resources=stack.pop_all(),
            named_model=options.model,
        )
        active.look_up_session()
        return active
    raise AssertionError("nothing above swallows an exception")


QUESTION: Final = "Start this plan? y yes · n no · e edit "


class TerminalPlanReviewer(Struct, frozen=True):
    """Implements `chat.goals.PlanReviewer`."""

    io: CommandIO
    plain: bool = False
    """Whether a line is read instead of a key."""

    async def review(self, steps: Sequence[str], most: int) -> Sequence[str] | None:
        while True:
            reader = KeyReader(self.io, plain=self.plain)
            with reader.listening():
                key = reader.read(QUESTION).casefold()
            if key in {"q", *_NO}:
                return None
            if key == "y":
                return steps
            if key == "e" and (edited := self._edited(steps, most)):
                return edited

    def _edited(self, steps: Sequence[str], most: int) -> Sequence[str]:
        """The plan as the user leaves it in the editor; nothing where it holds no step."""
        edited = edit_text(self.io, plan_text(steps).encode(), "plan.md")
        if edited is None:
            return ()
        plan = parse_plan(edited.decode(errors="replace"), most)
        if not plan.steps:
            self.io.note("Your text has no steps; the plan stays as it was.")
        elif plan.left_out:
            self.io.note(f"At most {most} steps are allowed: the last {plan.left_out} are left out. See --steps.")
        return plan.steps

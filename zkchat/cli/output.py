"""How a command prints: lists for a person, and the events of a turn as JSON, plain text or panels."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat import app, render, repl
from zkchat.app import Workspace, open_change_store
from zkchat.cli.common import CommandIO
from zkchat.core import (
    NOTHING,
    USUAL_COLORS,
    ChangeOrigin,
    ChangeSet,
    ChangesReviewed,
    ColorChoice,
    FileWrite,
    GoalEnded,
    StorageError,
    TurnFailed,
    TurnFinished,
    VaultError,
    counted,
    write_atomically,
)

if TYPE_CHECKING:
    from rich.console import Console

    from zkchat.app import OpenConversation, Paths
    from zkchat.core import Environment, Event, ThinkingView
    from zkchat.render import Presenter, ShownUsage


UNDO = "zkchat undo reverts it."


def write_output(io: CommandIO, file: Path, text: str, *, command: str) -> bool:
    """Write a file, over one that is there. Returns whether `zkchat undo` takes it back.

    That is so in the vault, except for files that no change to notes may touch: hidden, excluded or larger ones.
    """
    workspace = io.workspace()
    if _applied(io, workspace, file, text.encode("utf-8", "replace"), command):
        return True
    write_atomically(file, text, mode=0o600)
    return False


def _applied(io: CommandIO, workspace: Workspace, file: Path, content: bytes, command: str) -> bool:
    root = workspace.paths.vault.resolve()
    target = file.parent.resolve() / file.name
    if not target.is_relative_to(root) or len(content) > workspace.settings.vault.max_note_bytes:
        return False
    path = target.relative_to(root).as_posix()
    with open_change_store(workspace, notices=io) as store:
        try:
            before = store.read_bytes(path)
        except VaultError:
            return False
        if before != content:
            title = f"Create {path}" if before is None else f"Write {path}"
            write = FileWrite(path=path, before=before, after=content)
            store.apply(ChangeSet(title=title, writes=(write,)), ChangeOrigin(command=command))
            if before is None:
                target.chmod(0o600)
    return before != content


class PresenterOptions(Struct, frozen=True, kw_only=True):
    """How the user wants to see a turn."""

    json: bool = False
    plain: bool = False
    panels: bool = False
    """Whether everything is drawn below an answer, also where there is no terminal."""
    chat: bool = False
    """Whether one turn follows the other, and slash commands tell more of each."""
    context: bool = False
    """Whether what a request holds is printed to standard error before its answer; JSON has it in any case."""
    dry_run: bool = False
    """Whether, in a pipe, the result is the diff of what is proposed, and the answer goes to standard error."""
    stops_by: str = "Ctrl-C"
    """The key that stops an answer."""
    footer: bool = True
    """Whether documents and context are shown below an answer."""
    thinking: "Callable[[], ThinkingView] | None" = None
    """What is shown of a model's thinking, where that is not as the settings say."""
    usage_shown: "ShownUsage | None" = None
    """In a chat, which use of the context was shown last."""


def create_presenter(environment: "Environment", opened: "OpenConversation", view: PresenterOptions) -> "Presenter":
    """JSON for scripts, text for pipes and screen readers, panels and live Markdown for a terminal."""
    if view.json:
        return render.JsonPresenter(environment.stdout)
    ui = opened.settings.ui
    presenter = _create_text_presenter(environment, opened, view)
    if ui.bell and environment.stdout_is_tty:
        out = render.OutputStream(environment.stdout)
        presenter = render.BellPresenter(presenter, lambda: out.write("\a"), seconds=ui.bell)
    if not view.context:
        return presenter
    if view.plain or not environment.stderr_is_tty:
        return render.ContextPresenter(presenter, render.OutputStream(environment.stderr).line)
    _, err = consoles(environment, ui.colors, ui.width)
    return render.ContextPresenter(presenter, lambda line: err.print(line, style="dim", markup=False, highlight=False))


def _create_text_presenter(
    environment: "Environment", opened: "OpenConversation", view: PresenterOptions
) -> "Presenter":
    ui = opened.settings.ui
    footer = render.AnswerFooter(
        panel="full" if view.panels else ui.panel if view.footer else "off",
        references_shown=ui.references_shown,
        links=opened.document_links,
        all_documents="/sources" if view.chat else "--panels",
        suggests=ui.suggest,
        usage_shown=view.usage_shown or render.ShownUsage(),
    )
    if view.plain or not (environment.stdout_is_tty or view.panels):
        answers = environment.stderr if view.dry_run and not environment.stdout_is_tty else environment.stdout
        return render.PlainPresenter(answers, environment.stderr, details=view.plain, footer=footer)
    from zkchat.chat import Question

    # Where nothing but quotations answers a question, its words are marked in them.
    asked = opened.conversation.history.last_question if opened.conversation.model.needs_notes else None
    presenter = render.ScreenPresenter(
        *consoles(environment, ui.colors, ui.width),
        thinking=view.thinking or (lambda: ui.thinking),
        footer=footer,
        is_marked=view.chat,
        matches=Question.of(asked).matches if asked else None,
    )
    presenter.stops_by = view.stops_by
    return presenter


def print_question(io: CommandIO, opened: "OpenConversation", view: PresenterOptions, question: str) -> None:
    """Print a question that was asked before, set apart as it was at the prompt."""
    environment = io.environment
    if view.plain or not environment.stdout_is_tty:
        io.out(f"\nyou › {question}\n")
        return
    from rich.text import Text

    ui = opened.settings.ui
    out, _ = consoles(environment, ui.colors, ui.width)
    out.print()
    out.print(Text.assemble(("you › ", "bold"), render.sanitize_text(question)))


def consoles(
    environment: "Environment", color: ColorChoice = USUAL_COLORS, prose: int = 0
) -> tuple["Console", "Console"]:
    """Consoles for standard output and standard error. `prose` is `ui.width`; 0: as it is by default."""
    streams = (environment.stdout, environment.stdout_is_tty), (environment.stderr, environment.stderr_is_tty)
    out, err = (
        render.console_for(
            stream,
            is_tty=is_tty,
            variables=environment.variables,
            color=color.when,
            theme=color.theme,
            prose=prose or render.PROSE_WIDTH,
        )
        for stream, is_tty in streams
    )
    return out, err


async def show_events(
    presenter: "Presenter", opened: "OpenConversation", events: "AsyncGenerator[Event, None]", seen: "list[Event]"
) -> None:
    """Show what a turn or a goal has to tell; those that say how it ended are added to `seen`."""
    for warning in opened.warnings:
        presenter.show(warning)
    async with aclosing(events), render.ticking(presenter):
        async for event in events:
            presenter.show(event)
            if isinstance(event, TurnFailed | TurnFinished | GoalEnded | ChangesReviewed):
                seen.append(event)


def announce_model(io: CommandIO, opened: "OpenConversation") -> None:
    """Say which model was chosen, where the user has not; in any case before notes leave the machine."""
    model = opened.conversation.model
    is_elsewhere = model.is_located and not model.on_this_machine
    if opened.chosen and not model.needs_notes and (io.environment.stderr_is_tty or is_elsewhere):
        io.note(opened.chosen)


def announce_quotes(io: CommandIO, opened: "OpenConversation") -> None:
    """Say once that nothing but quotations will come, where the user has not chosen that, and what could be set up."""
    if opened.chosen and _is_quoted_to_a_reader(io, opened) and _is_news(io, opened.offer):
        io.note(opened.chosen)
        io.note("")


def offer_models(io: CommandIO, opened: "OpenConversation") -> None:
    """In a chat whose greeting has told that notes are quoted: say once what could be set up."""
    if opened.offer and _is_quoted_to_a_reader(io, opened) and _is_news(io, opened.offer):
        io.note(opened.offer)


def _is_news(io: CommandIO, offer: str) -> bool:
    """Whether this was not told to the user before, whichever vault it was in. Where that cannot be kept, it is."""
    told = io.environment.data_dir / "told.txt"
    with suppress(OSError, ValueError):
        if told.read_text("utf-8") == offer:
            return False
    with suppress(StorageError):
        write_atomically(told, offer, mode=0o600)
    return True


def suggest_next(io: CommandIO, opened: "OpenConversation", command: str, *, most: int) -> None:
    """After quotations: which command shows others. Where there are none: what to try."""
    conversation = opened.conversation
    answer = conversation.history.last
    if answer is None or answer.role != "assistant" or not _is_quoted_to_a_reader(io, opened):
        return
    if answer.text.startswith(NOTHING):
        io.note("Try the words that your notes use, or link a note: type [[ and the beginning of its name.")
    elif (further := min(most, conversation.further_passages.left)) > 0:
        io.note(f"{command} shows {counted(further, 'further passage')}.")


def suggest_rows(io: CommandIO, opened: "OpenConversation") -> None:
    """After a list from the index in a chat: what its numbers are for, and how it goes on."""
    listing = opened.conversation.further_passages.listing
    if listing and _is_quoted_to_a_reader(io, opened) and (steps := repl.describe_next_steps(listing)):
        io.note(steps)


def tell_dropped_changes(io: CommandIO, opened: "OpenConversation") -> None:
    """What was proposed in a turn that was stopped, and is not made."""
    if dropped := opened.conversation.writing.take_dropped():
        io.note(render.reviewed(dropped))


def _is_quoted_to_a_reader(io: CommandIO, opened: "OpenConversation") -> bool:
    """Whether answers are quotations that are read at a terminal."""
    return opened.conversation.model.needs_notes and io.environment.stdout_is_tty and io.environment.stderr_is_tty


def stdout_console(io: CommandIO, paths: "Paths") -> "Console | None":
    """A console for standard output; None where that is no terminal."""
    if not io.environment.stdout_is_tty:
        return None
    ui = app.load_settings(io.environment, paths).settings.ui
    return consoles(io.environment, ui.colors, ui.width)[0]


class Listing:
    """Lines for a person: wrapped with their indentation on a terminal, whole in a pipe."""

    def __init__(self, io: CommandIO, paths: "Paths") -> None:
        self._io = io
        self._console = stdout_console(io, paths)

    def line(self, text: str, *, indent: int = 0, style: str = "none") -> None:
        if self._console is None:
            self._io.out(f"{' ' * indent}{text}")
            return
        render.print_text(self._console, render.sanitize_text(f"{' ' * indent}{text}"), style)

"""`zkchat ask`: one turn.

An option of `ask` is a parameter of the function below. What the conversation needs to know of it goes into
`ConversationOptions`; how the events of the turn are printed is chosen by `cli.output.create_presenter`.
"""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, contextmanager, nullcontext
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer
from msgspec.structs import replace

from zkchat.app import (
    ConversationOptions,
    OpenConversation,
    ServerConnections,
    WritingOptions,
    conversation,
    find_paths,
    load_settings,
)
from zkchat.chat import MAX_QUOTED
from zkchat.cli.change_review import terminal_interface
from zkchat.cli.common import CommandIO, JsonOption, ModelOption, VaultOption, current_io
from zkchat.cli.note_lookup import tell_of_vectors
from zkchat.cli.output import PresenterOptions, announce_model, announce_quotes, create_presenter, suggest_next
from zkchat.cli.trust import ask_to_approve
from zkchat.core import ChangesReviewed, Event, ExitCode, TurnFailed, TurnFinished, UsageError
from zkchat.render import Presenter, reviewed, sanitize_text, ticking
from zkchat.writing import PROPOSE_ONLY

STDIN_NOTICE_SECONDS = 2.0
"""Silence on a pipe after which the user reads what zkchat waits for."""

NO_REVIEW = (
    "Nobody can be asked here, so that proposed changes will not be applied: "
    "--yes applies them unasked, --dry-run prints them as a diff."
)

QuestionArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="Your question; [[wikilinks]] and @paths name notes. Piped text is added to it.", show_default=False
    ),
]
SessionOption = Annotated[
    str | None,
    typer.Option("--session", metavar="NAME", help="Go on in this session: its id, the beginning of it, or its title."),
]
ContinueOption = Annotated[bool, typer.Option("--continue", "-c", help="Go on in the last session of this vault.")]
AgentOption = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="Who answers; `zkchat agent list` names them.", show_default=False),
]
PrivateOption = Annotated[
    bool, typer.Option("--private", help="Remember nothing of this session in others, also when you come back to it.")
]
PanelsOption = Annotated[
    bool, typer.Option("--panels", help="Draw all documents and the whole context, also without a terminal.")
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Answer only from your notes, and say so where they hold nothing.")
]
MoreOption = Annotated[
    bool, typer.Option("--more", help="Quote up to ten passages instead of three, where no model answers.")
]
ShowContextOption = Annotated[
    bool,
    typer.Option(
        "--show-context", help="Show before the answer what goes to the model and why, and what was left out."
    ),
]
WriteOption = Annotated[
    bool, typer.Option("--write", help="Let the model propose changes of notes: you see each as a diff, and decide.")
]
ApplyOption = Annotated[bool, typer.Option("--yes", "-y", help="With --write: apply what is proposed, unasked.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="With --write: print what is proposed as a diff, and change nothing.")
]
ImageOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--image",
        metavar="FILE",
        help="Send this image with the question, to a model that sees; as often as you like. @FILE names one of the "
        "vault.",
        show_default=False,
    ),
]
PlainOption = Annotated[bool, typer.Option("--plain", help="No boxes, no colour, no live updates.")]


def ask(
    question: QuestionArgument = None,
    vault: VaultOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    continue_last: ContinueOption = False,
    agent: AgentOption = None,
    private: PrivateOption = False,
    json_output: JsonOption = False,
    plain: PlainOption = False,
    panels: PanelsOption = False,
    strict: StrictOption = False,
    more: MoreOption = False,
    show_context: ShowContextOption = False,
    write: WriteOption = False,
    yes: ApplyOption = False,
    dry_run: DryRunOption = False,
    image: ImageOption = None,
) -> int:
    """Ask one question about your notes.

    On a terminal you see the answer, the documents behind it and what fills the context; in a pipe the answer alone.

    zkchat ask "What does [[Evergreen notes#Titles]] say about names?"

    git diff | zkchat ask "Which of my notes does this touch?" --json

    zkchat ask "Add milk to [[Shopping]]" --write
    """
    io = current_io()
    ask_to_approve(io, vault, may_ask=not json_output)
    options = ConversationOptions(
        vault=vault,
        model=model,
        session=session,
        continue_last=continue_last,
        one_shot=session is None and not continue_last,
        user_interface=terminal_interface(io, vault, plain=plain, reviews=not json_output),
        agent=agent,
        private=private,
        strict=strict,
        quoted_passages=_most_quoted() if more else None,
        writing=WritingOptions(enabled=write or None, assumes_yes=yes, proposes_only=dry_run),
        question=_question(io, question or [], vault),
        images=tuple(image or ()),
    )
    view = PresenterOptions(json=json_output, plain=plain, panels=panels, context=show_context, dry_run=dry_run)
    return _answer(io, options, view)


def _most_quoted() -> int:
    return MAX_QUOTED


def _answer(io: CommandIO, options: ConversationOptions, view: PresenterOptions) -> int:
    with (
        ServerConnections() as servers,
        conversation.open_conversation(io.environment, replace(options, servers=servers)) as opened,
    ):
        announce_model(io, opened)
        _check_writing(opened, options)
        if options.writing.enabled and opened.conversation.writing.is_on:
            warn_of_no_review(io, opened, options)
        presenter = create_presenter(io.environment, opened, view)
        with advice_on_quotes(io, opened) if not view.json else nullcontext():
            turn = _OneTurn(opened, presenter)
            try:
                return turn.run()
            finally:
                turn.tell_changes(io, view)
                tell_of_vectors(io, opened.library)


def _check_writing(opened: OpenConversation, options: ConversationOptions) -> None:
    """Refuse options about changes where the model may propose none."""
    writing = options.writing
    if (writing.assumes_yes or writing.proposes_only) and not opened.conversation.writing.is_on:
        option = "--dry-run" if writing.proposes_only else "--yes"
        raise UsageError(
            f"{option} is about changes of notes, and this model may propose none.", hint="Allow it: --write"
        )


def warn_of_no_review(io: CommandIO, opened: OpenConversation, options: ConversationOptions) -> None:
    """Say, before the model is asked, where it may propose changes, and nobody can be asked about them."""
    writing, write = options.writing, opened.settings.write
    is_settled = writing.assumes_yes or writing.proposes_only or write.mode == "propose" or bool(write.accept)
    if not is_settled and options.user_interface.change_reviewer is None:
        io.note(NO_REVIEW)


def _question(io: CommandIO, words: list[str], vault: Path | None) -> str:
    piped = _piped(io, vault) if io.environment.stdin_is_piped else ""
    text = "\n\n".join(part for part in (" ".join(words).strip(), piped.strip("\n")) if part.strip())
    if not text:
        raise UsageError("There is no question.", hint='Ask one: zkchat ask "What do my notes say about sleep?"')
    return text


def _piped(io: CommandIO, vault: Path | None) -> str:
    """All of standard input, up to its limit; a notice says so where nothing comes."""
    most = load_settings(io.environment, find_paths(io.environment, vault)).settings.limits.max_input_bytes
    waiting = "(Reading standard input. Where there is none to come: zkchat ask … < /dev/null)"
    notice = Timer(STDIN_NOTICE_SECONDS, io.note, [waiting])
    notice.daemon = True
    notice.start()
    try:
        text = io.environment.stdin.read(most + 1)
    finally:
        notice.cancel()
    if len(text) > most or len(text.encode(errors="surrogatepass")) > most:
        raise UsageError(
            f"Standard input holds more than {most:,} bytes, which is more than is read of it.",
            hint="Send less of it, put it into a note and link to that, or raise limits.max_input_bytes.",
        )
    return text


@contextmanager
def advice_on_quotes(io: CommandIO, opened: OpenConversation) -> Iterator[None]:
    """Where no model answers, tell the reader at a terminal so first, and afterwards how to see more."""
    announce_quotes(io, opened)
    yield
    suggest_next(io, opened, "--more", most=MAX_QUOTED - opened.conversation.further_passages.read)


class _OneTurn:
    """The turn of the question, shown as it goes."""

    def __init__(self, opened: OpenConversation, presenter: Presenter) -> None:
        self._opened = opened
        self._presenter = presenter
        self._code: int = ExitCode.OK
        self._changes: ChangesReviewed | None = None

    def run(self) -> int:
        try:
            asyncio.run(self._show())
        finally:
            self._presenter.close()
        return self._code

    async def _show(self) -> None:
        for warning in self._opened.warnings:
            self._presenter.show(warning)
        assert self._opened.asked is not None
        async with aclosing(self._opened.conversation.answer(self._opened.asked)) as events, ticking(self._presenter):
            async for event in events:
                self._presenter.show(event)
                self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case TurnFailed():
                self._code = event.exit_code
            case TurnFinished() if event.abstained or not event.message.text.strip():
                self._code = ExitCode.NO_ANSWER
            case ChangesReviewed():
                self._changes = event
                self._code = self._code or event.exit_code
            case _:
                pass

    def tell_changes(self, io: CommandIO, view: PresenterOptions) -> None:
        """Print the diff of a dry run, and say what was dropped with an answer that was stopped."""
        if dropped := self._opened.conversation.writing.take_dropped():
            io.note_wrapped(reviewed(dropped))
        if self._changes is None or view.json:
            return
        if view.dry_run and not io.environment.stdout_is_tty:
            io.out_exactly(self._changes.diff)
        elif self._changes.reason == PROPOSE_ONLY and not (
            io.environment.stdin_is_tty and io.environment.stderr_is_tty
        ):  # else the reviewer has shown it
            io.note(sanitize_text(self._changes.diff.removesuffix("\n")))

"""`zkchat ask` and `zkchat chat`: a turn, or many of them."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, aclosing
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import JsonOption, ModelOption, Process, VaultOption, process
from zkchat.cli.progress import progress
from zkchat.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from zkchat.app import Opened
    from zkchat.chat.conversation import Conversation
    from zkchat.model.events import Event
    from zkchat.render.presenter import Presenter
    from zkchat.vault.indexer import Progress

PATIENCE = 2.0
"""Seconds of silence on a pipe after which the user is told what is waited for."""

SessionOption = Annotated[
    str | None,
    typer.Option("--session", metavar="NAME", help="Go on in this session: its id, the beginning of it, or its title."),
]
ContinueOption = Annotated[bool, typer.Option("--continue", "-c", help="Go on in the last session of this vault.")]
PanelsOption = Annotated[
    bool, typer.Option("--panels", help="Draw documents and context also where there is no terminal.")
]
PlainOption = Annotated[bool, typer.Option("--plain", help="No boxes, no colour, no live updates.")]


def ask(
    question: Annotated[
        list[str] | None,
        typer.Argument(help="Your question; [[wikilinks]] name notes. Piped text is added to it.", show_default=False),
    ] = None,
    vault: VaultOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    continue_last: ContinueOption = False,
    json_output: JsonOption = False,
    plain: PlainOption = False,
    panels: PanelsOption = False,
) -> int:
    """Ask one question about your notes.

    On a terminal you see the answer, the documents behind it and what fills the context; in a pipe the answer alone.

    zkchat ask "What does [[Evergreen notes#Titles]] say about names?"

    git diff | zkchat ask "Which of my notes does this touch?" --json
    """
    import asyncio

    from zkchat import app

    here = process()
    text = _question(here, question or [])
    options = app.ConversationOptions(
        vault=vault, model=model, session=session, continue_last=continue_last, progress=_progress(here)
    )
    with app.open_conversation(here.environment, options) as opened:
        _tell_choice(here, opened)
        presenter = _presenter(here, opened, json_output=json_output, plain=plain, panels=panels)
        try:
            for warning in opened.warnings:
                presenter.show(warning)
            return asyncio.run(_one_turn(opened.conversation, text, presenter))
        finally:
            presenter.close()


def _tell_choice(here: Process, opened: "Opened") -> None:
    """Say which model was chosen, where the user has not; in any case before notes leave the machine."""
    model = opened.conversation.model
    if opened.chosen and not model.needs_notes and (here.environment.stderr_is_tty or not model.on_this_machine):
        here.note(opened.chosen)


def _progress(here: Process) -> "Callable[[], AbstractContextManager[Progress]]":
    return lambda: progress(here.environment, "Indexing notes")


def _question(here: Process, words: list[str]) -> str:
    piped = _piped(here) if here.environment.stdin_is_piped else ""
    text = "\n\n".join(part for part in (" ".join(words).strip(), piped.strip("\n")) if part.strip())
    if not text:
        raise UsageError("There is no question.", hint='Ask one: zkchat ask "What do my notes say about sleep?"')
    return text


def _piped(here: Process) -> str:
    """All of standard input. Who waits for nothing is told what zkchat waits for."""
    from threading import Timer

    told = Timer(
        PATIENCE, here.note, ["(Reading standard input. Where there is none to come: zkchat ask … < /dev/null)"]
    )
    told.daemon = True
    told.start()
    try:
        return here.environment.stdin.read()
    finally:
        told.cancel()


async def _one_turn(conversation: "Conversation", text: str, presenter: "Presenter") -> int:
    code: int = ExitCode.OK
    async with aclosing(conversation.say(text)) as events:
        async for event in events:
            presenter.show(event)
            code = _exit_code(event, code)
    return code


def _exit_code(event: "Event", so_far: int) -> int:
    from zkchat.model.events import TurnFailed, TurnFinished

    if isinstance(event, TurnFailed):
        return event.exit_code
    if isinstance(event, TurnFinished) and (event.abstained or not event.message.text.strip()):
        return ExitCode.NO_ANSWER
    return so_far


def _presenter(
    here: Process, opened: "Opened", *, json_output: bool = False, plain: bool = False, panels: bool = False
) -> "Presenter":
    from zkchat.render.presenter import JsonPresenter, PlainPresenter

    environment, ui = here.environment, opened.settings.ui
    if json_output:
        return JsonPresenter(environment.stdout)
    is_tty = environment.stdout_is_tty
    if plain or not (is_tty or panels):
        return PlainPresenter(
            environment.stdout, environment.stderr, details=plain, references_shown=ui.references_shown
        )
    from zkchat.render.screen import RichPresenter
    from zkchat.render.terminal import console_for

    out = console_for(environment.stdout, is_tty=is_tty, variables=environment.variables, color=ui.color)
    err = console_for(
        environment.stderr, is_tty=environment.stderr_is_tty, variables=environment.variables, color=ui.color
    )
    return RichPresenter(out, err, references_shown=ui.references_shown, link_for=opened.address_of)


def chat(
    vault: VaultOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    continue_last: ContinueOption = False,
    plain: PlainOption = False,
) -> int:
    """Chat about your notes, one question after the other.

    Ctrl-C stops an answer (what came is kept), Ctrl-D leaves. `zkchat chat --continue` goes on where you left off.
    """
    import asyncio

    from zkchat import app
    from zkchat.repl.loop import converse

    here = process()
    options = app.ConversationOptions(
        vault=vault, model=model, session=session, continue_last=continue_last, progress=_progress(here)
    )
    with app.open_conversation(here.environment, options) as opened:
        _tell_choice(here, opened)
        opened.refresh()
        for line in opened.greeting:
            here.note(line)
        for warning in opened.warnings:
            here.note(f"{warning.text} {warning.hint}".strip())
        asyncio.run(
            converse(
                opened.conversation,
                read=_reader(here),
                tell=here.note,
                presenter=lambda: _presenter(here, opened, plain=plain),
            )
        )
    return ExitCode.OK


def _reader(here: Process) -> Callable[[], Awaitable[str]]:
    """What the user types, edited with prompt_toolkit; lines as they are where there is no terminal to edit on."""
    environment = here.environment
    if not environment.stdin_is_tty or environment.variables.get("TERM", "dumb") == "dumb":

        async def read_line() -> str:
            line = environment.stdin.readline()
            if not line:
                raise EOFError
            return line

        return read_line

    from prompt_toolkit import PromptSession

    prompt: PromptSession[str] = PromptSession()
    return lambda: prompt.prompt_async("you › ")

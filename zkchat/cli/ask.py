"""`zkchat ask`: one turn.

An option of `ask` is a parameter of the function below. What the conversation needs to know of it goes into
`ConversationOptions`; how the events of the turn are printed is chosen by `cli.output.create_presenter`.
"""

from collections.abc import Iterator
from contextlib import aclosing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import CommandIO, JsonOption, ModelOption, VaultOption, current_io
from zkchat.cli.consent import TerminalInterface
from zkchat.cli.output import PresenterOptions, announce_model, announce_quotes, create_presenter, suggest_next
from zkchat.cli.trust import ask_to_approve
from zkchat.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from zkchat.compose.conversation import ConversationOptions, OpenConversation
    from zkchat.model.events import Event
    from zkchat.render.presenters.base import Presenter

STDIN_NOTICE_SECONDS = 2.0
"""Silence on a pipe after which the user reads what zkchat waits for."""

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
PlainOption = Annotated[bool, typer.Option("--plain", help="No boxes, no colour, no live updates.")]


def ask(
    question: Annotated[
        list[str] | None,
        typer.Argument(
            help="Your question; [[wikilinks]] and @paths name notes. Piped text is added to it.", show_default=False
        ),
    ] = None,
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
) -> int:
    """Ask one question about your notes.

    On a terminal you see the answer, the documents behind it and what fills the context; in a pipe the answer alone.

    zkchat ask "What does [[Evergreen notes#Titles]] say about names?"

    git diff | zkchat ask "Which of my notes does this touch?" --json
    """
    from zkchat.chat.further_passages import MAX_QUOTED
    from zkchat.compose import conversation

    io = current_io()
    ask_to_approve(io, vault, may_ask=not json_output)
    options = conversation.ConversationOptions(
        vault=vault,
        model=model,
        session=session,
        continue_last=continue_last,
        one_shot=session is None and not continue_last,
        user_interface=TerminalInterface(io),
        agent=agent,
        private=private,
        strict=strict,
        quoted_passages=MAX_QUOTED if more else None,
        question=_question(io, question or [], vault),
    )
    view = PresenterOptions(json=json_output, plain=plain, panels=panels, context=show_context)
    return _answer(io, options, view)


def _answer(io: CommandIO, options: "ConversationOptions", view: PresenterOptions) -> int:
    from zkchat.compose import conversation

    with conversation.open_conversation(io.environment, options) as opened:
        announce_model(io, opened)
        presenter = create_presenter(io.environment, opened, view)
        with advice_on_quotes(io, opened) if not view.json else nullcontext():
            return _one_turn(opened, presenter)


def _question(io: CommandIO, words: list[str], vault: Path | None) -> str:
    piped = _piped(io, vault) if io.environment.stdin_is_piped else ""
    text = "\n\n".join(part for part in (" ".join(words).strip(), piped.strip("\n")) if part.strip())
    if not text:
        raise UsageError("There is no question.", hint='Ask one: zkchat ask "What do my notes say about sleep?"')
    return text


def _piped(io: CommandIO, vault: Path | None) -> str:
    """All of standard input, up to its limit; a notice says so where nothing comes."""
    from threading import Timer

    from zkchat.compose.paths import find_paths
    from zkchat.compose.settings import load_settings

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
def advice_on_quotes(io: CommandIO, opened: "OpenConversation") -> Iterator[None]:
    """Where no model answers, tell the reader at a terminal so first, and afterwards how to see more."""
    from zkchat.chat.further_passages import MAX_QUOTED

    announce_quotes(io, opened)
    yield
    suggest_next(io, opened, "--more", most=MAX_QUOTED - opened.conversation.passages_read)


def _one_turn(opened: "OpenConversation", presenter: "Presenter") -> int:
    import asyncio

    try:
        return asyncio.run(_show_turn(opened, presenter))
    finally:
        presenter.close()


async def _show_turn(opened: "OpenConversation", presenter: "Presenter") -> int:
    from zkchat.render.presenters.base import ticking

    for warning in opened.warnings:
        presenter.show(warning)
    code: int = ExitCode.OK
    assert opened.asked is not None
    async with aclosing(opened.conversation.answer(opened.asked)) as events, ticking(presenter):
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

"""`zkchat agent run`: a goal worked on in steps, begun or gone on with."""

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.ask import AgentOption, PlainOption, PrivateOption
from zkchat.cli.common import CommandIO, JsonOption, ModelOption, VaultOption, YesOption, current_io
from zkchat.errors import ExitCode, SessionNotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from zkchat.chat.goals.bounds import GoalBounds
    from zkchat.chat.goals.run import GoalRun
    from zkchat.cli.output import PresenterOptions
    from zkchat.compose.conversation import OpenConversation
    from zkchat.model.events import Event
    from zkchat.render.presenters.base import Presenter

StepsOption = Annotated[
    int | None,
    typer.Option(
        "--steps", metavar="N", min=1, max=100, help="Steps of the plan at most; else goal.steps.", show_default=False
    ),
]
TokensOption = Annotated[
    int | None,
    typer.Option(
        "--tokens",
        metavar="N",
        min=1,
        help="Tokens of all requests and answers together; else goal.tokens.",
        show_default=False,
    ),
]
MinutesOption = Annotated[
    float | None,
    typer.Option("--minutes", metavar="N", help="Minutes it may take; else goal.minutes.", show_default=False),
]
ResumeOption = Annotated[
    bool,
    typer.Option("--resume", "-r", help="Go on with a goal that was stopped: that of SESSION, else the last one."),
]


def run(
    goal: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GOAL | SESSION",
            help="What is to be reached; [[wikilinks]] name notes. With --resume, the session.",
            show_default=False,
        ),
    ] = None,
    vault: VaultOption = None,
    model: ModelOption = None,
    agent: AgentOption = None,
    steps: StepsOption = None,
    tokens: TokensOption = None,
    minutes: MinutesOption = None,
    resume: ResumeOption = False,
    private: PrivateOption = False,
    yes: YesOption = False,
    plain: PlainOption = False,
    json_output: JsonOption = False,
) -> int:
    """Have a model work on a goal in steps.

    It makes a plan, which you may change, works on its steps with tools, and what came of them is compared with your
    notes.

    zkchat agent run "Compare what [[Sleep]] and [[Coffee]] say about caffeine" --steps 4

    Ctrl-C keeps what is done, and `zkchat agent run --resume` goes on from the first open step.
    """
    from zkchat.cli.consent import TerminalInterface
    from zkchat.cli.output import PresenterOptions, announce_model
    from zkchat.cli.trust import ask_to_approve
    from zkchat.compose import conversation
    from zkchat.compose.goals import bounds_of

    io = current_io()
    text = _text(goal, is_needed=not resume)
    ask_to_approve(io, vault, may_ask=not json_output)
    session = _session(io, vault, text) if resume else None
    options = conversation.ConversationOptions(
        vault=vault, model=model, session=session, user_interface=TerminalInterface(io), agent=agent, private=private
    )
    with conversation.open_conversation(io.environment, options) as opened:
        announce_model(io, opened)
        bounds = bounds_of(opened.settings, steps, tokens, minutes)
        work = _goal_run(io, opened, bounds, may_ask=not (yes or json_output))
        events = work.resume() if resume else work.start(text)
        return _show(work, events, _presenter(io, opened, PresenterOptions(json=json_output, plain=plain)), opened)


def _text(words: list[str] | None, *, is_needed: bool) -> str:
    text = " ".join(words or []).strip()
    if is_needed and not text:
        raise UsageError("There is no goal.", hint='Name one: zkchat agent run "List what I wrote about sleep"')
    return text


def _session(io: CommandIO, vault: Path | None, name: str) -> str:
    """The session whose goal is gone on with."""
    from zkchat.compose import stores
    from zkchat.compose.goals import session_with_open_goal

    with stores.open_sessions(io.environment, vault, io) as store:
        found = store.find(name).id if name else session_with_open_goal(store)
    if found is None:
        raise SessionNotFound("There is no goal to go on with in this vault.", hint='Begin one: zkchat agent run "…"')
    return found


def _goal_run(io: CommandIO, opened: "OpenConversation", bounds: "GoalBounds", *, may_ask: bool) -> "GoalRun":
    from zkchat.cli.plan_review import TerminalPlanReviewer
    from zkchat.compose.goals import open_goal_run

    environment = io.environment
    is_asked = may_ask and environment.stdin_is_tty and environment.stderr_is_tty
    work = open_goal_run(environment, opened, bounds, TerminalPlanReviewer(io) if is_asked else None)
    work.way_back = lambda session: f"Go on with it: zkchat agent run --resume {session}"
    return work


def _presenter(io: CommandIO, opened: "OpenConversation", view: "PresenterOptions") -> "Presenter":
    from zkchat.cli.output import create_presenter
    from zkchat.render.presenters.goal import GoalJsonPresenter, GoalPipePresenter

    environment = io.environment
    if view.json:
        return GoalJsonPresenter(environment.stdout)
    if not (view.plain or environment.stdout_is_tty):
        return GoalPipePresenter(environment.stdout, environment.stderr)
    return create_presenter(environment, opened, view)


def _show(
    work: "GoalRun", events: "AsyncGenerator[Event, None]", presenter: "Presenter", opened: "OpenConversation"
) -> int:
    """Show the run to its end, or to Ctrl-C: then what is done, and how to go on."""
    import asyncio

    try:
        return asyncio.run(_play(events, presenter, opened))
    except KeyboardInterrupt:
        if ending := work.ending(ExitCode.INTERRUPTED):
            presenter.show(ending)
        return ExitCode.INTERRUPTED
    finally:
        presenter.close()


async def _play(events: "AsyncGenerator[Event, None]", presenter: "Presenter", opened: "OpenConversation") -> int:
    from zkchat.model.events import GoalEnded
    from zkchat.render.presenters.base import ticking

    for warning in opened.warnings:
        presenter.show(warning)
    code: int = ExitCode.NO_ANSWER
    async with aclosing(events), ticking(presenter):
        async for event in events:
            presenter.show(event)
            if isinstance(event, GoalEnded):
                code = event.exit_code
    return code

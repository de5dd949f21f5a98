"""`zkchat ask --goal`: a goal worked on in steps, begun or gone on with."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, NamedTuple

import typer
from msgspec.structs import replace

from zkchat.app import (
    ConversationOptions,
    OpenConversation,
    ServerConnections,
    WritingOptions,
    bounds_of,
    open_conversation,
    open_goal_run,
    session_with_open_goal,
)
from zkchat.chat import GoalRun
from zkchat.cli.ask import (
    AgentOption,
    DryRunOption,
    PanelsOption,
    PlainOption,
    PrivateOption,
    WriteOption,
    warn_of_no_review,
)
from zkchat.cli.change_review import TerminalPlanReviewer, terminal_interface
from zkchat.cli.common import CommandIO, JsonOption, ModelOption, VaultOption, argument, current_io, flag, option
from zkchat.cli.output import PresenterOptions, announce_model, create_presenter, tell_dropped_changes
from zkchat.cli.trust import ask_to_approve
from zkchat.core import ChangesReviewed, Event, ExitCode, GoalEnded, ReviewTime, SessionNotFound, UsageError
from zkchat.render import GoalJsonPresenter, GoalPipePresenter, Presenter, ticking

StepsOption = Annotated[
    int | None,
    option("--steps", "N", "Maximum steps in the plan. Default: goal.steps.", min=1, max=100),
]
TokensOption = Annotated[
    int | None,
    option("--tokens", "N", "Maximum tokens for all requests and answers. Default: goal.tokens.", min=1),
]
MinutesOption = Annotated[
    float | None,
    option("--minutes", "N", "Maximum minutes. Default: goal.minutes."),
]
ReviewOption = Annotated[
    ReviewTime | None,
    typer.Option(
        "--review",
        help="With --write: when you review proposed changes: at the end (default) or after each step.",
        show_default=False,
    ),
]
ResumeOption = Annotated[
    bool,
    flag("--resume -r", "Continue a stopped goal: the one in SESSION, or the last one."),
]
UnaskedOption = Annotated[bool, flag("--yes -y", "Start the plan without asking; with --write, apply its changes.")]


class _Named(NamedTuple):
    """What the user named of a run."""

    bounds: tuple[int | None, int | None, float | None]
    """Steps, tokens and minutes."""
    review: ReviewTime | None


def run(
    goal: Annotated[
        list[str] | None,
        argument("GOAL | SESSION", "What you want to get done; [[wikilinks]] name notes. With --resume, the session."),
    ] = None,
    vault: VaultOption = None,
    model: ModelOption = None,
    agent: AgentOption = None,
    steps: StepsOption = None,
    tokens: TokensOption = None,
    minutes: MinutesOption = None,
    resume: ResumeOption = False,
    private: PrivateOption = False,
    write: WriteOption = False,
    review: ReviewOption = None,
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    plain: PlainOption = False,
    panels: PanelsOption = False,
    json_output: JsonOption = False,
) -> int:
    """Let a model work on a goal in steps.

    It makes a plan, which you can change, works through the steps with tools, and the result is checked against your
    notes.

    zkchat ask --goal "Compare what [[Sleep]] and [[Coffee]] say about caffeine" --steps 4

    Ctrl-C keeps what is done, and `zkchat ask --goal --resume` continues with the first open step.
    """
    io = current_io(vault)
    text = " ".join(goal or []).strip()
    if not (text or resume):
        raise UsageError("There is no goal.", hint='Give one: zkchat ask --goal "List what I wrote about sleep"')
    ask_to_approve(io, may_ask=not json_output)
    options = ConversationOptions(
        vault=vault,
        model=model,
        session=_session(io, text) if resume else None,
        user_interface=terminal_interface(io, plain=plain, reviews=not json_output),
        agent=agent,
        private=private,
        writing=WritingOptions(enabled=write or None, assumes_yes=yes, proposes_only=dry_run),
    )
    view = PresenterOptions(json=json_output, plain=plain, panels=panels, dry_run=dry_run)
    return _work(io, options, view, "" if resume else text, _Named((steps, tokens, minutes), review))


def _work(io: CommandIO, options: ConversationOptions, view: PresenterOptions, text: str, run: _Named) -> int:
    """Work on this goal, or without a text on that of the session."""
    environment, asks = io.environment, not (options.writing.assumes_yes or view.json)
    is_asked = asks and environment.stdin_is_tty and environment.stderr_is_tty
    with (
        ServerConnections() as servers,
        open_conversation(environment, replace(options, servers=servers)) as opened,
    ):
        goal = opened.conversation.history.goal
        writes = opened.conversation.writing.is_on or (not text and goal is not None and goal.writes)
        if view.dry_run and not writes:
            raise UsageError("--dry-run works only if the model may change notes.", hint="Add: --write")
        reviewer = TerminalPlanReviewer(io, plain=view.plain) if is_asked else None
        work = open_goal_run(environment, opened, bounds_of(opened.settings, *run.bounds), reviewer)
        work.review = run.review
        work.way_back = lambda session: f"To continue: zkchat ask --goal --resume {session}"
        announce_model(io, opened)
        if writes:
            warn_of_no_review(io, opened, options)
        return _play(io, opened, view, work, work.start(text) if text else work.resume())


def _session(io: CommandIO, name: str) -> str:
    """The session whose goal is gone on with."""
    with io.sessions() as store:
        found = store.find(name).id if name else session_with_open_goal(store)
    if found is None:
        raise SessionNotFound("There is no goal to continue in this vault.", hint='Start one: zkchat ask --goal "…"')
    return found


def _play(
    io: CommandIO,
    opened: OpenConversation,
    view: PresenterOptions,
    work: GoalRun,
    events: AsyncGenerator[Event, None],
) -> int:
    """Show a goal run to its end, or to Ctrl-C: then what is done, and how to go on."""
    presenter, seen = _presenter(io, opened, view), list[Event]()

    async def show() -> None:
        for warning in opened.warnings:
            presenter.show(warning)
        async with aclosing(events), ticking(presenter):
            async for event in events:
                presenter.show(event)
                if isinstance(event, GoalEnded | ChangesReviewed):
                    seen.append(event)

    code: int = ExitCode.NO_ANSWER
    try:
        asyncio.run(show())
        code = next((event.exit_code for event in reversed(seen) if isinstance(event, GoalEnded)), code)
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
        if ending := work.ending(code):
            presenter.show(ending)
    finally:
        presenter.close()
    tell_dropped_changes(io, opened)
    if view.dry_run and not view.json and not io.environment.stdout_is_tty:
        io.out_exactly("".join(event.diff for event in seen if isinstance(event, ChangesReviewed)))
    return code


def _presenter(io: CommandIO, opened: OpenConversation, view: PresenterOptions) -> Presenter:
    environment = io.environment
    if view.json:
        return GoalJsonPresenter(environment.stdout)
    if view.plain or view.panels or environment.stdout_is_tty:
        return create_presenter(environment, opened, view)
    return GoalPipePresenter(environment.stderr if view.dry_run else environment.stdout, environment.stderr)

"""`zkchat agent run`: a goal worked on in steps, begun or gone on with."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
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
    stores,
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
from zkchat.cli.common import CommandIO, JsonOption, ModelOption, VaultOption, current_io
from zkchat.cli.output import PresenterOptions, announce_model, create_presenter
from zkchat.cli.trust import ask_to_approve
from zkchat.core import ChangesReviewed, Event, ExitCode, GoalEnded, ReviewTime, SessionNotFound, UsageError
from zkchat.render import GoalJsonPresenter, GoalPipePresenter, Presenter, reviewed, ticking

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
ReviewOption = Annotated[
    ReviewTime | None,
    typer.Option(
        "--review",
        help="With --write: when you review what is proposed, at the end (as usual) or after each step.",
        show_default=False,
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option("--resume", "-r", help="Go on with a goal that was stopped: that of SESSION, else the last one."),
]
UnaskedOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Work on the plan unasked; with --write, apply what is proposed.")
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
    write: WriteOption = False,
    review: ReviewOption = None,
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    plain: PlainOption = False,
    panels: PanelsOption = False,
    json_output: JsonOption = False,
) -> int:
    """Have a model work on a goal in steps.

    It makes a plan, which you may change, works on its steps with tools, and what came of them is compared with your
    notes.

    zkchat agent run "Compare what [[Sleep]] and [[Coffee]] say about caffeine" --steps 4

    Ctrl-C keeps what is done, and `zkchat agent run --resume` goes on from the first open step.
    """
    io = current_io()
    text = _text(goal, is_needed=not resume)
    ask_to_approve(io, vault, may_ask=not json_output)
    options = ConversationOptions(
        vault=vault,
        model=model,
        session=_session(io, vault, text) if resume else None,
        user_interface=terminal_interface(io, vault, plain=plain, reviews=not json_output),
        agent=agent,
        private=private,
        writing=WritingOptions(enabled=write or None, assumes_yes=yes, proposes_only=dry_run),
    )
    view = PresenterOptions(json=json_output, plain=plain, panels=panels, dry_run=dry_run)
    return _work(io, options, view, "" if resume else text, _Named(steps, tokens, minutes, review))


class _Named(NamedTuple):
    """What the user named of a run."""

    steps: int | None
    tokens: int | None
    minutes: float | None
    review: ReviewTime | None


def _work(io: CommandIO, options: ConversationOptions, view: PresenterOptions, text: str, named: _Named) -> int:
    """Work on this goal, or without a text on that of the session."""
    environment, asks = io.environment, not (options.writing.assumes_yes or view.json)
    is_asked = asks and environment.stdin_is_tty and environment.stderr_is_tty
    with (
        ServerConnections() as servers,
        open_conversation(environment, replace(options, servers=servers)) as opened,
    ):
        writes = opened.conversation.writing.is_on or (not text and _goal_writes(opened))
        if view.dry_run and not writes:
            raise UsageError(
                "--dry-run is about changes of notes, and this model may propose none.", hint="Allow it: --write"
            )
        bounds = bounds_of(opened.settings, named.steps, named.tokens, named.minutes)
        reviewer = TerminalPlanReviewer(io, plain=view.plain) if is_asked else None
        work = open_goal_run(environment, opened, bounds, reviewer)
        work.review = named.review
        work.way_back = lambda session: f"Go on with it: zkchat agent run --resume {session}"
        announce_model(io, opened)
        if writes:
            warn_of_no_review(io, opened, options)
        return _ShownRun(io, opened, view, work).play(work.start(text) if text else work.resume())


def _goal_writes(opened: OpenConversation) -> bool:
    """Whether the goal of the session proposes changes."""
    goal = opened.conversation.history.goal
    return goal is not None and goal.writes


def _text(words: list[str] | None, *, is_needed: bool) -> str:
    text = " ".join(words or []).strip()
    if is_needed and not text:
        raise UsageError("There is no goal.", hint='Name one: zkchat agent run "List what I wrote about sleep"')
    return text


def _session(io: CommandIO, vault: Path | None, name: str) -> str:
    """The session whose goal is gone on with."""
    with stores.open_sessions(io.environment, vault, io) as store:
        found = store.find(name).id if name else session_with_open_goal(store)
    if found is None:
        raise SessionNotFound("There is no goal to go on with in this vault.", hint='Begin one: zkchat agent run "…"')
    return found


class _ShownRun:
    """A goal run, shown to its end, or to Ctrl-C: then what is done, and how to go on."""

    def __init__(self, io: CommandIO, opened: OpenConversation, view: PresenterOptions, work: GoalRun) -> None:
        self._io = io
        self._opened = opened
        self._view = view
        self._work = work
        self._presenter = self._create_presenter()
        self._code: int = ExitCode.NO_ANSWER
        self._diffs: list[str] = []

    def play(self, events: AsyncGenerator[Event, None]) -> int:
        try:
            asyncio.run(self._play(events))
        except KeyboardInterrupt:
            self._code = ExitCode.INTERRUPTED
            if ending := self._work.ending(self._code):
                self._presenter.show(ending)
        finally:
            self._presenter.close()
        self._tell_changes()
        return self._code

    async def _play(self, events: AsyncGenerator[Event, None]) -> None:
        for warning in self._opened.warnings:
            self._presenter.show(warning)
        async with aclosing(events), ticking(self._presenter):
            async for event in events:
                self._presenter.show(event)
                if isinstance(event, GoalEnded):
                    self._code = event.exit_code
                elif isinstance(event, ChangesReviewed):
                    self._diffs.append(event.diff)

    def _create_presenter(self) -> Presenter:
        environment, view = self._io.environment, self._view
        if view.json:
            return GoalJsonPresenter(environment.stdout)
        if view.plain or view.panels or environment.stdout_is_tty:
            return create_presenter(environment, self._opened, view)
        return GoalPipePresenter(environment.stderr if view.dry_run else environment.stdout, environment.stderr)

    def _tell_changes(self) -> None:
        """Say what was dropped with a run that was interrupted, and print the diff of a dry run."""
        io, view = self._io, self._view
        if dropped := self._opened.conversation.writing.take_dropped():
            io.note_wrapped(reviewed(dropped))
        if view.dry_run and not view.json and not io.environment.stdout_is_tty:
            io.out_exactly("".join(self._diffs))

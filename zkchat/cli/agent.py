"""`zkchat config agents`: who answers; listed, shown, made, changed. `run` has one work on a goal."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from itertools import chain
from typing import Annotated

import typer
from msgspec.structs import replace

from zkchat.app import (
    ConversationOptions,
    OpenConversation,
    ServerConnections,
    WritingOptions,
    bounds_of,
    check_setting,
    defined_servers,
    open_conversation,
    open_goal_run,
    session_with_open_goal,
)
from zkchat.chat import AGENT_NAME, GoalRun, built_in, set_value
from zkchat.cli import rules
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
from zkchat.cli.common import (
    CommandIO,
    JsonOption,
    ModelOption,
    SettingsVaultOption,
    Told,
    VaultOption,
    argument,
    command,
    current_io,
    flag,
    option,
)
from zkchat.cli.editors import edit_file
from zkchat.cli.output import PresenterOptions, announce_model, create_presenter, show_events, tell_dropped_changes
from zkchat.cli.rules import ScopeOption
from zkchat.cli.trust import ask_to_approve
from zkchat.core import (
    Agent,
    ChangesReviewed,
    Event,
    ExitCode,
    GoalEnded,
    ReviewTime,
    SessionNotFound,
    UsageError,
    ZkchatError,
)
from zkchat.render import GoalJsonPresenter, GoalPipePresenter, Presenter

StepsOption = Annotated[
    int | None, option("--steps", "N", "Maximum steps in the plan. Default: the setting goal.steps.", min=1, max=100)
]
TokensOption = Annotated[
    int | None, option("--tokens", "N", "Maximum tokens sent and received. Default: the setting goal.tokens.", min=1)
]
MinutesOption = Annotated[float | None, option("--minutes", "N", "Maximum minutes. Default: the setting goal.minutes.")]
ReviewOption = Annotated[
    ReviewTime | None,
    option("--review", None, "With --write: review proposed changes at the end (default) or after each step."),
]
ResumeOption = Annotated[bool, flag("--resume -r", "Continue a stopped goal: the one in SESSION, or the last one.")]
UnaskedOption = Annotated[bool, flag("--yes -y", "Start the plan without asking; with --write, apply its changes.")]


def run(
    goal: Annotated[
        list[str] | None,
        argument("GOAL | SESSION", "Your goal; [[wikilinks]] name notes. With --resume, the session to continue."),
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
    return _work(io, options, view, "" if resume else text, (steps, tokens, minutes), review)


def _work(
    io: CommandIO,
    options: ConversationOptions,
    view: PresenterOptions,
    text: str,
    bounds: tuple[int | None, int | None, float | None],
    review: ReviewTime | None,
) -> int:
    """Work on this goal, or without a text on that of the session."""
    environment, asks = io.environment, not (options.writing.assumes_yes or view.json)
    is_asked = asks and environment.stdin_is_tty and environment.stderr_is_tty
    with ServerConnections() as servers, open_conversation(environment, replace(options, servers=servers)) as opened:
        goal = opened.conversation.history.goal
        writes = opened.conversation.writing.is_on or (not text and goal is not None and goal.writes)
        if view.dry_run and not writes:
            raise UsageError("--dry-run works only if the model may change notes.", hint="Add: --write")
        reviewer = TerminalPlanReviewer(io, plain=view.plain) if is_asked else None
        work = open_goal_run(environment, opened, bounds_of(opened.settings, *bounds), reviewer)
        work.review = review
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
    io: CommandIO, opened: OpenConversation, view: PresenterOptions, work: GoalRun, events: AsyncGenerator[Event, None]
) -> int:
    """Show a goal run to its end, or to Ctrl-C: then what is done, and how to go on."""
    environment, seen = io.environment, list[Event]()
    presenter: Presenter
    if view.json:
        presenter = GoalJsonPresenter(environment.stdout)
    elif view.plain or view.panels or environment.stdout_is_tty:
        presenter = create_presenter(environment, opened, view)
    else:
        out = environment.stderr if view.dry_run else environment.stdout
        presenter = GoalPipePresenter(out, environment.stderr)

    code: int = ExitCode.NO_ANSWER
    try:
        asyncio.run(show_events(presenter, opened, events, seen))
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


app = typer.Typer(help="List, show, create and change agents: who answers you.", no_args_is_help=True)

app.command(name="run", hidden=True)(run)  # as `zkchat ask --goal` it is documented

AgentArgument = Annotated[str, argument("AGENT", "The agent's name; `zkchat config agents list` shows all agents.")]

_TEMPLATE = """\
---
description: What this agent is for, in one line.
# model: ollama:qwen3:8b
# rules:
#   Citation style: always    # always, manual (on /add) or agent (when it is relevant)
# references:
#   "[[Glossary]]": agent
---
You answer questions about the user's own notes.
- Name the note behind each statement as a [[wikilink]]. Never invent a note.
"""


@command(app, "list", vault=SettingsVaultOption)
def list_(io: CommandIO) -> Told:
    """List the agents: the vault's, yours and the built-in ones."""
    return rules.listed(io, "agent")


@command(app, vault=SettingsVaultOption)
def show(io: CommandIO, name: AgentArgument) -> Told:
    """Show an agent: its instructions, rules, notes and tools."""
    found = rules.profile_store(io).load()
    if name.casefold() not in found.agents and (file := found.awaiting("agent", name)):
        return rules.unapproved(file)
    agent = found.any_agent(name)
    head = f"{agent.name}  {rules.describe(agent)}"
    lines = chain([head], _detail_lines(agent), _server_lines(io, agent), [f"\n{agent.text}"])
    return Told(data=agent, lines=lines, notes=rules.unused(found, "agent"))


@command(app, vault=SettingsVaultOption)
def new(io: CommandIO, name: Annotated[str, argument("NAME", "Its name.")], scope: ScopeOption = "user") -> Told:
    """Create an agent for you to fill in. With the name of an existing one, it is a copy of that one.

    zkchat config agents new editor --scope vault
    """
    if not AGENT_NAME.fullmatch(name):
        raise UsageError(f"'@{name}' cannot be typed in a message.", hint="Use letters, digits, - or _.")
    store = rules.profile_store(io, scope)
    found = store.load()
    known = found.off_agents.get(name.casefold()) or found.agents.get(name.casefold())
    texts = {file.path: file.text for file in (*built_in(), *store.files())}
    made = rules.create(io, store, scope, "agent", name, texts[known.path] if known else _TEMPLATE)
    return Told(
        data={"name": made.name, "origin": made.origin, "path": made.path},
        lines=[f"Created {made.path}. To change it: zkchat config agents edit {name}"],
    )


@command(app, vault=SettingsVaultOption)
def edit(io: CommandIO, name: AgentArgument) -> Told:
    """Open an agent's file in your editor."""
    store = rules.profile_store(io)
    before = rules.editable_file(io, store, store.load().any_agent(name))
    edit_file(io, before.path)
    after = next((file for file in store.files() if file.path == before.path), None)
    if after:
        store.approve_own(after, before)
    found = store.load()
    for note in rules.unused(found, "agent"):
        io.note(note)
    return Told(data=found.agents.get(name.casefold()) or found.off_agents.get(name.casefold()))


@command(app, vault=SettingsVaultOption)
def config(
    io: CommandIO,
    name: AgentArgument,
    key: Annotated[str, argument("PROPERTY", "For example model, or rules.Tone.")],
    value: Annotated[str, argument("VALUE", "The new value.")],
) -> Told:
    """Change one value of an agent's file; comments stay.

    zkchat config agents config librarian model ollama:qwen3:8b

    zkchat config agents config librarian rules.Tone manual

    zkchat config agents config writer enabled false
    """
    store = rules.profile_store(io)
    agent = store.load().any_agent(name)
    if key.startswith("context."):
        check_setting(key, value)
    file = rules.editable_file(io, store, agent)
    store.write(file, set_value(file, key, value), file)
    return Told(data=store.load().any_agent(name), lines=[f"Set {key} in {file.path}."])


def _detail_lines(agent: Agent) -> Iterator[str]:
    if agent.path and agent.origin != "built-in":
        yield f"file: {agent.path}"
    if agent.model:
        yield f"model: {agent.model}"
    for name, value in agent.context.items():
        yield f"context.{name}: {value}"
    for section in ("rules", "references", "tools", "servers"):
        for name, mode in getattr(agent, section).items():
            yield f"{section}: {name} [{mode}]"
    if not agent.memory:
        yield "memory: off"


def _server_lines(io: CommandIO, agent: Agent) -> Iterator[str]:
    """The MCP servers that are defined, with the mode of their tools; none of them is connected for it."""
    try:
        found = defined_servers(io.workspace(needs_vault=False)).servers
    except ZkchatError:  # what is wrong with the settings is told where they are needed
        return
    for server in found:
        state = server.state.replace("_", " ")
        yield f"MCP server: {server.name} [{agent.tool_mode('', server.name)}] {state}"
    if found:
        yield "(zkchat config servers check lists the tools of servers.)"

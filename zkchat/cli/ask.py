"""`zkchat ask`: one turn. `zkchat today` and `zkchat serve acp`, whose turns others ask for.

An option of `ask` is a parameter of the function below. What the conversation needs to know of it goes into
`ConversationOptions`; how the events of the turn are printed is chosen by `cli.output.create_presenter`.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, aclosing
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer
from msgspec.structs import replace

from zkchat import actions, hosting
from zkchat.app import (
    ConversationOptions,
    OpenConversation,
    ServerConnections,
    WritingOptions,
    action_vault,
    conversation,
    find_paths,
    find_vault,
    load_settings,
    open_conversation,
)
from zkchat.chat import MAX_QUOTED
from zkchat.cli.actions import command_of, print_result
from zkchat.cli.change_review import terminal_interface
from zkchat.cli.common import (
    CommandIO,
    ContinueOption,
    JsonOption,
    ModelOption,
    SettingsVaultOption,
    VaultOption,
    current_io,
    flag,
    option,
    require,
)
from zkchat.cli.note_lookup import open_refreshed_workspace, tell_of_vectors
from zkchat.cli.output import (
    PresenterOptions,
    announce_model,
    announce_quotes,
    create_presenter,
    show_events,
    suggest_next,
    tell_dropped_changes,
)
from zkchat.cli.trust import ask_to_approve
from zkchat.core import (
    ChangesReviewed,
    ChatMessage,
    ConfigError,
    Event,
    ExitCode,
    ProviderError,
    TurnFailed,
    TurnFinished,
    UsageError,
    Warned,
    resolve_link,
)
from zkchat.render import ticking
from zkchat.writing import PROPOSE_ONLY

STDIN_NOTICE_SECONDS = 2.0
"""Silence on a pipe after which the user reads what zkchat waits for."""


QuestionArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="Your question; [[wikilinks]] and @paths name notes. Piped text is added to it.", show_default=False
    ),
]
SessionOption = Annotated[
    str | None, option("--session", "NAME", "Continue this session: its id, the start of its id, or its title.")
]
AgentOption = Annotated[
    str | None, option("--agent", "NAME", "The agent that answers; `zkchat config agents list` lists all.")
]
PrivateOption = Annotated[bool, flag("--private", "Private: other conversations remember nothing from this one.")]
PanelsOption = Annotated[bool, flag("--panels", "Show all sources and what fills the context.")]
StrictOption = Annotated[bool, flag("--strict", "Answer only from your notes, and say so if they do not answer.")]
MoreOption = Annotated[bool, flag("--more", "Without a model: quote up to ten passages instead of three.")]
ShowContextOption = Annotated[
    bool, flag("--show-context", "Before the answer, show what is sent to the model and why, and what is left out.")
]
WriteOption = Annotated[
    bool, flag("--write", "Let the model propose changes to notes: you see each as a diff, and decide.")
]
ApplyOption = Annotated[bool, flag("--yes -y", "With --write: apply proposed changes without asking.")]
DryRunOption = Annotated[bool, flag("--dry-run", "With --write: print proposed changes as a diff, and change nothing.")]
GoalOption = Annotated[
    bool, flag("--goal", "Let a model work on a goal in steps; you can change its plan: zkchat ask --goal --help")
]
ImageOption = Annotated[
    list[Path] | None,
    option(
        "--image",
        "FILE",
        "Send this image with the question, to a model that sees images. Repeatable. @FILE is a file in the vault.",
    ),
]
FileOption = Annotated[
    list[Path] | None,
    option("--file", "FILE", "Send the text of this file with the question; it can be anywhere. Repeatable."),
]
PlainOption = Annotated[bool, flag("--plain", "No boxes, no colour, no live updates.")]


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
    file: FileOption = None,
    _goal: GoalOption = False,
) -> int:
    """Ask one question about your notes.

    `zkchat "QUESTION"` does the same. On a terminal you see the answer, its sources and what fills the context; in a
    pipe the answer alone.

    zkchat ask "What does [[Evergreen notes#Titles]] say about names?"

    git diff | zkchat ask "Which of my notes does this touch?" --json

    zkchat ask "Add milk to [[Shopping]]" --write
    """
    ask_to_approve(io := current_io(vault), may_ask=not json_output)
    options = ConversationOptions(
        vault=vault,
        model=model,
        session=session,
        continue_last=continue_last,
        one_shot=session is None and not continue_last,
        user_interface=terminal_interface(io, plain=plain, reviews=not json_output, files=file or ()),
        agent=agent,
        private=private,
        strict=strict,
        quoted_passages=MAX_QUOTED if more else None,
        writing=WritingOptions(enabled=write or None, assumes_yes=yes, proposes_only=dry_run),
        question=_question(io, [*(question or ()), *(_mention(io, each) for each in file or ())]),
        images=tuple(image or ()),
    )
    view = PresenterOptions(json=json_output, plain=plain, panels=panels, context=show_context, dry_run=dry_run)
    return _answer(io, options, view)


def _answer(io: CommandIO, options: ConversationOptions, view: PresenterOptions) -> int:
    with (
        ServerConnections() as servers,
        conversation.open_conversation(io.environment, replace(options, servers=servers)) as opened,
    ):
        announce_model(io, opened)
        # Refuse options about changes where the model may propose none.
        writing = options.writing
        if (writing.assumes_yes or writing.proposes_only) and not opened.conversation.writing.is_on:
            option = "--dry-run" if writing.proposes_only else "--yes"
            raise UsageError(f"{option} works only if the model may change notes.", hint="Add: --write")
        if options.writing.enabled and opened.conversation.writing.is_on:
            warn_of_no_review(io, opened, options)
        presenter = create_presenter(io.environment, opened, view)
        if not view.json:
            announce_quotes(io, opened)
        seen: list[Event] = []
        try:
            assert opened.asked is not None
            asyncio.run(show_events(presenter, opened, opened.conversation.answer(opened.asked), seen))
        finally:
            presenter.close()
            _tell_changes(io, opened, view, seen)
            tell_of_vectors(io, opened.library)
        if not view.json:
            suggest_next(io, opened, "--more", most=MAX_QUOTED - opened.conversation.further_passages.read)
        code: int = ExitCode.OK
        for event in seen:
            if isinstance(event, TurnFinished) and (event.abstained or not event.message.text.strip()):
                code = ExitCode.NO_ANSWER
            elif isinstance(event, TurnFailed):
                code = event.exit_code
            elif isinstance(event, ChangesReviewed):
                code = code or event.exit_code
        return code


def _tell_changes(io: CommandIO, opened: OpenConversation, view: PresenterOptions, seen: list[Event]) -> None:
    """Print the diff of a dry run, and say what was dropped with an answer that was stopped."""
    tell_dropped_changes(io, opened)
    changes = next((event for event in reversed(seen) if isinstance(event, ChangesReviewed)), None)
    if changes is None or view.json:
        return
    environment = io.environment
    if view.dry_run and not environment.stdout_is_tty:
        io.out_exactly(changes.diff)
    elif changes.reason == PROPOSE_ONLY and not (environment.stdin_is_tty and environment.stderr_is_tty):
        io.note(changes.diff.removesuffix("\n"), as_it_is=True)  # which no reviewer has shown


def warn_of_no_review(io: CommandIO, opened: OpenConversation, options: ConversationOptions) -> None:
    """Say, before the model is asked, where it may propose changes, and nobody can be asked about them."""
    writing, write = options.writing, opened.settings.write
    is_settled = writing.assumes_yes or writing.proposes_only or write.mode == "propose" or bool(write.accept)
    if not is_settled and options.user_interface.change_reviewer is None:
        io.note(
            "Nothing is changed: there is no terminal to ask you on. --yes applies changes, --dry-run only shows them."
        )


def _mention(io: CommandIO, file: Path) -> str:
    """What names the file in a question: by its path in the vault, where it is there."""
    file = resolve_link(io.environment.cwd / file.expanduser())
    vault = io.workspace().paths.vault.resolve()
    return f'@"{file.relative_to(vault).as_posix() if file.is_relative_to(vault) else file}"'


def _question(io: CommandIO, words: list[str]) -> str:
    piped = _piped(io) if io.environment.stdin_is_piped else ""
    text = "\n\n".join(part for part in (" ".join(words).strip(), piped.strip("\n")) if part.strip())
    if not text:
        raise UsageError("There is no question.", hint='Ask one: zkchat ask "What do my notes say about sleep?"')
    return text


def _piped(io: CommandIO) -> str:
    """All of standard input, up to its limit; a notice says so where nothing comes."""
    most = load_settings(io.environment, find_paths(io.environment, io.vault)).settings.limits.max_input_bytes
    waiting = "(Waiting for piped input. If there is none, run: zkchat ask … < /dev/null)"
    notice = Timer(STDIN_NOTICE_SECONDS, io.note, [waiting])
    notice.daemon = True
    notice.start()
    try:
        text = io.environment.stdin.read(most + 1)
    finally:
        notice.cancel()
    if len(text) > most or len(text.encode(errors="surrogatepass")) > most:
        raise UsageError(
            f"Standard input is larger than the limit of {most:,} bytes.",
            hint="Send less, put the text in a note and link to it, or raise limits.max_input_bytes.",
        )
    return text


DaysOption = Annotated[
    int, option("--days", "N", "How far to look back, and ahead.", min=1, max=366, show_default=True)
]


def today(
    days: DaysOption = 7,
    note: Annotated[bool, flag("--note", "Show only today's daily note.")] = False,
    summary: Annotated[bool, flag("--summary", "Add a summary written by a model.")] = False,
    vault: VaultOption = None,
    model: ModelOption = None,
    json_output: JsonOption = False,
    plain: Annotated[bool, flag("--plain", "No colour and no live updates.")] = False,
) -> int:
    """Show what is due, what changed, and what was on this day.

    Today's daily note, open tasks (- [ ]) by due date, notes that changed, notes from this day in earlier years, and in
    the changed notes what is not linked.

    zkchat today

    zkchat today --days 1 --summary
    """
    if note:
        return command_of("notes", "daily")(vault=vault, json_output=json_output)
    io, summarises = current_io(vault), summary or model is not None
    view = PresenterOptions(json=json_output, plain=plain, footer=False)
    opened = _show_day(io, days, model, view, summarises=summarises)
    if opened and opened.conversation.model.needs_notes:
        io.note("There is no model to write a summary. To choose one: zkchat models")
    return ExitCode.OK


def brief(
    days: DaysOption = 7,
    vault: VaultOption = None,
    model: ModelOption = None,
    no_model: Annotated[bool, flag("--no-model", "Leave out the model's summary.")] = False,
    json_output: JsonOption = False,
    plain: Annotated[bool, flag("--plain", "No colour and no live updates.")] = False,
) -> None:
    """Show what changed, what is due, and what was on this day.

    Open tasks (- [ ]) by due date, notes that changed, notes from this day in earlier years, and in the changed notes
    what is not linked. If you have a model, it adds a summary; if it fails, only the summary is missing.

    zkchat brief

    zkchat brief --days 1 --no-model
    """
    view = PresenterOptions(json=json_output, plain=plain, footer=False)
    _show_day(current_io(vault), days, model, view, summarises=not no_model)


def _show_day(
    io: CommandIO, days: int, model: str | None, view: PresenterOptions, *, summarises: bool
) -> OpenConversation | None:
    """Show the lists, and then the paragraph of a model; the conversation in which it is written, if there is one."""
    with ExitStack() as stack:
        opened, summary = _open(io, stack, model, view) if summarises else None, None
        if opened is None:
            workspace, library = stack.enter_context(open_refreshed_workspace(io))
        else:
            workspace, library = opened.workspace, opened.library
            opened.refresher.refresh()
        found = actions.today_of(action_vault(workspace, library, io), days, for_scripts=view.json)
        if not view.json:
            print_result(io, workspace, library, found, json_output=False, plain=view.plain)
        if opened and not opened.conversation.model.needs_notes:
            announce_model(io, opened)
            summary = _summarize(io, opened, days, view)
        if view.json:
            told = ("text", "model", "provider", "references", "usage")
            record = {name: getattr(summary, name) for name in told} if summary else None
            io.json({**found.plain, "summary": record})
        return opened


def _open(io: CommandIO, stack: ExitStack, model: str | None, view: PresenterOptions) -> OpenConversation | None:
    """The conversation that a model sums the brief up in; None, once it is said why, where there is none."""
    ask_to_approve(io, may_ask=not view.json)
    interface = terminal_interface(io, plain=view.plain, reviews=False)
    options = ConversationOptions(vault=io.vault, model=model, one_shot=True, user_interface=interface)
    try:
        return stack.enter_context(open_conversation(io.environment, options))
    except (ConfigError, ProviderError) as error:
        if model:  # what the user just typed is worth an error
            raise
        io.note(" ".join(filter(None, (f"There is no summary: {error.message}", error.hint))))
        return None


def _summarize(io: CommandIO, opened: OpenConversation, days: int, view: PresenterOptions) -> ChatMessage | None:
    """Show the paragraph of the model, and return it; None where it wrote none."""
    if view.json:
        return asyncio.run(_written(opened, days, partial(_note_warning, io)))
    io.out("")
    presenter = create_presenter(io.environment, opened, view)

    async def shown() -> ChatMessage | None:
        async with ticking(presenter):
            return await _written(opened, days, presenter.show)

    try:
        return asyncio.run(shown())
    finally:
        presenter.close()


async def _written(opened: OpenConversation, days: int, show: Callable[[Event], None]) -> ChatMessage | None:
    message = None
    async with aclosing(opened.conversation.summarize_brief(days)) as events:
        async for event in events:
            show(event)
            message = event.message if isinstance(event, TurnFinished) else message
    return message


def _note_warning(io: CommandIO, event: Event) -> None:
    if isinstance(event, Warned):
        io.note(" ".join(filter(None, (event.text, event.hint))))


def acp(
    vault: SettingsVaultOption = None, model: ModelOption = None, agent: AgentOption = None, write: WriteOption = False
) -> None:
    """Chat in an editor, over the Agent Client Protocol (ACP).

    Zed, Neovim, Emacs, Obsidian, VS Code and JetBrains start it, and talk to it over standard input and output: `zkchat
    help acp` says how. Sessions are saved as usual, and `zkchat --resume` continues them. Without --vault, each session
    uses the vault that its working folder is in, or your default vault.

    zkchat serve acp --vault ~/notes
    """
    io = current_io()
    require("acp", "zkchat serve acp needs the package agent-client-protocol", "acp")
    from zkchat.acp import serve

    if vault is not None:
        find_vault(io.environment, vault)
    serve(
        io.environment,
        hosting.ChatOptions(
            vault=vault,
            model=model,
            agent=agent,
            write=write or None,
        ),
    )

"""`zkchat chat`: one turn after the other. `interactive_chat` runs the prompt."""

from typing import Annotated, Final

import typer

from zkchat.app import ConversationOptions, WritingOptions, count_notes, find_folder
from zkchat.cli.ask import AgentOption, PlainOption, PrivateOption, SessionOption, ShowContextOption, WriteOption
from zkchat.cli.common import CommandIO, ContinueOption, ModelOption, ResumeOption, VaultOption, current_io, flag
from zkchat.cli.interactive_chat import InteractiveChat, choose_session
from zkchat.cli.output import PresenterOptions
from zkchat.cli.trust import ask_to_approve
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.core import LostDefaultVault, UnconfirmedVault, UsageError, VaultError
from zkchat.render import ShownUsage

_HOW_TO_BEGIN: Final = """\
Usage: zkchat COMMAND [OPTIONS]

Chat about the notes in this folder (you are asked before it is used):
  zkchat chat
Chat about the notes in another folder:
  zkchat --vault ~/notes
Ask one question:
  zkchat "What is compost?" --vault ~/notes
Choose your notes, a model, and what stays on this machine:
  zkchat setup
All commands:
  zkchat --help

`zkchat` alone starts the chat in a folder that has .obsidian/ or
.zkchat/ in it, or that you have confirmed. Once you have named the
folder of your notes in `zkchat setup`, it does so everywhere."""


def chat(
    question: Annotated[
        list[str] | None, typer.Argument(help="Your first question, which is asked at once.", show_default=False)
    ] = None,
    vault: VaultOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    continue_last: ContinueOption = False,
    resume: ResumeOption = False,
    new: Annotated[bool, flag("--new", "Start a new session (the default).")] = False,
    agent: AgentOption = None,
    private: PrivateOption = False,
    plain: PlainOption = False,
    show_context: ShowContextOption = False,
    write: WriteOption = False,
) -> None:
    """Chat about your notes, one question after the other. In a vault, `zkchat` alone does the same.

    zkchat chat "What do my notes say about [[Sleep]]?"

    Ctrl-C stops an answer (what arrived is kept), Ctrl-D quits. `zkchat -c` continues where you left off.
    """
    if sum((session is not None, continue_last, resume, new)) > 1:
        raise UsageError(
            "A chat can continue only one session.", hint="Choose one: --continue, --resume, --session or --new."
        )
    io = current_io(vault)
    first = " ".join(question or [])
    if resume:
        if (session := choose_session(io, first, plain=plain)) is None:
            return
        first = ""
    ask_to_approve(io, may_ask=True)
    options = ConversationOptions(
        vault=vault,
        model=model,
        session=session,
        continue_last=continue_last,
        bounded_refresh=True,
        agent=agent,
        private=private,
        writing=WritingOptions(enabled=write or None),
    )
    view = PresenterOptions(plain=plain, context=show_context, chat=True, usage_shown=ShownUsage())
    InteractiveChat(io, options, view, first_message=first).run()


def start(io: CommandIO) -> None:
    """Start the chat where somebody sits at a terminal and has a vault, or agrees that this folder of notes is one."""
    environment, found = io.environment, None
    if environment.stdin_is_tty and environment.stdout_is_tty:
        try:
            found = find_folder(environment, None)
        except LostDefaultVault:
            raise
        except VaultError:
            pass
    if found and (found.is_vault or (not found.is_home and count_notes(found.path).notes > 0)):
        try:
            vault = confirmed_vault(io)
        except UnconfirmedVault:
            pass
        else:
            chat(vault=vault)
            return
    io.out(_HOW_TO_BEGIN)

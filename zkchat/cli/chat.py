"""`zkchat chat`: one turn after the other. `interactive_chat` runs the prompt."""

from typing import Annotated

import typer

from zkchat.cli.ask import (
    AgentOption,
    ContinueOption,
    PlainOption,
    PrivateOption,
    SessionOption,
    ShowContextOption,
    WriteOption,
)
from zkchat.cli.collection import without_collection
from zkchat.cli.common import ModelOption, VaultOption, current_io
from zkchat.cli.output import PresenterOptions
from zkchat.cli.session_choice import choose_session
from zkchat.cli.trust import ask_to_approve
from zkchat.compose.conversation_options import ConversationOptions
from zkchat.compose.writing_options import WritingOptions
from zkchat.errors import UsageError
from zkchat.render.context_bar import ShownUsage

FirstQuestionArgument = Annotated[
    list[str] | None, typer.Argument(help="Your first question, which is asked at once.", show_default=False)
]
NewOption = Annotated[bool, typer.Option("--new", help="Begin a new session, as a chat does unless told otherwise.")]
ResumeOption = Annotated[bool, typer.Option("--resume", "-r", help="Choose the session to go on in from a list.")]


def chat(
    question: FirstQuestionArgument = None,
    vault: VaultOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    continue_last: ContinueOption = False,
    resume: ResumeOption = False,
    new: NewOption = False,
    agent: AgentOption = None,
    private: PrivateOption = False,
    plain: PlainOption = False,
    show_context: ShowContextOption = False,
    write: WriteOption = False,
) -> None:
    """Chat about your notes, one question after the other. In a vault, `zkchat` alone does the same.

    zkchat chat "What do my notes say about [[Sleep]]?"

    Ctrl-C stops an answer (what came is kept), Ctrl-D leaves. `zkchat chat --continue` goes on where you left off.
    """
    if sum((session is not None, continue_last, resume, new)) > 1:
        raise UsageError(
            "A chat cannot go on in several sessions.", hint="Choose: --continue, --resume, --session or --new."
        )
    io = current_io()
    with without_collection():
        from zkchat.cli.interactive_chat import InteractiveChat

        if resume and (session := choose_session(io, vault, plain=plain)) is None:
            return
        ask_to_approve(io, vault, may_ask=True)
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
        opened = InteractiveChat(io, options, view, first_message=" ".join(question or []))
    opened.run()

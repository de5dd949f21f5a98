"""`zkchat brief`: what changed lately, what is to be done, what was on this day."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, aclosing
from functools import partial
from typing import Annotated

from zkchat.actions import brief_of
from zkchat.app import ConversationOptions, OpenConversation, open_conversation
from zkchat.cli.actions import print_result
from zkchat.cli.change_review import terminal_interface
from zkchat.cli.common import CommandIO, JsonOption, ModelOption, VaultOption, current_io, flag, option
from zkchat.cli.note_lookup import open_refreshed_workspace
from zkchat.cli.output import PresenterOptions, announce_model, create_presenter
from zkchat.cli.trust import ask_to_approve
from zkchat.core import ChatMessage, ConfigError, Event, ProviderError, TurnFinished, Warned
from zkchat.render import ticking

_MAX_DAYS = 366


def brief(
    days: Annotated[
        int, option("--days", "N", "How far it looks back, and ahead.", min=1, max=_MAX_DAYS, show_default=True)
    ] = 7,
    vault: VaultOption = None,
    model: ModelOption = None,
    no_model: Annotated[bool, flag("--no-model", "Without the paragraph of a model.")] = False,
    json_output: JsonOption = False,
    plain: Annotated[bool, flag("--plain", "No colour and no live updates.")] = False,
) -> None:
    """Show what changed, what is due, and what was on this day.

    Open tasks (- [ ]) by their due dates, notes that changed, notes of this day in earlier years, and of the changed
    notes those without links and the notes they name without a link. Where a model answers, it writes a paragraph on
    top; a model that fails costs that paragraph only.

    zkchat brief

    zkchat brief --days 1 --no-model
    """
    io = current_io(vault)
    with ExitStack() as stack:
        view = PresenterOptions(json=json_output, plain=plain, footer=False)
        opened, summary = None if no_model else _open(io, stack, model, view), None
        if opened is None:
            workspace, library = stack.enter_context(open_refreshed_workspace(io))
        else:
            workspace, library = opened.workspace, opened.library
            opened.refresher.refresh()
            if not opened.conversation.model.needs_notes:
                announce_model(io, opened)
                summary = _summarize(io, opened, days, view)
        found = brief_of(library, days, for_scripts=json_output)
        if json_output:
            io.json({**found.plain, "summary": _summary_record(summary) if summary else None})
        else:
            print_result(io, workspace, library, found, json_output=False, plain=plain)


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
        io.note_wrapped(" ".join(filter(None, (f"No model sums this up: {error.message}", error.hint))))
        return None


def _summarize(io: CommandIO, opened: OpenConversation, days: int, view: PresenterOptions) -> ChatMessage | None:
    """Show the paragraph of the model, and return it; None where it wrote none."""
    if view.json:
        return asyncio.run(_written(opened, days, partial(_note_warning, io)))
    presenter = create_presenter(io.environment, opened, view)

    async def shown() -> ChatMessage | None:
        async with ticking(presenter):
            return await _written(opened, days, presenter.show)

    try:
        return asyncio.run(shown())
    finally:
        presenter.close()
        io.out("")


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


def _summary_record(summary: ChatMessage) -> dict[str, object]:
    return {
        "text": summary.text,
        "model": summary.model,
        "provider": summary.provider,
        "references": [*summary.references],
        "usage": summary.usage,
    }

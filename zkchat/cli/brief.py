"""`zkchat brief`: what changed lately, what is to be done, what was on this day."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, aclosing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from zkchat.actions import brief_of
from zkchat.app import ConversationOptions, OpenConversation, Workspace, open_conversation
from zkchat.cli.actions import print_result
from zkchat.cli.change_review import terminal_interface
from zkchat.cli.common import CommandIO, JsonOption, ModelOption, VaultOption, current_io
from zkchat.cli.note_lookup import open_refreshed_workspace
from zkchat.cli.output import PresenterOptions, announce_model, create_presenter
from zkchat.cli.trust import ask_to_approve
from zkchat.core import ChatMessage, ConfigError, Event, ProviderError, TurnFinished, Warned
from zkchat.index import Library
from zkchat.render import ticking

_MAX_DAYS = 366


class _View(Struct, frozen=True, kw_only=True):
    days: int
    json: bool
    plain: bool


def brief(
    days: Annotated[
        int, typer.Option("--days", min=1, max=_MAX_DAYS, metavar="N", help="How far it looks back, and ahead.")
    ] = 7,
    vault: VaultOption = None,
    model: ModelOption = None,
    no_model: Annotated[bool, typer.Option("--no-model", help="Without the paragraph of a model.")] = False,
    json_output: JsonOption = False,
    plain: Annotated[bool, typer.Option("--plain", help="No colour and no live updates.")] = False,
) -> None:
    """Show what changed, what is due, and what was on this day.

    Open tasks (- [ ]) by their due dates, notes that changed, notes of this day in earlier years, and of the changed
    notes those without links and the notes they name without a link. Where a model answers, it writes a paragraph on
    top; a model that fails costs that paragraph only.

    zkchat brief

    zkchat brief --days 1 --no-model
    """
    io = current_io()
    view = _View(days=days, json=json_output, plain=plain)
    if no_model:
        with open_refreshed_workspace(io, vault) as (workspace, library):
            _show(io, workspace, library, view, None)
        return
    ask_to_approve(io, vault, may_ask=not json_output)
    _show_with_summary(io, vault, model, view)


def _show_with_summary(io: CommandIO, vault: Path | None, model: str | None, view: _View) -> None:
    interface = terminal_interface(io, vault, plain=view.plain, reviews=False)
    options = ConversationOptions(vault=vault, model=model, one_shot=True, user_interface=interface)
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(open_conversation(io.environment, options))
        except (ConfigError, ProviderError) as error:
            if model:  # what the user just typed is worth an error
                raise
            io.note_wrapped(" ".join(filter(None, (f"No model sums this up: {error.message}", error.hint))))
            workspace, library = stack.enter_context(open_refreshed_workspace(io, vault))
            _show(io, workspace, library, view, None)
            return
        opened.refresher.refresh()
        summary = None
        if not opened.conversation.model.needs_notes:
            announce_model(io, opened)
            summary = _summarize(io, opened, view)
        _show(io, opened.workspace, opened.library, view, summary)


def _summarize(io: CommandIO, opened: OpenConversation, view: _View) -> ChatMessage | None:
    """Show the paragraph of the model, and return it; None where it wrote none."""
    if view.json:
        return asyncio.run(_written(opened, view.days, partial(_note_warning, io)))
    presenter = create_presenter(io.environment, opened, PresenterOptions(plain=view.plain, footer=False))

    async def shown() -> ChatMessage | None:
        async with ticking(presenter):
            return await _written(opened, view.days, presenter.show)

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


def _show(io: CommandIO, workspace: Workspace, library: Library, view: _View, summary: ChatMessage | None) -> None:
    found = brief_of(library, view.days, for_scripts=view.json)
    if view.json:
        io.json({**found.plain, "summary": _summary_record(summary) if summary else None})
    else:
        print_result(io, workspace, library, found, json_output=False, plain=view.plain)


def _summary_record(summary: ChatMessage) -> dict[str, object]:
    return {
        "text": summary.text,
        "model": summary.model,
        "provider": summary.provider,
        "references": [*summary.references],
        "usage": summary.usage,
    }

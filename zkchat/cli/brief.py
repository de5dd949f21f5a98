"""`zkchat brief`: what changed lately, what is to be done, what was on this day."""

from contextlib import ExitStack, aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct
from msgspec.structs import asdict

from zkchat.cli.common import CommandIO, JsonOption, ModelOption, VaultOption, current_io
from zkchat.cli.note_lookup import open_refreshed_workspace
from zkchat.cli.trust import ask_to_approve
from zkchat.errors import ConfigError, ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable

    from zkchat.compose.conversation import OpenConversation
    from zkchat.compose.workspace import Workspace
    from zkchat.model.daily_brief import BriefNote, DailyBrief, FirstOf, OpenTask
    from zkchat.model.events import Event
    from zkchat.model.message import ChatMessage
    from zkchat.vault.library import Library

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
    from zkchat.cli.consent import terminal_interface
    from zkchat.cli.output import announce_model
    from zkchat.compose.conversation import open_conversation
    from zkchat.compose.conversation_options import ConversationOptions

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


def _summarize(io: CommandIO, opened: "OpenConversation", view: _View) -> "ChatMessage | None":
    """Show the paragraph of the model, and return it; None where it wrote none."""
    import asyncio

    from zkchat.cli.output import PresenterOptions, create_presenter
    from zkchat.render.presenters.base import ticking

    if view.json:
        return asyncio.run(_written(opened, view.days, partial(_note_warning, io)))
    presenter = create_presenter(io.environment, opened, PresenterOptions(plain=view.plain, footer=False))

    async def shown() -> "ChatMessage | None":
        async with ticking(presenter):
            return await _written(opened, view.days, presenter.show)

    try:
        return asyncio.run(shown())
    finally:
        presenter.close()
        io.out("")


async def _written(opened: "OpenConversation", days: int, show: "Callable[[Event], None]") -> "ChatMessage | None":
    from zkchat.model.events import TurnFinished

    message = None
    async with aclosing(opened.conversation.summarize_brief(days)) as events:
        async for event in events:
            show(event)
            message = event.message if isinstance(event, TurnFinished) else message
    return message


def _note_warning(io: CommandIO, event: "Event") -> None:
    from zkchat.model.events import Warned

    if isinstance(event, Warned):
        io.note(" ".join(filter(None, (event.text, event.hint))))


def _show(
    io: CommandIO, workspace: "Workspace", library: "Library", view: _View, summary: "ChatMessage | None"
) -> None:
    from zkchat.vault.brief.daily import LONG, SHORT, make_brief

    found = make_brief(library, library.calendar(), days=view.days, most=LONG if view.json else SHORT)
    if view.json:
        io.json(_record(found, summary))
        return
    _print(io, workspace, library, found, view)


def _print(io: CommandIO, workspace: "Workspace", library: "Library", found: "DailyBrief", view: _View) -> None:
    from zkchat.cli.output import stdout_console
    from zkchat.compose.document_links import VaultDocumentLinks
    from zkchat.render.daily_brief import NOTHING, brief_sections, brief_title
    from zkchat.render.numbered_rows import RowSection, plain_sections, print_sections

    sections = [RowSection(title=brief_title(found), summary=NOTHING if found.is_empty else ""), *brief_sections(found)]
    console = None if view.plain else stdout_console(io, workspace.paths)
    if console is None:
        io.out(plain_sections(sections))
        return
    open_with = workspace.settings.ui.open_with
    print_sections(console, sections, VaultDocumentLinks(workspace.paths.vault, library, open_with))


def _record(found: "DailyBrief", summary: "ChatMessage | None") -> dict[str, object]:
    tasks = found.tasks
    return {
        "date": found.today,
        "days": found.days,
        "summary": _summary_record(summary) if summary else None,
        "tasks": {
            "overdue": _list_record(tasks.overdue, _task_record),
            "due": _list_record(tasks.due, _task_record),
            "undated": _list_record(tasks.undated, _task_record),
            "later": tasks.later,
            "older": tasks.older,
        },
        "changed": _list_record(found.changed, _note_record),
        "on_this_day": {"ago": found.past_day, **_list_record(found.past, _note_record)},
        "without_links": _list_record(found.orphans, _note_record),
        "unlinked_mentions": _list_record(found.mentions, asdict),
    }


def _list_record(found: "FirstOf[Any]", record: "Callable[[Any], dict[str, object]]") -> dict[str, object]:
    return {"total": found.total, "items": [record(item) for item in found.items]}


def _task_record(task: "OpenTask") -> dict[str, object]:
    return asdict(task)


def _note_record(note: "BriefNote") -> dict[str, object]:
    at = note.date
    return {
        "path": note.path,
        "title": note.title,
        "date": at.day,
        "time": f"{at.time:%H:%M}" if at.time else None,
        "origin": at.origin,
        "is_new": note.is_new,
        "beginning": note.beginning,
    }


def _summary_record(summary: "ChatMessage") -> dict[str, object]:
    return {
        "text": summary.text,
        "model": summary.model,
        "provider": summary.provider,
        "references": [*summary.references],
        "usage": summary.usage,
    }

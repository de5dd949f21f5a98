"""The command that lists models and lets the user choose one, which must answer before it is used."""

from zkchat.errors import ZkchatError
from zkchat.model.providers import ModelRow
from zkchat.render.model_table import model_facts, problem_lines
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome, Switch
from zkchat.repl.commands.arguments import parse_number
from zkchat.repl.interrupts import until_interrupted
from zkchat.repl.pick_list import PickRow


async def model(context: CommandContext, argument: str) -> Outcome:
    is_named = bool(argument) and not argument.isdigit()
    name = _full_name(context, argument) if is_named else await _pick_model(context, argument)
    if not name:
        return NOTHING
    present = context.conversation.model.name
    try:
        is_there = await until_interrupted(context.models.verify(name))
    except ZkchatError as error:
        context.surface.print(f"{error.message} {error.hint}".strip())
        is_there = None
    if is_there is None:
        context.surface.print(f"{present} goes on answering.")
        return NOTHING
    return Switch(session=context.conversation.session_id or None, model=name)


def _full_name(context: CommandContext, typed: str) -> str:
    """The name of the only known model that has this id, where the user left out its provider; else as typed."""
    names = context.models.names
    same = [name for name in names if name.partition(":")[2] == typed]
    return same[0] if typed not in names and len(same) == 1 else typed


async def _pick_model(context: CommandContext, number: str) -> str:
    """The name of the model that the user chooses, or that has that number in the list; empty for none."""
    overview = await until_interrupted(context.models.survey(context.conversation.model))
    if overview is None:
        return ""
    names = [row.name for row in overview.rows]
    if number:
        return names[parse_number(number, len(names), "model", "/model numbers them.") - 1]
    for line in problem_lines([listing for listing in overview.listings if listing.problem]):
        context.surface.print_dimmed(line)
    rows = [_pick_row(row) for row in overview.rows]
    chosen = await context.surface.pick(
        "Which model answers in this session?", rows, "To change it for this session: /model NAME or NUMBER."
    )
    if chosen is not None and overview.rows[chosen].is_in_use:
        context.surface.print(f"{names[chosen]} goes on answering.")
        return ""
    return "" if chosen is None else names[chosen]


def _pick_row(row: ModelRow) -> PickRow:
    return PickRow(name=row.name, about=model_facts(row), search=row.model, is_current=row.is_in_use)


def complete_model(context: CommandContext, text: str) -> list[str]:
    return [name for name in context.models.names if text.casefold() in name.casefold()]

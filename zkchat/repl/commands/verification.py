"""`/verify`: which statements of an answer the notes support."""

from zkchat.errors import UsageError
from zkchat.model.verification import CheckedStatement
from zkchat.render.verification import statement_rows, summary
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome
from zkchat.repl.commands.arguments import answer_numbered, last_answer
from zkchat.repl.commands.places import NEXT_STEP, show_list
from zkchat.repl.vault_browser import Place


async def verify(context: CommandContext, argument: str) -> Outcome:
    from zkchat.vault.verification.verify import verify as verify_text

    message = answer_numbered(context, argument) if argument else last_answer(context)
    if not message.text.strip():
        raise UsageError("That answer has no text to check.")
    found = verify_text(context.browser.refreshed(), message.text)
    context.surface.print_rows(statement_rows(found.statements))
    context.surface.print(summary(found))
    if any(each.places or each.nearest for each in found.statements):
        show_list(context, [_place(each) for each in found.statements])
        context.surface.print_dimmed(NEXT_STEP)
    return NOTHING


def _place(statement: CheckedStatement) -> Place:
    """Where the note says it, or what comes nearest."""
    best = statement.places[0] if statement.places else statement.nearest
    if best is None:
        return Place(path=None, name=statement.text, doubt="No note says it.")
    return Place(path=best.path, line=best.lines.first, name=best.title)

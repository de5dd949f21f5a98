"""`/write`: whether the model may propose changes of notes, and what became of its last proposal."""

from typing import Final

from zkchat.errors import UsageError
from zkchat.model.session import ChangesEntry
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome

_ARGUMENTS: Final = ("on", "off", "status", "diff")
_ON: Final = "The model may propose changes of your notes. You see each as a diff when it has answered, and decide."
_OFF: Final = "The model cannot change your notes. /write on lets it propose changes."
_DECISIONS: Final = {
    "applied": "applied",
    "declined": "declined by you",
    "kept": "not applied",
    "dropped": "not applied",
}


async def write(context: CommandContext, argument: str) -> Outcome:
    wanted = argument.casefold() or "status"
    if wanted not in _ARGUMENTS:
        raise UsageError(f"/write {argument} is not understood.", hint="Use /write on, /write off, or /write diff.")
    if wanted == "diff":
        last = _last_proposal(context)
        if last is None:
            raise UsageError("No change was proposed in this session.")
        context.surface.print(last.diff.removesuffix("\n"))
        return NOTHING
    if wanted != "status":
        context.conversation.writing.allow(wanted == "on")
    _print_status(context)
    return NOTHING


def _print_status(context: CommandContext) -> None:
    context.surface.print(_ON if context.conversation.writing.is_on else _OFF)
    if last := _last_proposal(context):
        reason = f" {last.reason}" if last.reason else ""
        context.surface.print_dimmed(f"Last proposal, {_DECISIONS[last.decision]}: {last.title}.{reason} /write diff")


def _last_proposal(context: CommandContext) -> ChangesEntry | None:
    """The latest of this conversation, not of its other branches."""
    changes = context.conversation.history.changes
    return next((changes[each.id][-1] for each in reversed(context.conversation.messages) if each.id in changes), None)


def complete_write(_context: CommandContext, text: str) -> list[str]:
    return [each for each in _ARGUMENTS if each.startswith(text.casefold())]

"""`/write`: whether the model may propose changes of notes, and what became of its last proposal."""

from collections.abc import Iterator
from typing import Final

from zkchat.chat.proposed_changes import ProposedChanges
from zkchat.errors import UsageError
from zkchat.model.choices import WriteMode
from zkchat.model.entries import ChangesEntry
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome

_ARGUMENTS: Final = ("on", "off", "status", "diff")
_ON: Final = "The model may propose changes of your notes."
_MODES: Final[dict[WriteMode, str]] = {
    "ask": "You see them as a diff when it has answered, and decide (write.mode is ask).",
    "propose": "They are shown, and written nowhere (write.mode is propose).",
}
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
    writing = context.conversation.writing
    if writing.is_on:
        mode: WriteMode = writing.proposals.mode if writing.proposals else "ask"
        context.surface.print(f"{_ON} {_MODES[mode]}")
        if writing.proposals and mode == "ask":
            context.surface.print_dimmed("\n".join(_unasked(writing.proposals)))
    else:
        context.surface.print(_OFF)
    if last := _last_proposal(context):
        undone = {entry.record for entry in _entries(context) if entry.decision == "undone"}
        decision = "applied, and undone since" if last.record in undone else _DECISIONS[last.decision]
        reason = f" {last.reason}" if last.reason else ""
        context.surface.print_dimmed(f"Last proposal, {decision}: {last.title}.{reason} /write diff")


def _unasked(proposals: ProposedChanges) -> Iterator[str]:
    """Where you are not asked."""
    accepted = ", ".join(proposals.accepted) or "nowhere"
    yield f"Applied without a question: {accepted} (write.accept)"
    if proposals.always:
        agreed = ", ".join(folder or "the top folder" for folder in sorted(proposals.always))
        yield f"And in this session, because you pressed a: {agreed}"


def _last_proposal(context: CommandContext) -> ChangesEntry | None:
    return next((entry for entry in reversed(_entries(context)) if entry.decision != "undone"), None)


def _entries(context: CommandContext) -> list[ChangesEntry]:
    """What became of proposals in this conversation, not in its other branches."""
    changes = context.conversation.history.changes
    return [entry for each in context.conversation.messages for entry in changes.get(each.id, [])]


def complete_write(_context: CommandContext, text: str) -> list[str]:
    return [each for each in _ARGUMENTS if each.startswith(text.casefold())]

"""Commands for what the model is sent: the meter, the record of a request, compaction, the model itself."""

from zkchat.errors import UsageError
from zkchat.model.session import compaction_of
from zkchat.render.context_lines import context_lines
from zkchat.repl.arguments import last_answer, message_numbered
from zkchat.repl.command_context import NOTHING, Desk, Outcome, Play, Switch


async def stats(desk: Desk, _argument: str) -> Outcome:
    talk = desk.conversation
    if talk.usage:
        desk.surface.usage(talk.usage)
    else:
        desk.surface.tell("Nothing has been sent to the model yet.")
    window = talk.window
    said = [message for message in talk.messages if compaction_of(message) is None]
    archived = len(said) - len(window.live)
    desk.surface.tell(
        f"{_counted(len(said), 'message')}: {len(window.live)} in the context, {archived} archived, "
        f"{len(window.pinned)} pinned. {_counted(len(window.compactions), 'compaction')} in force."
    )
    desk.surface.aside(f"Model {talk.model.name}. Session {talk.session_id or '(begins with your first message)'}.")
    return NOTHING


async def context(desk: Desk, argument: str) -> Outcome:
    message = message_numbered(desk, argument) if argument else last_answer(desk)
    if message.request_context is None:
        raise UsageError("There is no context data for that message.", hint="Answers have it: /history numbers them.")
    for line in context_lines(message.request_context):
        desk.surface.tell(line)
    for changed in desk.kit().changed(message.request_context):
        desk.surface.aside(changed.sentence)
    if message.request_context.usage:
        desk.surface.usage(message.request_context.usage)
    return NOTHING


async def compact(desk: Desk, argument: str) -> Outcome:
    if not desk.conversation.window.live:
        raise UsageError("There is nothing to compact yet.")
    return Play(desk.conversation.compact(argument))


async def uncompact(desk: Desk, _argument: str) -> Outcome:
    message = desk.conversation.uncompact()
    part = compaction_of(message) if message else None
    if part is None:
        raise UsageError("Nothing is compacted in this conversation.")
    back = _counted(len(part.archived), "message")
    desk.surface.tell(f"Compaction #{part.number} is taken back: {back} in the context again.")
    return NOTHING


async def model(desk: Desk, argument: str) -> Outcome:
    present = desk.conversation.model.name
    if not argument:
        others = [name for name in desk.models() if name != present]
        desk.surface.tell(f"The model is {present}. /model NAME changes it for this conversation.")
        desk.surface.aside(f"Others: {', '.join(others)}" if others else "zkchat models lists what there is.")
        return NOTHING
    return Switch(session=desk.conversation.session_id or None, model=argument)


def names_of_models(desk: Desk, text: str) -> list[str]:
    return [name for name in desk.models() if text.casefold() in name.casefold()]


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")

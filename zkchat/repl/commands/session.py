"""Commands for the items of the session (rules, notes, tools), its agent, and memory."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from zkchat.chat.session_items import SessionItems
from zkchat.context.selection import added_items
from zkchat.errors import UsageError
from zkchat.model.choices import SessionItemType
from zkchat.model.message import ChatMessage
from zkchat.model.note import without_suffix
from zkchat.model.trust import PAGES
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome, Switch
from zkchat.repl.commands.changes import create_file
from zkchat.repl.commands.servers import state_lines

_NEW_PAGE: Final = "What everybody who works with this vault should know.\n"
_USAGE: Final = "Name a note, a rule, a tool or memory: /{0} [[Note]], /{0} rule NAME, /{0} tool NAME, /{0} memory."


async def add(context: CommandContext, argument: str) -> Outcome:
    items = context.items
    offered = items.find(*parse_item("add", argument))
    if offered.is_in:
        raise UsageError(f"{offered.title} is in every request already.")
    _print_cost(context, f"{offered.title} is in every request from now on", *await items.add(offered))
    return NOTHING


async def drop(context: CommandContext, argument: str) -> Outcome:
    items = context.items
    offered = items.find(*parse_item("drop", argument))
    if offered.is_dropped or (offered.item.include == "manual" and not offered.is_added):
        raise UsageError(f"{offered.title} is in no request of this session.")
    _print_cost(context, f"{offered.title} is in no request from now on", *await items.drop(offered))
    return NOTHING


async def rules(context: CommandContext, _argument: str) -> Outcome:
    off = context.items.conversation.profiles.off_rules.values()
    if context.items.offered("rule") or not off:
        _list(context, "rule", "There are no rules yet. Write one: zkchat rules new NAME TEXT.")
    for rule in off:
        context.surface.print_dimmed(f"  {rule.name}  switched off")
    return NOTHING


async def tools(context: CommandContext, _argument: str) -> Outcome:
    outcome = _list(context, "tool", f"{context.conversation.model.name} calls no tools.")
    for line in state_lines(context):
        context.surface.print_dimmed(line)
    if names := ", ".join(_without_room(context.conversation.messages)):
        context.surface.print_dimmed(f"Left out of the last request, where tools had no more room: {names}")
    return outcome


def _without_room(messages: Sequence[ChatMessage]) -> list[str]:
    """The tools that the last request had no room for."""
    record = next((message.request_context for message in reversed(messages) if message.request_context), None)
    left_out = record.left_out if record else ()
    return [left.item.name for left in left_out if left.item.type == "tool" and left.why == "budget"]


async def agent(context: CommandContext, argument: str) -> Outcome:
    conversation = context.items.conversation
    before = conversation.agent
    if not argument:
        context.surface.print(
            f"{before.name} answers. /agent NAME lets another one answer, @NAME only the next message."
        )
        others = (
            f"{each.name}: {each.description}" for each in conversation.profiles.agents.values() if each != before
        )
        off = (f"{each.name}: switched off" for each in conversation.profiles.off_agents.values())
        context.surface.print_dimmed("\n".join(chain(others, off)))
        return NOTHING
    tokens = await context.items.tokens()
    chosen = conversation.use_agent(argument.removeprefix("@"))
    _print_cost(context, f"{chosen.name} answers from now on", tokens, await context.items.tokens())
    has_settings = any(each.context or each.model for each in (before, chosen))
    return Switch(session=conversation.session_id) if has_settings else NOTHING


async def memory(context: CommandContext, _argument: str) -> Outcome:
    items = context.items
    found = next((name for name in PAGES if context.changes.is_taken(name)), None)
    before = await items.tokens()
    page = found or PAGES[0]
    if not found:
        if not await context.surface.confirm(f"There is no {page} in this vault yet. Make one?"):
            context.surface.print_dimmed("Nothing was written.")
            return NOTHING
        create_file(context, page, _NEW_PAGE, command="/memory")
    is_used = context.page_editor.edit(page, is_new=not found)
    _print_cost(context, _use_of_page(items, page, is_approved=is_used), before, await items.tokens())
    return NOTHING


def _use_of_page(items: SessionItems, page: str, *, is_approved: bool) -> str:
    state = items.memory_state
    if not state.is_on:
        return f"{page} is in no request: {state.reason}"
    if page in state.dropped:
        return f"{page} is in no request of this session: dropped by you"
    return f"{page} is in every request" if is_approved else f"{page} is in no request until you approve: zkchat trust"


async def remember(context: CommandContext, argument: str) -> Outcome:
    if not argument:
        raise UsageError("What is to be remembered?", hint="/remember My thesis is due on 30 June.")
    context.surface.print(context.items.conversation.remember(argument).sentence)
    return NOTHING


def complete_item(context: CommandContext, text: str) -> list[str]:
    """Complete rules and tools; notes are completed wherever `[[` is typed."""
    conversation = context.items.conversation
    rules = (f"rule {rule.name}" for rule in conversation.profiles.rules.values())
    tools = (f"tool {tool.called}" for tool in conversation.tools)
    return _beginning_with(text, chain(rules, tools, ["memory"]))


def complete_item_to_drop(context: CommandContext, text: str) -> list[str]:
    items = added_items(context.items.conversation.history.items).values()
    notes = (f"[[{without_suffix(item.name)}]]" for item in items if item.type == "reference")
    return [*_beginning_with(text, notes), *complete_item(context, text)]


def complete_agent(context: CommandContext, text: str) -> list[str]:
    agents = context.items.conversation.profiles.agents.values()
    return _beginning_with(text.removeprefix("@"), (each.name for each in agents))


def _beginning_with(text: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.casefold().startswith(text.casefold())]


def parse_item(command: str, argument: str) -> tuple[SessionItemType, str]:
    """Parse `[[Note]]`, `rule NAME`, `tool NAME` or `memory` into its kind and name."""
    first, _, rest = argument.partition(" ")
    if argument.casefold() == "memory":
        return "memory", "memory"
    kind: dict[str, SessionItemType] = {"rule": "rule", "tool": "tool", "note": "reference"}
    if argument.startswith("[["):
        return "reference", argument
    if first.casefold() not in kind or not rest.strip():
        raise UsageError(_USAGE.format(command))
    return kind[first.casefold()], rest.strip()


def _list(context: CommandContext, kind: SessionItemType, otherwise: str) -> Outcome:
    every = context.items.offered(kind)
    if not every:
        raise UsageError(otherwise)
    width = max(len(each.called) for each in every)
    for each in every:
        item, tell = each.item, context.surface.print if each.is_in else context.surface.print_dimmed
        mark, state = ("*" if each.is_in else " "), "" if each.is_in and not each.is_added else each.state
        tell(f"{mark} {each.called:<{width}}  {f'[{item.include}]':<8}  {item.tokens:>5,} tokens  {state}".rstrip())
    if any(each.is_in for each in every):
        context.surface.print_dimmed("* in every request")
    return NOTHING


def _print_cost(context: CommandContext, sentence: str, before: int, after: int) -> None:
    context.surface.print(f"{sentence}. A request without a question: {before:,} → {after:,} tokens.")

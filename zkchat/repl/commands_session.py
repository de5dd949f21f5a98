"""Commands for what every request of the session holds: rules, notes and tools, who answers, what is remembered."""

from collections.abc import Iterable
from itertools import chain
from typing import Final

from zkchat.chat.session_items import Kind
from zkchat.context.selection import added_items
from zkchat.errors import UsageError
from zkchat.memory.project import FILES
from zkchat.repl.command_context import NOTHING, Desk, Outcome, Switch

_PAGE: Final = "What everybody who works with this vault should know.\n"
_HOW: Final = "Name a note, a rule or a tool: /{0} [[Note]], /{0} rule NAME, /{0} tool NAME."


async def add(desk: Desk, argument: str) -> Outcome:
    kit = desk.kit()
    offered = kit.find(*meant("add", argument))
    if offered.is_in:
        raise UsageError(f"{offered.item.name} is in every request already.")
    _tell_change(desk, f"{offered.item.name} is in every request from now on", *await kit.add(offered))
    return NOTHING


async def drop(desk: Desk, argument: str) -> Outcome:
    kit = desk.kit()
    offered = kit.find(*meant("drop", argument))
    if offered.is_dropped or (offered.item.include == "manual" and not offered.is_added):
        raise UsageError(f"{offered.item.name} is in no request of this session.")
    _tell_change(desk, f"{offered.item.name} is in no request from now on", *await kit.drop(offered))
    return NOTHING


async def rules(desk: Desk, _argument: str) -> Outcome:
    return _list(desk, "rule", "There are no rules yet. Write one: zkchat rules new NAME TEXT.")


async def tools(desk: Desk, _argument: str) -> Outcome:
    return _list(desk, "tool", f"{desk.conversation.model.name} calls no tools.")


async def agent(desk: Desk, argument: str) -> Outcome:
    talk = desk.kit().conversation
    before = talk.agent
    if not argument:
        desk.surface.tell(f"{before.name} answers. /agent NAME lets another one answer, @NAME only the next message.")
        others = (f"{each.name}: {each.description}" for each in talk.profiles.agents.values() if each != before)
        desk.surface.aside("\n".join(others))
        return NOTHING
    tokens = await desk.kit().tokens()
    chosen = talk.use_agent(argument.removeprefix("@"))
    _tell_change(desk, f"{chosen.name} answers from now on", tokens, await desk.kit().tokens())
    has_settings = any(each.context or each.model for each in (before, chosen))
    return Switch(session=talk.session_id) if has_settings else NOTHING


async def memory(desk: Desk, _argument: str) -> Outcome:
    kit = desk.kit()
    found = next((name for name in FILES if not desk.notes.is_free(name)), None)
    before = await kit.tokens()
    page = found or FILES[0]
    if not found:
        if not await desk.surface.confirm(f"There is no {page} in this vault yet. Make one?"):
            desk.surface.aside("Nothing was written.")
            return NOTHING
        desk.notes.create(page, _PAGE)
    is_used = desk.edit_page(page, not found)
    sentence = f"{page} is in every request" if is_used else f"{page} is in no request until you approve: zkchat trust"
    _tell_change(desk, sentence, before, await kit.tokens())
    return NOTHING


async def remember(desk: Desk, argument: str) -> Outcome:
    if not argument:
        raise UsageError("What is to be remembered?", hint="/remember My thesis is due on 30 June.")
    desk.surface.tell(desk.kit().conversation.remember(argument).sentence)
    return NOTHING


def things(desk: Desk, text: str) -> list[str]:
    """Rules and tools; notes are completed wherever `[[` is typed."""
    talk = desk.kit().conversation
    rules = (f"rule {rule.name}" for rule in talk.profiles.rules.values())
    tools = (f"tool {tool.name}" for tool in talk.tools)
    return _beginning_with(text, chain(rules, tools))


def things_to_drop(desk: Desk, text: str) -> list[str]:
    items = added_items(desk.kit().conversation.history.items).values()
    notes = (f"[[{item.name.removesuffix('.md')}]]" for item in items if item.type == "reference")
    return [*_beginning_with(text, notes), *things(desk, text)]


def names_of_agents(desk: Desk, text: str) -> list[str]:
    agents = desk.kit().conversation.profiles.agents.values()
    return _beginning_with(text.removeprefix("@"), (each.name for each in agents))


def _beginning_with(text: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.casefold().startswith(text.casefold())]


def meant(command: str, argument: str) -> tuple[Kind, str]:
    """What kind of thing was named, and its name."""
    first, _, rest = argument.partition(" ")
    kind: dict[str, Kind] = {"rule": "rule", "tool": "tool", "note": "reference"}
    if argument.startswith("[["):
        return "reference", argument
    if first.casefold() not in kind or not rest.strip():
        raise UsageError(_HOW.format(command))
    return kind[first.casefold()], rest.strip()


def _list(desk: Desk, kind: Kind, otherwise: str) -> Outcome:
    every = desk.kit().offered(kind)
    if not every:
        raise UsageError(otherwise)
    width = max(len(each.item.name) for each in every)
    for each in every:
        item, tell = each.item, desk.surface.tell if each.is_in else desk.surface.aside
        mark, state = ("*" if each.is_in else " "), "" if each.is_in and not each.is_added else each.state
        tell(f"{mark} {item.name:<{width}}  {f'[{item.include}]':<8}  {item.tokens:>5,} tokens  {state}".rstrip())
    if any(each.is_in for each in every):
        desk.surface.aside("* in every request")
    return NOTHING


def _tell_change(desk: Desk, sentence: str, before: int, after: int) -> None:
    desk.surface.tell(f"{sentence}. A request without a question: {before:,} → {after:,} tokens.")

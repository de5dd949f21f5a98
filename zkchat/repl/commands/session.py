"""Commands for the session: its rules, notes, tools, servers, agent, model, goals and writing."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final

from zkchat.chat import ProposedChanges, SessionItems, added_items
from zkchat.core import (
    PAGES,
    ChangesEntry,
    ServerPrompt,
    SessionItemType,
    UsageError,
    WriteMode,
    ZkchatError,
    shorten,
    shown_model,
    without_password,
    without_suffix,
)
from zkchat.render import checklist_lines, end_sentence, model_facts, phrases, problem_lines
from zkchat.repl.command_context import CommandContext, Outcome, Play, Send, Switch, slash
from zkchat.repl.commands.answer import create_file
from zkchat.repl.commands.places import one_of, parse_number
from zkchat.repl.loop import until_interrupted
from zkchat.repl.picker import PickRow

RESUME: Final = "resume"


@slash("goal [GOAL]", "a task in many steps", complete=one_of(RESUME))
async def goal(context: CommandContext, argument: str) -> Outcome:
    """The model makes a plan, which you can change, works through its steps one by one, and the result is checked
    against your notes. Ctrl-C keeps what is done, /goal resume continues with the first open step. With /write on, you
    review its changes at the end. Without GOAL, shows the checklist. The limits are the settings goal.steps,
    goal.tokens and goal.minutes.
    """
    if argument.casefold() == RESUME:
        return Play(context.goals.resume())
    if argument:
        return Play(context.goals.start(argument))
    found = context.goals.goal
    if found is None:
        raise UsageError("There is no goal in this session.", hint="To start one: /goal and what you want to get done.")
    context.surface.print(found.text)
    for line in checklist_lines(found):
        context.surface.print(line)
    context.surface.print_dimmed(end_sentence(found) if found.state != "running" else "Not finished.")
    if found.can_go_on:
        context.surface.print_dimmed("/goal resume continues it.")
    return None


def complete_model(context: CommandContext, text: str) -> list[str]:
    return [name for name in context.models.names if text.casefold() in name.casefold()]


@slash("model [NAME]", "which model answers", complete=complete_model)
async def model(context: CommandContext, argument: str) -> Outcome:
    """Choose from a list with context windows and where models run. With NAME, use that one from now on, for instance
    ollama:qwen3:8b or quote; the session keeps it.
    """
    is_named = bool(argument) and not argument.isdigit()
    if "://" in argument:
        row = await until_interrupted(context.models.of_server(argument))
        goes = "The server is on another machine. It gets your notes, except private ones, and your API key if set. "
        question = f"Use {{}}, and set openai.base_url to {without_password(argument)} in your settings?"
        question = question if row and row.on_this_machine else goes + question
        if row is None or not await context.surface.confirm(question.format(shown_model(row.name))):
            context.surface.print(f"{context.conversation.model.shown} still answers.")
            return None
        context.models.keep_server(argument)
        return Switch(session=context.conversation.session_id or None, model=row.name)
    name = _full_name(context, argument) if is_named else await _pick_model(context, argument)
    if not name:
        return None
    present = context.conversation.model.shown
    try:
        is_there = await until_interrupted(context.models.verify(name))
    except ZkchatError as error:
        context.surface.print(f"{error.message} {error.hint}".strip())
        is_there = None
    if is_there is None:
        context.surface.print(f"{present} still answers.")
        return None
    return Switch(session=context.conversation.session_id or None, model=name)


def _full_name(context: CommandContext, typed: str) -> str:
    """The name of the only known model that has this id, or else holds what was typed; where there is none, that."""
    names = context.models.names
    same = [name for name in names if typed in {shown_model(name), name.partition(":")[2]}]
    same = same or [name for name in names if ":" not in typed and typed.casefold() in name.casefold()]
    return same[0] if typed not in names and len(same) == 1 else typed


async def _pick_model(context: CommandContext, number: str) -> str:
    """The name of the model that the user chooses, or that has that number in the list; empty for none."""
    overview = await until_interrupted(context.models.survey(context.conversation.model))
    if overview is None:
        return ""
    names = [row.name for row in overview.rows]
    if number:
        return names[parse_number(number, len(names), "model", "/model shows the numbers.") - 1]
    for line in problem_lines([listing for listing in overview.listings if listing.problem]):
        if line not in context.models.told:
            context.surface.print_dimmed(line)
            context.models.told.add(line)
    rows = [
        PickRow(name=shown_model(row.name), about=model_facts(row), search=row.model, is_current=row.is_in_use)
        for row in overview.rows
    ]
    chosen = await context.surface.pick(
        "Which model answers in this session?", rows, "To change it for this session: /model NAME or NUMBER."
    )
    if chosen is not None and overview.rows[chosen].is_in_use:
        context.surface.print(f"{names[chosen]} still answers.")
        return ""
    return "" if chosen is None else names[chosen]


_MAX_SHOWN = 600
"""Characters of a prompt's text that are shown as it is sent."""
_MAX_DESCRIPTION = 60
_STATES: Mapping[str, str] = {
    "waiting": "is not connected yet",
    "connecting": "is being connected",
    "lost": "is no longer connected; it is connected again when one of its tools is called",
    "failed": "cannot be used",
}


def split_prompt(context: CommandContext, name: str) -> tuple[str, str] | None:
    """Server and prompt of `server:prompt`, where there is such a server."""
    server, colon, prompt = name.partition(":")
    servers = context.servers
    return (server, prompt) if colon and servers and server in servers.names() else None


async def send_prompt(context: CommandContext, server: str, name: str, argument: str) -> Send:
    """Have a server write a question, which is then asked as if the user had typed it."""
    assert context.servers is not None
    status = await context.servers.connected(server)
    prompt = next((each for each in status.prompts if command_name(each) == name), None)
    if prompt is None:
        known = ", ".join(f"/{server}:{command_name(each)}" for each in status.prompts[:5])
        raise UsageError(
            status.problem or f"The MCP server {server} has no prompt {name}.", hint=known and f"Choose from: {known}."
        )
    answer = await context.servers.servers.prompt(server, prompt.name, parse_arguments(prompt, argument))
    if answer.failed or not answer.text.strip():
        raise UsageError(answer.text or f"The prompt {name} of {server} is empty.", hint=answer.hint)
    # Unable to name resources of servers, which only the user does.
    servers = "|".join(re.escape(status.name) for status in context.servers.servers.statuses())
    text = re.sub(rf'@(?="?(?:{servers}):)', "@\u200b", answer.text.strip())
    context.surface.print_dimmed(shorten(text, _MAX_SHOWN))
    return Send(text)


def parse_arguments(prompt: ServerPrompt, written: str) -> dict[str, str]:
    """The arguments of a prompt: `name=value`, or values in order, the last of which takes the rest.

    Raises `UsageError` where a required one is missing.
    """
    names = [argument.name for argument in prompt.arguments]
    try:
        words = shlex.split(written)
    except ValueError:
        words = written.split()
    given: dict[str, str] = {}
    plain: list[str] = []
    for word in words:
        name, is_named, value = word.partition("=")
        if is_named and name in names and name not in given:
            given[name] = value
        else:
            plain.append(word)
    left = [name for name in names if name not in given]
    for place, name in enumerate(left):
        is_last = place == len(left) - 1
        if taken := plain[place:] if is_last else plain[place : place + 1]:
            given[name] = " ".join(taken)
    missing = [argument.name for argument in prompt.arguments if argument.is_required and argument.name not in given]
    if missing:
        usage = " ".join([f"/{prompt.server}:{command_name(prompt)}", *(f"{name}=…" for name in missing)])
        raise UsageError(f"The prompt {prompt.name} needs {' and '.join(missing)}.", hint=f"Write it: {usage}")
    return given


def prompt_completions(context: CommandContext, typed: str) -> Iterator[tuple[str, str]]:
    """The prompts whose commands begin with what was typed, each with what it is for."""
    for status in context.servers.servers.statuses() if context.servers else ():
        for prompt in status.prompts:
            command = f"/{status.name}:{command_name(prompt)}"
            if command.casefold().startswith(f"/{typed}".casefold()):
                yield command, shorten(" ".join(prompt.description.split()), _MAX_DESCRIPTION)


def state_lines(context: CommandContext) -> Iterator[str]:
    """A line for each server whose tools are not all there."""
    for status in context.servers.servers.statuses() if context.servers else ():
        if status.state == "ready":
            yield from [] if status.tools else [f"The MCP server {status.name} has no tools."]
        elif status.state != "disabled":
            sentence = status.problem or f"The MCP server {status.name} {_STATES[status.state]}."
            more = f" More: zkchat config servers check {status.name}" if status.state == "failed" else ""
            yield sentence + more


def command_name(prompt: ServerPrompt) -> str:
    """A prompt's name as it is typed: without spaces."""
    return re.sub(r"\s+", "_", prompt.name)


_ARGUMENTS: Final = ("on", "off", "status", "diff")
_MODES: Final[dict[WriteMode, str]] = {
    "ask": "After the answer you see them as a diff, and decide (write.mode is ask).",
    "propose": "They are only shown, and never applied (write.mode is propose).",
}
_DECISIONS: Final = {
    "applied": "applied",
    "declined": "declined by you",
    "kept": "not applied",
    "dropped": "not applied",
}


@slash("write [on]", "model may edit notes", complete=one_of(*_ARGUMENTS))
async def write(context: CommandContext, argument: str) -> None:
    """/write on lets the model propose changes to your notes: you see each as a diff after the answer, and say yes or
    no. /write off stops that. /write alone tells whether it is on, in which folders you are not asked, and what
    happened to the last proposal; /write diff shows that proposal.
    """
    wanted = argument.casefold() or "status"
    if wanted not in _ARGUMENTS:
        raise UsageError(f"There is no /write {argument}.", hint="Use /write on, /write off, or /write diff.")
    if wanted == "diff":
        last = _last_proposal(context)
        if last is None:
            raise UsageError("No change was proposed in this session.")
        context.surface.print(last.diff.removesuffix("\n"))
        return
    if wanted != "status":
        context.conversation.writing.allow(wanted == "on")
    writing = context.conversation.writing
    if writing.is_on:
        mode: WriteMode = writing.proposals.mode if writing.proposals else "ask"
        context.surface.print(f"The model may propose changes to your notes. {_MODES[mode]}")
        if writing.proposals and mode == "ask":
            context.surface.print_dimmed("\n".join(_unasked(writing.proposals)))
    else:
        context.surface.print("The model cannot change your notes. /write on lets it propose changes.")
    if last := _last_proposal(context):
        undone = {entry.record for entry in _entries(context) if entry.decision == "undone"}
        decision = "applied, and undone since" if last.record in undone else _DECISIONS[last.decision]
        reason = f" {last.reason}" if last.reason else ""
        context.surface.print_dimmed(f"Last proposal, {decision}: {last.title}.{reason} To see it: /write diff")


def _unasked(proposals: ProposedChanges) -> Iterator[str]:
    """Where you are not asked."""
    accepted = ", ".join(proposals.accepted) or "none"
    yield f"Folders where you are not asked first (write.accept): {accepted}"
    if proposals.always:
        agreed = ", ".join(folder or "the top folder" for folder in sorted(proposals.always))
        yield f"Also in this session, because you answered “a”: {agreed}"


def _last_proposal(context: CommandContext) -> ChangesEntry | None:
    return next((entry for entry in reversed(_entries(context)) if entry.decision != "undone"), None)


def _entries(context: CommandContext) -> list[ChangesEntry]:
    """What became of proposals in this conversation, not in its other branches."""
    changes = context.conversation.history.changes
    return [entry for each in context.conversation.messages for entry in changes.get(each.id, [])]


_WHAT_PAGE: Final = "a note in your vault for what the model should always know, is sent with every message."
_USAGE: Final = "Give a note, a rule, a tool or memory: /{0} [[Note]], /{0} rule NAME, /{0} tool NAME, /{0} memory."


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


@slash("add WHAT", "send it every time", complete=complete_item)
async def add(context: CommandContext, argument: str) -> None:
    """/add [[Note]], /add rule NAME, /add tool NAME or /add memory: it is sent with every message of this session, now
    and later. You see how many tokens that takes.
    """
    items = context.items
    offered = items.find(*parse_item("add", argument))
    if offered.is_in:
        raise UsageError(f"{offered.title} is sent with every message already.")
    _print_cost(context, f"{offered.title} is sent with every message from now on", *await items.add(offered))


@slash("drop WHAT", "do not send it again", complete=complete_item_to_drop)
async def drop(context: CommandContext, argument: str) -> None:
    """/drop [[Note]], /drop rule NAME, /drop tool NAME or /drop memory (ZKCHAT.md and facts): it is no longer sent in
    this session.
    """
    items = context.items
    offered = items.find(*parse_item("drop", argument))
    if offered.is_dropped or (offered.item.include == "manual" and not offered.is_added):
        raise UsageError(f"{offered.title} is not sent in this session.")
    _print_cost(context, f"{offered.title} is not sent from now on", *await items.drop(offered))


@slash("rules", "rules of the session")
async def rules(context: CommandContext, _argument: str) -> None:
    """Lists the rules, when each is sent and how many tokens it takes; * marks those sent every time."""
    off = context.items.conversation.profiles.off_rules.values()
    if context.items.offered("rule") or not off:
        _list(context, "rule", "There are no rules yet. Create one: zkchat memory rules new NAME TEXT.")
    for rule in off:
        context.surface.print_dimmed(f"  {rule.name}  switched off")


@slash("tools", "what the model can do")
async def tools(context: CommandContext, _argument: str) -> None:
    """Lists the tools, when each is sent and how many tokens it takes; * marks those sent every time. Tools of MCP
    servers are called server/tool; if a server cannot be used, you see why.
    """
    _list(context, "tool", f"{context.conversation.model.shown} has no tools: it can only answer.")
    for line in state_lines(context):
        context.surface.print_dimmed(line)
    messages = context.conversation.messages
    record = next((message.request_context for message in reversed(messages) if message.request_context), None)
    left_out = [each for each in record.left_out if each.item.type == "tool"] if record else []
    if names := ", ".join(left.item.name for left in left_out if left.why == "budget"):
        context.surface.print_dimmed(f"Not offered to the model, as there was no room: {names}")


@slash("agent [NAME]", "who answers", complete=complete_agent)
async def agent(context: CommandContext, argument: str) -> Outcome:
    """With NAME, use that agent from now on in this session. @NAME at the start of a message is for that message
    only.
    """
    conversation = context.items.conversation
    before = conversation.agent
    if not argument:
        context.surface.print(
            f"Agent {before.name} answers. /agent NAME chooses another, @NAME before a message only for that message."
        )
        others = (
            f"{each.name}: {each.description}" for each in conversation.profiles.agents.values() if each != before
        )
        off = (f"{each.name}: switched off" for each in conversation.profiles.off_agents.values())
        context.surface.print_dimmed("\n".join(chain(others, off)))
        return None
    tokens = await context.items.tokens()
    chosen = conversation.use_agent(argument.removeprefix("@"))
    _print_cost(context, f"{chosen.name} answers now", tokens, await context.items.tokens())
    has_settings = any(each.context or each.model for each in (before, chosen))
    return Switch(session=conversation.session_id) if has_settings else None


@slash("memory [FACT]", "keep a fact for later")
async def memory(context: CommandContext, argument: str) -> None:
    """The fact is used in other sessions when it is relevant; zkchat memory list shows all facts. With @NAME before
    FACT, only that agent gets it. Without FACT, opens ZKCHAT.md, which is part of every conversation about this vault,
    in your editor. If there is none, you can create it.
    """
    if argument.partition(" ")[0] in {"forget", "list", "delete", "remove"}:
        hint = "In a shell, zkchat memory list shows all facts, and zkchat memory forget ID deletes one."
        raise UsageError("/memory FACT keeps a fact.", hint=hint)
    if argument:
        await remember.run(context, argument)
        return
    items = context.items
    found = next((name for name in PAGES if context.changes.is_taken(name)), None)
    before = await items.tokens()
    page = found or PAGES[0]
    if not found:
        if not await context.surface.confirm(f"{page}, {_WHAT_PAGE} It does not exist yet. Create it?"):
            context.surface.print_dimmed("Nothing was written.")
            return
        create_file(context, page, "What everyone who works with this vault should know.\n", command="/memory")
    is_used = context.edit_page(page, not found)
    _print_cost(context, _use_of_page(items, page, is_approved=is_used), before, await items.tokens())


def _use_of_page(items: SessionItems, page: str, *, is_approved: bool) -> str:
    state = items.memory_state
    if not state.is_on:
        return f"{page} is not sent: {state.reason}"
    if page in state.dropped:
        return f"{page} is not sent in this session: dropped by you"
    return (
        f"{page} is sent with every message"
        if is_approved
        else f"{page} is not sent until you approve: zkchat config trust"
    )


@slash("remember TEXT", "keep a fact for later")
async def remember(context: CommandContext, argument: str) -> None:
    """The fact is used in other sessions when it is relevant. zkchat memory list shows all facts. With @NAME before
    TEXT, only that agent gets it.
    """
    if not argument:
        raise UsageError("What should zkchat remember?", hint="For example: /remember My thesis is due on 30 June.")
    context.surface.print(context.items.conversation.remember(argument).sentence)


def _list(context: CommandContext, kind: SessionItemType, otherwise: str) -> None:
    every = context.items.offered(kind)
    if not every:
        raise UsageError(otherwise)
    width = max(len(each.called) for each in every)
    for each in every:
        item, tell = each.item, context.surface.print if each.is_in else context.surface.print_dimmed
        mark, state = ("*" if each.is_in else " "), "" if each.is_in and not each.is_added else each.state
        tell(f"{mark} {each.called:<{width}}  {f'[{item.include}]':<8}  {item.tokens:>5,} tokens  {state}".rstrip())
    if any(each.is_in for each in every):
        context.surface.print_dimmed("* sent every time")


def _print_cost(context: CommandContext, sentence: str, before: int, after: int) -> None:
    takes = f"Each question now sends {after:,} tokens besides its own words ({before:,} before)."
    is_quoting = context.items.conversation.model.needs_notes
    context.surface.print(f"{sentence}. {phrases.KEPT_FOR_A_MODEL if is_quoting else takes}")

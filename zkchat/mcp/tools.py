"""The tools of the vault, actions among them, as MCP describes and calls them."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct
from msgspec.structs import asdict

from zkchat.actions import Action, Vault, every_action
from zkchat.chat import Arguments, FunctionTool, explore_tools, full_schema_of
from zkchat.core import CHANGE_TOOLS, Tool, ZkchatError, is_note, shorten, utc_now
from zkchat.hosting import arguments_of
from zkchat.index import Library, Progress
from zkchat.mcp.service import OpenVault, Question, Settled, VaultService, uri_of
from zkchat.mcp.vault_tools import (
    Answer,
    AskVault,
    CallFailed,
    Changed,
    Document,
    FetchNote,
    Hits,
    Reading,
    SearchNotes,
    Source,
    VaultAnswer,
    VerifiedText,
    VerifyQuotes,
    ask_vault,
    fetch,
    run_validated,
    schema_of,
    search,
    verify_quotes,
)
from zkchat.render import plain_sections
from zkchat.writing import PROPOSED, write_tools

Context: TypeAlias = ServerRequestContext[Any, Any]

MAX_TEXT_CHARS: Final = 100_000
"""Characters of a text that one call gives."""
PROGRESS_SECONDS: Final = 0.2
"""From one notification of progress to the next."""
REVIEW: Final = "review"
"""The key of the question about a change."""
DECLINED: Final = "The user declined it: nothing was changed. Do not propose it again unasked."
UNASKED: Final = "The user could not be asked: nothing was changed."

_UNOPENED: Final[Any] = SimpleNamespace(library=None, staged=None)
"""Stands for a vault where only the descriptions of tools are wanted: what they are made over is used when called."""
_SAID_TO_HOSTS: Final[Mapping[str, str]] = {
    "find_excerpts": "Find passages of notes by words and filters, for more than ask_vault quotes."
}
"""Of tools that the chat has too: what they are for where there is ask_vault."""
_ABOUT: Final[Mapping[str, str]] = {
    "relative_path": "The note: its path in the vault, its title or a [[link]].",
    "offset": "Character to go on at, for a long note.",
    "after": "Only notes from then on: 2026-01-31, or words such as last week.",
    "before": "Only notes up to then: 2026-01-31, or words such as last week.",
    "limit": "How many at most.",
    "wikilink": "The link as it is written, such as [[Note#Heading]].",
    "folder": "A folder of the vault; empty for its root.",
    "tag": "A tag, without its #.",
    "text": "What is written, in Markdown.",
    "old": "The passage as it stands in the note, word for word.",
    "new": "What takes its place; empty to take it away.",
    "expected": "How often the passage stands there.",
    "include_children": "Whether the sections below it belong to it.",
    "key": "The name of the property.",
    "section": "The heading that it goes under; empty for the end of the note.",
    "template": "The name of the template.",
    "title": "The title of the new note.",
    "new_name": "The new name, without its folder.",
}
"""What arguments are that say nothing of themselves."""


class HostTool(Struct, frozen=True, kw_only=True):
    name: str
    description: str
    arguments: type[Arguments]
    answer: type[Answer]
    read: Callable[[OpenVault, str], Answer] | None = None
    """Answers a call with JSON arguments. Raises `CallFailed`. None for a tool that changes notes."""

    def described(self) -> types.Tool:
        change = None if self.read else CHANGE_TOOLS[self.name]
        schema = full_schema_of(self.arguments)
        # Every argument described: models of the chat do without, so that their definitions are short.
        named = schema.get("properties", {})
        described = {name: {"description": _ABOUT.get(name, ""), **each} for name, each in named.items()}
        properties = {name: dict(sorted(each.items())) for name, each in described.items()}
        return types.Tool(
            name=self.name,
            title=self.name.replace("_", " ").capitalize(),
            description=self.description,
            input_schema={**schema, "properties": properties},
            output_schema=schema_of(self.answer),
            annotations=types.ToolAnnotations(
                read_only_hint=self.read is not None,
                destructive_hint=change is not None and change.takes_away,
                idempotent_hint=change is None or change.twice_is_once,
                open_world_hint=False,
            ),
        )


def tools_for(*, may_write: bool) -> dict[str, HostTool]:
    """The tools by name, in the order in which they are listed."""
    about_ask = (
        "Find what the notes say on a question: passages word for word, with note, lines and link, and whether "
        "they answer it. Use it first for any question about the notes."
    )
    about_verify = (
        "Check a draft against the notes, sentence by sentence: which stand there word for word or nearly, and "
        "where, and which do not. Use it before you give an answer that quotes notes."
    )
    own = [
        _own("ask_vault", about_ask, AskVault, VaultAnswer, partial(ask_vault, lists=True)),
        _own("verify_quotes", about_verify, VerifyQuotes, VerifiedText, verify_quotes),
        _own("search", "Find notes by words. Gives ids for fetch.", SearchNotes, Hits, search),
        _own("fetch", "Read a note that search found, by its id.", FetchNote, Document, fetch),
    ]
    chat = [_of_chat(tool) for tool in explore_tools(_UNOPENED, utc_now)]
    changing = [_of_chat(tool, changes=True) for tool in write_tools(_UNOPENED, _UNOPENED)] if may_write else []
    actions = [_of_action(action) for action in every_action().values() if action.for_hosts]
    return {tool.name: tool for tool in (*own, *actions, *chat, *changing)}


def _own(
    name: str, description: str, arguments: type[Arguments], answer: type[Answer], act: Callable[[Library, Any], Answer]
) -> HostTool:
    def read(vault: OpenVault, given: str) -> Answer:
        return run_validated(name, arguments, given, partial(act, vault.library))

    return HostTool(name=name, description=description, arguments=arguments, answer=answer, read=read)


def _of_chat(tool: Tool, *, changes: bool = False) -> HostTool:
    assert isinstance(tool, FunctionTool)
    name = tool.name

    def read(vault: OpenVault, given: str) -> Answer:
        outcome = vault.read(name, given)
        if outcome.failed:
            raise CallFailed(outcome.text)
        sources = [Source.of(reference) for reference in outcome.references if reference.relative_path]
        return Reading(text=shorten(outcome.text, MAX_TEXT_CHARS), sources=sources)

    return HostTool(
        name=name,
        description=_SAID_TO_HOSTS.get(name, tool.description),
        arguments=tool.arguments,
        answer=Changed if changes else Reading,
        read=None if changes else read,
    )


class ToolHandlers:
    """Answers `tools/list` and `tools/call`."""

    def __init__(self, service: VaultService) -> None:
        self._service = service
        self._tools = tools_for(may_write=service.options.may_write)

    async def list_tools(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        if params and params.cursor:
            raise MCPError(types.INVALID_PARAMS, "The list of tools has one page.")
        return types.ListToolsResult(tools=[tool.described() for tool in self._tools.values()])

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {shorten(params.name, 100)}")
        arguments, read = json.dumps(params.arguments or {}, ensure_ascii=False), tool.read
        try:
            if read is None:
                return await self._changed(tool.name, arguments, context, params)
            answer = await self._service.use(lambda vault: read(vault, arguments), progress_to(context))
        except CallFailed as error:
            return _failed(str(error))
        except ZkchatError as error:
            return _failed(f"{error.message} {error.hint}".strip())
        return _answered(answer, context)

    async def _changed(
        self, tool: str, arguments: str, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        can_ask, agreed = can_ask_user(context), ""

        def propose(vault: OpenVault) -> Question | Settled:
            assert vault.changes is not None
            return vault.changes.call(tool, arguments, can_ask=can_ask, agreed=agreed)

        if params.request_state is not None:
            answer = (params.input_responses or {}).get(REVIEW)
            if not isinstance(answer, types.ElicitResult) or answer.action != "accept":
                return _failed(DECLINED)
            agreed = params.request_state
        for _ in range(3):  # where the notes change meanwhile
            outcome = await self._service.use(propose, progress_to(context))
            if isinstance(outcome, Settled):
                text = outcome.text.replace(PROPOSED, "").strip()
                changed = Changed(text=text, title=outcome.title, paths=[*outcome.paths], change=outcome.record)
                return _failed(outcome.text) if outcome.failed else _answered(changed, context)
            question = types.ElicitRequestFormParams(
                message=outcome.message, requested_schema={"type": "object", "properties": {}}
            )
            if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                request = types.ElicitRequest(params=question)
                return types.InputRequiredResult(input_requests={REVIEW: request}, request_state=outcome.state)
            try:
                said = await context.session.elicit_form(
                    question.message, question.requested_schema, related_request_id=context.request_id
                )
            except MCPError:
                return _failed(UNASKED)
            if said.action != "accept":
                return _failed(DECLINED)
            agreed = outcome.state
        return _failed("The notes kept changing, so nothing was written.")


def can_ask_user(context: Context) -> bool:
    """Whether the client can show its user a question that is answered with yes or no."""
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return False
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS or context.session.can_send_request


def progress_to(context: Context) -> Progress:
    """Tells the client how far the indexing is, if it asked for that. Called in the worker's thread."""
    loop, last = asyncio.get_running_loop(), time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= PROGRESS_SECONDS and not loop.is_closed():
            last = now
            said = context.session.report_progress(done, total, "Indexing notes")
            asyncio.run_coroutine_threadsafe(said, loop)

    return report


def _answered(answer: Answer, context: Context) -> types.CallToolResult:
    """An answer, with a link to each note that it comes from where the protocol knows such links."""
    knows_links = context.protocol_version >= "2025-06-18"
    titles = [*_titles(answer).items()][:50] if knows_links else []
    links = [
        types.ResourceLink(
            name=path, title=title, uri=uri_of(path), mime_type="text/markdown" if is_note(path) else None
        )
        for path, title in titles
    ]
    said = answer.model_dump(mode="json", exclude_defaults=True)  # what is empty says nothing
    text = types.TextContent(text=json.dumps(said, ensure_ascii=False, separators=(",", ":")))
    return types.CallToolResult(content=[text, *links], structured_content=said)


def _titles(answer: Answer) -> dict[str, str]:
    """The notes that an answer comes from; what only comes nearest is no source."""
    match answer:
        case Changed():
            return {path: path for path in answer.paths}
        case Reading():
            return {each.path: each.title for each in answer.sources}
        case VaultAnswer():
            return {each.path: each.title for kind in (answer.sources, answer.quotes) for each in kind}
        case VerifiedText():
            return {place.path: place.title for statement in answer.statements for place in statement.places}
    return {}


def _failed(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=shorten(sentence, MAX_TEXT_CHARS))], is_error=True)


class Found(Answer):
    """The rows that an action found."""

    text: str
    rows: list[Any]


def _without_empty(data: Any) -> Any:
    """Without the fields that say nothing; 0 and no say something."""
    if isinstance(data, list | tuple):
        return [*map(_without_empty, data)]
    if not isinstance(data, dict):
        return data
    filled = ((name, _without_empty(each)) for name, each in data.items())
    return {name: each for name, each in filled if each is not None and each not in ("", [], {})}


def _of_action(action: Action) -> HostTool:
    arguments = arguments_of(action)

    def read(vault: OpenVault, given: str) -> Found:
        over = Vault(library=vault.library, now=vault.workspace.environment.now, command="{}".format)

        def act(wanted: Arguments) -> Found:
            result = action.on(over, asdict(wanted))
            text = plain_sections(result.sections, is_numbered=False) if result.rows else result.empty
            return Found(text=text, rows=[_without_empty(row.data) for row in result.rows])

        return run_validated(action.name, arguments, given, act)

    return HostTool(name=action.name, description=action.sentence, arguments=arguments, answer=Found, read=read)

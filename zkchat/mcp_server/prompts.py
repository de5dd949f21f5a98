"""The prompts that hosts offer to their users, and completion of arguments of prompts and of the resource template."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from zkchat.errors import UsageError
from zkchat.mcp_server import vault_prompts
from zkchat.mcp_server.name_completion import (
    Completions,
    complete_day,
    complete_folder,
    complete_link,
    complete_path,
    complete_period,
)
from zkchat.mcp_server.service import OpenVault, VaultService
from zkchat.mcp_server.tools import Context, progress_to
from zkchat.mcp_server.uris import TEMPLATE
from zkchat.mcp_server.vault_files import MARKDOWN
from zkchat.mcp_server.vault_prompts import PromptContent
from zkchat.model.text import shorten
from zkchat.vault.brief.report import as_data

MAX_ARGUMENT_CHARACTERS: Final = 10_000
MAX_NAME_CHARACTERS: Final = 100
Complete = Callable[[OpenVault, str], Completions]


def _today(vault: OpenVault) -> date:
    return vault.workspace.environment.now().astimezone().date()


class HostArgument(Struct, frozen=True, kw_only=True):
    description: str
    complete: Complete
    is_required: bool = False


class HostPrompt(Struct, frozen=True, kw_only=True):
    title: str
    description: str
    arguments: Mapping[str, HostArgument]
    write: Callable[[OpenVault, Mapping[str, str]], PromptContent]

    def described(self, name: str) -> types.Prompt:
        arguments = [
            types.PromptArgument(name=each, description=about.description, required=about.is_required)
            for each, about in self.arguments.items()
        ]
        return types.Prompt(name=name, title=self.title, description=self.description, arguments=arguments)


_FOLDER: Final = HostArgument(
    description="A folder; else the whole vault.",
    complete=lambda vault, typed: complete_folder(vault.library, typed),
)
PROMPTS: Final[Mapping[str, HostPrompt]] = {
    "ask": HostPrompt(
        title="Ask my notes",
        description="A question, with the passages of the notes that answer it.",
        arguments={
            "question": HostArgument(
                description="In words; [[links]] name notes to look in first.",
                complete=lambda vault, typed: complete_link(vault.files, typed),
                is_required=True,
            )
        },
        write=vault_prompts.ask,
    ),
    "daily_review": HostPrompt(
        title="Review a day",
        description="The daily note, what else changed that day, and open tasks.",
        arguments={
            "date": HostArgument(
                description="today, yesterday or 2026-03-01; else today.",
                complete=lambda vault, typed: complete_day(typed, _today(vault)),
            )
        },
        write=vault_prompts.daily_review,
    ),
    "what_changed": HostPrompt(
        title="What changed",
        description="The notes that changed since a time, and how the latest of them begin.",
        arguments={
            "since": HostArgument(
                description="today, yesterday, 2026-03-01, or how long ago: 2h, 3d, 1w; else a week ago.",
                complete=lambda vault, typed: complete_period(typed, _today(vault)),
            ),
            "folder": _FOLDER,
        },
        write=vault_prompts.what_changed,
    ),
    "vault_health": HostPrompt(
        title="Vault health",
        description="Broken and ambiguous links, notes without links, copies, files that cannot be read.",
        arguments={"folder": _FOLDER},
        write=vault_prompts.vault_health,
    ),
}


class PromptHandlers:
    """Answers `prompts/list`, `prompts/get` and `completion/complete`."""

    def __init__(self, service: VaultService) -> None:
        self._service = service

    async def list_prompts(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        if params and params.cursor:
            raise MCPError(types.INVALID_PARAMS, "The list of prompts has one page.")
        return types.ListPromptsResult(prompts=[prompt.described(name) for name, prompt in PROMPTS.items()])

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = _prompt(params.name)
        given = {name: value for name, value in (params.arguments or {}).items() if value.strip()}
        for name, argument in prompt.arguments.items():
            if argument.is_required and name not in given:
                raise MCPError(types.INVALID_PARAMS, f"The prompt needs the argument '{name}'.")
            if len(given.get(name, "")) > MAX_ARGUMENT_CHARACTERS:
                raise MCPError(types.INVALID_PARAMS, f"The argument '{name}' is too long.")
        try:
            content = await self._service.use(lambda vault: prompt.write(vault, given), progress_to(context))
        except UsageError as error:
            raise MCPError(types.INVALID_PARAMS, f"{error.message} {error.hint}".strip()) from None
        return types.GetPromptResult(description=prompt.description, messages=_messages(content))

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        complete, typed = _completion(params), params.argument.value
        if len(typed) > MAX_ARGUMENT_CHARACTERS:
            return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))
        found = await self._service.use(lambda vault: complete(vault, typed), progress_to(context))
        return types.CompleteResult(
            completion=types.Completion(
                values=[*found.values], total=found.total, has_more=found.total > len(found.values)
            )
        )


def _prompt(name: str) -> HostPrompt:
    if name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {shorten(name, MAX_NAME_CHARACTERS)}")
    return PROMPTS[name]


def _completion(params: types.CompleteRequestParams) -> Complete:
    name = params.argument.name
    if isinstance(params.ref, types.PromptReference):
        argument = _prompt(params.ref.name).arguments.get(name)
        if argument:
            return argument.complete
    elif params.ref.uri != TEMPLATE:
        raise MCPError(types.INVALID_PARAMS, f"There is no template but {TEMPLATE}.")
    elif name == "path":
        return lambda vault, typed: complete_path(vault.files, typed)
    raise MCPError(types.INVALID_PARAMS, f"There is no argument '{shorten(name, MAX_NAME_CHARACTERS)}'.")


def _messages(content: PromptContent) -> list[types.PromptMessage]:
    """The task, then what was found, each text of a note as a resource of its own."""
    texts = [content.task, *([as_data(content.report)] if content.report else [])]
    blocks: list[types.ContentBlock] = [types.TextContent(text=text) for text in texts]
    blocks += [
        types.EmbeddedResource(
            resource=types.TextResourceContents(uri=excerpt.uri, mime_type=MARKDOWN, text=excerpt.text)
        )
        for excerpt in content.excerpts
    ]
    return [types.PromptMessage(role="user", content=block) for block in blocks]

"""What servers offer and answer, as values of ours: text that can be stored, within bounds."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, Final

import mcp_types as types

from zkchat.model.tool_server import (
    PromptArgument,
    ServerAnswer,
    ServerPrompt,
    ServerResource,
    ServerTool,
)

MAX_ITEMS: Final = 256
"""Of tools, of resources, of prompts, of arguments, and of resources that an answer names."""

_MAX_ANSWER: Final = 400_000
_MAX_DESCRIPTION: Final = 4_000
_MAX_NAME: Final = 256
_MAX_URI: Final = 2_000
_MAX_SCHEMA: Final = 64_000
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Without what JSON allows in a text and databases do not: NUL and halves of surrogate pairs."""
    return _UNSTORABLE.sub("", text)


def cleaned(value: object) -> Any:
    """The same for every text in a JSON value, and without numbers that JSON has not: Python reads NaN and Infinity,
    and no model's server takes a request with one."""
    match value:
        case float() if not isfinite(value):
            return None
        case str():
            return clean(value)
        case list():
            return [cleaned(item) for item in value]
        case dict():
            return {clean(key): cleaned(item) for key, item in value.items()}
        case _:
            return value


def one_line(text: str, length: int) -> str:
    """A text of a server on one line, of at most so many characters."""
    line = " ".join(clean(text[: 10 * length]).split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def tools_of(server: str, tools: Iterable[types.Tool]) -> Iterator[ServerTool]:
    for tool in tools:
        parameters = cleaned(tool.input_schema)
        if _is_name(tool.name) and len(json.dumps(parameters)) <= _MAX_SCHEMA:
            hints = tool.annotations
            yield ServerTool(
                server=server,
                name=tool.name,
                description=_description(tool.description or tool.title),
                parameters=parameters,
                is_read_only=bool(hints and hints.read_only_hint),
            )


def resources_of(server: str, resources: Iterable[types.Resource]) -> Iterator[ServerResource]:
    for resource in resources:
        if 0 < len(resource.uri) <= _MAX_URI and resource.uri.isprintable():
            yield ServerResource(
                server=server,
                uri=resource.uri,
                name=one_line(resource.title or resource.name, _MAX_NAME),
                description=_description(resource.description),
                media_type=one_line(resource.mime_type or "", _MAX_NAME),
            )


def prompts_of(server: str, prompts: Iterable[types.Prompt]) -> Iterator[ServerPrompt]:
    for prompt in prompts:
        if _is_name(prompt.name):
            yield ServerPrompt(
                server=server,
                name=prompt.name,
                description=_description(prompt.description or prompt.title),
                arguments=tuple(_arguments_of(prompt)),
            )


def _arguments_of(prompt: types.Prompt) -> Iterator[PromptArgument]:
    for argument in (prompt.arguments or ())[:MAX_ITEMS]:
        if _is_name(argument.name):
            yield PromptArgument(
                name=argument.name, description=_description(argument.description), is_required=bool(argument.required)
            )


def answer_of_tool(result: types.CallToolResult) -> ServerAnswer:
    texts = [_text_of(block) for block in result.content]
    if not any(isinstance(block, types.TextContent | types.EmbeddedResource) for block in result.content):
        structured = result.structured_content
        texts += [] if structured is None else [json.dumps(structured, ensure_ascii=False, indent=1)]
    return _answer(texts, _uris_of(result.content), failed=bool(result.is_error))


def answer_of_resource(result: types.ReadResourceResult) -> ServerAnswer:
    return _answer((_embedded(content) for content in result.contents), (content.uri for content in result.contents))


def answer_of_prompt(result: types.GetPromptResult) -> ServerAnswer:
    """The messages below each other; those in the assistant's name say so, because all go to the model as one text."""
    contents = [message.content for message in result.messages]
    texts = (
        _text_of(message.content) if message.role == "user" else f"(assistant) {_text_of(message.content)}"
        for message in result.messages
    )
    return _answer(texts, _uris_of(contents))


def _text_of(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent():
            return _left_out("image", block.mime_type)
        case types.AudioContent():
            return _left_out("audio", block.mime_type)
        case types.ResourceLink():
            name = one_line(block.title or block.name, _MAX_NAME)
            return f"[resource {name}: {one_line(block.uri, _MAX_URI)}]"
        case types.EmbeddedResource():
            return _embedded(block.resource)


def _embedded(content: types.TextResourceContents | types.BlobResourceContents) -> str:
    match content:
        case types.TextResourceContents():
            return content.text
        case types.BlobResourceContents():
            return _left_out("file", content.mime_type or "", one_line(content.uri, _MAX_URI))


def _left_out(kind: str, media_type: str, name: str = "") -> str:
    return f"[{' '.join(filter(None, (kind, one_line(media_type, _MAX_NAME), name)))}, not included]"


def _uris_of(blocks: Iterable[types.ContentBlock]) -> Iterator[str]:
    for block in blocks:
        match block:
            case types.ResourceLink():
                yield block.uri
            case types.EmbeddedResource():
                yield block.resource.uri
            case _:
                pass


def _answer(texts: Iterable[str], uris: Iterable[str], *, failed: bool = False) -> ServerAnswer:
    text = clean("\n\n".join(filter(None, texts)))
    if len(text) > _MAX_ANSWER:
        text = f"{text[:_MAX_ANSWER]}\n\n[{len(text) - _MAX_ANSWER:,} more characters, not included]"
    named = dict.fromkeys(clean(uri) for uri in uris if 0 < len(uri) <= _MAX_URI)
    return ServerAnswer(text=text, uris=tuple(named)[:MAX_ITEMS], failed=failed)


def _description(text: str | None) -> str:
    return clean((text or "")[:_MAX_DESCRIPTION])


def _is_name(name: str) -> bool:
    return 0 < len(name) <= _MAX_NAME and name.isprintable() and name.strip() == name


def arguments_for(arguments: Mapping[str, object]) -> dict[str, Any]:
    """Arguments as they may be sent: text that UTF-8 can hold."""
    return {clean(key): cleaned(value) for key, value in arguments.items()}

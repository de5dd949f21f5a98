"""What the definitions of the tools cost in every request, and which share of small windows they take.

    python -m benchmarks.context.tool_definitions

Tokens of each definition as it goes over the wires of OpenAI and of Ollama, by o200k and cl100k, taken from what the
clients really send to a server on loopback. Baseline: the definitions as they were generated from the arguments, with
titles, bounds, defaults and alternatives with null.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tests.providers.loopback import Loopback
from zkchat.chat import Memory, explore_tools, memory_tools, recall_tools
from zkchat.chat.context.tokens import load_encoding
from zkchat.chat.tools.registry import CORE_TOOLS
from zkchat.core import Finish, ModelProvider, ModelRequest, PromptMessage, TextChunk, Tool
from zkchat.index import Library
from zkchat.models import Ollama, OpenAI
from zkchat.writing import write_tools

ENCODINGS = ("o200k_base", "cl100k_base")
WINDOWS = (2_048, 4_096, 8_192, 32_768)
GENERATED: Mapping[tuple[str, str], int] = {
    ("openai", "o200k_base"): 1_117,
    ("openai", "cl100k_base"): 1_101,
    ("ollama", "o200k_base"): 861,
    ("ollama", "cl100k_base"): 834,
}
"""Totals of the same twelve tools with generated schemas, of which Ollama's client left out titles and bounds."""


class _Unused:
    """In the place of what tools need to be called; they are only described here."""

    session_id = ""
    staged = None


def all_tools() -> list[Tool]:
    """Every tool that a conversation with memory has; they cannot be called."""
    nothing: Any = _Unused()
    library: Library = nothing
    memory: Memory = nothing
    return [
        *explore_tools(library, datetime.now),
        *recall_tools(lambda _query, _limit: ()),
        *memory_tools(memory, lambda _text: True, nothing),
    ]


def all_write_tools() -> list[Tool]:
    """Those that propose changes, which are sent only where the user allows it; they cannot be called either."""
    nothing: Any = _Unused()
    return write_tools(nothing, nothing)


def sent_definitions(provider: ModelProvider, server: Loopback) -> list[Any]:
    """The definitions that reach a server."""

    async def ask() -> None:
        request = ModelRequest(
            messages=(PromptMessage(role="user", text="Hello"),),
            tools=tuple(tool.spec for tool in [*all_tools(), *all_write_tools()]),
            window=WINDOWS[-1],
        )
        async for _ in provider.stream(request):
            pass

    asyncio.run(ask())
    definitions: list[Any] = server.requests[-1].body["tools"]
    return definitions


def tokens_of(definitions: Sequence[Any], encoding: str) -> dict[str, int]:
    """The tokens of each definition, by the name of its tool."""
    count = load_encoding(encoding)
    return {
        each["function"]["name"]: len(count.encode(json.dumps(each, ensure_ascii=False, separators=(",", ":"))))
        for each in definitions
    }


def main() -> None:
    with Loopback({"m": [TextChunk(text="Hello."), Finish()]}, key="") as server:
        wires: dict[str, ModelProvider] = {
            "openai": OpenAI("m", base_url=f"{server.address}/v1"),
            "ollama": Ollama("m", host=server.address),
        }
        sent = {name: sent_definitions(provider, server) for name, provider in wires.items()}
    columns = {(wire, encoding): tokens_of(sent[wire], encoding) for wire in wires for encoding in ENCODINGS}
    print(f"{'tokens':<24}" + "".join(f"{f'{wire} {encoding[:-5]}':>18}" for wire, encoding in columns))
    for name in next(iter(columns.values())):
        print(f"{name:<24}" + "".join(f"{tokens[name]:>18,}" for tokens in columns.values()))
    writing = {tool.spec.name for tool in all_write_tools()}
    totals = {key: sum(tokens[name] for name in tokens if name not in writing) for key, tokens in columns.items()}
    written = {key: sum(tokens[name] for name in writing) for key, tokens in columns.items()}
    print(f"{'all':<24}" + "".join(f"{total:>18,}" for total in totals.values()))
    print(f"{'with --write, more':<24}" + "".join(f"{total:>18,}" for total in written.values()))
    print(f"{'all, generated':<24}" + "".join(f"{GENERATED[key]:>18,}" for key in columns))
    print(f"\n{'share of a window':<24}{'all':>10}{'core':>10}{'generated':>12}")
    key = "openai", "o200k_base"
    core = sum(columns[key][name] for name in CORE_TOOLS)
    for window in WINDOWS:
        print(f"{window:<24,}" + f"{totals[key] / window:>10.1%}{core / window:>10.1%}{GENERATED[key] / window:>12.1%}")


if __name__ == "__main__":
    main()

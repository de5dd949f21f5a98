"""How the provider under test plays the answers of the contract: one row for each provider of the registry."""

from collections.abc import Callable, Mapping

from tests.providers.contract import PLAYS
from tests.providers.loopback import KEY, Loopback
from zkchat.core.ports import ModelProvider
from zkchat.core.prompt import Finish, ModelChunk, RemarkChunk, TextChunk, ThinkingChunk, ToolRequested
from zkchat.core.values import from_plain
from zkchat.models.anthropic import Anthropic
from zkchat.models.ollama import Ollama
from zkchat.models.openai import OpenAI
from zkchat.models.quote import Quote
from zkchat.models.scripted import Script, Scripted

Player = Callable[[str, Loopback], ModelProvider]
"""From the name of a play, and a server that plays it too, to a provider that plays it."""


def _scripted(name: str, _server: Loopback) -> Scripted:
    chunks = PLAYS.get(name)
    if chunks is None:
        return Scripted(from_plain(Script, {"answers": [[{"error": f"There is no '{name}'.", "hint": "Look."}]]}))
    steps = [_step(chunk) for chunk in chunks]
    cut = not isinstance(chunks[-1], Finish)
    return Scripted(from_plain(Script, {"answers": [steps] if cut else [steps, steps], "cut": cut}))


def _step(chunk: ModelChunk) -> dict[str, object]:
    match chunk:
        case TextChunk(text=text):
            return {"text": text}
        case RemarkChunk():
            raise AssertionError("no server sends remarks")
        case ThinkingChunk(text=text):
            return {"thinking": text}
        case ToolRequested(call=call):
            return {"tool": call.name, "arguments": call.arguments}
        case Finish(reason=reason):
            return {"finish": reason, "usage": {"prompt_tokens": 9, "completion_tokens": 7}}


PLAYERS: Mapping[str, Player] = {
    "ollama": lambda name, server: Ollama(name, host=server.address),
    "openai": lambda name, server: OpenAI(name, base_url=f"{server.address}/v1", api_key=KEY),
    "anthropic": lambda name, server: Anthropic(name, base_url=server.address, api_key=KEY),
    "scripted": _scripted,
}
"""Providers that can be made to give any answer."""

SPEAKERS: Mapping[str, Player] = {**PLAYERS, "quote": lambda _name, _server: Quote()}
"""And those that give answers of their own."""

REAL_MODELS_ONLY = frozenset({"local"})
"""Held to the contract with a real model, in a suite of their own: `test_contract_local.py`."""

"""A server on this machine with a window of its own, that counts its prompts and keeps what it gets."""

import json
from typing import Any

from tests.providers.loopback import PROTOCOLS, Loopback, Request
from zkchat.chat.context.assembly import SUMMARY
from zkchat.chat.context.tokens import load_encoding
from zkchat.core.prompt import Finish, TextChunk


class RecordingServer(Loopback):
    """A model that counts its prompts by o200k, and says where the window ends."""

    def __init__(self, window: int, *, has_tools: bool) -> None:
        super().__init__({"m": [TextChunk(text="Fine."), Finish()]}, key="")
        self.window = window
        self._capabilities = ["completion", *(["tools"] if has_tools else [])]

    @property
    def chats(self) -> list[dict[str, Any]]:
        bodies = [request.body for request in self.requests if request.path in PROTOCOLS]
        return [body for body in bodies if body["messages"][0]["content"] != SUMMARY]

    def prompt_tokens(self, request: Request) -> int:
        encode = load_encoding("o200k_base").encode_ordinary
        texts = [str(message.get("content") or "") for message in request.body["messages"]]
        tools = [json.dumps(tool, ensure_ascii=False) for tool in request.body.get("tools") or ()]
        return sum(4 + len(encode(text)) for text in texts) + sum(len(encode(tool)) for tool in tools)

    def shown(self) -> object:
        facts = {"general.architecture": "llama", "llama.context_length": self.window}
        return {"parameters": "", "template": "", "model_info": facts, "capabilities": self._capabilities}

"""A server on this machine with a window of its own, that counts its prompts and keeps what it gets."""

import json
from typing import Any

from tests.providers.loopback import PROTOCOLS, Loopback, Request
from zkchat.chat.context.assembly import SUMMARY
from zkchat.chat.context.tokens import load_encoding
from zkchat.core.prompt import Finish, TextChunk

MESSAGE_TOKENS = 4
"""What a chat template adds to each message."""


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

    def tokens(self, body: dict[str, Any]) -> int:
        """What a model reads of a request: its messages with their calls, and the definitions of the tools."""
        texts = [json.dumps(body.get("tools") or [], ensure_ascii=False, separators=(",", ":"))]
        for message in body["messages"]:
            calls = [call["function"] for call in message.get("tool_calls") or ()]
            texts += [f"{call['name']} {json.dumps(call['arguments'], ensure_ascii=False)}" for call in calls]
            texts.append(str(message.get("content") or ""))
        encode = load_encoding("o200k_base").encode_ordinary
        return MESSAGE_TOKENS * len(body["messages"]) + sum(len(encode(text)) for text in texts)

    def prompt_tokens(self, request: Request) -> int:
        return self.tokens(request.body)

    def shown(self) -> object:
        facts = {"general.architecture": "llama", "llama.context_length": self.window}
        return {"parameters": "", "template": "", "model_info": facts, "capabilities": self._capabilities}

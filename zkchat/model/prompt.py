"""What a provider is asked and what it streams back."""

from typing import Any, Literal

from zkchat.model.choices import Role
from zkchat.model.evidence import Evidence, MessageExcerpt, VaultListing
from zkchat.model.images import DEFAULT_RULE, ImageDetail, ImageRule
from zkchat.model.parts import ImagePart, ToolCallPart
from zkchat.model.usage import TokenUsage
from zkchat.model.values import Tagged, Value

FinishReason = Literal["stop", "length", "tool_calls", "abstained", "interrupted"]


class ToolSpec(Value, frozen=True, kw_only=True):
    """A tool as it is described to a model."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON schema of the arguments."""
    server: str = ""
    """The MCP server that has it; empty for one of zkchat's own."""
    own_name: str = ""
    """What its server calls it."""

    @property
    def called(self) -> str:
        """As people write it: `read_document`, or `server/tool`."""
        return f"{self.server}/{self.own_name or self.name}" if self.server else self.name

    @property
    def definition(self) -> dict[str, Any]:
        """As OpenAI's protocol and Ollama's have it. Always with parameters: some servers refuse one without."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


class PromptMessage(Value, frozen=True, kw_only=True):
    """One message as a model sees it."""

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCallPart, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    images: tuple[ImagePart, ...] = ()
    """Those without data are not sent."""


class ModelRequest(Value, frozen=True, kw_only=True):
    messages: tuple[PromptMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    """For models that cannot search by themselves: what the vault says, best first."""
    nearest: tuple[Evidence, ...] = ()
    """Where the vault says nothing: what comes nearest."""
    is_doubtful: bool = False
    """Whether it is uncertain that the evidence answers."""
    excerpts: tuple[MessageExcerpt, ...] = ()
    """What of the last message itself answers its question, for a model that only quotes."""
    listing: VaultListing | None = None
    """What the index says on a question about the vault itself, for a model that only quotes."""
    remark: str = ""
    """Of which days the evidence is, where the question asks for a time; or why there may be none."""
    searched_for: tuple[str, ...] = ()
    """Where the vault says nothing: the words that were looked for."""
    is_small_talk: bool = False
    """Whether the last message asks for nothing that could stand in notes: a greeting, thanks."""
    has_unseen_images: bool = False
    """Whether images of the last message are not sent."""
    window: int
    """Tokens that the server must keep room for."""
    max_answer_tokens: int | None = None
    temperature: float | None = None
    image_detail: ImageDetail = "high"


class ModelInfo(Value, frozen=True, kw_only=True):
    """What is known of a model before it is asked."""

    provider: str
    id: str
    context_limit: int | None = None
    is_limit_declared: bool = False
    """Whether that limit is the user's own word rather than the server's."""
    calls_tools: bool = False
    """Whether tools are worth offering. A model without them is handed evidence instead."""
    sees_images: bool = False
    """Whether images go to it. A model that does not see gets their names."""
    image_rule: ImageRule = DEFAULT_RULE
    """How it counts the tokens of an image, and how large one may be."""
    needs_notes: bool = False
    """Whether it can say nothing but what the notes say."""
    needs_evidence: bool = False
    """Whether it is so small that it invents whatever it is not handed, and is asked nothing without evidence."""
    on_this_machine: bool = False
    """Whether it is known to run here. Any other model gets nothing of a local note."""
    is_located: bool = True
    """Whether it is known where it runs: of a server that has to be asked, it is not."""
    tokenizer: str = ""
    """The encoding that counts for it; without one, counts are estimates and are shown as such."""

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.id}" if self.id else self.provider


class TextChunk(Tagged, frozen=True, kw_only=True, tag="text"):
    text: str


class RemarkChunk(Tagged, frozen=True, kw_only=True, tag="remark"):
    """A sentence about the answer that is no part of it."""

    text: str
    is_heading: bool = False
    """Whether it only says where the next part is from, which means nothing away from that part."""


class ThinkingChunk(Tagged, frozen=True, kw_only=True, tag="thinking"):
    text: str


class ToolRequested(Tagged, frozen=True, kw_only=True, tag="tool"):
    call: ToolCallPart


class Finish(Tagged, frozen=True, kw_only=True, tag="finish"):
    """The last thing a stream yields; a stream without it was cut."""

    reason: FinishReason = "stop"
    usage: TokenUsage | None = None
    warning: str = ""
    """What the user should know of this answer, such as that the server did not read the whole prompt."""


ModelChunk = TextChunk | RemarkChunk | ThinkingChunk | ToolRequested | Finish

"""Messages and their parts (SPEC 2.2)."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from zkchat.model.context import RequestContext, TokenUsage
from zkchat.model.reference import DocumentReference, Evidence
from zkchat.model.value import Value

Role = Literal["user", "assistant", "system", "tool"]
ContextType = Literal["primary", "summary", "memory", "tool_output"]
Status = Literal["complete", "unfinished", "error"]


class TextPart(Value):
    kind: Literal["text"] = "text"
    text: str


class ThinkingPart(Value):
    kind: Literal["thinking"] = "thinking"
    text: str


class ToolCallPart(Value):
    kind: Literal["tool_call"] = "tool_call"
    call_id: str
    name: str
    arguments: str
    """JSON as the model wrote it, which may be malformed."""


class ToolResultPart(Value):
    kind: Literal["tool_result"] = "tool_result"
    call_id: str
    name: str
    text: str
    failed: bool = False


class FilePart(Value):
    kind: Literal["file"] = "file"
    name: str
    media_type: str = "text/plain"
    text: str


class ImagePart(Value):
    kind: Literal["image"] = "image"
    name: str
    media_type: str
    data: str
    """Base 64."""


class Condensed(Value):
    """A message, or one tool result of it, that stays in the prompt in a shorter form."""

    message_id: str
    call_id: str = ""
    text: str


class CompactionPart(Value):
    """The place where older messages left the prompt (SPEC 4.5). They stay in the history."""

    kind: Literal["compaction"] = "compaction"
    number: int
    summary: str
    made_by: str = ""
    """The model that wrote the summary; empty where it was put together from the messages themselves."""
    strategy: str = "summarize"
    focus: str = ""
    archived: tuple[str, ...] = ()
    """Ids of the messages that this compaction took out of the prompt."""
    condensed: tuple[Condensed, ...] = ()
    references: tuple[DocumentReference, ...] = ()
    """The documents of the archived messages, carried over whatever the summary says of them."""
    tokens_before: int = 0
    tokens_after: int = 0


class EvidencePart(Value):
    """What the vault says on the question, handed over with it because the model cannot search by itself."""

    kind: Literal["evidence"] = "evidence"
    evidence: tuple[Evidence, ...]


class UnknownPart(Value):
    """A part that a newer zkchat wrote: kept as it is."""

    model_config = ConfigDict(extra="allow")
    kind: str


_KNOWN_PARTS = {"text", "thinking", "tool_call", "tool_result", "file", "image", "compaction", "evidence"}


def _part_tag(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind if isinstance(kind, str) and kind in _KNOWN_PARTS else "unknown"


Part = Annotated[
    Annotated[TextPart, Tag("text")]
    | Annotated[ThinkingPart, Tag("thinking")]
    | Annotated[ToolCallPart, Tag("tool_call")]
    | Annotated[ToolResultPart, Tag("tool_result")]
    | Annotated[FilePart, Tag("file")]
    | Annotated[ImagePart, Tag("image")]
    | Annotated[CompactionPart, Tag("compaction")]
    | Annotated[EvidencePart, Tag("evidence")]
    | Annotated[UnknownPart, Tag("unknown")],
    Discriminator(_part_tag),
]


class ChatMessage(Value):
    id: str
    session_id: str = ""
    parent_id: str | None = None
    """The message this one follows; two messages with one parent are two branches."""
    role: Role
    name: str = ""
    """Who spoke, in a conversation that was imported from elsewhere and says so."""
    external_id: str = ""
    """What the message was called where it was imported from."""
    parts: tuple[Part, ...] = ()
    references: tuple[DocumentReference, ...] = ()
    created_at: datetime
    finished_at: datetime | None = None
    provider: str = ""
    model: str = ""
    token_count: int = 0
    augmented_token_count: int = 0
    """After the text of referenced documents was added."""
    tool_tokens: int = 0
    thinking_tokens: int = 0
    usage: TokenUsage | None = None
    """As the provider reported it, not as we counted it."""
    context_type: ContextType = "primary"
    priority: Annotated[int, Field(ge=1, le=10)] = 5
    status: Status = "complete"
    error: str = ""
    request_context: RequestContext | None = None
    local: bool = False
    """Whether it was written with notes that are to stay on this machine, and stays there too."""

    @property
    def text(self) -> str:
        """What was said, without thinking, tool traffic and attachments."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def thinking(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, ThinkingPart))

"""Messages as they are stored."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from zkchat.model.choices import DEFAULT_PRIORITY, MAX_PRIORITY, TOOL_PRIORITY, Role
from zkchat.model.parts import Part, TextPart, ThinkingPart
from zkchat.model.references import DocumentReference
from zkchat.model.request_context import RequestContext
from zkchat.model.usage import TokenUsage
from zkchat.model.values import Value

Priority = Annotated[int, Meta(ge=1, le=MAX_PRIORITY)]
"""How important a message is, where more is more important."""
ContextType = Literal["primary", "summary", "memory", "tool_output"]
Status = Literal["complete", "unfinished", "error"]
BriefPurpose = Literal["goal", "daily brief"]


class Brief(Value, frozen=True, kw_only=True):
    """What a model is told beside one message of the user, and not with later ones."""

    text: str
    """Empty where it is told nothing more."""
    uses_notes: bool = True
    """Whether the answer is to rest on notes. Else no tools are offered, and nothing is looked up."""
    purpose: BriefPurpose = "goal"


class ChatMessage(Value, frozen=True, kw_only=True):
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
    priority: Priority = DEFAULT_PRIORITY
    """Those of tool results and of pasted text are lower by themselves."""
    status: Status = "complete"
    error: str = ""
    request_context: RequestContext | None = None
    local: bool = False
    """Whether it was written with notes that are to stay on this machine, and stays there too."""
    abstained: bool = False
    """Whether it only says that the notes do not answer the question."""
    brief: Brief | None = None
    """In a goal run: which step the message is about, and how its answer is to end."""
    asked_again: bool = False
    """Whether it was given without a look into the notes, so that the model was asked again with what they say."""

    @property
    def text(self) -> str:
        """What was said, without thinking, tool traffic and attachments."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def has_usual_priority(self) -> bool:
        """Whether nothing makes it more or less important than others of its role."""
        return self.priority == DEFAULT_PRIORITY or (self.role == "tool" and self.priority == TOOL_PRIORITY)

    @property
    def thinking(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, ThinkingPart))

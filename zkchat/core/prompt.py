"""What a provider is asked and streams back; providers and models by name; images as models take them."""

from math import ceil, floor, sqrt
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from zkchat.core.choices import Role, TokenUsage
from zkchat.core.message import Evidence, ImagePart, MessageExcerpt, ToolCallPart, VaultListing
from zkchat.core.values import Tagged, Value

ImageDetail = Literal["low", "high"]
"""How closely a model of OpenAI's protocol looks at an image."""

LOW_SIDE: Final = 512
"""Pixels to which an image is reduced that need not be looked at closely."""
LEAST_SIDE: Final = 256
"""Pixels of the longer side below which an image is not reduced to make room for it."""
_TILE: Final = 512
_TILE_BOX: Final = 2048
_TILE_SHORT_SIDE: Final = 768
_REDUCTION: Final = 0.8
"""By which an image gets smaller in each attempt to fit it in."""


class ImageRule(Value, frozen=True, kw_only=True):
    """How a family of models counts the tokens of an image.

    `tiles`: squares of 512 pixels, once the image fits into 2048 pixels and its shorter side into 768. `patches`:
    squares of `patch` pixels. `fixed`: the same for every image.
    """

    kind: Literal["tiles", "patches", "fixed"] = "patches"
    max_side: int = 1344
    """Pixels of the longer side: a larger image is sent smaller."""
    base: int = 0
    """Tokens beside those of tiles and patches."""
    per_tile: int = 0
    patch: int = 28
    max_patches: int = 0
    """To so many patches the model's server reduces an image; 0 for no such limit."""
    multiplier: float = 1.0
    """Tokens of a patch."""
    detail: ImageDetail = "high"

    def sized(self, width: int, height: int) -> tuple[int, int]:
        """The size in which an image is sent."""
        return fitted(width, height, LOW_SIDE if self.detail == "low" else self.max_side)

    def tokens(self, width: int, height: int) -> int:
        """What an image of that size, as it is sent, takes of the window."""
        if self.kind == "fixed" or (self.kind == "tiles" and self.detail == "low"):
            return self.base
        return self._tiles(width, height) if self.kind == "tiles" else self._patches(width, height)

    def _tiles(self, width: int, height: int) -> int:
        width, height = fitted(width, height, _TILE_BOX)
        if (short := min(width, height)) > _TILE_SHORT_SIDE:
            width, height = (max(1, side * _TILE_SHORT_SIDE // short) for side in (width, height))
        return self.base + self.per_tile * ceil(width / _TILE) * ceil(height / _TILE)

    def _patches(self, width: int, height: int) -> int:
        side, most = self.patch, self.max_patches
        if most and ceil(width / side) * ceil(height / side) > most:
            shrink = sqrt(side * side * most / (width * height))
            across, down = width * shrink / side, height * shrink / side
            # One side may be less than a patch long: it stays so, and the other takes what is left.
            shrink *= min(floor(across) / across if across >= 1 else 1, floor(down) / down if down >= 1 else 1)
            width, height = (max(1, floor(each * shrink + 1e-9)) for each in (width, height))
        count = ceil(width / side) * ceil(height / side)
        return self.base + ceil(min(count, most or count) * self.multiplier)

    def fitting(self, width: int, height: int, room: int) -> tuple[int, int] | None:
        """The largest size in which the image takes no more tokens than there is room for; None where none does."""
        size = self.sized(width, height)
        while self.tokens(*size) > room:
            smaller = fitted(width, height, int(_REDUCTION * max(size)))
            if max(smaller) < LEAST_SIDE:
                return None
            size = smaller
        return size


DEFAULT_RULE: Final = ImageRule()
"""For models of which nothing else is known: most make one token of 28 pixels in square, or fewer of a whole image."""


def fitted(width: int, height: int, side: int) -> tuple[int, int]:
    """The size of an image whose longer side has no more pixels than that."""
    longest = max(width, height)
    if longest <= side:
        return width, height
    return max(1, round(width * side / longest)), max(1, round(height * side / longest))


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
    must_call: bool = False
    """Whether the answer has to be a call of a tool, as JSON. The tools are described in the messages then."""
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
    """Whether it is small: it invents what it is not handed, echoes markup, and calls tools where none is needed. So it
    gets what the notes say as plain quotations, and tools only for what the message asks for."""
    is_tiny: bool = False
    """Whether it is so small, beside that, that it gets no tools at all and is used only where the user names it."""
    on_this_machine: bool = False
    """Whether it is known to run here. Any other model gets nothing of a local note."""
    is_located: bool = True
    """Whether it is known where it runs: of a server that has to be asked, it is not."""
    tokenizer: str = ""
    """The encoding that counts for it; without one, counts are estimates and are shown as such."""

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.id}" if self.id else self.provider

    @property
    def shown(self) -> str:
        return shown_model(self.name)


def shown_model(name: str) -> str:
    """The name as a sentence has it: of a model that a server calls by the path of its file, the file's name."""
    provider, _, id_ = name.partition(":")
    return f"{provider}:{id_.rpartition('/')[2]}" if id_.startswith("/") else name


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


ProviderName = Literal["ollama", "openai", "anthropic", "local"]
"""Those that a `[models.NAME]` table of the settings may name, in the order in which a model is looked for."""

PROVIDERS: Final[tuple[str, ...]] = (*get_args(ProviderName), "quote", "scripted")


class ModelListing(Struct, frozen=True, kw_only=True):
    """The models of one server or folder, or the problem with it."""

    source: str
    host: str = ""
    """The name of the server's host; empty for models in this process."""
    models: tuple[ModelInfo, ...] = ()
    embedding_models: tuple[str, ...] = ()
    """Names that `embeddings.model` takes: these answer nothing, but make vectors for the search."""
    problem: str = ""
    hint: str = ""
    is_untold: bool = False
    """Whether it is one that nobody chose, so that its problem is told to scripts alone."""


class ModelRow(Struct, frozen=True, kw_only=True):
    """A model as the list of models shows it."""

    name: str
    """What the user types to choose it."""
    model: str = ""
    """`PROVIDER:ID`, where the name is one of the user's own."""
    window: int | None = None
    calls_tools: bool | None = None
    """None where nothing is known of it."""
    sees_images: bool | None = None
    is_small: bool = False
    on_this_machine: bool | None = None
    place: str = ""
    """Where it runs: this machine, or the host of its server; empty where that is not known."""
    is_in_use: bool = False
    problem: str = ""
    """Why it cannot be used now, in a few words; empty if it can."""


class ModelOverview(Struct, frozen=True, kw_only=True):
    """The models that there are, and the one in use."""

    in_use: str
    why: str = ""
    """Why it is that one."""
    offer: str = ""
    """What could be set up, where there is no model."""
    embeddings: str = ""
    """The embedding model that is set; empty for none."""
    rows: tuple[ModelRow, ...] = ()
    """The one in use first."""
    listings: tuple[ModelListing, ...] = ()
    """Where they come from; also servers that do not answer."""

    @property
    def embedding_models(self) -> tuple[str, ...]:
        """Those that the servers have."""
        return tuple(name for listing in self.listings for name in listing.embedding_models)


class ProviderStatus(Struct, frozen=True, kw_only=True):
    """Whether a provider could be used, for `zkchat config doctor`."""

    subject: str
    is_available: bool
    text: str


class HostedService(Struct, frozen=True):
    """A service that speaks OpenAI's protocol: offered where the user has a key, and used only if the user says so."""

    name: str
    key_variable: str
    base_url: str

"""The provider `quote`, the default without a model: it answers with passages of the notes, word for word."""

from collections.abc import AsyncGenerator, Sequence
from typing import Final

from zkchat.core import (
    DOUBT,
    Finish,
    ModelChunk,
    ModelInfo,
    ModelProvider,
    ModelRequest,
    RemarkChunk,
    TextChunk,
    excerpts,
    no_answer,
    quotations,
)
from zkchat.models.registry import Choice, NamedModel, ProviderContext, ProviderDescriptor

SMALL_TALK: Final = "You are welcome to ask about anything in your notes.\n"
UNSEEN: Final = (
    "Without a model, zkchat cannot look at an image: it only quotes your notes, and none of them answers this. A "
    "model that sees images can: `zkchat models` lists them, and --model NAME asks one.\n"
)
HOW_TO_LINK: Final = "To link a note, type [[ and the beginning of its name."


class Quote:
    """Deterministic: the same notes and the same question give the same answer."""

    info = ModelInfo(provider="quote", id="", needs_notes=True, on_this_machine=True)

    async def connect(self) -> None:
        """There is nobody to ask."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        if request.listing:
            yield TextChunk(text=request.listing.text)
            yield Finish()
            return
        for excerpt in excerpts(request.excerpts):
            yield excerpt
        if request.remark:
            yield RemarkChunk(text=request.remark)
        if not (request.evidence or request.excerpts):
            if request.has_unseen_images:
                yield TextChunk(text=UNSEEN)
            else:
                nothing = no_answer(request.nearest, request.searched_for)
                yield TextChunk(text=SMALL_TALK if request.is_small_talk else nothing)
                if request.is_small_talk:
                    yield RemarkChunk(text=HOW_TO_LINK)
            yield Finish(reason="abstained")
            return
        if request.is_doubtful:
            yield DOUBT
        for quotation in quotations(request.evidence, after_text=bool(request.excerpts)):
            yield quotation
        yield Finish()


class QuoteDescriptor(ProviderDescriptor, frozen=True):
    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        return Quote()

    def choose(self, names: Sequence[str], context: ProviderContext) -> Choice:
        return Choice(model="quote", why="there is no model, so passages of your notes are quoted")

    async def check(self, model: ModelProvider, context: ProviderContext) -> str:
        return "quote (no model: passages of your notes are quoted)"


PROVIDER: Final = QuoteDescriptor(
    name="quote", usage="`quote` (no model: passages of your notes)", takes_id=False, in_process=True
)

"""The provider `quote`, the default without a model: it answers with sentences of the notes, word for word."""

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Final

from zkchat.model.message import Evidence
from zkchat.model.prompt import Finish, ModelChunk, ModelInfo, ModelRequest, TextChunk
from zkchat.providers.descriptor import Choice, NamedModel, ProviderContext, ProviderDescriptor

if TYPE_CHECKING:
    from zkchat.ports import ModelProvider

PREFACE = "No model is set up, so zkchat quotes your notes:\n"
NOTHING = (
    "Your notes hold nothing on this. (No model is set up, so zkchat can only quote them; "
    "try the words your notes use, or link a note with [[.)\n"
)
MAX_QUOTES = 5


class Quote:
    """Deterministic: the same notes and the same question give the same answer."""

    info = ModelInfo(provider="quote", id="", needs_notes=True, on_this_machine=True)

    async def connect(self) -> None:
        """There is nobody to ask."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        quotes = request.evidence[:MAX_QUOTES]
        if not quotes:
            yield TextChunk(text=NOTHING)
            yield Finish(reason="abstained")
            return
        yield TextChunk(text=PREFACE)
        for evidence in quotes:
            yield TextChunk(text=_quoted(evidence))
        yield Finish()


def _quoted(evidence: Evidence) -> str:
    lines = "\n".join(f"> {line}".rstrip() for line in evidence.text.splitlines())
    return f"\n{lines}\n>\n> — {evidence.wikilink}\n"


class QuoteDescriptor(ProviderDescriptor):
    def create(self, model: NamedModel, context: ProviderContext) -> "ModelProvider":
        return Quote()

    def choose(self, names: Sequence[str], context: ProviderContext) -> Choice:
        return Choice(model="quote", why="there is no model, so sentences of your notes are quoted")

    async def check(self, model: "ModelProvider", context: ProviderContext) -> str:
        return "quote (no model: sentences of your notes are quoted)"


PROVIDER: Final = QuoteDescriptor(
    name="quote", usage="`quote` (no model: sentences of your notes)", takes_id=False, in_process=True
)

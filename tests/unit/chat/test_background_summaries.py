"""A model describes long documents while nobody waits for it."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.libraries import Located, library_of
from tests.support.requests import tool_item
from tests.support.sessions import NOON
from tests.support.waiting import eventually_async, other_tasks
from zkchat.chat.context.assembly import DESCRIPTION, Shares, prompt_item
from zkchat.chat.summaries import MAX_PER_TURN, BackgroundSummaries, Summaries, accept_sentence
from zkchat.core.choices import ContextUsage
from zkchat.core.errors import ProviderError, StorageError
from zkchat.core.message import ChatMessage, DocumentReference, RequestContext, RequestItem, TextPart
from zkchat.core.prompt import (
    Finish,
    FinishReason,
    ModelChunk,
    ModelInfo,
    ModelRequest,
    PromptMessage,
    TextChunk,
    ToolSpec,
)
from zkchat.core.session import ContentEntry, Entry, EntryBody, MessageEntry
from zkchat.core.session_history import History
from zkchat.index.library import Library

BREAD = (
    "Sourdough rises slowly because wild yeast needs time, and a cold night gives the dough its taste. The baker "
    "waits, folds it every hour, and knows by touch when it is ready. Rye takes longer than wheat, and "
    "a warm kitchen changes everything about the schedule of the bakery."
)
SENTENCE = "Sourdough needs time because wild yeast rises slowly."
ANSWER = "Bread takes time."
ANSWERED = ModelRequest(
    messages=(PromptMessage(role="system", text="Be brief."), PromptMessage(role="user", text="How long?")),
    tools=(ToolSpec(name="find", description="Find notes.", parameters={}),),
    window=32_768,
)
SYSTEM, FIND = prompt_item("system", "default", ANSWERED.messages[0].text), tool_item(ANSWERED.tools[0])
ASKED = ChatMessage(id="m1", role="user", parts=(TextPart(text=ANSWERED.messages[1].text),), created_at=NOON)
BODIES: list[EntryBody] = [
    MessageEntry(message=ASKED),
    *(ContentEntry(digest=each.item.digest, text=each.text) for each in (SYSTEM, FIND)),
]
HISTORY = History(Entry(session_id="s1", sequence=number, at=NOON, body=body) for number, body in enumerate(BODIES))
"""In which the answered request was made."""
ABLE = ModelInfo(provider="able", id="x", context_limit=32_768, calls_tools=True, on_this_machine=True)


@dataclass
class Describer:
    """A model that says the same of every document, in one piece or never."""

    says: str = SENTENCE
    info: ModelInfo = ABLE
    reason: FinishReason = "stop"
    error: ProviderError | None = None
    hangs: bool = False
    requests: list[ModelRequest] = field(default_factory=list)
    was_left: bool = False

    async def connect(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        self.requests.append(request)
        try:
            if self.error:
                raise self.error
            if self.hangs:
                await asyncio.sleep(600)
            yield TextChunk(text=self.says[:9])
            yield TextChunk(text=self.says[9:])
            yield Finish(reason=self.reason)
        except asyncio.CancelledError:
            self.was_left = True
            raise


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    notes = {f"Bread {number}.md": f"# Bread\n\n{BREAD}\n" for number in range(5)}
    with library_of(tmp_path, {**notes, "Short.md": "It is short enough.\n"}) as library:
        yield library


def reference(name: str, *, cited: bool = False) -> DocumentReference:
    return DocumentReference(wikilink=f"[[{name}]]", relative_path=f"{name}.md", cited=cited)


class Scene:
    def __init__(self, library: Library, model: Describer, *, window: int = 32_768, wanted: bool = True) -> None:
        self.library = library
        self.model = model
        self.summaries = Summaries(library)
        self.describing = BackgroundSummaries(
            summaries=self.summaries,
            library=library,
            provider=model,
            shares=Shares(max_tokens=window),
            mode="always" if wanted else "never",
        )

    def soon(self, *references: DocumentReference, used: int = 500) -> None:
        usage = ContextUsage(system=used, window=32_768)
        items = (SYSTEM.item, FIND.item, RequestItem(type="message", name=ASKED.id))
        answer = ChatMessage(
            id="m2",
            role="assistant",
            parts=(TextPart(text=ANSWER),),
            references=self.summaries.add_to(references),
            created_at=NOON,
            request_context=RequestContext(items=items, usage=usage),
        )
        self.describing.start(answer, HISTORY)

    def after(
        self, *references: DocumentReference, then: Callable[[], None] = lambda: None, used: int = 500
    ) -> list[str]:
        """What is shown after a turn with these documents and a while at the prompt."""

        async def turn() -> None:
            self.soon(*references, used=used)
            await eventually_async(lambda: not other_tasks() or (self.model.hangs and self.model.requests))
            then()

        asyncio.run(turn())
        return [each.summary for each in self.summaries.add_to(references)]


def test_a_long_document_is_described_by_the_next_time_it_is_shown(library: Library) -> None:
    model = Describer()
    assert Scene(library, model).after(reference("Bread 1")) == [SENTENCE]
    (request,) = model.requests
    prompt = request.messages[-1]
    assert (prompt.role, DESCRIPTION in prompt.text, BREAD in prompt.text) == ("user", True, True)
    assert '<document path="Bread 1.md">' in prompt.text


def test_a_server_on_this_machine_need_not_read_the_conversation_again_afterwards(library: Library) -> None:
    model = Describer()
    Scene(library, model).after(reference("Bread 1"))
    (request,) = model.requests
    assert request.messages[:-1] == (*ANSWERED.messages, PromptMessage(role="assistant", text=ANSWER))
    assert (request.tools, request.window) == (ANSWERED.tools, ANSWERED.window)


def test_where_that_leaves_no_room_nothing_is_asked(library: Library) -> None:
    model = Describer()
    Scene(library, model).after(reference("Bread 1"), used=32_000)
    assert model.requests == []


def test_a_model_elsewhere_is_paid_for_the_note_alone(library: Library) -> None:
    model = Describer(info=replace(ABLE, on_this_machine=False))
    assert Scene(library, model).after(reference("Bread 1"), used=32_000) == [SENTENCE]
    (request,) = model.requests
    assert (len(request.messages), request.tools, request.window) == (1, (), 32_768)


def test_documents_that_are_short_or_not_there_are_not_described(library: Library) -> None:
    model = Describer()
    broken = DocumentReference(wikilink="[[Nowhere]]")
    assert Scene(library, model).after(reference("Short"), broken, reference("Gone")) == ["It is short enough.", "", ""]
    assert model.requests == []


def test_a_few_are_described_after_each_turn_the_cited_ones_first_and_none_twice(library: Library) -> None:
    model = Describer(says="An excuse.")
    scene = Scene(library, model)
    panel = [*(reference(f"Bread {number}") for number in range(4)), reference("Bread 4", cited=True)]

    def described() -> list[str]:
        return [request.messages[-1].text.partition('"')[2][:7] for request in model.requests]

    scene.after(*panel)
    assert described() == ["Bread 4", "Bread 0", "Bread 1"]
    assert len(model.requests) == MAX_PER_TURN
    scene.after(*panel)
    scene.after(*panel)
    assert described()[MAX_PER_TURN:] == ["Bread 2", "Bread 3"]


def test_it_stops_at_once_when_the_next_turn_begins(library: Library) -> None:
    model = Describer(hangs=True)
    scene = Scene(library, model)

    async def turns() -> None:
        scene.soon(reference("Bread 1"), reference("Bread 2"))
        await eventually_async(lambda: model.requests)
        scene.describing.stop()
        await eventually_async(lambda: model.was_left)
        scene.describing.stop()

    asyncio.run(turns())
    assert len(model.requests) == 1


def test_the_end_of_the_session_does_not_wait_for_it(library: Library) -> None:
    model = Describer(hangs=True)
    Scene(library, model).after(reference("Bread 1"))
    assert model.was_left


def test_what_was_begun_before_is_left_for_what_is_new(library: Library) -> None:
    model = Describer(hangs=True)
    scene = Scene(library, model)
    scene.after(reference("Bread 1"), then=lambda: scene.soon(reference("Bread 1")))
    assert len(model.requests) == 1


def test_a_model_that_fails_is_left_alone_and_nobody_hears_of_it(
    library: Library, caplog: pytest.LogCaptureFixture
) -> None:
    model = Describer(error=ProviderError("It is down."))
    scene = Scene(library, model)
    summaries = scene.after(reference("Bread 1"), reference("Bread 2"))
    assert all(summary.startswith("Sourdough rises slowly") for summary in summaries)
    assert len(model.requests) == 1
    del scene
    gc.collect()  # an error that nobody has heard of would be told now
    assert caplog.text == ""


@pytest.mark.parametrize(
    "change",
    [
        {"needs_notes": True},
        {"needs_evidence": True},
        {"calls_tools": False},
        {"context_limit": 8192},
    ],
)
def test_models_that_cannot_do_it_are_not_asked(library: Library, change: dict[str, object]) -> None:
    model = Describer(info=replace(ABLE, **change))
    Scene(library, model).after(reference("Bread 1"))
    assert model.requests == []


def test_nobody_is_asked_against_the_users_will(library: Library) -> None:
    model = Describer()
    Scene(library, model, wanted=False).after(reference("Bread 1"))
    assert model.requests == []


@pytest.mark.parametrize("on_this_machine", [True, False])
def test_a_local_note_is_described_by_no_model_elsewhere(
    library: Library, tmp_path: Path, on_this_machine: bool
) -> None:
    note = tmp_path / "vault" / "Bread 1.md"
    shared = library.guarded_for(Located(on_this_machine))
    model = Describer()
    scene = Scene(shared, model)
    scene.summaries.add_to([reference("Bread 1")])
    note.write_text(f"---\nzkchat: local\n---\n{BREAD}")  # the index does not know it yet
    scene.after(reference("Bread 1"))
    assert bool(model.requests) is on_this_machine


def test_a_cache_that_cannot_be_written_ends_it(library: Library) -> None:
    class Unwritable(Summaries):
        def tidy(self) -> None:
            raise StorageError("The disk is full.")

    model = Describer()
    scene = Scene(library, model)
    describing = BackgroundSummaries(
        summaries=Unwritable(library),
        library=library,
        provider=model,
        shares=Shares(max_tokens=32_768),
    )
    scene.describing = describing
    scene.after(reference("Bread 1"))
    assert model.requests == []


def test_an_answer_that_was_cut_is_no_sentence(library: Library) -> None:
    (summary,) = Scene(library, Describer(reason="length")).after(reference("Bread 1"))
    assert summary != SENTENCE


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (SENTENCE, SENTENCE),
        (f"\n  {SENTENCE}\n", SENTENCE),
        ("**Sourdough** needs [[Yeast|wild yeast]]", "Sourdough needs wild yeast"),
        ("Sourdough needs wild yeast \ud800", "Sourdough needs wild yeast \ufffd"),
        ("", ""),
        ("Sourdough needs time. Yeast rises slowly.", ""),
        (f"- {SENTENCE}\n- {SENTENCE}", ""),
        (f"Sourdough rises slowly{' and slowly' * 30}.", ""),
        ("I'm sorry, I can't say what sourdough, wild yeast and dough are about.", ""),
        ("Sure, sourdough needs time because wild yeast rises slowly.", ""),
        ("Here is a sentence: sourdough rises slowly because wild yeast needs time.", ""),
        ("Le levain a besoin de temps parce que la levure est sauvage et que la pâte est froide.", ""),
        ("The quarterly report shows rising revenue in every segment.", ""),
    ],
)  # fmt: skip
def test_only_one_short_sentence_about_the_document_is_accepted(said: str, shown: str) -> None:
    assert accept_sentence(said, BREAD) == shown

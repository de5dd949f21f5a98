import asyncio

from zkchat.model.message import Evidence, LineRange
from zkchat.model.prompt import Finish, ModelChunk, ModelRequest, TextChunk
from zkchat.providers.quote import Quote


def evidence(sentence: str, wikilink: str = "[[Sleep]]") -> Evidence:
    return Evidence(
        text=sentence, relative_path="s.md", title="S", wikilink=wikilink, lines=LineRange(first=1, last=1), score=1
    )


def answer(*found: Evidence) -> list[ModelChunk]:
    async def collect() -> list[ModelChunk]:
        return [chunk async for chunk in Quote().stream(ModelRequest(messages=(), evidence=found, window=100))]

    return asyncio.run(collect())


def text_of(chunks: list[ModelChunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


def test_it_quotes_word_for_word_with_the_note_and_says_why_it_quotes() -> None:
    chunks = answer(evidence("Adults need seven hours."), evidence("Naps\nare fine.", "[[Naps]]"))
    assert text_of(chunks) == (
        "No model is set up, so zkchat quotes your notes:\n"
        "\n> Adults need seven hours.\n>\n> — [[Sleep]]\n"
        "\n> Naps\n> are fine.\n>\n> — [[Naps]]\n"
    )
    assert chunks[-1] == Finish(reason="stop")


def test_it_gives_at_most_five_quotes() -> None:
    chunks = answer(*(evidence(f"Sentence {n}.") for n in range(9)))
    assert text_of(chunks).count("— [[Sleep]]") == 5


def test_without_evidence_it_says_that_the_notes_hold_nothing() -> None:
    chunks = answer()
    assert "Your notes hold nothing on this." in text_of(chunks)
    assert chunks[-1] == Finish(reason="abstained")


def test_it_streams_in_pieces_and_is_deterministic() -> None:
    found = (evidence("One."), evidence("Two."))
    assert len(answer(*found)) > 2
    assert answer(*found) == answer(*found)

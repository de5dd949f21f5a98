from typing import Any

from tests.providers import contract
from tests.providers.contract import text_of
from tests.support.evidence import passage
from zkchat.core.message import Evidence, MessageExcerpt
from zkchat.core.prompt import Finish, ModelChunk, ModelRequest, RemarkChunk
from zkchat.models.quote import HOW_TO_LINK, SMALL_TALK, Quote


def answer(*found: Evidence, **more: Any) -> list[ModelChunk]:
    request = ModelRequest(messages=(), evidence=found, window=100, **more)
    return contract.answer(Quote(), request)


def test_it_quotes_word_for_word_with_the_note_and_says_nothing_else() -> None:
    chunks = answer(passage("Adults need seven hours."), passage("Naps\nare fine.", note="Naps"))
    assert text_of(chunks) == (
        "> Adults need seven hours.\n\n— [[Sleep]]\n"  # the first line stands alone: `zkchat ask … | head -1`
        "\n> Naps\n> are fine.\n\n— [[Naps]]\n"
    )
    assert chunks[-1] == Finish(reason="stop")


def test_small_talk_is_answered_by_what_one_can_ask() -> None:
    chunks = answer(is_small_talk=True)
    assert text_of(chunks) == SMALL_TALK
    assert RemarkChunk(text=HOW_TO_LINK) in chunks
    assert chunks[-1] == Finish(reason="abstained")


def test_what_the_message_itself_answers_comes_before_what_notes_say() -> None:
    own = (MessageExcerpt(text="deploy-docs: FAILED", first_line=3, last_line=3),)
    assert text_of(answer(passage("Call Ada when a job failed."), excerpts=own)) == (
        "```\ndeploy-docs: FAILED\n```\n\n— your text, line 3\n\n> Call Ada when a job failed.\n\n— [[Sleep]]\n"
    )
    assert answer(excerpts=own)[-1] == Finish(reason="stop")

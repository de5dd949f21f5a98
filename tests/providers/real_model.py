"""The contract for a provider with a real model behind it, whoever runs it."""

import asyncio
import json

from msgspec.structs import replace

from tests.providers.contract import (
    ASKING_FOR_A_CALL,
    FIND,
    answer,
    asking,
    calls_of,
    collect,
    finish_of,
    first_words,
    text_of,
)
from zkchat.core.message import ToolCallPart
from zkchat.core.ports import ModelProvider
from zkchat.core.prompt import ModelChunk, PromptMessage, TextChunk
from zkchat.models.transport import min_tokens


class RealModel:
    """Whoever inherits it has two fixtures: `model`, and `able`, whose template knows tools."""

    def test_an_answer_streams_in_several_pieces_and_ends_with_a_finish(self, model: ModelProvider) -> None:
        chunks = answer(model)
        assert len([chunk for chunk in chunks if isinstance(chunk, TextChunk)]) > 2
        assert text_of(chunks).strip()
        finish = finish_of(chunks)
        assert finish.reason == "length"
        assert finish.warning == ""
        assert finish.usage
        assert finish.usage.completion_tokens == 8
        assert finish.usage.prompt_tokens >= min_tokens(asking())
        assert text_of(answer(model)) == text_of(chunks), "in another event loop, too"

    def test_a_model_that_is_done_says_so(self, model: ModelProvider) -> None:
        question = PromptMessage(role="user", text="Answer with one word: is the sky blue?")
        request = replace(asking(), messages=(question,), max_answer_tokens=60)
        assert finish_of(answer(model, request)).reason == "stop"

    def test_two_answers_at_once_do_not_mix(self, model: ModelProvider) -> None:
        async def both() -> tuple[list[ModelChunk], list[ModelChunk]]:
            first, second = asking("Name a colour."), asking("Count: one, two, three,")
            return await asyncio.gather(collect(model.stream(first)), collect(model.stream(second)))

        for chunks in asyncio.run(both()):
            assert text_of(chunks).strip()
            assert finish_of(chunks).reason in ("stop", "length")

    def test_who_leaves_early_can_ask_again(self, model: ModelProvider) -> None:
        assert asyncio.run(first_words(model))
        assert text_of(answer(model)).strip()

    def test_a_model_whose_template_knows_tools_calls_them(self, able: ModelProvider) -> None:
        chunks = answer(able, ASKING_FOR_A_CALL)
        (call,) = calls_of(chunks)
        assert (call.name, json.loads(call.arguments)) == ("find", {"query": "cats"})
        assert call.call_id
        assert finish_of(chunks).reason == "tool_calls"

    def test_calls_and_their_results_go_back_even_when_the_arguments_were_malformed(self, able: ModelProvider) -> None:
        call = ToolCallPart(call_id="c1", name="find", arguments='{"query": "slee')
        messages = (
            *asking().messages,
            PromptMessage(role="assistant", tool_calls=(call,)),
            PromptMessage(role="tool", text="Seven hours.", tool_call_id="c1", tool_name="find"),
        )
        chunks = answer(able, replace(asking(tools=(FIND,)), messages=messages))
        assert finish_of(chunks).reason in ("stop", "length")

"""One suite for all providers. Those that talk to a server talk to one on loopback."""

import asyncio
import json
from collections.abc import Callable

import pytest

from tests.providers.contract import (
    FIND,
    PLAYS,
    answer,
    asking,
    calls_of,
    collect,
    finish_of,
    first_words,
    text_of,
    thinking_of,
)
from tests.providers.loopback import Loopback, serving
from tests.providers.players import PLAYERS, REAL_MODELS_ONLY, SPEAKERS
from zkchat.core.errors import ProviderError
from zkchat.core.ports import ModelProvider
from zkchat.core.prompt import PROVIDERS, Finish, ModelChunk, TextChunk

Play = Callable[[str], ModelProvider]
"""From the name of a play to a provider that plays it."""

server = serving(lambda: Loopback(PLAYS))


@pytest.fixture(params=[name for name in PROVIDERS if name in PLAYERS])
def play(request: pytest.FixtureRequest, server: Loopback) -> Play:
    return lambda name: PLAYERS[request.param](name, server)


@pytest.fixture(params=[name for name in PROVIDERS if name not in REAL_MODELS_ONLY])
def talker(request: pytest.FixtureRequest, server: Loopback) -> ModelProvider:
    return SPEAKERS[request.param]("tells", server)


def test_a_provider_says_what_it_is_before_it_is_asked(talker: ModelProvider) -> None:
    assert talker.info.provider in talker.info.name
    assert talker.info.on_this_machine == talker.info.is_located


def test_a_provider_knows_where_its_model_runs_once_it_was_asked(talker: ModelProvider) -> None:
    asyncio.run(talker.connect())
    assert talker.info.on_this_machine


def test_an_answer_is_text_that_ends_with_one_finish(talker: ModelProvider) -> None:
    chunks = answer(talker)
    assert text_of(chunks).strip()
    assert finish_of(chunks).reason == "stop"
    assert finish_of(chunks).warning == ""


def test_an_answer_arrives_in_its_pieces_and_in_their_order(play: Play) -> None:
    pieces = [chunk for chunk in PLAYS["tells"] if isinstance(chunk, TextChunk)]
    assert [chunk for chunk in answer(play("tells")) if isinstance(chunk, TextChunk)] == pieces


def test_the_same_provider_answers_in_one_event_loop_after_another(talker: ModelProvider) -> None:
    assert answer(talker) == answer(talker)


def test_two_answers_of_one_provider_do_not_mix(talker: ModelProvider) -> None:
    async def both() -> list[list[ModelChunk]]:
        return list(await asyncio.gather(collect(talker.stream(asking())), collect(talker.stream(asking()))))

    first, second = asyncio.run(both())
    assert first == second


def test_who_leaves_early_can_ask_again(talker: ModelProvider) -> None:
    assert asyncio.run(first_words(talker))
    assert finish_of(answer(talker)).reason == "stop"


def test_the_usage_that_the_server_reports_is_passed_on(play: Play) -> None:
    usage = finish_of(answer(play("tells"))).usage
    assert usage
    assert usage.prompt_tokens == 9
    assert usage.completion_tokens == 7


def test_thinking_is_told_apart_from_the_answer(play: Play) -> None:
    chunks = answer(play("thinks"))
    assert thinking_of(chunks) == "Hm. Yes."
    assert text_of(chunks) == "Seven hours."


def test_tool_calls_come_with_names_arguments_and_ids_of_their_own(play: Play) -> None:
    chunks = answer(play("calls"), asking(tools=(FIND,)))
    calls = calls_of(chunks)
    assert text_of(chunks) == "Let me look."
    assert [call.name for call in calls] == ["find", "find"]
    assert [json.loads(call.arguments) for call in calls] == [{"query": "sleep"}, {"query": "眠り", "limit": 3}]
    assert len({call.call_id for call in calls}) == 2
    assert finish_of(chunks).reason == "tool_calls"


def test_an_answer_that_ran_out_of_tokens_says_so(play: Play) -> None:
    assert finish_of(answer(play("runs on"))).reason == "length"


def test_an_answer_without_its_end_has_no_finish(play: Play) -> None:
    chunks = answer(play("breaks off"))
    assert text_of(chunks) == "Seven to"
    assert not any(isinstance(chunk, Finish) for chunk in chunks)


def test_an_empty_answer_is_only_a_finish(play: Play) -> None:
    assert answer(play("is silent")) == [finish_of(answer(play("is silent")))]


def test_a_model_that_is_not_there_is_a_sentence_with_a_way_out(play: Play) -> None:
    with pytest.raises(ProviderError, match=r"no.*'nobody'") as caught:
        answer(play("nobody"))
    assert caught.value.hint

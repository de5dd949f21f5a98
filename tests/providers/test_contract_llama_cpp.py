"""The provider contract against a real llama.cpp server with a small real model."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.providers import llama_cpp_server
from tests.providers.contract import (
    ASKING_FOR_A_CALL,
    FIND,
    answer,
    asking,
    calls_of,
    collect,
    failure,
    finish_of,
    first_words,
    text_of,
)
from tests.providers.llama_cpp_server import NAME, WINDOW
from tests.providers.loopback import KEY
from tests.providers.weights import NoWeights, smollm2, with_tools
from zkchat.model.message import ToolCallPart
from zkchat.model.prompt import ModelChunk, ModelRequest, PromptMessage, TextChunk
from zkchat.providers.openai import OpenAI
from zkchat.providers.wire import Patience, least_tokens

SECONDS_TO_START = 60
PATIENT = Patience(backoff=0.01)


@pytest.fixture(scope="module")
def file() -> Path:
    try:
        return smollm2()
    except NoWeights as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="module")
def address(file: Path) -> Iterator[str]:
    with serving(file) as address:
        yield address


@contextmanager
def serving(model: Path) -> Iterator[str]:
    command = [sys.executable, str(Path(llama_cpp_server.__file__)), str(model), KEY]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        timer = threading.Timer(SECONDS_TO_START, process.kill)
        timer.start()
        assert process.stdout
        line = process.stdout.readline().strip()
        timer.cancel()
        if not line:
            pytest.fail("The llama.cpp server did not start; is the package xllamacpp installed?", pytrace=False)
        yield f"{line}/v1"
        process.kill()


@pytest.fixture
def provider(address: str) -> OpenAI:
    return OpenAI(NAME, base_url=address, api_key=KEY, patience=PATIENT)


def test_the_window_is_the_servers_and_not_the_models(provider: OpenAI) -> None:
    assert provider.info.context_limit is None
    asyncio.run(provider.connect())
    assert provider.info.context_limit == WINDOW
    assert provider.info.on_this_machine


def test_an_answer_streams_in_several_pieces_and_ends_with_a_finish(provider: OpenAI) -> None:
    chunks = answer(provider)
    assert len([chunk for chunk in chunks if isinstance(chunk, TextChunk)]) > 2
    assert text_of(chunks).strip()
    finish = finish_of(chunks)
    assert finish.reason == "length"
    assert finish.warning == ""
    assert finish.usage
    assert finish.usage.completion_tokens == 8
    assert finish.usage.prompt_tokens >= least_tokens(asking())


def test_a_model_that_is_done_says_so(provider: OpenAI) -> None:
    request = ModelRequest(
        messages=(PromptMessage(role="user", text="Answer with one word: is the sky blue?"),),
        window=WINDOW,
        max_answer_tokens=60,
        temperature=0.0,
    )
    assert finish_of(answer(provider, request)).reason == "stop"


def test_the_same_question_has_the_same_answer_in_another_event_loop(provider: OpenAI) -> None:
    assert text_of(answer(provider)) == text_of(answer(provider))


def test_two_answers_at_once_do_not_mix(provider: OpenAI) -> None:
    async def both() -> tuple[list[ModelChunk], list[ModelChunk]]:
        first, second = asking("Name a colour."), asking("Count: one, two, three,")
        return await asyncio.gather(collect(provider.stream(first)), collect(provider.stream(second)))

    for chunks in asyncio.run(both()):
        assert text_of(chunks).strip()
        assert finish_of(chunks).reason in ("stop", "length")


def test_who_leaves_early_can_ask_again(provider: OpenAI) -> None:
    assert asyncio.run(first_words(provider))
    assert text_of(answer(provider)).strip()


def test_tools_can_be_offered(provider: OpenAI) -> None:
    assert text_of(answer(provider, asking(tools=(FIND,)))).strip()


@pytest.mark.parametrize("arguments", [json.dumps({"query": "sleep"}), '{"query": "slee'])
def test_calls_and_their_results_go_back_even_when_the_arguments_were_malformed(
    provider: OpenAI, arguments: str
) -> None:
    call = ToolCallPart(call_id="c1", name="find", arguments=arguments)
    messages = (
        *asking().messages,
        PromptMessage(role="assistant", tool_calls=(call,)),
        PromptMessage(role="tool", text="Seven hours.", tool_call_id="c1", tool_name="find"),
    )
    chunks = answer(provider, asking(tools=(FIND,)).model_copy(update={"messages": messages}))
    assert finish_of(chunks).reason in ("stop", "length")


def test_a_model_whose_template_knows_tools_calls_them(file: Path, tmp_path: Path) -> None:
    with serving(with_tools(file, tmp_path / "tools.gguf")) as address:
        chunks = answer(OpenAI(NAME, base_url=address, api_key=KEY, patience=PATIENT), ASKING_FOR_A_CALL)
    (call,) = calls_of(chunks)
    assert (call.name, json.loads(call.arguments)) == ("find", {"query": "cats"})
    assert call.call_id
    assert finish_of(chunks).reason == "tool_calls"


def test_a_prompt_that_is_too_long_is_refused_and_not_cut(provider: OpenAI) -> None:
    _, error = failure(provider, asking("word " * 2 * WINDOW))
    assert "The prompt is longer than" in error.message
    assert f"{WINDOW} tokens" in error.message


def test_a_wrong_key_is_a_sentence(address: str) -> None:
    _, error = failure(OpenAI(NAME, base_url=address, api_key="sk-wrong", key_variable="MY_KEY", patience=PATIENT))
    assert "refused the key" in error.message
    assert "MY_KEY" in error.hint
    assert "sk-wrong" not in error.message


def test_a_wrong_address_is_a_sentence(address: str) -> None:
    wrong = address.removesuffix("/v1") + "/v2"
    _, error = failure(OpenAI(NAME, base_url=wrong, api_key=KEY, patience=PATIENT))
    assert "404" in error.message
    assert "/v1" in error.hint

"""The provider contract against a real llama.cpp server with a small real model."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.providers import llama_cpp_server
from tests.providers.contract import asking, failure
from tests.providers.llama_cpp_server import NAME, WINDOW
from tests.providers.loopback import KEY
from tests.providers.real_model import RealModel
from tests.providers.weights import NoWeights, smollm2, with_tools
from zkchat.models.openai import OpenAI
from zkchat.models.transport import TransportPolicy

SECONDS_TO_START = 60
RETRYING = TransportPolicy(backoff=0.01)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        file = smollm2()
    except NoWeights as error:
        pytest.fail(str(error), pytrace=False)
    with serving(with_tools(file, tmp_path_factory.mktemp("able") / "tools.gguf")) as address:
        yield address


@contextmanager
def serving(file: Path, *, window: int = WINDOW, threads: int = 1, name: str = NAME) -> Iterator[str]:
    script = Path(llama_cpp_server.__file__)
    command = [sys.executable, str(script), str(file), KEY, str(window), str(threads), name]
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
def model(address: str) -> OpenAI:
    return OpenAI(NAME, base_url=address, api_key=KEY, policy=RETRYING)


@pytest.fixture
def able(model: OpenAI) -> OpenAI:
    return model


class TestLlamaCpp(RealModel):
    """With llama.cpp behind an address."""


def test_the_window_is_the_servers_and_not_the_models(model: OpenAI) -> None:
    assert model.info.context_limit is None
    asyncio.run(model.connect())
    assert model.info.context_limit == WINDOW
    assert model.info.on_this_machine


def test_a_prompt_that_is_too_long_is_refused_and_not_cut(model: OpenAI) -> None:
    _, error = failure(model, asking("word " * 2 * WINDOW))
    assert "The prompt is longer than" in error.message
    assert f"{WINDOW} tokens" in error.message


def test_a_wrong_key_is_a_sentence(address: str) -> None:
    hints = ("openai.base_url", "Look at MY_KEY.")
    _, error = failure(OpenAI(NAME, base_url=address, api_key="sk-wrong", hints=hints, policy=RETRYING))
    assert "refused the key" in error.message
    assert "MY_KEY" in error.hint
    assert "sk-wrong" not in error.message


def test_a_wrong_address_is_a_sentence(address: str) -> None:
    wrong = address.removesuffix("/v1") + "/v2"
    _, error = failure(OpenAI(NAME, base_url=wrong, api_key=KEY, policy=RETRYING))
    assert "404" in error.message
    assert "/v1" in error.hint
